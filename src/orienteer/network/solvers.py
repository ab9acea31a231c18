"""The learned methods behind the front door: greedy, step-by-step beam and cost-level search with a network's score."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import torch

from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.device import FEWEST, choose_device, one_thread
from orienteer.beam.polish import compile_polish, polish
from orienteer.beam.recombine import Over
from orienteer.beam.solvers import BeamSettings, BeamSolver, CostLevelSolver, StepSolver
from orienteer.beam.step import StepConfig
from orienteer.lab.networks.models import Model, load_model
from orienteer.model.instance import Instance
from orienteer.network.scorers import ActorScore, DecoderScore, NetworkScore, TourScore, ValueScore
from orienteer.network.weights import Method, find_weights
from orienteer.search.run import Run

KNOWN = 200
"""Nodes of the largest problems that the flagship learns from."""
POLISHING = 16
"""The most threads that polish the routes of a GPU."""
SOON = 500
"""Nodes up to which stops are chosen with some care before a search, in a tenth of a second at most."""
BEAMS = {"cuda": 20, "cpu": 10}
"""Widths of the learned cost-level search where none is asked for: on a CPU an answer is to come within a second."""


@dataclass(frozen=True)
class GreedyConfig:
    """Settings of a greedy policy: a step-by-step beam search of one path."""

    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""
    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""

    @property
    def beam(self) -> int:
        """One path."""
        return 1

    @property
    def branch(self) -> None:
        """All of its children."""


@dataclass(frozen=True)
class BeamConfig(StepConfig):
    """Settings of the step-by-step beam search with a learned score."""

    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""


@dataclass(frozen=True)
class LearnedLevelConfig(CostLevelConfig):
    """Settings of the cost-level beam search with the learned score."""

    beam: int | None = 0
    """K, the most paths in a queue; 0 is 20 on a GPU and 10 elsewhere, None keeps them all."""
    branch: int | None = 8
    """Only so many best children of a path enter the queues; None is all of them."""
    spread: float = 0.5
    """A path's rank falls by so many mean prizes for each better path of its queue that ends at the same node."""
    both: bool = True
    """Search from both ends, each with half of the beam, where a problem is not the same backwards: where costs differ
    by direction, or the end is not the start. A beam of 1 or without bound is not divided."""
    polish: bool = True
    """Try a local search on the best route when the search is over and recombined: a hundredth of its time, and what
    it finds grows with the problem."""
    weights: str = ""
    """Shipped weights by name, or a file; empty for flagship on a GPU and flagship-small elsewhere. The paper's network
    is an-dqn."""

    def __post_init__(self) -> None:
        if self.beam == 0:
            object.__setattr__(self, "beam", BEAMS[choose_device(self.device).type])
        super().__post_init__()


ONE_THREAD = 200
"""Nodes of a problem up to which one thread of the CPU searches it, or a batch of such. Two are hardly faster, and
where other work keeps one of their cores busy they wait for each other: three times as long, or far longer."""


class LearnedSettings(BeamSettings, Protocol):
    """What the settings of every beam search with a network tell."""

    @property
    def weights(self) -> str:
        """Shipped weights by name, or a file; empty for the method's own."""


LearnedConfig = TypeVar("LearnedConfig", bound=LearnedSettings)


