"""Or-opt: short stretches of a route moved elsewhere, in either direction, for symmetric costs (Or 1976).

`route`, `place` and `near` are those of `lin_kernighan`, whose chains cannot make these moves.
"""

import numpy as np

from orienteer.kernel import NO, NONE, ONE, Ints, kernel
from orienteer.kernel.legs import Costs, leg
from orienteer.local_search.lin_kernighan import NEIGHBOURS, reverse

LONGEST = 3
"""The most nodes moved together."""

MOST_FLIPS = 3
"""The most stretches that are turned round to move one."""


@kernel
def or_opt(route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float) -> float:
    """The length saved; `route` and `place` are changed until no move saves more than `least`."""
    saved = 0.0
    first, unchanged = ONE, 0
    while unchanged < size - 2:  # once round without a change
        gain, last, after, turned = best_move(first, route, size, place, costs, near, least)
        if gain > 0.0:
            move_stretch(route, place, first, last, after, turned)
        saved += gain
        unchanged = 0 if gain > 0.0 else unchanged + 1
        first = first + 1 if first + 1 < size - 1 else 1
    return saved


@kernel
def move_stretch(route: Ints, place: Ints, first: int, last: int, after: int, turned: bool) -> None:
    """Moves the stretch from position `first` to `last` behind the position `after`, which lies outside of it.

    With `turned` its direction changes.
    """
    flips = np.empty((MOST_FLIPS, 2), dtype=np.int64)
    for index in range(flips_of_move(first, last, after, turned, flips)):
        reverse(route, place, flips[index, 0], flips[index, 1])


@kernel
def flips_of_move(first: int, last: int, after: int, turned: bool, flips: Ints) -> int:
    """The number of stretches that, turned round one after another, do what `move_stretch` does.

    Their first and last positions are put in the first rows of `flips`, (MOST_FLIPS, 2).
    """
    # Two neighbouring stretches change places when each is turned round, and then both together.
    if after < first:
        flips[0, 0], flips[0, 1] = after + 1, first - 1
        left, right = after + 1, last
    else:
        flips[0, 0], flips[0, 1] = last + 1, after
        left, right = first, after
    count = 1
    if not turned:
        flips[1, 0], flips[1, 1] = first, last
        count = 2
    flips[count, 0], flips[count, 1] = left, right
    return count + 1


@kernel
def best_move(
    first: int, route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float
) -> tuple[float, int, int, bool]:
    """The best move of a stretch that begins at position `first`: (saving, last, after, turned) for `move_stretch`.

    The saving is 0 if no move saves more than `least`.
    """
    best, best_last, best_after, best_turned = least, NONE, NONE, NO
    before, head = route[first - 1], route[first]
    for last in range(first, min(first + LONGEST, size - 1)):
        tail, behind = route[last], route[last + 1]
        freed = leg(costs, before, head) + leg(costs, tail, behind) - leg(costs, before, behind)
        if freed <= best:
            continue
        for at_head in (True, False):
            joined, other = (head, tail) if at_head else (tail, head)
            seen = 0
            for node in near[joined]:
                where = place[node]
                if where < 0 or first <= where <= last:
                    continue
                seen += 1
                if leg(costs, joined, node) >= freed or seen > NEIGHBOURS:
                    break
                # A stretch put behind `node` has its joined end first, a stretch put before `node` has it last.
                if where != size - 1 and where + 1 != first:
                    follower = route[where + 1]
                    gain = freed - leg(costs, node, joined) - leg(costs, other, follower) + leg(costs, node, follower)
                    if gain > best:
                        best, best_last, best_after, best_turned = gain, last, where, not at_head
                if where != 0 and where - 1 != last:
                    leader = route[where - 1]
                    gain = freed - leg(costs, joined, node) - leg(costs, leader, other) + leg(costs, leader, node)
                    if gain > best:
                        best, best_last, best_after, best_turned = gain, last, where - 1, at_head
    if best_last < 0:
        return 0.0, NONE, NONE, NO
    return best, best_last, best_after, best_turned
