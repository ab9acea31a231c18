"""A first route by nearest neighbours, and the local search that shortens routes of either kind of costs."""

from collections.abc import Callable
from typing import cast

import numpy as np

from orienteer.kernel import Floats, Ints, kernel
from orienteer.kernel.legs import Costs, leg
from orienteer.local_search.directed_opt import swap_stretches, turn_stretches
from orienteer.local_search.lin_kernighan import lin_kernighan
from orienteer.local_search.or_opt import or_opt

Shorten = Callable[[Ints, int, Ints, Costs, Ints, float], float]
"""From a route, its size and places (see `lin_kernighan`), costs, near nodes and the least saving: the length saved."""


def shorten_for(symmetric: bool) -> Shorten:
    """The local search for symmetric or other costs; kernels get it as an argument, to compile only what they need."""
    return shorten_symmetric if symmetric else cast(Shorten, shorten_directed)  # points are symmetric


@kernel
def shorten_symmetric(route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float) -> float:
    """The length saved by Lin-Kernighan and or-opt on symmetric costs, in turn until no move saves more than `least`.

    `route` and `place` are changed; the ends stay.
    """
    saved = 0.0
    while size > 3:
        saved += lin_kernighan(route, size, place, costs, near, least)
        more = or_opt(route, size, place, costs, near, least)
        saved += more
        if more == 0.0:
            break
    return saved


@kernel
def shorten_directed(route: Ints, size: int, place: Ints, costs: Floats, near: Ints, least: float) -> float:
    """The length saved by moves for costs that differ by direction, in turn until none saves more than `least`.

    `route` and `place` are changed; the ends stay.
    """
    saved = 0.0
    while size > 3:
        saved += swap_stretches(route, size, place, costs, near, least)
        more = turn_stretches(route, size, place, costs, least)
        saved += more
        if more == 0.0:
            break
    return saved


@kernel
def nearest_neighbour(chosen: Ints, count: int, costs: Costs, near: Ints, route: Ints, place: Ints) -> int:
    """The size of a route through the first `count` nodes of `chosen`, which goes on to the nearest at every node.

    The route runs from node 0 to the problem's last node and is written to `route` and `place`; `chosen` is reordered.
    """
    nodes = len(place)
    slot = np.empty(nodes, dtype=np.int64)
    for node in range(nodes):
        place[node] = slot[node] = -1
    for k in range(count):
        slot[chosen[k]] = k
    route[0] = 0
    for i in range(1, count + 1):
        node = _nearest(route[i - 1], chosen, count + 1 - i, slot, costs, near)
        moved = chosen[count - i]
        chosen[slot[node]], slot[moved] = moved, slot[node]
        slot[node] = -1
        route[i] = node
    route[count + 1] = nodes - 1
    for i in range(count + 2):
        place[route[i]] = i
    return count + 2


@kernel
def _nearest(here: int, chosen: Ints, left: int, slot: Ints, costs: Costs, near: Ints) -> int:
    """The nearest to `here` of the first `left` nodes of `chosen`, those with a `slot` of at least 0."""
    for node in near[here]:
        if slot[node] >= 0:
            return node
    best = chosen[0]  # none is on the list of near nodes
    for k in range(1, left):
        if leg(costs, here, chosen[k]) < leg(costs, here, best):
            best = chosen[k]
    return best
