"""The default solver, which picks methods by the problem and the machine."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.rules import FEATURES, Feature
from orienteer.search.registry import make_solver
from orienteer.search.run import Run
from orienteer.search.solver import AnySolver, OnDone, Solver, no_news
from orienteer.search.stop import AnyOf, MaxSeconds, Progress, Stop, at_most

CROOKED = 0.25
"""Costs are crooked where, for this share of legs or more, a detour costs less than half of the leg."""
SAMPLE = 100
"""The most nodes whose legs are looked at."""
BEAM_SHARE = 0.7
"""The share of the allowance that beam searches get on crooked costs."""
FIRST_BEAM, WIDENING = 20, 3
"""The width of the first beam, and the factor from each beam to the next."""
WIDEST_BEAM, WIDEST_UNTIMED = 20_000, 1_000
"""The widest beams with and without a limit on seconds: a step takes longer the wider the beam is."""
LABELLED: frozenset[Feature] = frozenset({"windows"})
"""Rules of problems whose routes labels may find: opening hours leave few orders of visits."""
LEAST_SECONDS, MOST_STOPS = 2.0, 30
"""Labels need this many seconds, and plans none of whose routes has more stops."""
FIRST_SHARE, LABELS_SHARE = 0.1, 0.5
"""The share of the allowance for a first plan, and the labels' share of the rest."""
FIRST_SECONDS = 0.01
"""The most seconds for a first plan, for each node: a proof often takes less time than these."""
LABELS = 1 << 19
"""The most labels: they take 80 megabytes."""


@dataclass(frozen=True)
class AutoConfig:
    """Settings of the default method."""

    device: str = "auto"
    """"cpu", "cuda", or "auto": batches are searched on a GPU where the machine has one."""
    threads: int = 1
    """Cores for one problem, as the neighbourhood search uses them: plain problems of more than 400 nodes."""
    labels: bool = True
    """Whether labels help the neighbourhood search where places have opening hours (extra exact)."""

    def __post_init__(self) -> None:
        if not isinstance(self.threads, int) or self.threads < 1:
            raise ValueError(f"AutoConfig.threads must be a whole number of at least 1, got {self.threads}")


