"""A plan, one or more routes, and `check_plan`, the one judge of all plans."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from orienteer.model.clock import written_time
from orienteer.model.contradictions import at_most_one, called, other_end
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE
from orienteer.model.reach import first_begin, latest_end
from orienteer.model.show import route_name
from orienteer.model.tour import Tour, Visit, check_plain, too_dear, whole_numbers


@dataclass(frozen=True)
class Plan:
    """Routes that `check_plan` has passed, one for each route of the problem; what they collect and cost together."""

    routes: tuple[Tour, ...]
    """One for each route of the problem, idle ones too."""
    prize: float
    """What all routes collect together."""
    cost: float
    """What all routes cost together."""

    @classmethod
    def of(cls, tour: Tour) -> "Plan":
        """The plan of one route."""
        return cls((tour,), tour.prize, tour.cost)

    @property
    def tour(self) -> Tour:
        """The route of a plan that has one."""
        if len(self.routes) != 1:
            raise ValueError(f"this plan has {len(self.routes)} routes, not one: read its `routes`")
        return self.routes[0]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of a plan's only route."""
        return self.tour.nodes

    @property
    def visited(self) -> frozenset[int]:
        """All nodes of all routes."""
        return frozenset(node for tour in self.routes for node in tour.nodes)

    def stops(self, instance: Instance) -> list[list[Visit]]:
        """The timetable of each route."""
        return timetables(instance, [tour.nodes for tour in self.routes])


class Broken(NamedTuple):
    """A rule that a plan breaks, by how much, and the judge's words for it."""

    rule: Literal["way", "window", "limit", "required", "group", "budget"]
    excess: float
    """Time or cost beyond the limit or the closing time, or what a budget lacks; 1 or infinite for other rules."""
    words: str
    node: int | None = None
    """The node that has closed."""
    budget: str | None = None
    """The name of the budget that is exceeded."""


def check_plan(instance: Instance, routes: Iterable[Sequence[int]]) -> Plan:
    """The plan along these routes, or an `InfeasibleTour`: which route and stop breaks which rule, and by how much.

    There is a list of nodes for each route of the problem, in their order. A route that visits nothing goes from its
    start to its end; a route with a free end then is its start alone.
    """
    if not instance.features:
        given = list(routes)
        if len(given) != 1:
            raise InfeasibleTour(f"the problem has one route, got {len(given)}")
        tour = check_plain(instance, given[0])
        return Plan.of(tour)
    orders = [whole_numbers(nodes) for nodes in routes]
    _check_shape(instance, orders)
    timetable = timetables(instance, orders)
    visited = {node for order in orders for node in order}
    limits = (_broken_limit(instance, number, visits) for number, visits in enumerate(timetable))
    for broken in (*filter(None, limits), *broken_choice(instance, visited)):
        raise InfeasibleTour(broken.words)
    tours = tuple(
        Tour(order, sum(visit.prize for visit in visits), visits[-1].cost)
        for order, visits in zip(orders, timetable, strict=True)
    )
    return Plan(tours, float(instance.prizes[sorted(visited)].sum()), sum(tour.cost for tour in tours))


def timetables(instance: Instance, routes: Sequence[Sequence[int]]) -> list[list[Visit]]:
    """When each stop of each route is reached, begun and left; `InfeasibleTour` where a node has closed for good."""
    paid: set[int] = set()
    return [_timetable(instance, number, nodes, paid) for number, nodes in enumerate(routes)]


def broken_on_route(instance: Instance, number: int, nodes: Sequence[int]) -> list[Broken]:
    """Where one route breaks the rules of time: it goes on from a node that has closed as if the node were open."""
    broken: list[Broken] = []
    visits = _timetable(instance, number, nodes, set(), broken)
    if len(visits) == len(nodes):
        broken.extend(filter(None, [_broken_limit(instance, number, visits)]))
    return broken


def _timetable(
    instance: Instance, number: int, nodes: Sequence[int], paid: set[int], broken: list[Broken] | None = None
) -> list[Visit]:
    """The stops of one route; `paid` are nodes whose prizes have been collected, and grows.

    What is wrong is added to `broken`, or, where there is no such list, raised. The stops end where there is no way on.
    """
    clock = opens = instance.each_route[number].opens
    visits = list[Visit]()
    for place, node in enumerate(nodes):
        before = nodes[place - 1] if place else node
        leg = float(instance.costs[before, node]) if before != node else 0.0
        if leg == float("inf"):
            words = f"there is no way to {called(instance, node)} from {called(instance, before)}"
            _tell(Broken("way", math.inf, f"{_where(instance, number, place)}: {words}"), broken)
            return visits
        arrive = clock + leg
        windows = None if instance.windows is None else instance.windows[node]
        begin = first_begin(windows, arrive, instance.slack)
        if windows is not None and not begin < float("inf"):
            closes = windows[-1][1]
            times = written_time(instance, closes), written_time(instance, arrive)
            words = (
                f"{_where(instance, number, place)}: {called(instance, node)} closes at {times[0]}, "
                f"the route arrives at {times[1]}, {arrive - closes:.6g} too late"
            )
            _tell(Broken("window", arrive - closes, words, node), broken)
            begin = arrive
        clock = begin + (0.0 if instance.service is None else float(instance.service[node]))
        prize = 0.0 if node in paid else float(instance.prizes[node])
        paid.add(node)
        name = None if instance.names is None else instance.names[node]
        visits.append(Visit(place, node, name, prize, leg, clock - opens, arrive, begin - arrive, begin, clock))
    return visits


