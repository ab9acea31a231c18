"""Lin-Kernighan on a route with fixed ends and symmetric costs (Lin and Kernighan 1973).

A route is the first `size` entries of `route`; `place` holds the position of each node on it, -1 for the other nodes.
The first and the last node stay where they are, so a round trip is a route whose ends are two numbers of one place.

An exchange opens an arc from the base to the tip, joins the tip to another node, cuts off that node's neighbour, and
closes the route from there to the base. A chain is a number of exchanges, each with the node cut off as its tip.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, kernel
from orienteer.kernel.legs import Costs, leg

NEIGHBOURS = 10
"""To how many of a node's nearest visited nodes a new arc may lead."""

DEPTH = 30
"""The most exchanges in one chain."""

BREADTH = 5
"""How many exchanges are tried as the first of a chain, on each side of a base."""


class Exchanges(NamedTuple):
    """The exchanges of a chain, and room for those that may begin one."""

    flips: Ints
    """(DEPTH, 2) the first and the last position of the stretch that each exchange turned round."""
    touched: Ints
    """(DEPTH, 4) the four nodes of each exchange: base, tip, the node joined and the one cut off."""
    firsts: Ints
    """(BREADTH, 2) nodes joined and cut off."""
    values: Floats
    """(BREADTH,) what these save before the route is closed again."""


@kernel
def new_exchanges() -> Exchanges:
    """Room for the exchanges of one chain at a time."""
    flips, touched = np.empty((DEPTH, 2), dtype=np.int64), np.empty((DEPTH, 4), dtype=np.int64)
    return Exchanges(flips, touched, np.empty((BREADTH, 2), dtype=np.int64), np.empty(BREADTH))


@kernel
def lin_kernighan(route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float) -> float:
    """The length saved; `route` and `place` are changed until no chain of exchanges saves more than `least`.

    `near` lists nodes by cost from each node, cheapest first.
    """
    waiting = np.empty(len(place), dtype=np.int64)  # a ring of nodes to look at, each at most once
    listed = np.zeros(len(place), dtype=np.bool_)
    for i in range(size):
        waiting[i] = route[i]
        listed[route[i]] = True
    head, count = 0, size
    room = new_exchanges()
    saved = 0.0
    while count:
        node = waiting[head]
        head = (head + 1) % len(waiting)
        count -= 1
        listed[node] = False
        gain, steps = improve_from(node, route, size, place, costs, near, least, room)
        saved += gain
        for step in range(steps):
            for end in room.touched[step]:
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
def improve_from(
    base: int, route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float, room: Exchanges
) -> tuple[float, int]:
    """The gain of the first improving chain that opens an arc at `base`, and its number of exchanges; 0, 0 if none.

    The chain is made; `room` tells what its exchanges turned round and touched.
    """
    flips, touched, firsts, values = room.flips, room.touched, room.firsts, room.values
    for side in (1, -1):
        beside = place[base] + side
        if beside < 0 or beside >= size:
            continue
        tip = route[beside]
        found = _first_exchanges(base, tip, route, size, place, costs, near, least, firsts, values)
        for k in range(found):
            joined, cut = firsts[k, 0], firsts[k, 1]
            gain, steps = _chain(
                base, tip, joined, cut, values[k], route, size, place, costs, near, least, flips, touched
            )
            if steps:
                return gain, steps
    return 0.0, 0


