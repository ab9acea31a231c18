"""The beam searches as solvers: one instance with progress, or many at a time."""

import dataclasses
import math
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, ClassVar, Protocol, TypeVar

import torch

from orienteer.beam.alternatives import varied
from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS
from orienteer.beam.cost_level import LEVELS, CostLevelConfig, compile_queues, cost_level_search
from orienteer.beam.device import choose_device, in_lanes, lanes_for, memory_budget
from orienteer.beam.expand import Expander, Watch
from orienteer.beam.levels import MOST_LEVELS
from orienteer.beam.problems import Problems
from orienteer.beam.recombine import BASES, Over, compile_kernels
from orienteer.beam.score import PrizeScore, Scorer, TsiliScore
from orienteer.beam.seen import SLOTS
from orienteer.beam.step import StepConfig, step_search
from orienteer.beam.ways import Found, put_together
from orienteer.model.instance import Instance
from orienteer.model.result import Improvement, Result
from orienteer.search.run import Run
from orienteer.search.solver import OnDone, Settings, Solver, no_news
from orienteer.search.stop import Never, Progress, Stop


class BeamSettings(Settings, Protocol):
    """What the settings of every beam search tell."""

    @property
    def beam(self) -> int | None:
        """The most paths that are kept; None keeps them all."""

    @property
    def branch(self) -> int | None:
        """The most children of a path that are looked at; None for all."""

    @property
    def device(self) -> str:
        """ "cpu", "cuda" or "auto"."""


BeamConfig = TypeVar("BeamConfig", bound=BeamSettings)
LevelConfig = TypeVar("LevelConfig", bound=CostLevelConfig)


