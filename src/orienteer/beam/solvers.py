"""The beam searches as solvers: one instance with progress, or many at a time."""

import dataclasses
import math
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar

from orienteer.beam.alternatives import varied
from orienteer.beam.backend import choose_backend
from orienteer.beam.backend.protocol import Backend, Over
from orienteer.beam.batches import PACE, BatchClock, Size, cut, side_by_side
from orienteer.beam.cost_level import LEVELS, MOST_LEVELS, CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander, Watch
from orienteer.beam.found import Found
from orienteer.beam.problems import Problems
from orienteer.beam.readings import told_search
from orienteer.beam.recombine import BASES
from orienteer.beam.score import PrizeScore, Scorer, TsiliScore
from orienteer.beam.step import StepConfig, step_search
from orienteer.beam.timed import timed_search
from orienteer.model.errors import Unsupported
from orienteer.model.instance import Instance
from orienteer.model.levels import OnReading
from orienteer.model.reduce import REDUCED
from orienteer.model.result import Improvement, Result
from orienteer.search.run import Run
from orienteer.search.solver import OnDone, Settings, Solver, no_news
from orienteer.search.stop import Never, Stop


class BeamSettings(Settings, Protocol):
    """Settings that every beam search has."""

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

    Subclasses give the score, the search, and the most beams that the search chooses.
    """

    bars_nothing: ClassVar[bool] = True
    """Whether the score gives every child a chance: then a beam without bound proves its route optimal."""

    def __init__(self, config: BeamConfig | None = None, backend: Backend | None = None):
        """Without a `backend`, the solver takes the backend of `config.device`."""
        super().__init__(config)
        self._given_backend = backend

    @cached_property
    def backend(self) -> Backend:
        """Where the search runs."""
        return self._given_backend or choose_backend(self.config.device)

    def on_gpu(self) -> bool:
        return self.backend.name == "cuda"

    def fallback(self, instance: Instance) -> list[int] | None:
        """A route known before the search, whose result is at least as good; None where there is no such route."""
        return None

    @contextmanager
    def beside(self, instances: Sequence[Instance], over: Over) -> Iterator[Callable[[], list[list[int]]]]:
        """A context in which the host may search too; it gives a function that waits for the routes found.

        A route is empty where none was sought. `over` may be asked by any thread.
        """
        yield lambda: [[]] * len(instances)

    @abstractmethod
    def scorer(self) -> Scorer:
        """The score, ready to work on the backend's arrays."""

    @abstractmethod
    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, directions: int) -> Expander:
        """The search itself, with an equal part of the beam, rounded up, for each direction."""

    @abstractmethod
    def beams(self, instance: Instance) -> int:
        """How many times a beam of paths is chosen for an instance, at most: once a level, or once a step."""

    @property
    def routes_wanted(self) -> int:
        """How many good routes to return."""
        return 1

    def directions(self, instance: Instance) -> int:
        """From how many ends an instance is searched: 1, or 2 with half of the beam for each."""
        return 1

    def kernels(self, instance: Instance) -> list[str]:
        """The loops of the search, where the backend can compile them ahead."""
        names = self.first_calls(instance.symmetric) if self.backend.compiles_ahead else []
        return [f"orienteer.beam.first_calls:{name}" for name in names]

    @abstractmethod
    def first_calls(self, symmetric: bool) -> list[str]:
        """Names of functions of `first_calls`, those that take longest first."""

    def prepare(self, instance: Instance) -> None:
        self.scorer()  # which may have weights to read

    def gather(self, expander: Expander, directions: int, over: Over) -> Found:
        """The routes of a finished search, improved from its log until `over()` says to end."""
        return Found(expander, directions)

    def finish(self, instances: Sequence[Instance], routes: list[list[int]], over: Over) -> list[list[int]]:
        """The routes of searches that have finished or were stopped, or better routes; empty where none was found.

        Once `over()` is true, a subclass only does what takes next to no time.
        """
        return routes

    def search(self, run: Run, seed: int) -> None:
        directions = self.directions(run.instance)
        known = self.fallback(run.instance)
        if known:
            run.offer(known)
        problems = self.backend.problems([run.instance], directions)
        watch = _RunWatch(self, run, directions)
        with self.beside([run.instance], lambda: run.stop(run.now())) as also_found:
            expander = self.explore(problems, self.scorer(), watch, directions)
            found = Found(expander, directions) if watch.ended else self.gather(expander, directions, run.report)
            (route,) = self.finish([run.instance], found.routes(), lambda: watch.ended or run.report())
            (known,) = also_found()
        if known:
            run.offer(known)
        if route:
            run.offer(route)
            run.also(self._others(found, 0, run.instance, route, watch.ended))
        if not watch.ended:
            self._prove(run)

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance; as many instances as fit into memory are searched together.

        An instance's time is an equal share of the wall-clock time of its batch, for `stop` as for the result. Where
        `stop` asks for the prize, it sees the lowest prize of the batch.
        """
        for instance in instances:
            self.check_handled(instance)
        if instances:
            self.get_ready(instances[0].reduced)
        scorer = self.scorer()
        halt, began, results, finished = threading.Event(), time.perf_counter(), dict[int, Result](), 0
        at_once = self.backend.workers(len(instances))
        plain = [instance.reduced for instance in instances]
        sizes = [Size(one.size, self.beams(one), self.directions(one)) for one in plain]
        batches = cut(sizes, self.config.beam, self.backend.free_memory(at_once), at_once, self.backend.cells)

        def work(rows: list[int]) -> list[Result]:
            batch = [plain[row] for row in rows]
            criterion = Never() if stop is None else stop
            clock = BatchClock(len(rows) * at_once, criterion, halt, sizes[rows[0]].directions)
            return self._solve_together(batch, [instances[row] for row in rows], clock, scorer)

        with closing(side_by_side(work, batches, at_once, self.backend, halt)) as answered:
            for rows, answers in zip(batches, answered, strict=True):
                results.update(
                    (row, dataclasses.replace(one, seed=seed + row)) for row, one in zip(rows, answers, strict=True)
                )
                while finished in results:  # counts from the first without a gap: a caller that gives up keeps these
                    finished += 1
                on_done(finished, len(instances))
        ordered = [results[row] for row in range(len(instances))]
        return ordered if at_once == 1 else _shared(ordered, time.perf_counter() - began)

    def _solve_together(
        self, batch: list[Instance], given: list[Instance], clock: BatchClock, scorer: Scorer
    ) -> list[Result]:
        """The results of instances that are searched together, as plain problems in `batch`, as given in `given`."""
        nothing: list[list[int]] = [[]] * len(batch)
        before: Sequence[list[int] | None] = nothing
        routes, beside, others = nothing, nothing, [nothing[:0]] * len(batch)
        if not clock.ended:
            before = [self.fallback(one) for one in batch]
            directions = clock.directions
            with self.beside(batch, clock.over) as also_found:
                problems = self.backend.problems(batch, directions)
                with self.backend.turn():
                    expander = self.explore(problems, scorer, clock, directions)
                    found = Found(expander, directions)
                    found = found if clock.ended else self.gather(expander, directions, clock.over)
                routes = self.finish(batch, found.routes(), lambda: clock.ended or clock.over())
                beside = also_found()
            others = [self._others(found, row, batch[row], route, clock.ended) for row, route in enumerate(routes)]
        share, ended, settings = clock.share, clock.ended, self.settings
        return [
            self._result(one, known, more, share, clock.steps, ended, dict(settings))
            for one, *known, more in zip(given, before, beside, routes, others, strict=True)
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

    def better(self, prize: float, cost: float, run: Run) -> bool:
        """Whether a route of that prize and cost is better than the best route of the run."""
        if prize != run.best.prize or not self.shortest:
            return prize > run.best.prize
        return cost < run.best.cost

    def _prove(self, run: Run) -> None:
        """Notes that the best route is optimal, where the search has dropped no path that could be better."""
        if self.config.beam is None and self.config.branch is None and (self.bars_nothing or run.full):
            run.tighten(run.best.prize)
            run.settled = True


class _RunWatch:
    """The watch of a single problem: offers the run every better route, and asks it whether to end."""

    def __init__(self, solver: BeamSolver[Any], run: Run, directions: int):
        self.solver, self.run, self.directions = solver, run, directions
        self.pace = PACE if run.stop.steps_left(run.now()) == math.inf else 1
        self.ended, self.offered = False, (-math.inf, math.inf)

    def __call__(self, expander: Expander, steps: int = 1) -> bool:
        found = Found(expander, self.directions)
        now = float(found.prize[0]), float(found.cost[0])
        if now != self.offered and self.solver.better(*now, self.run):
            self.offered = now
            self.run.offer(found.routes()[0])
        self.ended = self.run.step(steps)
        return self.ended


class CostLevelSolver(BeamSolver[LevelConfig]):
    """CS(K, tau) with any score."""

    config_class: ClassVar[type[Any]] = CostLevelConfig
    on_reading: OnReading | None = None
    """Called after every reading of a queue, if a caller wants to look into the search."""

    @property
    def routes_wanted(self) -> int:
        return self.config.alternatives

    def directions(self, instance: Instance) -> int:
        config = self.config
        same = instance.start == instance.end and instance.symmetric
        return 2 if config.both and config.beam is not None and config.beam > 1 and not same else 1

    def first_calls(self, symmetric: bool) -> list[str]:
        searches = ["search_levels", *([] if self.config.beam else ["search_all_levels"])]
        return [*searches, "exchange_stretches", "join_paths"] if self._recombines else searches

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, directions: int) -> Expander:
        config = self.config
        if directions > 1 and config.beam is not None:
            config = dataclasses.replace(config, beam=-(-config.beam // directions))
        if self.on_reading is not None:
            return told_search(self.backend, problems, scorer, config, watch, self.on_reading)
        return cost_level_search(self.backend, problems, scorer, config, watch)

    def gather(self, expander: Expander, directions: int, over: Over) -> Found:
        found, beam = Found(expander, directions), self.config.beam
        return found.recombined(over, max(BASES, beam)) if self.config.recombine and beam is not None else found

    @property
    def _recombines(self) -> bool:
        """Whether paths are recombined: not where the beam has no bound, whose best route is optimal already."""
        return self.config.recombine and self.config.beam is not None

    def beams(self, instance: Instance) -> int:
        if self.config.tau is None:
            return LEVELS + 2
        return int(min(instance.budget / self.config.tau, MOST_LEVELS)) + 2


class StepSolver(BeamSolver[BeamConfig]):
    """The step-by-step beam search with any score."""

    config_class: ClassVar[type[Any]] = StepConfig

    def first_calls(self, symmetric: bool) -> list[str]:
        return ["search_steps"]

    def explore(self, problems: Problems, scorer: Scorer, watch: Watch, directions: int) -> Expander:
        return step_search(self.backend, problems, scorer, StepConfig(self.config.beam, self.config.branch), watch)

    def beams(self, instance: Instance) -> int:
        return instance.size


class PrizeCostLevelSearch(CostLevelSolver[CostLevelConfig]):
    """CS-p: the cost-level beam search scored by the prize collected."""

    name = "cs-p"
    handles = frozenset({*REDUCED, "windows", "required"})

    def kernels(self, instance: Instance) -> list[str]:
        return ["orienteer.beam.timed:a_little"] if instance.features else super().kernels(instance)

    def search(self, run: Run, seed: int) -> None:
        if run.instance.features:
            if self.on_reading is not None:
                raise Unsupported("levels are shown of problems without opening hours and required places")
            timed_search(run, self.config)
        else:
            super().search(run, seed)

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """As for any beam search, but one instance after the other where one has opening hours or required places."""
        if any(instance.reduced.features for instance in instances):
            return Solver.solve_batch(self, instances, stop, seed=seed, on_done=on_done)
        return super().solve_batch(instances, stop, seed=seed, on_done=on_done)

    def scorer(self) -> Scorer:
        return PrizeScore()


class TsiliBeam(StepSolver[StepConfig]):
    """The step-by-step beam search scored by Tsiligirides' desirability."""

    name = "tsili-beam"
    bars_nothing = False

    def scorer(self) -> Scorer:
        return TsiliScore()


def _shared(results: list[Result], seconds: float) -> list[Result]:
    """The results with times that add up to `seconds`: batches side by side take unequal times."""
    factor = seconds / max(sum(one.seconds for one in results), 1e-9)
    return [
        dataclasses.replace(
            one,
            seconds=factor * one.seconds,
            trace=tuple(dataclasses.replace(step, seconds=factor * step.seconds) for step in one.trace),
        )
        for one in results
    ]