@kernel
def _first_exchanges(
    base: int,
    tip: int,
    route: Ints,
    size: int,
    place: Ints,
    costs: Costs,
    near: Ints,
    least: float,
    exchanges: Ints,
    values: Floats,
) -> int:
    """How many exchanges look promising; these are put in `exchanges` (node joined, node cut off), best first.

    `values` gets what each saves before the route is closed again.
    """
    found, seen = 0, 0
    opened = leg(costs, base, tip)
    for joined in near[tip]:
        if place[joined] < 0:
            continue
        left = opened - leg(costs, tip, joined)
        if left <= least:
            break
        seen += 1
        if seen > NEIGHBOURS:
            break
        cut = _cut_off(base, tip, joined, route, size, place)
        if cut < 0:
            continue
        value = left + leg(costs, cut, joined)
        slot = found
        while slot > 0 and values[slot - 1] < value:
            slot -= 1
        if slot == BREADTH:
            continue
        found = min(found + 1, BREADTH)
        for k in range(found - 1, slot, -1):
            values[k], exchanges[k, 0], exchanges[k, 1] = values[k - 1], exchanges[k - 1, 0], exchanges[k - 1, 1]
        values[slot], exchanges[slot, 0], exchanges[slot, 1] = value, joined, cut
    return found


@kernel
def _cut_off(base: int, tip: int, joined: int, route: Ints, size: int, place: Ints) -> int:
    """The neighbour of `joined` that becomes the new tip when the arc base-tip is opened; -1 if `joined` has none."""
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
    costs: Costs,
    near: Ints,
    least: float,
    flips: Ints,
    touched: Ints,
) -> tuple[float, int]:
    """The best gain along the greedy chain that begins with the exchange of `joined` and `cut`, and its exchanges.

    The route is left after the last of these; 0, 0 if no point of the chain saves more than `least`.
    """
    best, kept, steps = least, 0, 0
    while True:
        _exchange(base, tip, joined, route, place, flips[steps])
        touched[steps, 0], touched[steps, 1], touched[steps, 2], touched[steps, 3] = base, tip, joined, cut
        steps += 1
        tip = cut
        closed = value - leg(costs, tip, base)
        if closed > best:
            best, kept = closed, steps
        if steps == DEPTH:
            break
        joined, cut, value = _next_exchange(base, tip, value, best, route, size, place, costs, near, touched, steps)
        if joined < 0:
            break
    for step in range(steps - 1, kept - 1, -1):
        reverse(route, place, flips[step, 0], flips[step, 1])
    return (best, kept) if kept else (0.0, 0)


@kernel
def _exchange(base: int, tip: int, joined: int, route: Ints, place: Ints, flip: Ints) -> None:
    """Opens base-tip and joins the tip to `joined` by turning a stretch round, whose positions are put in `flip`."""
    b, t, j = place[base], place[tip], place[joined]
    if t > b:
        flip[0], flip[1] = (t, j - 1) if j > t else (j, b)
    else:
        flip[0], flip[1] = (b, j) if j > b else (j + 1, t)
    reverse(route, place, flip[0], flip[1])


@kernel
def _next_exchange(
    base: int,
    tip: int,
    value: float,
    best: float,
    route: Ints,
    size: int,
    place: Ints,
    costs: Costs,
    near: Ints,
    touched: Ints,
    steps: int,
) -> tuple[int, int, float]:
    """(joined, cut, value) of the exchange that leaves the chain the largest value; joined is -1 if none beats `best`.

    The value is the sum of the arcs opened so far less that of the arcs made, before the route is closed again.
    """
    joined, cut, top = -1, -1, -np.inf
    seen = 0
    for node in near[tip]:
        if place[node] < 0:
            continue
        left = value - leg(costs, tip, node)
        if left <= best:
            break
        seen += 1
        if seen > NEIGHBOURS:
            break
        other = _cut_off(base, tip, node, route, size, place)
        if other < 0 or left + leg(costs, other, node) <= top or _was_joined(node, other, touched, steps):
            continue
        joined, cut, top = node, other, left + leg(costs, other, node)
    return joined, cut, top


@kernel
def _was_joined(node: int, other: int, touched: Ints, steps: int) -> bool:
    """Whether the chain itself made the arc between two nodes; such an arc is not cut again, so that chains end."""
    for step in range(steps):
        tip, joined = touched[step, 1], touched[step, 2]
        if (tip == node and joined == other) or (tip == other and joined == node):
            return True
    return False
