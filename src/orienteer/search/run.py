"""A run of any solver: its clock, its best route, its trace."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.reduce import lifted, lowered
from orienteer.model.result import Improvement, Result, Status
from orienteer.model.tour import Tour, check_plain
from orienteer.search.stop import AnyOf, OnProgress, Progress, Stop, as_stop, at_most, ignore
from orienteer.version import __version__

ROUNDING = 1e-14
"""How far, as a share, two sums of the same prizes, added in different orders, may differ."""
WHOLE = 1e-9
"""How far, as a share, a bound may be from a whole number and still be taken for that number."""


def within_reach(instance: Instance) -> float:
    """The sum of the prizes of all nodes within reach: no plan can collect more."""
    if not instance.features:
        return float(instance.prizes[instance.reachable].sum())
    fits = set(np.flatnonzero(instance.reach.fits.any(axis=0)).tolist()) | instance.ends
    return float(instance.prizes[sorted(fits)].sum())


class Run:
    """Keeps the best plan offered, reports progress and asks the stop criterion.

    A run of a problem with one route and no rules but visit times and a free end searches the plain problem `instance`:
    it begins with the cheapest route from start to end, `best`, so that there is an answer at any moment. A run of any
    other problem begins without a plan, and is offered plans. The first bound is the prizes of all nodes within reach.
    """

    def __init__(
        self,
        problem: Instance,
        stop: Stop | Callable[[Progress], bool],
        on_progress: OnProgress = ignore,
        shortest: bool = False,
    ):
        """With `shortest` the cheapest of the best routes is sought: the run is not proven before it is `settled`."""
        self.problem = problem
        self.instance = problem.reduced
        self.stop = self.whole = as_stop(stop)
        self.on_progress = on_progress
        self.shortest, self.settled = shortest, not shortest
        self.began = time.perf_counter()
        self.steps = 0
        self.best_step = 0
        self.bound = within_reach(problem)
        self.tightened = self.infeasible = False
        self.whole_prizes = bool((problem.prizes == np.rint(problem.prizes)).all())
        self.trace: list[Improvement] = []
        self.others: list[Plan] = []
        self.plan: Plan | None = None
        self._best: Tour | None = None
        if not self.instance.features:
            self.offer(self.instance.cheapest_route())

    @property
    def best(self) -> Tour:
        """The best route, in the numbers of `instance`; for problems that are plain or become so."""
        assert self._best is not None, "a problem with rules has plans, and perhaps none yet"
        return self._best

    @property
    def prize(self) -> float:
        """What the best plan collects; minus infinity while there is none."""
        return -math.inf if self.plan is None else self.plan.prize

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.began

    def now(self) -> Progress:
        """A snapshot for stop criteria and listeners."""
        since_best = self.steps - self.best_step
        return Progress(self.seconds, self.steps, since_best, self.prize, self.known_bound, plan=self.plan)

    def offer(self, nodes: Sequence[int]) -> bool:
        """Checks a route and keeps it if it collects more than the best, or as much at a lower cost.

        Says whether the best prize rose.
        """
        tour = check_plain(self.instance, nodes)
        if self._best is not None and (tour.prize, -tour.cost) <= (self._best.prize, -self._best.cost):
            return False
        plan = self._planned(tour)
        if plan is None:
            return False
        self._best = tour
        return self._keep(plan)

    def begin_with(self, initial: Sequence[int] | Plan) -> None:
        """Offers a route or a plan of the problem as given."""
        routes = [tour.nodes for tour in initial.routes] if isinstance(initial, Plan) else [initial]
        if self.instance.features:
            self.offer_plan(routes)
        elif len(routes) == 1:
            self.offer(lowered(self.problem, routes[0]))
        else:
            raise InfeasibleTour(f"the problem has one route, got {len(routes)}")

    def offer_plan(self, routes: Sequence[Sequence[int]]) -> bool:
        """As `offer`, for a problem with rules: a list of nodes for each of its routes."""
        plan = check_plan(self.problem, routes)
        if self.plan is not None and (plan.prize, -plan.cost) <= (self.plan.prize, -self.plan.cost):
            return False
        return self._keep(plan)

    def also(self, routes: Sequence[Sequence[int]]) -> None:
        """Keeps other good routes, to be returned beside the best."""
        if self.instance.features:
            plans: list[Plan | None] = [check_plan(self.problem, [nodes]) for nodes in routes]
        else:
            plans = [self._planned(check_plain(self.instance, nodes)) for nodes in routes]
        self.others = sorted((plan for plan in plans if plan), key=lambda plan: (-plan.prize, plan.cost))

    def _planned(self, tour: Tour) -> Plan | None:
        """The plan of a route of `instance`; None where rounding takes it over the limit of the problem as given."""
        if self.instance is self.problem:
            return Plan.of(tour)
        try:
            return check_plan(self.problem, [lifted(self.problem, tour.nodes)])
        except InfeasibleTour:
            return None

    def _keep(self, plan: Plan) -> bool:
        rose = plan.prize > self.prize
        self.plan = plan
        if rose:
            self.best_step = self.steps
            self.trace.append(Improvement(self.seconds, self.steps, plan.prize))
        elif self.shortest:
            self.best_step = self.steps
        return rose

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
    def known_bound(self) -> float:
        """The bound; infinite where it is only the prizes of all nodes within reach, which tell nothing."""
        return self.bound if self.tightened or self.proven else math.inf

    @property
    def proven(self) -> bool:
        """Whether the best plan found is known to be the best there is, or known not to exist."""
        return self.infeasible or (self.settled and self.full)

    @property
    def full(self) -> bool:
        """Whether the bound meets the prize, but for rounding: no prize, however small beside others, is missing."""
        return self.plan is not None and self.bound <= self.plan.prize * (1 + ROUNDING)

    def result(self, solver: str, seed: int, settings: dict[str, Any]) -> Result:
        """The run's outcome."""
        status: Status = "optimal" if self.proven else "stopped"
        if self.plan is None:
            status = "infeasible" if self.infeasible else "none found"
        return Result(
            plan=self.plan,
            status=status,
            seconds=self.seconds,
            steps=self.steps,
            solver=solver,
            seed=seed,
            limit=self.problem.limit,
            bound=self.known_bound,
            settings=settings,
            trace=tuple(self.trace),
            version=__version__,
            alternatives=tuple(self.others),
        )


def _rounded_down(bound: float) -> float:
    """The bound rounded down to a whole number, or up if it is within `WHOLE` of the next; infinity as it is."""
    if not math.isfinite(bound):
        return bound
    nearest = float(round(bound))
    return nearest if abs(bound - nearest) <= WHOLE * max(1.0, nearest) else float(math.floor(bound))
