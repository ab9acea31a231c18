"""Stretches of a route exchanged for stretches of logged paths, and places put in between, by the clock.

As `exchange` does for plain problems: every change adds prize, or saves time at equal prize. A stretch fits where the
route reaches the stop behind it before the latest moment from which the rest of the route can still be made.
"""

import numpy as np

from orienteer.beam.backend.host.exchange import walk
from orienteer.beam.backend.host.timed import begin_at
from orienteer.beam.backend.host.timed_problems import Clock
from orienteer.beam.recombine import ROUNDS, SAVING
from orienteer.kernel import NO, NONE, Floats, Ints, copy, kernel


@kernel
def exchanged_in_time(
    route: Ints, base: int, parent: Ints, node: Ints, prize: Floats, ahead: int,
    costs: Floats, prizes: Floats, clock: Clock,
) -> tuple[Ints, float, float]:  # fmt: skip
    """The route after all changes, the prize of its stops without start and end, and when it ends.

    The parameters are those of `exchange.exchanged`.
    """
    room, size = np.empty(len(prizes) + 1, dtype=np.int64), len(route)
    if base < 0:
        copy(route, room)
    else:
        size = walk(room, route[0], route[-1], base, parent, node, ahead)
    place, stretch = np.empty(len(prizes), dtype=np.int64), np.empty(len(room), dtype=np.int64)
    begin, late, won = np.zeros(len(room)), np.zeros(len(room)), np.zeros(len(room))
    for _ in range(ROUNDS):
        survey(room, size, costs, prizes, clock, place, begin, late, won)
        path, origin, closing = _best(
            size, parent, node, prize, ahead, costs, prizes, clock, room, place, begin, late, won, stretch
        )
        if path >= 0:
            one, other = _spot(origin, parent, node, ahead, place, size), _spot(path, parent, node, ahead, place, size)
            if closing:
                other = 0 if path >= ahead else size - 1
            count = _stretch(path, origin, closing, parent, node, ahead, stretch)
            size = _put_in(room, size, min(one, other), max(one, other), stretch, count)
            continue
        at, stretch[0] = _insertion(room, size, costs, prizes, clock, place, begin, late)
        if at < 0:
            break
        size = _put_in(room, size, at, at + 1, stretch, 1)
    return room[:size], won[size - 1], begin[size - 1]


@kernel
def survey(
    route: Ints, size: int, costs: Floats, prizes: Floats, clock: Clock,
    place: Ints, begin: Floats, late: Floats, won: Floats,
) -> None:  # fmt: skip
    """Writes the place of each stop (-1 for other nodes), and for each place its times and the prize up to there.

    `begin` is when the visit begins, and `late` when it could begin at the latest for all later stops to be in time.
    """
    place[:] = -1
    for at in range(1, size - 1):
        here = route[at]
        place[here], won[at] = at, won[at - 1] + prizes[here]
        begin[at] = begin_at(clock, 0, here, begin[at - 1] + costs[route[at - 1], here])
    end = size - 1
    won[end], begin[end] = won[end - 1], begin[end - 1] + costs[route[end - 1], route[end]]
    late[end] = clock.latest[0]
    for at in range(end - 1, -1, -1):
        late[at] = _latest(clock, route[at], late[at + 1] - costs[route[at], route[at + 1]])


@kernel
def _latest(clock: Clock, node: int, bound: float) -> float:
    """The latest moment up to `bound` when a visit may begin; minus infinity where there is none."""
    for number in range(clock.closes.shape[2] - 1, -1, -1):
        opens, closes = clock.opens[0, node, number], clock.closes[0, node, number]
        if opens <= min(closes, bound):
            return min(closes, bound)
    return -np.inf


@kernel
def _spot(path: int, parent: Ints, node: Ints, ahead: int, place: Ints, size: int) -> int:
    """The place on the route of a path's last node, -1 where it is not on the route."""
    if parent[path] >= 0:
        return place[node[path]]
    return size - 1 if path >= ahead else 0


