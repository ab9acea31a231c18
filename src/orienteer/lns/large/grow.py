"""A first route for a large problem: again and again the node with the most prize for its detour."""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, lean
from orienteer.lns.large.ground import cheapest_detour
from orienteer.lns.route import Ground, Route, link

AROUND = 20
"""How many nodes near a new stop are looked at anew."""


class Heap(NamedTuple):
    """Nodes by what they are worth, the best on top; a node may stand in the heap several times."""

    worth: Floats
    node: Ints
    filled: Ints
    """(1,) how many entries there are."""


def new_heap(size: int) -> Heap:
    """Room for `size` entries."""
    return Heap(np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64))


@lean
def grow(ground: Ground, route: Route, budget: float, floor: float, heap: Heap, worth: Floats) -> None:
    """Fills the route up; `floor` is added to detours before prizes are divided by them.

    `worth`, (n,), is room for what each node was worth when it was last put on the heap.
    """
    inner = len(ground.prizes) - 1
    for node in range(1, inner):
        _look(ground, route, node, floor, heap, worth)
    while heap.filled[0]:
        known, node = _take(heap)
        if route.before[node] >= 0 or known != worth[node]:
            continue
        cost, left = cheapest_detour(ground, route, node, 0)
        if ground.prizes[node] / max(cost + floor, 1e-300) < known:  # another stop has taken its place
            _look(ground, route, node, floor, heap, worth)
            continue
        if route.total[0] + cost > budget:
            continue
        link(route, node, left)
        route.total[0] += cost
        route.total[1] += ground.prizes[node]
        for index in range(min(AROUND, ground.near.shape[1])):
            other = ground.near[node, index]
            if 0 < other < inner:
                _look(ground, route, other, floor, heap, worth)


@lean
def _look(ground: Ground, route: Route, node: int, floor: float, heap: Heap, worth: Floats) -> None:
    """Puts a node that is not on the route on the heap."""
    if route.before[node] >= 0 or ground.prizes[node] <= 0:
        return
    cost, _ = cheapest_detour(ground, route, node, 0)
    value = ground.prizes[node] / max(cost + floor, 1e-300)
    if value != worth[node] and heap.filled[0] < len(heap.worth):
        worth[node] = value
        _put(heap, value, node)


@lean
def _put(heap: Heap, worth: float, node: int) -> None:
    place = heap.filled[0]
    heap.filled[0] += 1
    while place > 0:
        above = (place - 1) // 2
        if heap.worth[above] >= worth:
            break
        heap.worth[place], heap.node[place] = heap.worth[above], heap.node[above]
        place = above
    heap.worth[place], heap.node[place] = worth, node


@lean
def _take(heap: Heap) -> tuple[float, int]:
    """The best entry, which is taken off."""
    worth, node = heap.worth[0], heap.node[0]
    heap.filled[0] -= 1
    count = heap.filled[0]
    moved, mover = heap.worth[count], heap.node[count]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and heap.worth[below + 1] > heap.worth[below]:
            below += 1
        if heap.worth[below] <= moved:
            break
        heap.worth[place], heap.node[place] = heap.worth[below], heap.node[below]
        place = below
    heap.worth[place], heap.node[place] = moved, mover
    return worth, node
