"""Stretches of a route exchanged for stretches of logged paths, while that adds prize, or lowers cost at equal prize.

A beam has logged thousands of paths that lead well from one node to another. Where a path passes two nodes of a route,
what lies between them on the path may take the place of what lies between them on the route.
"""

import numpy as np

from orienteer.beam.recombine import ROUNDS, SAVING
from orienteer.kernel import NO, NONE, Floats, Ints, copy, kernel


@kernel
def exchanged(
    route: Ints, base: int, parent: Ints, node: Ints, cost: Floats, prize: Floats, stops: Ints, ahead: int,
    costs: Floats, prizes: Floats, budget: float, both_ways: bool,
) -> tuple[Ints, float, float]:  # fmt: skip
    """The route after all exchanges, the prize of its stops without start and end, and its cost.

    The exchanges begin with `route` or, where `base` is not -1, with that path and a leg straight to its other end.
    See `exchange` for the other parameters.
    """
    room, size = np.empty(len(prizes) + 1, dtype=np.int64), len(route)
    if base < 0:
        copy(route, room)
    else:
        size = walk(room, route[0], route[-1], base, parent, node, ahead)
    size = exchange(room, size, parent, node, cost, prize, stops, ahead, costs, prizes, budget, both_ways)
    worth, total = 0.0, 0.0
    for at in range(1, size):
        worth += prizes[room[at]] if at < size - 1 else 0.0
        total += _leg(costs, room[at - 1], room[at])
    return room[:size], worth, total


@kernel
def walk(route: Ints, start: int, end: int, path: int, parent: Ints, node: Ints, ahead: int) -> int:
    """Writes the route along a path and straight to the path's other end; returns the size of the route."""
    size, ancestor = 2, path
    while parent[ancestor] >= 0:
        size += 1
        ancestor = parent[ancestor]
    route[0], route[size - 1] = start, end
    for number in range(1, size - 1):
        route[number if path >= ahead else size - 1 - number] = node[path]
        path = parent[path]
    return size


@kernel
def exchange(
    route: Ints, size: int, parent: Ints, node: Ints, cost: Floats, prize: Floats, stops: Ints, ahead: int,
    costs: Floats, prizes: Floats, budget: float, both_ways: bool,
) -> int:  # fmt: skip
    """Exchanges stretches of the route in the first `size` places of `route`; returns the new size.

    Args:
        route: Nodes, with room for all nodes of the problem and the end.
        parent: (path,) the number of each path's parent, -1 for the empty paths.
        node, cost, prize: (path,) the last node, what the legs cost, and what the stops bring.
        stops: (path, word) the stops as sets of bits.
        ahead: How many paths come from the start; those behind them come from the end.
        costs, prizes: (n, n) costs of legs and (n,) prizes of nodes.
        budget: The most that a route may cost.
        both_ways: Whether every leg costs the same in both directions.
    """
    place = np.empty(len(prizes), dtype=np.int64)
    spent, won = np.zeros(len(route)), np.zeros(len(route))
    passed = np.zeros((len(route), stops.shape[1]), dtype=np.int64)
    spot, notes = np.empty(len(parent), dtype=np.int64), np.empty((2, 4, len(parent)))
    for _ in range(ROUNDS):
        _survey(route, size, costs, prizes, place, spent, won, passed)
        _note(size, parent, node, cost, prize, ahead, place, spent, won, spot, notes)
        path, origin, closing = _best(
            route, size, parent, node, cost, prize, stops, ahead, costs, prizes, budget, both_ways,
            place, spent, won, passed, spot, notes,
        )  # fmt: skip
        if path < 0:
            break
        size = _put_in(route, size, parent, node, ahead, place, path, origin, closing)
    return size


@kernel
def _leg(costs: Floats, here: int, there: int) -> float:
    """The cost of a leg; standing still, as in the empty round trip, costs nothing."""
    return costs[here, there] if here != there else 0.0


@kernel
def _survey(
    route: Ints, size: int, costs: Floats, prizes: Floats, place: Ints, spent: Floats, won: Floats, passed: Ints
) -> None:
    """Writes each stop's place (-1 for other nodes), and for each place cost, prize and set of stops up to there."""
    place[:] = -1
    for at in range(1, size):
        spent[at] = spent[at - 1] + _leg(costs, route[at - 1], route[at])
        won[at] = won[at - 1]
        copy(passed[at - 1], passed[at])
        if at < size - 1:
            place[route[at]] = at
            won[at] += prizes[route[at]]
            passed[at, route[at] >> 6] |= np.int64(1) << np.int64(route[at] & 63)


