"""A route as a linked list that is changed and put back in constant time, whatever the number of nodes.

Node 0 is the start and the last node the end; both are always on the route.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, kernel


class Graph(NamedTuple):
    """A problem as the neighbourhood search reads it."""

    costs: Floats
    """(n, n) finite; an arc that no route can afford costs more than the budget."""
    back: Floats
    """(n, n) the transpose, so that a node's arcs in both directions lie in two rows."""
    prizes: Floats
    """(n,)"""
    powers: Floats
    """(exponent, n) the prizes to several powers."""
    near: Ints
    """(n, k) the nodes nearest to each in the cheaper direction, nearest first."""


class Route(NamedTuple):
    """The route, and what it costs and collects."""

    after: Ints
    """(n,) the next node, for nodes on the route."""
    before: Ints
    """(n,) the node before, -1 for nodes that are not on the route; the start's is itself."""
    total: Floats
    """(2,) cost and prize, kept up to date by whoever changes the route."""


def new_route(graph: Graph, nodes: Ints) -> Route:
    """The route along `nodes`, which run from node 0 to the last node."""
    size = len(graph.prizes)
    route = Route(np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64), np.zeros(2))
    route.after[nodes[:-1]] = nodes[1:]
    route.before[nodes[1:]] = nodes[:-1]
    route.before[0] = 0
    route.total[0] = sum(graph.costs[nodes[:-1], nodes[1:]].tolist())  # in order, as `length` adds
    route.total[1] = graph.prizes[nodes].sum()
    return route


@kernel
def link(route: Route, node: int, left: int) -> None:
    """Puts a node that is not on the route behind `left`."""
    right = route.after[left]
    route.after[left] = node
    route.after[node] = right
    route.before[right] = node
    route.before[node] = left


@kernel
def unlink(route: Route, node: int) -> None:
    """Takes a node off the route."""
    left, right = route.before[node], route.after[node]
    route.after[left] = right
    route.before[right] = left
    route.before[node] = -1


@kernel
def length(graph: Graph, route: Route) -> float:
    """The cost of the route, legs added in order."""
    last = len(graph.prizes) - 1
    node, cost = 0, 0.0
    while node != last:
        following = route.after[node]
        cost += graph.costs[node, following]
        node = following
    return cost


@kernel
def write_nodes(route: Route, nodes: Ints) -> int:
    """Writes the route's nodes in order and returns how many there are."""
    last = len(route.after) - 1
    nodes[0] = 0
    node, count = 0, 1
    while node != last:
        node = route.after[node]
        nodes[count] = node
        count += 1
    return count