class BeamSolver(Solver[BeamConfig]):
    """A beam search behind the front door. A step expands all paths of one reading of a queue, or of one beam.

    Subclasses give the score, the search, and how long it is.
    """

    bars_nothing: ClassVar[bool] = True
    """Whether the score gives every child a chance: then a beam without bound proves its route optimal."""

    def on_gpu(self) -> bool:
        return choose_device(self.config.device).type == "cuda"

    def fallback(self, instance: Instance) -> list[int] | None:
        """A route that is known before the search, which never answers with a worse one; None where there is none."""
        return None

    @abstractmethod
    def scorer(self, device: torch.device) -> Scorer:
        """The score, ready to work on `device`."""

    @abstractmethod
    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, ways: int) -> Expander:
        """The search itself, with an equal part of the beam, rounded up, for each of `ways`."""

    @abstractmethod
    def beams(self, instance: Instance) -> int:
        """How many times a beam of paths is chosen for an instance, at most: once a level, or once a step."""

    @property
    def routes_wanted(self) -> int:
        """How many good routes to return."""
        return 1

    def ways(self, instance: Instance) -> int:
        """From how many ends an instance is searched: 1, or 2 with half of the beam for each."""
        return 1

    @contextmanager
    def lanes(self, device: torch.device, instances: Sequence[Instance]) -> Iterator[int]:
        """How many batches are worked on at once; the context is left when all are done."""
        yield lanes_for(device, len(instances))

    def gather(self, expander: Expander, ways: int, over: Over) -> Found:
        """The routes of a search that has finished, with what can be made of them before it is `over`."""
        return Found(expander, ways)

    def finish(self, instances: Sequence[Instance], routes: list[list[int]], over: Over) -> list[list[int]]:
        """The routes of searches that have finished or were stopped, or better ones; empty where there is none.

        Once it is `over`, only what takes next to no time.
        """
        return routes

    def search(self, run: Run, seed: int) -> None:
        device, ways = choose_device(self.config.device), self.ways(run.instance)
        ended, offered = False, (-math.inf, math.inf)
        known = self.fallback(run.instance)
        if known:
            run.offer(known)

        def watch(expander: Expander) -> bool:
            nonlocal ended, offered
            found = Found(expander, ways)
            now = float(found.prize[0]), float(found.cost[0])
            if now != offered and self._better(*now, run):
                offered = now
                run.offer(found.routes()[0])
            ended = run.step()
            return ended

        problems = put_together([run.instance], ways, device)
        expander = self.explore(problems, self.scorer(device), watch, ways)
        found = Found(expander, ways) if ended else self.gather(expander, ways, run.report)
        (route,) = self.finish([run.instance], found.routes(), lambda: ended or run.report())
        if route:
            run.offer(route)
            run.also(self._others(found, 0, run.instance, route, ended))
        if not ended:
            self._prove(run)

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance; they are searched together, as many as fit into memory.

        Each counts an equal share of the wall-clock time of its batch, for `stop` as for the result. Where `stop` asks
        for the prize, it sees the lowest of the batch.
        """
        if instances:
            self.get_ready(instances[0])
        device = choose_device(self.config.device)
        scorer = self.scorer(device)
        halt, began, results, finished = threading.Event(), time.perf_counter(), dict[int, Result](), 0
        with self.lanes(device, instances) as lanes:
            batches = self._batches(instances, memory_budget(device, lanes), lanes)

            def work(rows: list[int]) -> list[Result]:
                batch = [instances[row] for row in rows]
                clock = _BatchClock(len(rows) * lanes, Never() if stop is None else stop, halt, self.ways(batch[0]))
                return self._solve_together(batch, clock, scorer, device)

            with closing(in_lanes(work, batches, lanes, device, halt)) as answered:
                for rows, answers in zip(batches, answered, strict=True):
                    results.update(
                        (row, dataclasses.replace(one, seed=seed + row)) for row, one in zip(rows, answers, strict=True)
                    )
                    while finished in results:  # from the first on without a gap: what is left if the rest is given up
                        finished += 1
                    on_done(finished, len(instances))
        ordered = [results[row] for row in range(len(instances))]
        return ordered if lanes == 1 else _shared(ordered, time.perf_counter() - began)

    def _solve_together(
        self, batch: list[Instance], clock: "_BatchClock", scorer: Scorer, device: torch.device
    ) -> list[Result]:
        """The results of instances that are searched together."""
        known: list[list[int] | None] = [None] * len(batch)
        routes: list[list[int]] = [[]] * len(batch)
        others: list[list[list[int]]] = [[]] * len(batch)
        if not clock.ended:
            known = [self.fallback(one) for one in batch]
            problems = put_together(batch, clock.ways, device)
            expander = self.explore(problems, scorer, clock, clock.ways)
            found = Found(expander, clock.ways) if clock.ended else self.gather(expander, clock.ways, clock.over)
            routes = self.finish(batch, found.routes(), lambda: clock.ended or clock.over())
            others = [self._others(found, row, batch[row], route, clock.ended) for row, route in enumerate(routes)]
        share, ended, settings = clock.share, clock.ended, self.settings
        return [
            self._result(one, (sure, route), more, share, clock.steps, ended, dict(settings))
            for one, sure, route, more in zip(batch, known, routes, others, strict=True)
        ]

    def _others(self, found: Found, row: int, instance: Instance, best: list[int], ended: bool) -> list[list[int]]:
        """Good routes of an instance beside the best, as many as are asked for."""
        count = self.routes_wanted
        if count == 1:
            return []
        logged = found.others(row, count, best)
        return logged if ended or self.shortest else varied(instance, best, logged, count)

    def _result(
        self,
        instance: Instance,
        routes: Sequence[list[int] | None],
        others: list[list[int]],
        seconds: float,
        steps: int,
        ended: bool,
        settings: dict[str, Any],
    ) -> Result:
        run = Run(instance, Never(), shortest=self.shortest)
        for route in routes:
            if route:
                run.offer(route)
        run.also(others)
        if not ended:
            self._prove(run)
        run.steps = steps
        trace = (Improvement(seconds, steps, run.best.prize),)
        return dataclasses.replace(run.result(self.name, 0, settings), seconds=seconds, trace=trace)

    def _better(self, prize: float, cost: float, run: Run) -> bool:
        """Whether a route is better than the one that the run knows."""
        if prize != run.best.prize or not self.shortest:
            return prize > run.best.prize
        return cost < run.best.cost

    def _prove(self, run: Run) -> None:
        """Notes that the route found is the best, where the search has seen all that could be better."""
        if self.config.beam is None and self.config.branch is None and (self.bars_nothing or run.full):
            run.tighten(run.best.prize)
            run.settled = True

    def _batches(self, instances: Sequence[Instance], budget: int, lanes: int) -> list[list[int]]:
        """Rows of the instances in batches of similar size, each within the bytes of `budget`, dealt out to lanes.

        Those of a batch are searched from equally many ends.
        """
        ways = [self.ways(one) for one in instances]
        ordered = sorted(range(len(instances)), key=lambda row: -instances[row].size)
        kinds = [[row for row in ordered if ways[row] == kind] for kind in sorted(set(ways))]
        return [batch for kind in kinds for batch in self._dealt(instances, kind, budget, lanes)]

    def _dealt(self, instances: Sequence[Instance], ordered: list[int], budget: int, lanes: int) -> list[list[int]]:
        """Rows in batches that fit, about as many for each lane."""
        batches = self._cut(instances, ordered, budget, len(ordered))
        even = -(-len(batches) // lanes) * lanes
        return batches if lanes == 1 else self._cut(instances, ordered, budget, -(-len(ordered) // even))

    def _cut(self, instances: Sequence[Instance], ordered: list[int], budget: int, most: int) -> list[list[int]]:
        """Rows, largest first, in batches that fit, of at most so many."""
        batches: list[list[int]] = []
        size = beams = 0
        for row in ordered:
            beams = max(beams, self.beams(instances[row]))
            ways = self.ways(instances[row])
            full = not batches or len(batches[-1]) == most
            if full or not self._fit(len(batches[-1]) + 1, ways, size, beams, budget):
                batches.append([])
                size, beams = instances[row].size, self.beams(instances[row])
            batches[-1].append(row)
        return batches

    def _fit(self, count: int, ways: int, nodes: int, beams: int, budget: int) -> bool:
        """Whether so many instances may be searched together: a generous guess of memory, and what can be numbered."""
        count, width = count * ways, (self.config.beam or 1000) / ways
        costs, seen, queues_and_log = 8 * nodes**2, 8 * SLOTS, beams * width * (300 + 3 * nodes)
        children = width * nodes * 240
        groups = count * beams
        return (
            count * (costs + seen + queues_and_log + children) <= budget
            and groups <= MOST_GROUPS
            and groups * nodes <= MOST_SPOTS
        )


class CostLevelSolver(BeamSolver[LevelConfig]):
    """CS(K, tau) with any score."""

    config_class = CostLevelConfig

    @property
    def routes_wanted(self) -> int:
        return self.config.alternatives

    def ways(self, instance: Instance) -> int:
        config = self.config
        same = instance.start == instance.end and instance.symmetric
        return 2 if config.both and config.beam is not None and config.beam > 1 and not same else 1

    def prepare(self, instance: Instance) -> None:
        device = choose_device(self.config.device)
        if self.config.beam is not None:
            compile_queues(device)
        if self._recombines:
            compile_kernels(device)

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, ways: int) -> Expander:
        config = self.config
        if ways > 1 and config.beam is not None:
            config = dataclasses.replace(config, beam=-(-config.beam // ways))
        return cost_level_search(problems, scorer, config, watch)

    def gather(self, expander: Expander, ways: int, over: Over) -> Found:
        found, beam = Found(expander, ways), self.config.beam
        return found.recombined(over, max(BASES, beam)) if self.config.recombine and beam is not None else found

    @property
    def _recombines(self) -> bool:
        """Without bounds the best route is known."""
        return self.config.recombine and self.config.beam is not None

    def beams(self, instance: Instance) -> int:
        if self.config.tau is None:
            return LEVELS + 2
        return int(min(instance.budget / self.config.tau, MOST_LEVELS)) + 2


class StepSolver(BeamSolver[BeamConfig]):
    """The step-by-step beam search with any score."""

    config_class: ClassVar[type[Any]] = StepConfig

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, ways: int) -> Expander:
        return step_search(problems, scorer, StepConfig(self.config.beam, self.config.branch), watch)

    def beams(self, instance: Instance) -> int:
        return instance.size


class PrizeCostLevelSearch(CostLevelSolver[CostLevelConfig]):
    """CS-p: the cost-level beam search scored by the prize collected."""

    name = "cs-p"

    def scorer(self, device: torch.device) -> Scorer:
        return PrizeScore()


class TsiliBeam(StepSolver[StepConfig]):
    """The step-by-step beam search scored by Tsiligirides' desirability."""

    name = "tsili-beam"
    bars_nothing = False

    def scorer(self, device: torch.device) -> Scorer:
        return TsiliScore()


