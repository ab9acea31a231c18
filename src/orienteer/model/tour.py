"""A route, and `check_tour`, by which all routes are judged."""

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance


class Visit(NamedTuple):
    """A stop of a route."""

    place: int
    """The stop's place in the order, from 0."""
    node: int
    name: str | None
    """The node's name, where nodes have names."""
    prize: float
    """What is collected at this stop: nothing where a round trip comes back to its start."""
    leg: float
    """The cost of the leg from the stop before; 0 at the start."""
    cost: float
    """The cost of the route up to this stop."""


@dataclass(frozen=True)
class Tour:
    """A route that `check_tour` has passed: its nodes from start to end, what it collects and what it costs."""

    nodes: tuple[int, ...]
    prize: float
    cost: float

    def __len__(self) -> int:
        return len(self.nodes)

    def stops(self, instance: Instance) -> list[Visit]:
        """The stops in order, with the prize of each and the cost of the leg to it."""
        visits, cost = list[Visit](), 0.0
        for place, node in enumerate(self.nodes):
            leg = route_cost(instance, self.nodes[place - 1 : place + 1]) if place else 0.0
            cost += leg
            again = place > 0 and node == self.nodes[0]
            name = None if instance.names is None else instance.names[node]
            visits.append(Visit(place, node, name, 0.0 if again else float(instance.prizes[node]), leg, cost))
        return visits


def check_tour(instance: Instance, nodes: Sequence[int]) -> Tour:
    """The tour along `nodes`, or an `InfeasibleTour` that says which rule they break.

    A route lists start and end, even where they are one node; it visits no node twice; every leg has a finite cost; and
    the legs, added in order, cost no more than the limit (with the tolerance).
    """
    route = _whole(nodes)
    if len(route) < 2:
        raise InfeasibleTour(f"a route needs its start and its end, got {len(route)} node(s)")
    size = instance.size
    for place, node in enumerate(route):
        if not 0 <= node < size:
            raise InfeasibleTour(f"stop {place}: there is no node {node} among {size}")
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
    total, costs = 0.0, instance.costs
    for here, there in itertools.pairwise(nodes):
        if here != there:
            total += float(costs[here, there])
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
