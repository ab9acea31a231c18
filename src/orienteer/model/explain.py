"""Why a place is not in a plan: every way to insert it, replayed by the judge."""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.model.contradictions import called
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.plan import Broken, Plan, broken_choice, broken_on_route, check_plan

Ints = npt.NDArray[np.int64]

Reason = Literal["way", "window", "limit", "required", "group", "budget", "nothing"]


@dataclass(frozen=True)
class Explanation:
    """Where a place comes closest to fitting into a plan as it stands, and what stops it there."""

    node: int
    name: str | None
    prize: float
    """What the place would add."""
    route: int
    """The route into which the place comes closest to fitting."""
    place: int
    """The stop that the place would be on that route; the start is stop 0."""
    before: int
    after: int | None
    """The stops between which the place would be; None after the last stop of a route with a free end."""
    detour: float
    """What the visit and the way there cost more than the way between the two stops."""
    slack: float
    """What the route leaves of its limit as it stands."""
    broken: tuple[Broken, ...]
    """The rules that the plan would break with the place: those of time in the order of the stops, then the others."""

    @property
    def fits(self) -> bool:
        """Whether the place can be inserted as it is."""
        return not self.broken

    @property
    def stopper(self) -> Broken | None:
        """The rule that stops the place: a group or budget, else the rule of time that is exceeded by the most."""
        choice = [one for one in self.broken if one.rule in CHOICE]
        return max(choice or self.broken, key=lambda one: one.excess, default=None)

    @property
    def reason(self) -> Reason:
        """The name of that rule, or "nothing"."""
        return "nothing" if self.stopper is None else self.stopper.rule

    @property
    def excess(self) -> float:
        """By how much that rule is exceeded."""
        return 0.0 if self.stopper is None else self.stopper.excess

    @property
    def distance(self) -> tuple[int, float, float]:
        """How far from fitting, for sorting: groups and budgets exceeded, the time that is lacking, the detour."""
        return sum(one.rule in CHOICE for one in self.broken), _lacking(self.broken), self.detour

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; what is infinite is None."""
        keys = ("node", "name", "prize", "route", "place", "before", "after", "detour", "slack", "reason", "excess")
        values = {key: getattr(self, key) for key in keys}
        values |= {key: None for key in ("detour", "excess") if math.isinf(values[key])}
        return {**values, "broken": [one.words for one in self.broken]}


CHOICE = ("required", "group", "budget")
"""Rules on which nodes are visited, whatever their order."""


def explain(instance: Instance, plan: Plan, node: int | str) -> Explanation:
    """Why a node, given by number or name, is not in a plan.

    The node is tried at every place of every route. The answer is the place that lacks the least time; of several
    such, the one that breaks the fewest rules, then the one with the smallest detour. Other stops stay in their order.
    """
    return _explain(instance, plan, instance.find("node", node), _Gaps.of(instance, plan))


def _explain(instance: Instance, plan: Plan, number: int, gaps: "_Gaps") -> Explanation:
    if number in plan.visited or number in instance.ends:
        what = "a start or an end" if number in instance.ends else "in the plan"
        raise ValueError(f"{called(instance, number)} is {what}: only a place that is left out can be explained")
    best = _closest_insertion(instance, plan, number, gaps)
    choice = tuple(broken_choice(instance, {*plan.visited, number}))
    return _judged(instance, plan, replace(best, broken=best.broken + choice))


def closest(instance: Instance, plan: Plan, most: int = 10) -> list[Explanation]:
    """The places with a prize that came closest to being in the plan, the closest first, at most `most`."""
    left = [node for node in range(instance.size) if node not in plan.visited and node not in instance.ends]
    gaps = _Gaps.of(instance, plan)
    found = [_explain(instance, plan, node, gaps) for node in left if instance.prizes[node] > 0]
    return sorted(found, key=lambda one: one.distance)[:most]


def inserted(plan: Plan, explanation: Explanation) -> list[list[int]]:
    """The nodes of the plan's routes with the place where it comes closest to fitting."""
    routes = [list(tour.nodes) for tour in plan.routes]
    routes[explanation.route].insert(explanation.place, explanation.node)
    return routes


