"""The learned methods behind the front door: greedy, step-by-step beam and cost-level search with a network's score."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch

from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer
from orienteer.beam.step import StepConfig, step_search
from orienteer.beam.watch import Watch
from orienteer.core.instance import Instance
from orienteer.core.result import Result
from orienteer.core.run import Run
from orienteer.core.solver import OnDone, Solver, no_news
from orienteer.core.stop import Never, Progress, Stop
from orienteer.network.scorers import ActorScore, DecoderScore, ValueScore
from orienteer.network.weights import Method, Model, find_weights, load_model

AT_ONCE = {"cuda": 500, "cpu": 20}
"""Instances of a batch that are searched at a time, by device."""


@dataclass(frozen=True)
class GreedyConfig:
    """Settings of a greedy policy."""

    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""
    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""


@dataclass(frozen=True)
class BeamConfig:
    """Settings of the step-by-step beam search."""

    beam: int = 100
    """The most paths that go on after a step."""
    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""
    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError(f"BeamConfig.beam must be at least 1, got {self.beam}")


@dataclass(frozen=True)
class LearnedLevelConfig(CostLevelConfig):
    """Settings of the cost-level beam search with the learned score."""

    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""


class LearnedSolver(Solver):
    """A search scored by a network; subclasses say which network and which search.

    A step is one expansion of the beam: one look of the network at all paths of it.
    """

    method: ClassVar[Method]

    def scorer(self) -> Scorer:
        """The score, with weights on the device of the configuration."""
        device = _device(self.config.device)
        path = find_weights(self.config.weights or f"an-{self.method}")
        model = _loaded(str(path.resolve()), path.stat().st_mtime_ns, device, self.method)
        return score_of(model, self.method)

    def find(self, problems: Problems, scorer: Scorer, watch: Watch) -> Expander:
        """The finished search; greedy unless a subclass widens it."""
        return step_search(problems, scorer, StepConfig(beam=1), watch)

    def prepare(self, instance: Instance) -> None:
        self.scorer()

    def search(self, run: Run, seed: int) -> None:
        problems = Problems.from_instances([run.instance], _device(self.config.device))

        def watch(expander: Expander) -> bool:
            if float(expander.best.prize[0]) > run.best.prize:
                _offer(run, expander.routes()[0])
            return run.step()

        _offer(run, self.find(problems, self.scorer(), watch).routes()[0])

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance, many searched at a time; a limit of seconds is for each of them on average."""
        scorer, device = self.scorer(), _device(self.config.device)
        results: list[Result] = []
        for first in range(0, len(instances), AT_ONCE[device]):
            some = instances[first : first + AT_ONCE[device]]
            results += self._together(some, scorer, device, Never() if stop is None else stop, seed + first)
            on_done(len(results), len(instances))
        return results

    def _together(
        self, instances: Sequence[Instance], scorer: Scorer, device: str, stop: Stop, seed: int
    ) -> list[Result]:
        began, steps = time.perf_counter(), 0

        def watch(expander: Expander) -> bool:
            nonlocal steps
            steps += 1
            spent = (time.perf_counter() - began) / len(instances)
            return stop(Progress(spent, steps, 0, float(expander.best.prize.min())))

        routes = self.find(Problems.from_instances(instances, device), scorer, watch).routes()
        spent = (time.perf_counter() - began) / len(instances)
        results = []
        for place, (instance, route) in enumerate(zip(instances, routes, strict=True)):
            run = Run(instance, stop)
            _offer(run, route)
            run.steps = steps
            run.began = time.perf_counter() - spent
            results.append(run.result(self.name, seed + place, self.settings))
        return results


class _Beam(LearnedSolver):
    config_class: ClassVar[type] = BeamConfig

    def find(self, problems: Problems, scorer: Scorer, watch: Watch) -> Expander:
        return step_search(problems, scorer, StepConfig(beam=self.config.beam), watch)


class DqnGreedy(LearnedSolver):
    """The node with the largest q, step by step."""

    name, method, config_class = "an-dqn", "dqn", GreedyConfig


class DqnBeam(_Beam):
    """Step-by-step beam search scored by prize and q."""

    name, method = "an-dqn-beam", "dqn"


class A2cGreedy(LearnedSolver):
    """The actor's most likely node, step by step."""

    name, method, config_class = "an-a2c", "a2c", GreedyConfig


class A2cBeam(_Beam):
    """Step-by-step beam search for the actor's most likely routes."""

    name, method = "an-a2c-beam", "a2c"


class AttentionGreedy(LearnedSolver):
    """The attention decoder's most likely node, step by step."""

    name, method, config_class = "an-at", "at", GreedyConfig


class AttentionBeam(_Beam):
    """Step-by-step beam search for the attention decoder's most likely routes."""

    name, method = "an-at-beam", "at"


class PointerGreedy(LearnedSolver):
    """The pointer network's most likely node, step by step."""

    name, method, config_class = "an-pn", "pn", GreedyConfig


class PointerBeam(_Beam):
    """Step-by-step beam search for the pointer network's most likely routes."""

    name, method = "an-pn-beam", "pn"


class LearnedCostLevelSearch(LearnedSolver):
    """CS(K, tau) with the learned score: the paper's method."""

    name, method, config_class = "cs-l", "dqn", LearnedLevelConfig

    def find(self, problems: Problems, scorer: Scorer, watch: Watch) -> Expander:
        return cost_level_search(problems, scorer, self.config, watch)


def score_of(model: Model, method: Method) -> Scorer:
    """The score that goes with a method's network."""
    makers: dict[str, Any] = {"dqn": ValueScore, "a2c": ActorScore, "at": DecoderScore, "pn": DecoderScore}
    scorer: Scorer = makers[method](model)
    return scorer


@lru_cache(maxsize=8)
def _loaded(path: str, changed: int, device: str, method: Method) -> Model:
    """The model of a file; read again only when the file has changed."""
    return load_model(path, device, method)[0]


def _device(wish: str) -> str:
    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wish not in AT_ONCE:
        raise ValueError(f"device must be auto, cpu or cuda, got {wish!r}")
    return wish


def _offer(run: Run, route: list[int]) -> None:
    if route:
        run.offer(route)