class LearnedSolver(BeamSolver[LearnedConfig]):
    """A beam search scored by a network; subclasses say which network and which search.

    A step is one look of the network at all paths of a beam.
    """

    methods: ClassVar[tuple[Method, ...]]
    """Whose weights it takes."""
    weights: ClassVar[str]
    """Shipped weights that it takes by default."""
    gpu_weights: ClassVar[str] = ""
    """Those that it takes on a GPU, where a larger network costs little more; empty for the same."""

    @classmethod
    def default_weights(cls, device: torch.device) -> str:
        """The name of the shipped weights that it takes on a device."""
        return (device.type == "cuda" and cls.gpu_weights) or cls.weights

    def weights_on(self, device: torch.device) -> Path:
        """The file of the weights that it takes on a device."""
        return find_weights(self.config.weights or self.default_weights(device))

    def scorer(self, device: torch.device) -> NetworkScore:
        """The score with its weights on `device`; the same one at every call, so that its passes can be counted."""
        path = self.weights_on(device)
        return _loaded(str(path.resolve()), path.stat().st_mtime_ns, device, self.methods)

    def prepare(self, instance: Instance) -> None:
        super().prepare(instance)
        device = choose_device(self.config.device)
        if device.type == "cpu":
            from orienteer.network.host_tokens import compile_tokens

            compile_tokens()
        self.scorer(device)

    def search(self, run: Run, seed: int) -> None:
        with one_thread() if run.instance.size <= ONE_THREAD else nullcontext():
            super().search(run, seed)

    @contextmanager
    def lanes(self, device: torch.device, instances: Sequence[Instance]) -> Iterator[int]:
        """On a CPU as many as torch has threads, one for each: side by side they do not wait for each other."""
        if device.type != "cpu" or any(one.size > ONE_THREAD for one in instances):
            with super().lanes(device, instances) as lanes:
                yield lanes
            return
        with one_thread() as threads:
            yield max(1, min(threads, len(instances) // FEWEST))


class GreedySolver(LearnedSolver[GreedyConfig], StepSolver[GreedyConfig]):
    """The best child of each path, step by step."""

    config_class = GreedyConfig


class StepBeamSolver(LearnedSolver[BeamConfig], StepSolver[BeamConfig]):
    """The step-by-step beam search with a learned score."""

    config_class = BeamConfig


class LearnedCostLevelSearch(LearnedSolver[LearnedLevelConfig], CostLevelSolver[LearnedLevelConfig]):
    """CS(K, tau) with the learned score: the paper's method."""

    name, weights, methods, config_class = "cs-l", "flagship-small", ("expert", "dqn"), LearnedLevelConfig
    gpu_weights = "flagship"

    def prepare(self, instance: Instance) -> None:
        super().prepare(instance)
        if self._polishes:
            compile_polish()

    def fallback(self, instance: Instance) -> list[int] | None:
        """What can be put in without a search: long routes close late, and before that there is next to nothing."""
        if not self._polishes or instance.size <= self._quick:
            return None
        return polish([instance], [instance.cheapest_route()], instance.size, over=lambda: instance.size > SOON)[0]

    def finish(self, instances: Sequence[Instance], routes: list[list[int]], over: Over) -> list[list[int]]:
        if not self._polishes:
            return routes
        begun = [route or one.cheapest_route() for one, route in zip(instances, routes, strict=True)]
        threads = min(POLISHING, os.cpu_count() or 1) if self._quick else 1
        return polish(instances, begun, self._quick, threads, over)

    @property
    def _quick(self) -> int:
        """Nodes of the largest problems that a GPU solves faster than a few cores could polish them with care."""
        return 0 if choose_device(self.config.device).type == "cpu" else KNOWN

    @property
    def _polishes(self) -> bool:
        return bool(self.config.polish) and self._recombines


def score_of(model: Model, method: Method) -> NetworkScore:
    """The score that goes with a method's network."""
    makers: dict[str, Any] = {
        "dqn": ValueScore,
        "a2c": ActorScore,
        "at": DecoderScore,
        "pn": DecoderScore,
        "expert": lambda model: ValueScore(model, known=KNOWN),
        "tour": TourScore,
    }
    scorer: NetworkScore = makers[method](model)
    return scorer


@lru_cache(maxsize=8)
def _loaded(path: str, changed: int, device: torch.device, methods: tuple[Method, ...]) -> NetworkScore:
    """The score with the weights of a file; read again only when the file has changed."""
    model, header = load_model(path, device, methods)
    return score_of(model, header.method)
