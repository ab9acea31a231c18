"""A run of any solver: its clock, its best route, its trace."""

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
"""How far, as a share, two sums of the same prizes, added in different orders, may differ."""
WHOLE = 1e-9
"""How far, as a share, a bound may be from a whole number and still be taken for that number."""


def within_reach(instance: Instance) -> float:
    """The sum of the prizes of all nodes within reach: no route can collect more."""
    return float(instance.prizes[instance.reachable].sum())


class Run:
    """Keeps the best route offered, reports progress and asks the stop criterion.

    It begins with the cheapest route from start to end, so that there is an answer at any moment, and with the prizes
    of all nodes within reach as the bound.
    """

    def __init__(
        self,
        instance: Instance,
        stop: Stop | Callable[[Progress], bool],
        on_progress: OnProgress = ignore,
        shortest: bool = False,
    ):
        """With `shortest` the cheapest of the best routes is sought: the run is not proven before it is `settled`."""
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
        """Checks a route and keeps it if it collects more than the best, or as much at a lower cost.

        Says whether the best prize rose.
        """
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
        """Keeps other good routes, to be returned beside the best."""
        tours = [check_tour(self.instance, nodes) for nodes in routes]
        self.others = sorted(tours, key=lambda tour: (-tour.prize, tour.cost))

    def step(self, count: int = 1) -> bool:
        """Counts `count` steps, reports progress, and says whether to end."""
        self.steps += count
        return self.report()

    def report(self) -> bool:
        """Reports progress and says whether to end: by the stop criterion, or since the best route is proven."""
        now = self.now()
        if self.on_progress is not ignore:
            self.on_progress(replace(now, fraction=self.whole.fraction(now)))
        return self.proven or self.stop(now)

    @contextmanager
    def within(self, stop: Stop) -> Iterator[None]:
        """A context for a phase of the search, which also ends by a further criterion."""
        before = self.stop
        self.stop = AnyOf(before, stop)
        try:
            yield
        finally:
            self.stop = before

    @contextmanager
    def share(self, part: float, overtime: float = 1.0) -> Iterator[None]:
        """A context for a phase of the search, which ends after a `part`, 0 to 1, of the seconds and steps left.

        `overtime` is a factor on the seconds, for a phase that is worth little unfinished: 1.4 lets it take 40 % longer
        than planned.
        """
        now = self.now()
        seconds, steps = self.stop.seconds_left(now), self.stop.steps_left(now)
        with self.within(at_most(now.seconds + overtime * part * seconds, now.steps + part * steps)):
            yield

    def tighten(self, bound: float) -> None:
        """Notes an upper bound on the prize; a bound above the known one changes nothing.

        Where all prizes are whole numbers, the bound is rounded down to a whole number too.
        """
        self.bound = min(self.bound, _rounded_down(bound) if self.whole_prizes else bound)
        self.tightened = True

    @property
    def proven(self) -> bool:
        """Whether the best route found is known to be the best there is."""
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
    """The bound rounded down to a whole number, or up if it is within `WHOLE` of the next; infinity as it is."""
    if not math.isfinite(bound):
        return bound
    nearest = float(round(bound))
    return nearest if abs(bound - nearest) <= WHOLE * max(1.0, nearest) else float(math.floor(bound))
