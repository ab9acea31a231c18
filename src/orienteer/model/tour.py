"""A route and the one judge of routes."""

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance


@dataclass(frozen=True)
class Tour:
    """A route that `check_tour` has passed: its nodes from start to end, what it collects and what it costs."""

    nodes: tuple[int, ...]
    prize: float
    cost: float

    def __len__(self) -> int:
        return len(self.nodes)


def check_tour(instance: Instance, nodes: Sequence[int]) -> Tour:
    """The tour along `nodes`, or `InfeasibleTour` saying which rule it breaks.

    A route lists start and end, even where they are one node; it visits no node twice; every leg has a finite cost; and
    the legs, added in order, cost no more than the limit (with the tolerance).
    """
    route = _whole(nodes)
    if len(route) < 2:
        raise InfeasibleTour(f"a route needs its start and its end, got {len(route)} node(s)")
    for place, node in enumerate(route):
        if not 0 <= node < instance.size:
            raise InfeasibleTour(f"stop {place}: there is no node {node} among {instance.size}")
    if route[0] != instance.start:
        raise InfeasibleTour(f"the route begins at node {route[0]}, not at the start {instance.start}")
    if route[-1] != instance.end:
        raise InfeasibleTour(f"the route stops at node {route[-1]}, not at the end {instance.end}")
    seen = {instance.start, instance.end}
    for place, node in enumerate(route[1:-1], start=1):
        if node in seen:
            raise InfeasibleTour(f"stop {place}: node {node} is visited twice")
        seen.add(node)
    cost = route_cost(instance, route)
    if not cost <= instance.budget:
        raise InfeasibleTour(f"the route costs {cost:.12g}, more than the limit {instance.limit:.12g}")
    return Tour(route, float(instance.prizes[sorted(seen)].sum()), cost)


def route_cost(instance: Instance, nodes: Sequence[int]) -> float:
    """The legs' costs added in order; standing still, as in the empty round trip, costs nothing."""
    total = 0.0
    for here, there in itertools.pairwise(nodes):
        if here != there:
            total += float(instance.costs[here, there])
    return total


def _whole(nodes: Sequence[int]) -> tuple[int, ...]:
    """The nodes as plain integers; a number such as 1.9 is no node and must not be taken for node 1."""
    route = []
    for place, node in enumerate(nodes):
        try:
            route.append(operator.index(node))
        except TypeError as error:
            raise InfeasibleTour(f"stop {place} must be a node's number, got {node!r}") from error
    return tuple(route)