@kernel
def _note(
    size: int, parent: Ints, node: Ints, cost: Floats, prize: Floats, ahead: int,
    place: Ints, spent: Floats, won: Floats, spot: Ints, notes: Floats,
) -> None:  # fmt: skip
    """Writes where on the route each path ends, and what an exchange that begins there adds to cost and gain.

    `notes` are (side, 4, path), for exchanges that end behind (side 0) or before (side 1) the place where they begin:
    the cost and the gain that beginning at this path adds, then the least such cost and the most such gain of this path
    and its ancestors. Parents come before their children.
    """
    for path in range(len(parent)):
        root = parent[path] < 0
        at = place[node[path]] if not root else size - 1 if path >= ahead else 0
        spot[path] = at
        for side in range(2):
            notes[side, 0, path], notes[side, 1, path] = np.inf, -np.inf
        if at >= 0:
            notes[0, 0, path], notes[0, 1, path] = spent[at] - cost[path], won[at] - prize[path]
        if at > 0:
            notes[1, 0, path], notes[1, 1, path] = -spent[at] - cost[path], -won[at - 1] - prize[path]
        for side in range(2):
            notes[side, 2, path], notes[side, 3, path] = notes[side, 0, path], notes[side, 1, path]
            if not root:
                notes[side, 2, path] = min(notes[side, 2, path], notes[side, 2, parent[path]])
                notes[side, 3, path] = max(notes[side, 3, path], notes[side, 3, parent[path]])


@kernel
def _best(
    route: Ints, size: int, parent: Ints, node: Ints, cost: Floats, prize: Floats, stops: Ints, ahead: int,
    costs: Floats, prizes: Floats, budget: float, both_ways: bool,
    place: Ints, spent: Floats, won: Floats, passed: Ints, spot: Ints, notes: Floats,
) -> tuple[int, int, bool]:  # fmt: skip
    """The best exchange: the path to take, its ancestor after which the stretch begins, and whether it is `closing`.

    A closing stretch runs on to the far end of the route; otherwise the path's last node is on the route and stays.
    -1 where no exchange is better. All loops are in one function: as a function of its own, with a dozen arrays a
    call, the innermost loop takes up to 2.5 times as long.
    """
    most, least = 0.0, spent[size - 1] - SAVING * budget
    found, found_origin, found_closing = NONE, NONE, NO
    for path in range(len(parent)):
        if parent[path] < 0:
            continue
        back = path >= ahead
        for closing in (False, True):
            if closing:
                far, origin, bonus = 0 if back else size - 1, path, 0.0
                leg = costs[route[0], node[path]] if back else costs[node[path], route[size - 1]]
            else:
                far, origin, bonus, leg = place[node[path]], parent[path], prizes[node[path]], 0.0
            for side in range(2):
                if far < 0 or not (both_ways or (side == 1) == back) or far == (0, size - 1)[side]:
                    continue
                if side == 0:
                    base, worth = spent[size - 1] - spent[far] + cost[path] + leg, prize[path] - bonus - won[far - 1]
                else:
                    base, worth = spent[size - 1] + spent[far] + cost[path] + leg, prize[path] - bonus + won[far]
                ancestor = origin
                while ancestor >= 0:
                    hope, price = worth + notes[side, 3, ancestor], base + notes[side, 2, ancestor]
                    if hope < most or price > budget or (hope == most and price >= least):
                        break  # no ancestor is better
                    gain, total = worth + notes[side, 1, ancestor], base + notes[side, 0, ancestor]
                    near = spot[ancestor]
                    better = gain > most or (gain == most and total < least)
                    if better and total <= budget and (near < far if side == 0 else near > far):
                        left, right = min(near, far), max(near, far)
                        end = -1 if closing else node[path]
                        if _fits(stops[path], stops[ancestor], end, passed[size - 1], passed[left], passed[right - 1]):
                            most, least = gain, total
                            found, found_origin, found_closing = path, ancestor, closing
                    ancestor = parent[ancestor]
    return found, found_origin, found_closing


@kernel
def _fits(path: Ints, origin: Ints, end: int, all_stops: Ints, to_left: Ints, to_right: Ints) -> bool:
    """Whether the route keeps none of the stops of a path after its origin, apart from the path's `end`."""
    for word in range(len(path)):
        new = path[word] ^ origin[word]
        if end >> 6 == word:
            new &= ~(np.int64(1) << np.int64(end & 63))
        if new & all_stops[word] & ~(to_right[word] & ~to_left[word]):
            return False
    return True


@kernel
def _put_in(
    route: Ints, size: int, parent: Ints, node: Ints, ahead: int, place: Ints, path: int, origin: int, closing: bool
) -> int:
    """Makes an exchange that `_best` found; returns the new size of the route."""
    back = path >= ahead
    near = place[node[origin]] if parent[origin] >= 0 else size - 1 if back else 0
    far = (0 if back else size - 1) if closing else place[node[path]]
    left, right = min(near, far), max(near, far)
    count, ancestor = 0, path if closing else parent[path]
    while ancestor != origin:
        count += 1
        ancestor = parent[ancestor]
    rest = route[right:size].copy()
    ancestor = path if closing else parent[path]
    for number in range(count):  # from the far end to the near ancestor
        route[left + 1 + (count - 1 - number if near < far else number)] = node[ancestor]
        ancestor = parent[ancestor]
    copy(rest, route[left + 1 + count :])
    return left + 1 + count + len(rest)
