"""Or-opt: short stretches of a route moved elsewhere, in either direction, for symmetric costs (Or 1976).

`route`, `place` and `near` are those of `lin_kernighan`, whose chains cannot make these moves.
"""

from orienteer.kernel import NO, NONE, ONE, Ints, kernel
from orienteer.kernel.legs import Costs, leg
from orienteer.local_search.lin_kernighan import NEIGHBOURS, reverse

LONGEST = 3
"""The most nodes moved together."""


@kernel
def or_opt(route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float) -> float:
    """The length saved; `route` and `place` are changed until no move saves more than `least`."""
    saved = 0.0
    first, unchanged = ONE, 0
    while unchanged < size - 2:  # once round without a change
        gain = _move_from(first, route, size, place, costs, near, least)
        saved += gain
        unchanged = 0 if gain > 0.0 else unchanged + 1
        first = first + 1 if first + 1 < size - 1 else 1
    return saved


@kernel
def move_stretch(route: Ints, place: Ints, first: int, last: int, after: int, turned: bool) -> None:
    """Moves the stretch from position `first` to `last` behind the position `after`, which lies outside of it.

    With `turned` its direction changes.
    """
    # Two neighbouring stretches change places when each is turned round, and then both together.
    if after < first:
        reverse(route, place, after + 1, first - 1)
        left, right = after + 1, last
    else:
        reverse(route, place, last + 1, after)
        left, right = first, after
    if not turned:
        reverse(route, place, first, last)
    reverse(route, place, left, right)


@kernel
def _move_from(first: int, route: Ints, size: int, place: Ints, costs: Costs, near: Ints, least: float) -> float:
    """Makes the best move of a stretch that begins at position `first`; returns its saving, 0 if none saves enough."""
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
        return 0.0
    move_stretch(route, place, first, best_last, best_after, best_turned)
    return best
