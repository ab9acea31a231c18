"""Why a place is not in a plan: every way to insert it, replayed by the judge."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from orienteer.model.contradictions import called
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.plan import Broken, Plan, broken_choice, broken_on_route, check_plan

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
    number = instance.find("node", node)
    if number in plan.visited or number in instance.ends:
        what = "a start or an end" if number in instance.ends else "in the plan"
        raise ValueError(f"node must be left out of the plan to be explained, but {called(instance, number)} is {what}")
    best = min(_insertions(instance, plan, number), key=lambda one: (_lacking(one.broken), len(one.broken), one.detour))
    choice = tuple(broken_choice(instance, {*plan.visited, number}))
    return _judged(instance, plan, replace(best, broken=best.broken + choice))


def closest(instance: Instance, plan: Plan, most: int = 10) -> list[Explanation]:
    """The places with a prize that came closest to being in the plan, the closest first, at most `most`."""
    left = [node for node in range(instance.size) if node not in plan.visited and node not in instance.ends]
    found = [explain(instance, plan, node) for node in left if instance.prizes[node] > 0]
    return sorted(found, key=lambda one: one.distance)[:most]


def inserted(plan: Plan, explanation: Explanation) -> list[list[int]]:
    """The nodes of the plan's routes with the place where it comes closest to fitting."""
    routes = [list(tour.nodes) for tour in plan.routes]
    routes[explanation.route].insert(explanation.place, explanation.node)
    return routes


def _insertions(instance: Instance, plan: Plan, node: int) -> Iterator[Explanation]:
    """The node at every place of every route, with the rules of time that this breaks."""
    name = None if instance.names is None else instance.names[node]
    for number, (tour, route) in enumerate(zip(plan.routes, instance.each_route, strict=True)):
        nodes, slack = tour.nodes, max(0.0, route.limit - tour.cost)
        for place in range(1, len(nodes) + (route.end is None)):
            before, after = nodes[place - 1], nodes[place] if place < len(nodes) else None
            broken = broken_on_route(instance, number, [*nodes[:place], node, *nodes[place:]])
            detour = _detour(instance, before, node, after)
            prize = float(instance.prizes[node])
            yield Explanation(node, name, prize, number, place, before, after, detour, slack, tuple(broken))


def _detour(instance: Instance, before: int, node: int, after: int | None) -> float:
    there = float(instance.costs[before, node])
    visit = 0.0 if instance.service is None else float(instance.service[node])
    if after is None:
        return there + visit
    direct = 0.0 if before == after else float(instance.costs[before, after])
    return there + visit + float(instance.costs[node, after]) - direct


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
