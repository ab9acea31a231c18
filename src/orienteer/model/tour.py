"""A route, and `check_tour`, by which all routes are judged."""

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orienteer.model.contradictions import called, other_end
from orienteer.model.distances import Distances
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance


class Visit(NamedTuple):
    """A stop of a route."""

    place: int
    """The stop's place in the order, from 0."""
    node: int
    """The node's number."""
    name: str | None
    """The node's name, where nodes have names."""
    prize: float
    """What is collected at this stop: nothing where a round trip comes back to its start."""
    leg: float
    """The cost of the leg from the stop before; 0 at the start."""
    cost: float
    """The cost of the route up to this stop, the visit included."""
    arrive: float
    """The clock at the arrival: the route's opening and what it has cost so far."""
    wait: float
    """How long the place is still closed then."""
    begin: float
    """When the visit begins."""
    leave: float
    """When the visit is over."""


@dataclass(frozen=True)
class Tour:
    """A route that `check_tour` has passed: its nodes from start to end, what it collects and what it costs."""

    nodes: tuple[int, ...]
    """From start to end, both included."""
    prize: float
    """What the route collects."""
    cost: float
    """What it costs, waiting and visits included."""

    def __len__(self) -> int:
        return len(self.nodes)

    def stops(self, instance: Instance) -> list[Visit]:
        """The stops in order, with the prize and the time of each; for problems with one route."""
        from orienteer.model.plan import timetables  # which imports this module

        return timetables(instance, [self.nodes])[0]


def check_tour(instance: Instance, nodes: Sequence[int]) -> Tour:
    """The tour along `nodes`, or an `InfeasibleTour` that says which rule they break.

    A route lists start and end, even where they are one node, and visits no other node twice. Every leg has a finite
    cost, and the legs, added in order, cost no more than the limit (with a tolerance of a billionth of it). Rules such
    as opening hours are checked too. `check_plan` does the same for problems with several routes.
    """
    if instance.features:
        from orienteer.model.plan import check_plan  # which imports this module

        return check_plan(instance, [nodes]).routes[0]
    return check_plain(instance, nodes)


def check_plain(instance: Instance, nodes: Sequence[int]) -> Tour:
    """`check_tour` for a plain problem, as fast as batches need it."""
    route = whole_numbers(nodes)
    if len(route) < 2:
        raise InfeasibleTour(f"a route needs its start and its end, got {len(route)} node(s)")
    size = instance.size
    for place, node in enumerate(route):
        if not 0 <= node < size:
            raise InfeasibleTour(f"stop {place}: there is no node {node} among {size}")
    if route[0] != instance.start:
        raise InfeasibleTour(other_end(instance, "start", route[0], instance.start))
    if route[-1] != instance.end:
        raise InfeasibleTour(other_end(instance, "end", route[-1], instance.end))
    seen = {instance.start, instance.end}
    for place, node in enumerate(route[1:-1], start=1):
        if node in seen:
            raise InfeasibleTour(f"stop {place}: {called(instance, node)} is visited twice")
        seen.add(node)
    cost = route_cost(instance, route)
    if not cost <= instance.budget:
        raise InfeasibleTour(too_dear(cost, instance.limit))
    return Tour(route, float(instance.prizes[sorted(seen)].sum()), cost)


def too_dear(cost: float, limit: float) -> str:
    """The words for a route above its limit; its costs have as many digits as those of the plan's table."""
    return f"the route costs {cost:.6g}, more than the limit {limit:.6g}, by {cost - limit:.6g}"


def route_cost(instance: Instance, nodes: Sequence[int]) -> float:
    """The legs' costs added in order; standing still, as in the empty round trip, costs nothing."""
    total, costs = 0.0, instance.costs
    if isinstance(costs, Distances):  # all legs at a time: one by one they take a second where there are 50,000
        route = np.asarray(nodes)
        for cost in np.where(route[:-1] == route[1:], 0.0, costs[route[:-1], route[1:]]).tolist():
            total += cost
        return total
    for here, there in itertools.pairwise(nodes):
        if here != there:
            total += float(costs[here, there])
    return total


def whole_numbers(nodes: Sequence[int]) -> tuple[int, ...]:
    """The nodes as plain integers; a number such as 1.9 is no node and must not be taken for node 1."""
    route = []
    for place, node in enumerate(nodes):
        try:
            route.append(operator.index(node))
        except TypeError as error:
            raise InfeasibleTour(f"stop {place} must be a node's number, got {node!r}") from error
    return tuple(route)
