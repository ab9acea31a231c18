"""A route as a linked list that is changed and put back in constant time, whatever the number of nodes.

Node 0 is the start and the last node the end; both are always on the route.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, lean
from orienteer.kernel.legs import Costs, leg


class Graph(NamedTuple):
    """A problem as the neighbourhood search reads it, in the numbers of a `View`."""

    costs: Floats
    """(n, n) finite; an arc that no route can afford costs more than the budget."""
    back: Floats
    """(n, n) the transpose of `costs`: a node's row has the arcs into it, side by side in memory."""
    prizes: Floats
    """(n,)"""
    powers: Floats
    """(exponent, n) the prizes, as shares of the largest, to several powers."""
    near: Ints
    """(n, k) the nodes nearest to each node by the cheaper of both directions, nearest first."""


class Ground(NamedTuple):
    """A large problem, in the numbers of a `View`."""

    costs: Costs
    prizes: Floats
    """(n,)"""
    near: Ints
    """(n, k) as in `Graph`."""


AnyGraph = Graph | Ground


class Route(NamedTuple):
    """The route, and what it costs and collects."""

    after: Ints
    """(n,) the next node, for nodes on the route; n behind the end."""
    before: Ints
    """(n,) the previous node, -1 for nodes that are not on the route; n before the start."""
    total: Floats
    """(2,) cost and prize, kept up to date by whoever changes the route."""


def new_route(graph: AnyGraph, nodes: Ints) -> Route:
    """The route along `nodes`, which run from node 0 to the last node."""
    size = len(graph.prizes)
    route = Route(np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64), np.zeros(2))
    route.after[nodes[:-1]] = nodes[1:]
    route.before[nodes[1:]] = nodes[:-1]
    route.before[0] = route.after[size - 1] = size
    route.total[0] = length(graph, route)
    route.total[1] = graph.prizes[nodes].sum()
    return route


@lean
def link(route: Route, node: int, left: int) -> None:
    """Puts a node that is not on the route behind `left`."""
    right = route.after[left]
    route.after[left] = node
    route.after[node] = right
    route.before[right] = node
    route.before[node] = left


@lean
def unlink(route: Route, node: int) -> None:
    """Takes a node off the route."""
    left, right = route.before[node], route.after[node]
    route.after[left] = right
    route.before[right] = left
    route.before[node] = -1


@lean
def length(graph: AnyGraph, route: Route) -> float:
    """The cost of the route, its legs added in order as `check_tour` adds them."""
    last = len(graph.prizes) - 1
    node, cost = 0, 0.0
    while node != last:
        following = route.after[node]
        cost += leg(graph.costs, node, following)
        node = following
    return cost


@lean
def write_nodes(route: Route, nodes: Ints) -> int:
    """Writes the route's nodes in order into `nodes` and returns how many there are."""
    last = len(route.after) - 1
    nodes[0] = 0
    node, count = 0, 1
    while node != last:
        node = route.after[node]
        nodes[count] = node
        count += 1
    return count
