"""Lin-Kernighan on a route with fixed ends and symmetric costs (Lin and Kernighan 1973).

A route is the first `size` entries of `route`; `place` holds the position of each node on it, -1 for the others. The
first and the last node stay where they are, so a round trip is a route whose two ends are different node numbers at
the same spot.
"""

import numpy as np

from orienteer.kernel import Floats, Ints, kernel

NEIGHBOURS = 10
"""How many of a node's nearest visited nodes a new link may lead to."""

DEPTH = 30
"""The most exchanges in one chain."""

BREADTH = 5
"""How many first links are tried from each side of a node."""


@kernel
def lin_kernighan(route: Ints, size: int, place: Ints, costs: Floats, near: Ints, least: float) -> float:
    """The length saved; `route` and `place` are changed until no chain of exchanges saves more than `least`.

    `near` lists nodes by cost from each node, cheapest first.
    """
    waiting = np.empty(len(place), dtype=np.int64)  # a ring of nodes to look at, each at most once
    listed = np.zeros(len(place), dtype=np.bool_)
    for i in range(size):
        waiting[i] = route[i]
        listed[route[i]] = True
    head, count = 0, size
    flips = np.empty((DEPTH, 2), dtype=np.int64)
    touched = np.empty((DEPTH, 4), dtype=np.int64)
    saved = 0.0
    while count:
        node = waiting[head]
        head = (head + 1) % len(waiting)
        count -= 1
        listed[node] = False
        gain, steps = _improve_from(node, route, size, place, costs, near, least, flips, touched)
        saved += gain
        for step in range(steps):
            for end in touched[step]:
                if not listed[end]:
                    listed[end] = True
                    waiting[(head + count) % len(waiting)] = end
                    count += 1
    return saved


@kernel
def reverse(route: Ints, place: Ints, first: int, last: int) -> None:
    """Turns the stretch of `route` between two positions round."""
    while first < last:
        here, there = route[first], route[last]
        route[first], route[last] = there, here
        place[there], place[here] = first, last
        first += 1
        last -= 1


@kernel
def _improve_from(
    base: int,
    route: Ints,
    size: int,
    place: Ints,
    costs: Floats,
    near: Ints,
    least: float,
    flips: Ints,
    touched: Ints,
) -> tuple[float, int]:
    """The gain of the first improving chain that opens an arc at `base`, and its number of exchanges; 0, 0 if none."""
    links = np.empty((BREADTH, 2), dtype=np.int64)
    values = np.empty(BREADTH)
    for side in (1, -1):
        beside = place[base] + side
        if beside < 0 or beside >= size:
            continue
        tip = route[beside]
        found = _first_links(base, tip, route, size, place, costs, near, least, links, values)
        for k in range(found):
            gain, steps = _chain(
                base, tip, links[k, 0], links[k, 1], values[k], route, size, place, costs, near, least, flips, touched
            )
            if steps:
                return gain, steps
    return 0.0, 0


@kernel
def _first_links(
    base: int,
    tip: int,
    route: Ints,
    size: int,
    place: Ints,
    costs: Floats,
    near: Ints,
    least: float,
    links: Ints,
    values: Floats,
) -> int:
    """How many links from `tip` look promising; the best are put in `links` (joined, cut off), best first."""
    found, seen = 0, 0
    opened = costs[base, tip]
    for joined in near[tip]:
        if place[joined] < 0:
            continue
        left = opened - costs[tip, joined]
        if left <= least:
            break
        seen += 1
        if seen > NEIGHBOURS:
            break
        cut = _cut_off(base, tip, joined, route, size, place)
        if cut < 0:
            continue
        value = left + costs[cut, joined]
        slot = found
        while slot > 0 and values[slot - 1] < value:
            slot -= 1
        if slot == BREADTH:
            continue
        found = min(found + 1, BREADTH)
        for k in range(found - 1, slot, -1):
            values[k], links[k, 0], links[k, 1] = values[k - 1], links[k - 1, 0], links[k - 1, 1]
        values[slot], links[slot, 0], links[slot, 1] = value, joined, cut
    return found


@kernel
def _cut_off(base: int, tip: int, joined: int, route: Ints, size: int, place: Ints) -> int:
    """The neighbour of `joined` that becomes the new tip when the arc base-tip is opened; -1 if there is none."""
    side = place[tip] - place[base]
    other = place[joined] - side
    if joined == base or other < 0 or other >= size or route[other] == tip:
        return -1
    return route[other]


@kernel
def _chain(
    base: int,
    tip: int,
    joined: int,
    cut: int,
    value: float,
    route: Ints,
    size: int,
    place: Ints,
    costs: Floats,
    near: Ints,
    least: float,
    flips: Ints,
    touched: Ints,
) -> tuple[float, int]:
    """The best gain along the greedy chain that begins with one link; the route is left at that point.

    Each exchange joins the tip to a node, cuts off that node's neighbour, which is the next tip, and closes the route
    again from there to the base.
    """
    best, kept, steps = least, 0, 0
    while True:
        _exchange(base, tip, joined, route, place, flips[steps])
        touched[steps, 0], touched[steps, 1], touched[steps, 2], touched[steps, 3] = base, tip, joined, cut
        steps += 1
        tip = cut
        closed = value - costs[tip, base]
        if closed > best:
            best, kept = closed, steps
        if steps == DEPTH:
            break
        joined, cut, value = _next_link(base, tip, value, best, route, size, place, costs, near, touched, steps)
        if joined < 0:
            break
    for step in range(steps - 1, kept - 1, -1):
        reverse(route, place, flips[step, 0], flips[step, 1])
    return (best, kept) if kept else (0.0, 0)


@kernel
def _exchange(base: int, tip: int, joined: int, route: Ints, place: Ints, flip: Ints) -> None:
    """Opens base-tip, joins the tip to `joined` by turning the stretch between them round, and notes the stretch."""
    b, t, j = place[base], place[tip], place[joined]
    if t > b:
        flip[0], flip[1] = (t, j - 1) if j > t else (j, b)
    else:
        flip[0], flip[1] = (b, j) if j > b else (j + 1, t)
    reverse(route, place, flip[0], flip[1])


@kernel
def _next_link(
    base: int,
    tip: int,
    value: float,
    best: float,
    route: Ints,
    size: int,
    place: Ints,
    costs: Floats,
    near: Ints,
    touched: Ints,
    steps: int,
) -> tuple[int, int, float]:
    """The link from `tip` with the largest sum of gains so far, as joined, cut off, sum; -1 if none can beat `best`."""
    joined, cut, top = -1, -1, -np.inf
    seen = 0
    for node in near[tip]:
        if place[node] < 0:
            continue
        left = value - costs[tip, node]
        if left <= best:
            break
        seen += 1
        if seen > NEIGHBOURS:
            break
        other = _cut_off(base, tip, node, route, size, place)
        if other < 0 or left + costs[other, node] <= top or _was_joined(node, other, touched, steps):
            continue
        joined, cut, top = node, other, left + costs[other, node]
    return joined, cut, top


@kernel
def _was_joined(one: int, other: int, touched: Ints, steps: int) -> bool:
    """Whether the chain itself made this arc; such an arc is not cut again, so a chain ends."""
    for step in range(steps):
        tip, joined = touched[step, 1], touched[step, 2]
        if (tip == one and joined == other) or (tip == other and joined == one):
            return True
    return False
