"""Chained Lin-Kernighan: a kick, and then only what the kick and the moves after it touched is looked at anew.

Martin, Otto and Felten 1991; Applegate, Cook and Rohe 2003. A kick costs the same whatever the size of the route, but
for the stretches that its moves turn round. Routes and places are those of `lin_kernighan`.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Bools, Ints, State, kernel
from orienteer.kernel.legs import Costs
from orienteer.local_search.kick import drawn_kick, saved_by_kick
from orienteer.local_search.lin_kernighan import DEPTH, Exchanges, improve_from, new_exchanges, reverse
from orienteer.local_search.or_opt import LONGEST, MOST_FLIPS, best_move, flips_of_move

MOST_TURNS = 2000
"""Stretches turned round for one kick; with so many the kick's consequences are not followed further."""
SMALLEST = 5
"""The fewest nodes of a route that is kicked."""


class Waiting(NamedTuple):
    """The nodes to look at, each once: a ring."""

    ring: Ints
    listed: Bools
    span: Ints
    """(2,) where the first of them stands, and how many there are."""


class Turns(NamedTuple):
    """The stretches that were turned round, in order, so that this can be undone."""

    ends: Ints
    """(MOST_TURNS, 2) first and last positions."""
    made: Ints
    """(1,) how many there are."""


class ChainRoom(NamedTuple):
    """Room for the work of `chained_lin_kernighan`."""

    waiting: Waiting
    turns: Turns
    exchanges: Exchanges
    flips: Ints
    """(MOST_FLIPS, 2) of one move of or-opt."""


def new_chain_room(nodes: int) -> ChainRoom:
    """Room for routes through some of this many nodes."""
    waiting = Waiting(np.empty(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.bool_), np.zeros(2, dtype=np.int64))
    turns = Turns(np.empty((MOST_TURNS, 2), dtype=np.int64), np.zeros(1, dtype=np.int64))
    return ChainRoom(waiting, turns, new_exchanges(), np.empty((MOST_FLIPS, 2), dtype=np.int64))


@kernel
def chained_lin_kernighan(
    route: Ints,
    size: int,
    place: Ints,
    costs: Costs,
    near: Ints,
    least: float,
    kicks: int,
    state: State,
    room: ChainRoom,
) -> float:
    """The length saved by Lin-Kernighan and or-opt and then by `kicks` kicks; `route` and `place` are changed."""
    saved, gain = 0.0, 1.0
    while gain > 0.0 and size > 3:
        for index in range(size):
            _list(room.waiting, route[index])
        room.turns.made[0] = 0
        gain = _improve(route, size, place, costs, near, least, room)
        saved += gain
    if size < SMALLEST:
        return saved
    for _ in range(kicks):
        saved += _kick(route, size, place, costs, near, least, state, room)
    return saved


@kernel
def _kick(
    route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float, state: State, room: ChainRoom
) -> float:
    """The length saved by a kick and what follows from it; all of that is undone if the route became longer."""
    first, last, after = drawn_kick(size, state)
    gain = saved_by_kick(route, costs, first, last, after)
    room.turns.made[0] = 0
    _move(route, place, first, last, after, False, room)
    gain += _improve(route, size, place, costs, near, least, room)
    if gain >= 0.0:
        return gain
    for index in range(room.turns.made[0] - 1, -1, -1):
        reverse(route, place, room.turns.ends[index, 0], room.turns.ends[index, 1])
    return 0.0


@kernel
def _improve(route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float, room: ChainRoom) -> float:
    """The length saved at the nodes that wait, and at those that are touched meanwhile, until none waits."""
    waiting, exchanges, saved = room.waiting, room.exchanges, 0.0
    while waiting.span[1] > 0:
        node = _next(waiting)
        if room.turns.made[0] > MOST_TURNS - DEPTH - MOST_FLIPS:
            continue  # takes the rest off the list
        gain, steps = improve_from(node, route, size, place, costs, near, least, exchanges)
        for step in range(steps):
            _note(room.turns, exchanges.flips[step, 0], exchanges.flips[step, 1])
            for end in range(4):
                _list(waiting, exchanges.touched[step, end])
        if steps == 0:
            gain = _move_stretch_at(node, route, size, place, costs, near, least, room)
        saved += gain
    return saved


@kernel
def _move_stretch_at(
    node: int, route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float, room: ChainRoom
) -> float:
    """The length saved by the first move of or-opt that pays, of a stretch that begins at a node or shortly before."""
    for back in range(LONGEST):
        first = place[node] - back
        if 0 < first < size - 1:
            gain, last, after, turned = best_move(first, route, size, place, costs, near, least)
            if gain > 0.0:
                _move(route, place, first, last, after, turned, room)
                return gain
    return 0.0


@kernel
def _move(route: Ints, place: Ints, first: int, last: int, after: int, turned: bool, room: ChainRoom) -> None:
    """Moves a stretch as `move_stretch` does; lists the nodes at both ends of the arcs that are opened."""
    for before in (first - 1, last, after):
        _list(room.waiting, route[before])
        _list(room.waiting, route[before + 1])
    for index in range(flips_of_move(first, last, after, turned, room.flips)):
        reverse(route, place, room.flips[index, 0], room.flips[index, 1])
        _note(room.turns, room.flips[index, 0], room.flips[index, 1])


@kernel
def _note(turns: Turns, first: int, last: int) -> None:
    turns.ends[turns.made[0], 0], turns.ends[turns.made[0], 1] = first, last
    turns.made[0] += 1


@kernel
def _list(waiting: Waiting, node: int) -> None:
    """Puts a node on the list, unless it is there."""
    if not waiting.listed[node]:
        waiting.listed[node] = True
        waiting.ring[(waiting.span[0] + waiting.span[1]) % len(waiting.ring)] = node
        waiting.span[1] += 1


@kernel
def _next(waiting: Waiting) -> int:
    """The first node of the list, which is taken off."""
    node = waiting.ring[waiting.span[0]]
    waiting.span[0] = (waiting.span[0] + 1) % len(waiting.ring)
    waiting.span[1] -= 1
    waiting.listed[node] = False
    return node
