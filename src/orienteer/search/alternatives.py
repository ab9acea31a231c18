"""Several good routes that differ: found by searches to which the stops of known routes are worth less.

That a route differs from another is a condition that no search knows. So it gets a price, as in a Lagrangian
relaxation: the prizes of a known route's stops are discounted, by more after a search whose route is too close to the
known one, by less after a search whose route is far enough from it. Of all routes that are far enough from all known
ones the best is the next alternative.
"""

import copy
import dataclasses
import math
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.result import Result
from orienteer.search.auto import is_crooked
from orienteer.search.registry import make_solver
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, OnProgress, PartOf, Progress, Stop, When, at_most, ignore

APART = 0.25
"""Of any two alternatives, each visits at least this share of its stops without the other; the ends do not count."""
MAIN_PART = 0.5
"""The part of an allowance that the search for the best route has where alternatives are asked for."""
SEARCHES = 12
"""Searches with discounts for each alternative."""
STEPS = 2000
"""The most steps of one of these searches."""
BEAM = 20
"""The beam width of these searches where costs are crooked."""
DISCOUNT, CHANGE, CALMING, RELIEF = 0.4, 0.35, 0.8, 0.5
"""The first discount; by how much it rises at first; the factor on that after each search; the share of it by which a
discount falls that was enough."""


def main_part(stop: Stop) -> Stop:
    """The criterion for the search for the best route, where `stop` is for the alternatives too."""
    return PartOf(stop, MAIN_PART)


def check_alternatives(solver: AnySolver, count: int) -> None:
    """Nothing, or an error where a solver's answer cannot have `count` - 1 alternatives."""
    if count < 1:
        raise ValueError(f"alternatives must be at least 1, got {count}")
    if count > 1 and solver.shortest:
        raise ValueError(f"{solver.name} visits every node, so no two of its routes differ in their stops")


def with_alternatives(
    instance: Instance,
    result: Result,
    count: int,
    left: Stop | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
    on_progress: OnProgress = ignore,
) -> Result:
    """The result with up to `count` - 1 other routes beside its own, most prize first, all of them `apart`.

    `left` says how many seconds and steps there are for this; without it each search has `STEPS`. None of the routes
    collects more than the result's.
    """
    searches = _Searches(instance, result, (count - 1) * (SEARCHES + 1), left, cancelled, on_progress)
    if result.plan is None:
        return result
    known = [result.plan]
    while len(known) < count and (found := _another(instance, known, searches)) is not None:
        known.append(found)
    return dataclasses.replace(
        result,
        alternatives=tuple(sorted(known[1:], key=_rank)),
        seconds=result.seconds + searches.seconds,
        steps=result.steps + searches.steps,
    )


def apart(instance: Instance, one: Plan, other: Plan) -> bool:
    """Whether two routes differ enough to be alternatives."""
    first, second = one.visited - instance.ends, other.visited - instance.ends
    common = len(first & second)
    return all(len(stops) - common >= max(1.0, APART * len(stops)) for stops in (first, second))


def _another(instance: Instance, known: Sequence[Plan], searches: "_Searches") -> Plan | None:
    """The best route found that is apart from all known ones; None where none is found."""
    stops = np.zeros((len(known), instance.size), dtype=bool)
    for row, plan in enumerate(known):
        stops[row, list(plan.visited)] = True
    discounts, change, found = np.full(len(known), DISCOUNT), CHANGE, list[Plan]()
    for _ in range(SEARCHES):
        if searches.over:
            break
        worth = np.prod(1 - discounts[:, None] * stops, axis=0)
        plan = searches.plan(instance.prizes * worth, known[0])
        modest = plan.prize <= known[0].prize  # what collects more than a weak solver's answer is no alternative to it
        enough = np.array([modest and apart(instance, plan, other) for other in known])
        if enough.all():
            found.append(plan)
        discounts = np.clip(discounts + np.where(enough, -RELIEF * change, change), 0.0, 1.0)
        change *= CALMING
    if not found:
        return None
    best = min(found, key=_rank)
    if not searches.over:  # chosen by discounted prizes: once more by the true ones, without the stops it leaves out
        left_out = stops.any(0) & ~np.isin(np.arange(instance.size), list(best.visited))
        plan = searches.plan(np.where(left_out, 0.0, instance.prizes), best)
        if plan.prize <= known[0].prize and all(apart(instance, plan, other) for other in known):
            best = min(best, plan, key=_rank)
    return best


def _rank(plan: Plan) -> tuple[float, float]:
    """Orders plans, the best first."""
    return -plan.prize, plan.cost


class _Searches:
    """Short searches of a problem with other prizes, one after the other, each with its share of what is left."""

    def __init__(
        self,
        instance: Instance,
        result: Result,
        planned: int,
        left: Stop | None,
        cancelled: Callable[[], bool] | None,
        on_progress: OnProgress,
    ):
        self.instance, self.result, self.left, self.planned = instance, result, left, planned
        self.cancelled = cancelled or (lambda: False)
        self.on_progress = on_progress
        crooked = not instance.reduced.features and is_crooked(instance.reduced)
        self.solver = (
            make_solver("cs-p", beam=BEAM, both=True, device="cpu") if crooked else make_solver("lns", start_share=0.0)
        )
        self.began = time.perf_counter()
        self.steps = self.done = 0

    @property
    def seconds(self) -> float:
        """Seconds since the first search began."""
        return time.perf_counter() - self.began

    @property
    def over(self) -> bool:
        """Whether the caller cancelled or nothing is left of the allowance."""
        return self.cancelled() or (self.left is not None and self.left(self._now()))

    def plan(self, prizes: npt.NDArray[np.float64], initial: Plan) -> Plan:
        """The plan of a search with these prizes, told what it is truly worth."""
        now, share = self._now(), max(1, self.planned - self.done)
        seconds = math.inf if self.left is None else self.left.seconds_left(now) / share
        steps = math.inf if self.left is None else self.left.steps_left(now) / share
        stop = AnyOf(at_most(seconds, min(STEPS, steps)), When(lambda now: self.cancelled()))
        problem = _repriced(self.instance, prizes)
        found = self.solver.solve(problem, stop, seed=self.result.seed + self.done, initial=initial)
        self.steps += found.steps
        self.done += 1
        self.on_progress(self._now())
        return check_plan(self.instance, [tour.nodes for tour in found.routes])

    def _now(self) -> Progress:
        """How far this part of the work is."""
        found = self.result
        return Progress(self.seconds, self.steps, self.steps, found.prize, found.bound, plan=found.plan)


def _repriced(instance: Instance, prizes: npt.NDArray[np.float64]) -> Instance:
    """The problem with other prizes, which change nothing of what was checked or worked out of its costs."""
    other = copy.copy(instance)
    frozen = np.ascontiguousarray(prizes)
    frozen.setflags(write=False)
    for name in ("reduced", "plan_view"):  # made anew where they are asked for
        other.__dict__.pop(name, None)
    other.__dict__["prizes"] = frozen
    if not instance.features:
        view = instance.view
        worth = prizes[view.nodes]
        if view.round_trip:
            worth[-1] = 0.0
        other.__dict__["view"] = view._replace(prizes=worth)
    return other
