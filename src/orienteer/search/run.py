"""One run of a solver: its clock, its incumbent, its trace. The same for every solver."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from orienteer.model.instance import Instance
from orienteer.model.result import Improvement, Result, Status
from orienteer.model.tour import Tour, check_tour
from orienteer.search.stop import AnyOf, OnProgress, Progress, Stop, as_stop, at_most, ignore
from orienteer.version import __version__

ROUNDING = 1e-14
"""How far, as a share, sums of the same prizes in another order may differ."""
WHOLE = 1e-9
"""How far, as a share, a bound may be from a whole number and still be taken for it."""


def within_reach(instance: Instance) -> float:
    """The prizes of all nodes within reach: a bound for every route."""
    return float(instance.prizes[instance.reachable].sum())


class Run:
    """Keeps the best route offered, reports progress and asks the stop criterion.

    It begins with the cheapest way from start to end, so that there is an answer at any moment, and with the prizes of
    all nodes within reach as the bound.
    """

    def __init__(
        self,
        instance: Instance,
        stop: Stop | Callable[[Progress], bool],
        on_progress: OnProgress = ignore,
        shortest: bool = False,
    ):
        """With `shortest` the cheapest of the best routes is sought: a full prize proves nothing until `settled`."""
        self.instance = instance
        self.stop = self.whole = as_stop(stop)
        self.on_progress = on_progress
        self.shortest, self.settled = shortest, not shortest
        self.began = time.perf_counter()
        self.steps = 0
        self.best_step = 0
        self.bound = within_reach(instance)
        self.tightened = False
        self.whole_prizes = bool((instance.prizes == np.rint(instance.prizes)).all())
        self.trace: list[Improvement] = []
        self.others: list[Tour] = []
        self.best: Tour = check_tour(instance, instance.cheapest_route())
        self._note_best()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.began

    def now(self) -> Progress:
        """A snapshot for stop criteria and listeners."""
        return Progress(self.seconds, self.steps, self.steps - self.best_step, self.best.prize, self.bound)

    def offer(self, nodes: Sequence[int]) -> bool:
        """Checks a route and keeps it if it collects more, or as much for less; says whether the prize rose."""
        tour = check_tour(self.instance, nodes)
        if (tour.prize, -tour.cost) <= (self.best.prize, -self.best.cost):
            return False
        rose = tour.prize > self.best.prize
        self.best = tour
        if rose:
            self._note_best()
        elif self.shortest:
            self.best_step = self.steps
        return rose

    def also(self, routes: Sequence[Sequence[int]]) -> None:
        """Notes other good routes, to be returned beside the best."""
        tours = [check_tour(self.instance, nodes) for nodes in routes]
        self.others = sorted(tours, key=lambda tour: (-tour.prize, tour.cost))

    def step(self, count: int = 1) -> bool:
        """Counts steps, reports progress, and says whether to end."""
        self.steps += count
        return self.report()

    def report(self) -> bool:
        """Reports progress and says whether to end; also when the prize meets the bound."""
        now = self.now()
        if self.on_progress is not ignore:
            self.on_progress(replace(now, fraction=self.whole.fraction(now)))
        return self.proven or self.stop(now)

    @contextmanager
    def within(self, stop: Stop) -> Iterator[None]:
        """For a phase of the search: inside, a further criterion ends it too."""
        before = self.stop
        self.stop = AnyOf(before, stop)
        try:
            yield
        finally:
            self.stop = before

    @contextmanager
    def share(self, part: float, overtime: float = 1.0) -> Iterator[None]:
        """For a phase of the search: inside, it ends after a part of the seconds and of the steps that are left.

        `overtime` stretches the seconds for a phase that is worth little unfinished: 1.4 lets it take 40 % longer than
        planned.
        """
        now = self.now()
        seconds, steps = self.stop.seconds_left(now), self.stop.steps_left(now)
        with self.within(at_most(now.seconds + overtime * part * seconds, now.steps + part * steps)):
            yield

    def tighten(self, bound: float) -> None:
        """Notes an upper bound on the prize; a looser one than is known changes nothing.

        Where all prizes are whole numbers, so is the bound: what a linear program leaves above one is cut off.
        """
        self.bound = min(self.bound, _rounded_down(bound) if self.whole_prizes else bound)
        self.tightened = True

    @property
    def proven(self) -> bool:
        """Whether the route is known to be the best."""
        return self.settled and self.full

    @property
    def full(self) -> bool:
        """Whether the bound meets the prize, but for rounding: no prize, however small beside others, is missing."""
        return self.bound <= self.best.prize * (1 + ROUNDING)

    def result(self, solver: str, seed: int, settings: dict[str, Any]) -> Result:
        """The run's outcome."""
        status: Status = "optimal" if self.proven else "stopped"
        return Result(
            tour=self.best,
            status=status,
            seconds=self.seconds,
            steps=self.steps,
            solver=solver,
            seed=seed,
            limit=self.instance.limit,
            bound=self.bound if self.tightened or self.proven else math.inf,  # all prizes within reach tell nothing
            settings=settings,
            trace=tuple(self.trace),
            version=__version__,
            alternatives=tuple(self.others),
        )

    def _note_best(self) -> None:
        self.best_step = self.steps
        self.trace.append(Improvement(self.seconds, self.steps, self.best.prize))


def _rounded_down(bound: float) -> float:
    """The largest whole number up to the bound, give or take `WHOLE`; an infinite bound as it is."""
    if not math.isfinite(bound):
        return bound
    nearest = float(round(bound))
    return nearest if abs(bound - nearest) <= WHOLE * max(1.0, nearest) else float(math.floor(bound))