class _Gaps(NamedTuple):
    """The places of a plan into which a node may be put, all routes one after the other."""

    route: Ints
    place: Ints
    before: Ints
    after: Ints
    """-1 after the last stop of a route with a free end."""
    direct: Array
    """The cost of the leg that the node would interrupt."""
    leave: Array
    """When the route leaves the stop before."""
    spare: Array
    """The most time that a detour can take: the slack of the route, and the waits from the next stop on."""

    @classmethod
    def of(cls, instance: Instance, plan: Plan) -> "_Gaps":
        """The gaps of a plan."""
        rows = []
        for number, (visits, route) in enumerate(zip(plan.stops(instance), instance.each_route, strict=True)):
            spare = route.limit - visits[-1].cost
            if route.end is None:
                rows.append((number, len(visits), visits[-1].node, -1, 0.0, visits[-1].leave, spare))
            for here, there in reversed(list(itertools.pairwise(visits))):
                spare += there.wait
                rows.append((number, there.place, here.node, there.node, there.leg, here.leave, spare))
        columns = list(zip(*rows, strict=True))
        return cls(*(np.array(column) for column in columns))

    def detours(self, instance: Instance, node: int) -> Array:
        """What a visit of the node costs in each gap."""
        onward = np.where(self.after < 0, 0.0, instance.costs[node, self.after])
        visit = 0.0 if instance.service is None else float(instance.service[node])
        detours: Array = instance.costs[self.before, node] + visit + onward - self.direct
        return detours

    def bounds(self, instance: Instance, node: int, detours: Array) -> Array:
        """The least time that is lacking in each gap: on the rest of the way a delay shrinks by the waits at most."""
        bounds = detours - self.spare
        windows = None if instance.windows is None else instance.windows[node]
        if windows is not None and windows[-1][1] < math.inf:
            bounds = np.maximum(bounds, self.leave + instance.costs[self.before, node] - windows[-1][1])
        return np.maximum(bounds, 0.0)


def _closest_insertion(instance: Instance, plan: Plan, node: int, gaps: _Gaps) -> Explanation:
    """The gap in which the node lacks the least time, with the rules of time that are broken there.

    The judge replays gaps in the order of their bounds, until no other gap can be closer.
    """
    name = None if instance.names is None else instance.names[node]
    detours = gaps.detours(instance, node)
    bounds = gaps.bounds(instance, node, detours)
    best: Explanation | None = None
    for gap in np.lexsort((gaps.place, gaps.route, detours, bounds)).tolist():
        if best is not None and not bounds[gap] < min(math.inf, _lacking(best.broken) + 2 * instance.slack):
            break
        number, place, after = int(gaps.route[gap]), int(gaps.place[gap]), int(gaps.after[gap])
        tour = plan.routes[number]
        broken = broken_on_route(instance, number, [*tour.nodes[:place], node, *tour.nodes[place:]])
        found = Explanation(
            node=node,
            name=name,
            prize=float(instance.prizes[node]),
            route=number,
            place=place,
            before=int(gaps.before[gap]),
            after=None if after < 0 else after,
            detour=float(detours[gap]),
            slack=max(0.0, instance.each_route[number].limit - tour.cost),
            broken=tuple(broken),
        )
        if best is None or _order(found) < _order(best):
            best = found
    assert best is not None  # every route has a gap
    return best


def _order(one: Explanation) -> tuple[float, int, float]:
    return _lacking(one.broken), len(one.broken), one.detour


def _lacking(broken: tuple[Broken, ...]) -> float:
    """The time that is lacking: the most by which a limit or a closing time is exceeded."""
    return max((one.excess for one in broken if one.rule not in CHOICE), default=0.0)


def _judged(instance: Instance, plan: Plan, found: Explanation) -> Explanation:
    """The explanation; where the place is said to fit, the judge has the last word, to the last bit of a limit."""
    if found.fits:
        try:
            check_plan(instance, inserted(plan, found))
        except InfeasibleTour as error:
            return replace(found, broken=(Broken("limit", 0.0, str(error)),))
    return found