@kernel
def _best(
    size: int, parent: Ints, node: Ints, prize: Floats, ahead: int, costs: Floats, prizes: Floats, clock: Clock,
    route: Ints, place: Ints, begin: Floats, late: Floats, won: Floats, stretch: Ints,
) -> tuple[int, int, bool]:  # fmt: skip
    """The best exchange: the path to take, its ancestor after which the stretch begins, and whether it is `closing`.

    A closing stretch runs on to the far end of the route; otherwise the path's last node is on the route and stays.
    -1 where no exchange is better.
    """
    most, saved = 0.0, SAVING * clock.latest[0]
    found, found_origin, found_closing = NONE, NONE, NO
    for path in range(len(parent)):
        if parent[path] < 0:
            continue
        back = path >= ahead
        for closing in (False, True):
            far = (0 if back else size - 1) if closing else place[node[path]]
            if far < 0:
                continue
            brought = prize[path] - (0.0 if closing else prizes[node[path]])
            origin = path if closing else parent[path]
            # Of the stretch's own stops on the route, the one nearest to the origin's end of the route: the origin must
            # lie beyond, so that the stop is among those that are taken out.
            bound = far
            while origin >= 0:
                spot = _spot(origin, parent, node, ahead, place, size)
                if spot >= 0 and (spot <= far if back else spot >= far):
                    break  # this stop stays on the route, and all longer stretches hold it
                beyond = spot >= 0 and (spot > bound if back else spot < bound)
                if beyond and origin != path:
                    first, last = min(spot, far), max(spot, far)
                    gain = brought - prize[origin] - (won[last - 1] - won[first])
                    if gain >= most:
                        count = _stretch(path, origin, closing, parent, node, ahead, stretch)
                        arrive = _arrival(clock, costs, route[first], route[last], begin[first], stretch, count)
                        sooner = begin[last - 1] + costs[route[last - 1], route[last]] - arrive
                        if arrive <= late[last] and (gain > most or sooner > saved):
                            most, saved = gain, sooner
                            found, found_origin, found_closing = path, origin, closing
                bound = spot if beyond else bound
                origin = parent[origin]
    return found, found_origin, found_closing


@kernel
def _stretch(path: int, origin: int, closing: bool, parent: Ints, node: Ints, ahead: int, out: Ints) -> int:
    """Writes the stops between an ancestor and a path, from the start's side to the end's; returns their number.

    The path's last node is among them if the stretch is `closing`.
    """
    back, count, one = path >= ahead, 0, path if closing else parent[path]
    while one != origin:
        out[count] = node[one]
        count += 1
        one = parent[one]
    if not back:
        for at in range(count // 2):
            out[at], out[count - 1 - at] = out[count - 1 - at], out[at]
    return count


@kernel
def _arrival(clock: Clock, costs: Floats, first: int, last: int, now: float, stretch: Ints, count: int) -> float:
    """When a route that begins its visit of `first` at `now` is at `last` after a stretch; infinite if it is late."""
    here = first
    for at in range(count):
        now = begin_at(clock, 0, stretch[at], now + costs[here, stretch[at]])
        here = stretch[at]
    return now + costs[here, last]


@kernel
def _put_in(route: Ints, size: int, first: int, last: int, stretch: Ints, count: int) -> int:
    """Puts a stretch between two places, where it replaces what is there; returns the new size."""
    shift = first + 1 + count - last
    if shift > 0:
        for at in range(size - 1, last - 1, -1):
            route[at + shift] = route[at]
    else:
        for at in range(last, size):
            route[at + shift] = route[at]
    for at in range(count):
        route[first + 1 + at] = stretch[at]
    return size + shift


@kernel
def _insertion(
    route: Ints, size: int, costs: Floats, prizes: Floats, clock: Clock, place: Ints, begin: Floats, late: Floats
) -> tuple[int, int]:
    """The place behind which another node fits, and that node: the most prize for its delay; -1 and -1 for none."""
    most, behind, found = 0.0, NONE, NONE
    for node in range(len(prizes) - 2):
        if place[node] >= 0 or prizes[node] <= 0.0:
            continue
        for at in range(size - 1):
            here, there = route[at], route[at + 1]
            now = begin_at(clock, 0, node, begin[at] + costs[here, node]) + costs[node, there]
            if now <= late[at + 1]:
                delay = max(now - begin[at] - costs[here, there], SAVING * clock.latest[0])
                if prizes[node] / delay > most:
                    most, behind, found = prizes[node] / delay, at, node
    return behind, found