def _tell(wrong: Broken, broken: list[Broken] | None) -> None:
    if broken is None:
        raise InfeasibleTour(wrong.words)
    broken.append(wrong)


def _check_shape(instance: Instance, orders: Sequence[tuple[int, ...]]) -> None:
    """The right number of routes, each from its start to its end, nodes that exist, none visited twice."""
    routes = instance.each_route
    if len(orders) != len(routes):
        raise InfeasibleTour(_other_number(instance, len(orders)))
    seen: dict[int, str] = {}
    for number, (order, route) in enumerate(zip(orders, routes, strict=True)):
        shortest = 1 if route.end is None else 2
        if len(order) < shortest:
            wish = "its start" if route.end is None else "its start and its end"
            raise InfeasibleTour(f"{_which(instance, number)}a route needs {wish}, got {len(order)} node(s)")
        for place, node in enumerate(order):
            if not 0 <= node < instance.size:
                raise InfeasibleTour(
                    f"{_where(instance, number, place)}: there is no node {node} among {instance.size}"
                )
        if order[0] != route.start:
            raise InfeasibleTour(_which(instance, number) + other_end(instance, "start", order[0], route.start))
        if route.end is not None and order[-1] != route.end:
            raise InfeasibleTour(_which(instance, number) + other_end(instance, "end", order[-1], route.end))
        inner = order[1:] if route.end is None else order[1:-1]
        for place, node in enumerate(inner, start=1):
            where = _where(instance, number, place)
            if node in instance.ends:
                raise InfeasibleTour(f"{where}: {called(instance, node)} is a start or an end and no stop on the way")
            if node in seen:
                also = "" if seen[node] == where else f"; first at {seen[node]}"
                raise InfeasibleTour(f"{where}: {called(instance, node)} is visited twice{also}")
            seen[node] = where


def _other_number(instance: Instance, count: int) -> str:
    """The words for a plan with `count` routes, which are more or fewer than those of the problem."""
    routes = instance.each_route
    words = f"the plan has {count} route{'' if count == 1 else 's'}, the problem {len(routes)}"
    if count > len(routes):
        return words
    missing = [route_name(instance, number) for number in range(count, len(routes)) if routes[number].name]
    verb = "is" if len(missing) == 1 else "are"
    who = f" ({', '.join(missing)} {verb} missing)" if missing else ""
    return f"{words}{who}: list an idle route with its start and end only"


def _broken_limit(instance: Instance, number: int, visits: Sequence[Visit]) -> Broken | None:
    route, cost = instance.each_route[number], visits[-1].cost
    if visits[-1].leave <= latest_end(instance, route):
        return None
    return Broken("limit", cost - route.limit, f"{_which(instance, number)}{too_dear(cost, route.limit)}")


def broken_choice(instance: Instance, visited: set[int]) -> Iterator[Broken]:
    """Required nodes that are missing, groups and budgets that the visited nodes exceed."""
    for node in instance.required:
        if node not in visited:
            yield Broken("required", 1.0, f"required {called(instance, node)} is not visited")
    for group in instance.groups:
        both = [node for node in group if node in visited]
        if len(both) > 1:
            names = " and ".join(called(instance, node) for node in both[:2])
            yield Broken("group", len(both) - 1.0, f"{at_most_one(instance, group)}, but {names} are")
    for budget in instance.budgets:
        used = sum(float(budget.weights[node]) for node in sorted(visited))
        if used > budget.most * (1 + TOLERANCE):
            words = f"{used:.6g} is used, {budget.most:.6g} allowed, {used - budget.most:.6g} too much"
            yield Broken("budget", used - budget.most, f"budget {budget.name!r}: {words}", budget=budget.name)


def _which(instance: Instance, number: int) -> str:
    return f"{route_name(instance, number)}: " if len(instance.each_route) > 1 else ""


def _where(instance: Instance, number: int, place: int) -> str:
    stop = f"stop {place}"
    return f"{route_name(instance, number)}, {stop}" if len(instance.each_route) > 1 else stop
