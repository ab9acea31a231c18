"""A route made and made shorter: nearest neighbour, then the local search that suits the costs."""

import numpy as np

from orienteer.kernel import Floats, Ints, kernel
from orienteer.local_search.directed_opt import swap_stretches, turn_stretches
from orienteer.local_search.lin_kernighan import lin_kernighan
from orienteer.local_search.or_opt import or_opt


@kernel
def shorten(route: Ints, size: int, place: Ints, costs: Floats, near: Ints, symmetric: bool, least: float) -> float:
    """The length saved; `route` and `place` are changed until no move of either kind saves more than `least`.

    Lin-Kernighan and or-opt on symmetric costs, moves that mind the direction on others. The ends stay.
    """
    saved = 0.0
    while size > 3:
        if symmetric:
            saved += lin_kernighan(route, size, place, costs, near, least)
            more = or_opt(route, size, place, costs, near, least)
        else:
            saved += swap_stretches(route, size, place, costs, near, least)
            more = turn_stretches(route, size, place, costs, least)
        saved += more
        if more == 0.0:
            break
    return saved


@kernel
def nearest_neighbour(chosen: Ints, count: int, costs: Floats, near: Ints, route: Ints, place: Ints) -> int:
    """The size of a route through the first `count` nodes of `chosen`, each the nearest to the one before.

    It runs from node 0 to the last node of the problem; `chosen` is reordered, `route` and `place` are overwritten.
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
def _nearest(here: int, chosen: Ints, left: int, slot: Ints, costs: Floats, near: Ints) -> int:
    """The nearest to `here` of the first `left` nodes of `chosen`."""
    for node in near[here]:
        if slot[node] >= 0:
            return node
    best = chosen[0]  # none is on the list of near nodes
    for k in range(1, left):
        if costs[here, chosen[k]] < costs[here, best]:
            best = chosen[k]
    return best