class Auto(Solver[AutoConfig]):
    """The large neighbourhood search where costs are like distances; beams that widen where they are crooked.

    On fully random costs a node that is cheap to insert at a place rarely belongs there, so routes are first built by
    cost-level beam searches with ever wider beams, and the best route is handed to the neighbourhood search. A batch on
    a GPU goes through the learned beam search, all instances at once, and then, if a stop criterion leaves time, each
    route through the neighbourhood search. Where places have opening hours, routes are sought by labels too, if the
    extra exact is there and the stop criterion gives seconds: these often prove that a plan is the best. The settings
    of results name the methods chosen.
    """

    name = "auto"
    config_class = AutoConfig
    handles = frozenset(FEATURES)

    def __init__(self, config: AutoConfig | None = None):
        super().__init__(config)
        self.choice = "lns"

    def default_stop(self, instance: Instance) -> Stop:
        return make_solver("lns").default_stop(instance)

    def kernels(self, instance: Instance) -> list[str]:
        more: list[str] = []
        if _wants_beams(instance):
            more = self._beam(FIRST_BEAM).kernels(instance)
        elif self._knows_labels(instance) and (prover := _prover()) is not None:
            more = prover.kernels(instance)
        return list(dict.fromkeys([*self._neighbourhood().kernels(instance), *more]))

    def search(self, run: Run, seed: int) -> None:
        prover = _prover() if self._wants_labels(run) else None
        if prover is not None:
            self._search_with_labels(run, seed, prover)
            return
        crooked = _wants_beams(run.instance)
        self.choice = "cs-p, lns" if crooked else "lns"
        if not crooked:
            self._neighbourhood().search(run, seed)
            return
        self._widen(run, seed)
        if not run.report():
            self._neighbourhood(start_share=0.0).search(run, seed)

    def _wants_labels(self, run: Run) -> bool:
        """Whether labels are worth trying; without seconds a result would depend on which extras are there."""
        seconds = run.stop.seconds_left(run.now())
        return self._knows_labels(run.instance) and LEAST_SECONDS <= seconds < math.inf

    def _knows_labels(self, instance: Instance) -> bool:
        return self.config.labels and instance.features >= LABELLED

    def _search_with_labels(self, run: Run, seed: int, prover: AnySolver) -> None:
        """The neighbourhood search, and between its beginning and its end labels from the plan found so far."""
        self.choice = "lns"
        with run.share(FIRST_SHARE), run.within(MaxSeconds(run.seconds + FIRST_SECONDS * run.problem.size)):
            self._neighbourhood().search(run, seed)
        if run.report():
            return
        if _has_short_routes(run):
            self.choice = f"lns, {prover.name}"
            with run.share(LABELS_SHARE):
                prover.search(run, seed)
        if not run.report():
            self._neighbourhood().search(run, seed + 1)

    def on_gpu(self) -> bool:
        """Whether batches are searched on a GPU."""
        return self._learned().on_gpu()

    def takes_batches(self) -> bool:
        return self.on_gpu()

    def solve_batch(
        self,
        instances: Sequence[Instance],
        stop: Stop | None = None,
        *,
        seed: int = 0,
        on_done: OnDone = no_news,
    ) -> list[Result]:
        """A result for each instance; on a GPU they are searched together."""
        if not self.takes_batches() or any(instance.features for instance in instances):
            return super().solve_batch(instances, stop, seed=seed, on_done=on_done)
        return self.solve_together(instances, stop, seed, on_done)

    def solve_together(
        self, instances: Sequence[Instance], stop: Stop | None = None, seed: int = 0, on_done: OnDone = no_news
    ) -> list[Result]:
        """A result for each instance, by the learned search of all instances at once, as for a batch on a GPU.

        Then comes the neighbourhood search of each instance, where the stop criterion leaves time.
        """
        learned = self._learned()
        mending = stop is not None and _ends(stop, Progress(0.0, 0, 0, 0.0))
        self.choice = f"{learned.name}, lns" if mending else learned.name
        found = learned.solve_batch(instances, stop, seed=seed, on_done=no_news if mending else on_done)
        if stop is None or not mending:
            return [self._named(result) for result in found]
        results = []
        for index, (instance, result) in enumerate(zip(instances, found, strict=True)):
            results.append(self._named(self._mended(instance, result, stop, seed + index)))
            on_done(index + 1, len(instances))
        return results

    @property
    def settings(self) -> dict[str, Any]:
        return {"choice": self.choice, **super().settings}

    def _beam(self, width: int) -> AnySolver:
        return make_solver("cs-p", beam=width, both=True, device="cpu")

    def _neighbourhood(self, **settings: float) -> AnySolver:
        return make_solver("lns", threads=self.config.threads, **settings)

    def _learned(self) -> AnySolver:
        return make_solver("cs-l", device=self.config.device)

    def _widen(self, run: Run, seed: int) -> None:
        """The paper's search without a network, again and again, each beam wider than the one before."""
        timed = math.isfinite(run.stop.seconds_left(run.now()))
        with run.share(BEAM_SHARE):
            beam, widest = FIRST_BEAM, WIDEST_BEAM if timed else WIDEST_UNTIMED
            while beam <= widest and not run.report():
                self._beam(beam).search(run, seed)
                beam *= WIDENING

    def _mended(self, instance: Instance, result: Result, stop: Stop, seed: int) -> Result:
        """The result after a neighbourhood search with the seconds and steps that `stop` leaves it."""
        now = Progress(result.seconds, result.steps, 0, result.prize)
        if stop(now):
            return result
        left = AnyOf(stop, at_most(stop.seconds_left(now), stop.steps_left(now)))
        more = make_solver("lns").solve(instance, left, seed=seed, initial=result.plan)
        return dataclasses.replace(more, seconds=result.seconds + more.seconds, steps=result.steps + more.steps)

    def _named(self, result: Result) -> Result:
        return dataclasses.replace(result, solver=self.name, settings=self.settings)


def _prover() -> AnySolver | None:
    """The exact solver, which goes on from the run's plan; None where its extra is not installed."""
    try:
        return make_solver("exact", warm=0.0, labels=LABELS)
    except MissingExtra:
        return None


def _has_short_routes(run: Run) -> bool:
    """Whether the routes of the best plan have few stops: with many, labels are too many."""
    return run.plan is not None and max(len(tour.nodes) for tour in run.plan.routes) <= MOST_STOPS


def _wants_beams(instance: Instance) -> bool:
    """Whether beams come before the neighbourhood search: where costs are crooked and there are no rules."""
    return not instance.features and is_crooked(instance)


def _ends(stop: Stop, now: Progress) -> bool:
    """Whether the criterion limits seconds or steps, and so ends a search that would go on for ever."""
    return math.isfinite(stop.seconds_left(now)) or math.isfinite(stop.steps_left(now))


def is_crooked(instance: Instance) -> bool:
    """Whether, for `CROOKED` or more of a sample of legs, a detour by another node costs less than half of the leg.

    No route makes a detour by its start or end: a free end, which all nodes reach at no cost, makes nothing crooked.
    """
    inner = np.setdiff1d(np.flatnonzero(instance.reachable), [instance.start, instance.end])
    if len(inner) > SAMPLE:
        inner = inner[np.linspace(0, len(inner) - 1, SAMPLE).astype(np.int64)]
    if len(inner) < 3:
        return False
    costs = instance.costs[np.ix_(inner, inner)].copy()
    np.fill_diagonal(costs, np.inf)  # neither node of a leg is a detour
    detour = np.min(costs[:, :, None] + costs[None, :, :], axis=1)
    legs = ~np.eye(len(inner), dtype=bool) & np.isfinite(costs)
    return bool(legs.any()) and float(np.mean(detour[legs] < 0.5 * costs[legs])) >= CROOKED
