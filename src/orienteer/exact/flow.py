"""Minimum cuts of a weighted graph, as numba functions from arrays to arrays."""

import numpy as np

from orienteer.exact.model import Ints, Mask
from orienteer.kernel import copy, kernel
from orienteer.model.numbers import Array

TINY = 1e-9
"""Capacities below this count as used up."""


@kernel
def adjacency(size: int, tail: Ints, head: Ints) -> tuple[Ints, Ints, Ints]:
    """(first, neighbour, twin): both directions of each edge, sorted by the node that they leave.

    The directions out of node v stand at first[v] to first[v + 1] - 1; direction a leads to node neighbour[a], and
    twin[a] is the opposite direction of its edge.
    """
    first = np.zeros(size + 1, dtype=np.int64)
    for e in range(len(tail)):
        first[tail[e] + 1] += 1
        first[head[e] + 1] += 1
    for v in range(size):
        first[v + 1] += first[v]
    fill = first[:-1].copy()
    neighbour = np.empty(2 * len(tail), dtype=np.int64)
    twin = np.empty(2 * len(tail), dtype=np.int64)
    for e in range(len(tail)):
        a, b = fill[tail[e]], fill[head[e]]
        neighbour[a], neighbour[b] = head[e], tail[e]
        twin[a], twin[b] = b, a
        fill[tail[e]] += 1
        fill[head[e]] += 1
    return first, neighbour, twin


@kernel
def spread(size: int, tail: Ints, head: Ints, weight: Array) -> Array:
    """The weight of its edge for each direction, in the order of `adjacency`."""
    first = np.zeros(size + 1, dtype=np.int64)
    for e in range(len(tail)):
        first[tail[e] + 1] += 1
        first[head[e] + 1] += 1
    for v in range(size):
        first[v + 1] += first[v]
    capacity = np.empty(2 * len(tail))
    for e in range(len(tail)):
        for v in (tail[e], head[e]):
            capacity[first[v]] = weight[e]
            first[v] += 1
    return capacity


@kernel
def max_flow(first: Ints, neighbour: Ints, twin: Ints, capacity: Array, source: int, sink: int, enough: float) -> float:
    """The maximum flow from source to sink, or `enough` if it is more; `capacity` becomes what is left."""
    sinks = np.zeros(len(first) - 1, dtype=np.bool_)
    sinks[sink] = True
    return max_flow_to_any(first, neighbour, twin, capacity, source, sinks, enough)


@kernel
def max_flow_to_any(
    first: Ints, neighbour: Ints, twin: Ints, capacity: Array, source: int, sinks: Mask, enough: float
) -> float:
    """As `max_flow`, for a flow that may end in any of the nodes `sinks`, (n,) (Dinic)."""
    size = len(first) - 1
    level = np.empty(size, dtype=np.int64)
    queue = np.empty(size, dtype=np.int64)
    place = np.empty(size, dtype=np.int64)
    path = np.empty(size, dtype=np.int64)
    total = 0.0
    while total < enough - TINY:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        done, known, nearest = 0, 1, -1
        while done < known and (nearest < 0 or level[queue[done]] < nearest):
            v = queue[done]
            done += 1
            for a in range(first[v], first[v + 1]):
                if capacity[a] > TINY and level[neighbour[a]] < 0:
                    level[neighbour[a]] = level[v] + 1
                    queue[known] = neighbour[a]
                    known += 1
                    if sinks[neighbour[a]]:
                        nearest = level[neighbour[a]]
        if nearest < 0:
            break
        copy(first[:-1], place)
        depth, v = 0, source
        while True:
            if sinks[v]:
                least = enough - total
                for d in range(depth):
                    least = min(least, capacity[path[d]])
                total += least
                for d in range(depth):
                    capacity[path[d]] -= least
                    capacity[twin[path[d]]] += least
                if total >= enough - TINY:
                    return total
                depth, v = 0, source
            if place[v] < first[v + 1]:
                a = place[v]
                if capacity[a] > TINY and level[neighbour[a]] == level[v] + 1:
                    path[depth] = a
                    depth += 1
                    v = neighbour[a]
                else:
                    place[v] += 1
            elif v == source:
                break
            else:
                depth -= 1
                v = neighbour[twin[path[depth]]]
                place[v] += 1
    return total


@kernel
def sink_side(first: Ints, neighbour: Ints, twin: Ints, capacity: Array, sink: int) -> Mask:
    """(n,) the nodes from which the sink can still be reached: after `max_flow`, the smallest sink side of a cut."""
    size = len(first) - 1
    inside = np.zeros(size, dtype=np.bool_)
    inside[sink] = True
    queue = np.empty(size, dtype=np.int64)
    queue[0] = sink
    done, known = 0, 1
    while done < known:
        v = queue[done]
        done += 1
        for a in range(first[v], first[v + 1]):
            u = neighbour[a]
            if not inside[u] and capacity[twin[a]] > TINY:
                inside[u] = True
                queue[known] = u
                known += 1
    return inside


@kernel
def source_side(first: Ints, neighbour: Ints, capacity: Array, source: int) -> Mask:
    """(n,) the nodes that the source can still reach: after `max_flow`, the smallest source side of a cut."""
    size = len(first) - 1
    inside = np.zeros(size, dtype=np.bool_)
    inside[source] = True
    queue = np.empty(size, dtype=np.int64)
    queue[0] = source
    done, known = 0, 1
    while done < known:
        v = queue[done]
        done += 1
        for a in range(first[v], first[v + 1]):
            if not inside[neighbour[a]] and capacity[a] > TINY:
                inside[neighbour[a]] = True
                queue[known] = neighbour[a]
                known += 1
    return inside
