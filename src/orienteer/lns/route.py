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
    """The route, the nodes that are not on it, and what it costs and collects."""

    after: Ints
    """(n,) the next node, for nodes on the route."""
    before: Ints
    """(n,) the node before, for nodes on the route."""
    absent: Ints
    """(n,) the nodes not on the route, in any order, in the first places."""
    where: Ints
    """(n,) a node's place among the absent, -1 for nodes on the route."""
    missing: Ints
    """(1,) how many are absent."""
    total: Floats
    """(2,) cost and prize, kept up to date by whoever changes the route."""


def new_route(graph: Graph, nodes: Ints) -> Route:
    """The route along `nodes`, which run from node 0 to the last node."""
    size = len(graph.prizes)
    route = Route(
        after=np.zeros(size, dtype=np.int64),
        before=np.zeros(size, dtype=np.int64),
        absent=np.zeros(size, dtype=np.int64),
        where=np.full(size, -1, dtype=np.int64),
        missing=np.zeros(1, dtype=np.int64),
        total=np.zeros(2),
    )
    route.after[nodes[:-1]] = nodes[1:]
    route.before[nodes[1:]] = nodes[:-1]
    absent = np.setdiff1d(np.arange(size), nodes)
    route.absent[: len(absent)] = absent
    route.where[absent] = np.arange(len(absent))
    route.missing[0] = len(absent)
    route.total[0] = length(graph, route)
    route.total[1] = graph.prizes[nodes].sum()
    return route


@kernel
def link(route: Route, node: int, left: int) -> None:
    """Puts an absent node behind `left`."""
    right = route.after[left]
    route.after[left] = node
    route.after[node] = right
    route.before[right] = node
    route.before[node] = left
    place = route.where[node]
    count = route.missing[0] - 1
    moved = route.absent[count]
    route.absent[place] = moved
    route.where[moved] = place
    route.where[node] = -1
    route.missing[0] = count


@kernel
def unlink(route: Route, node: int) -> None:
    """Takes a node off the route."""
    left, right = route.before[node], route.after[node]
    route.after[left] = right
    route.before[right] = left
    count = route.missing[0]
    route.absent[count] = node
    route.where[node] = count
    route.missing[0] = count + 1


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