def _shared(results: list[Result], seconds: float) -> list[Result]:
    """The results with times that add up to the seconds of all: batches side by side are not equally long."""
    factor = seconds / max(sum(one.seconds for one in results), 1e-9)
    return [
        dataclasses.replace(
            one,
            seconds=factor * one.seconds,
            trace=tuple(dataclasses.replace(step, seconds=factor * step.seconds) for step in one.trace),
        )
        for one in results
    ]


class _BatchClock:
    """The watch of a batch: asks the stop criterion about the share of time of one instance."""

    def __init__(self, size: int, stop: Stop, halt: threading.Event, ways: int):
        self.size, self.stop, self.halt, self.ways = size, stop, halt, ways
        self.began = time.perf_counter()
        self.steps = self.best_step = 0
        self.total = self.least = float("-inf")
        self.ended = stop(Progress(0.0, 0, 0, float("-inf")))

    @property
    def share(self) -> float:
        """Seconds so far for each instance."""
        return (time.perf_counter() - self.began) / self.size

    def over(self) -> bool:
        """Whether to end, by what is known of the prizes."""
        now = Progress(self.share, self.steps, self.steps - self.best_step, self.least)
        return self.halt.is_set() or self.stop(now)

    def __call__(self, expander: Expander) -> bool:
        self.steps += 1
        if not isinstance(self.stop, Never):  # without a look at the prizes a GPU need not wait
            prize = expander.best.prize.view(-1, self.ways).amax(1)
            total, self.least = torch.stack((prize.sum(), prize.min())).tolist()
            if total > self.total:
                self.total, self.best_step = total, self.steps
        self.ended = self.over()
        return self.ended
