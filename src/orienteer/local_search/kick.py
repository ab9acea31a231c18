"""Iterated local search on a route with fixed ends: kick it, shorten it, keep it if it is no longer than before.

The kick is the double bridge (Martin, Otto and Felten 1991): two neighbouring stretches change places, both keeping
their direction, so that it serves asymmetric costs too. The stretches are short, so that little has to be repaired.
"""

from orienteer.kernel import Floats, Ints, State, kernel, next_int
from orienteer.local_search.lin_kernighan import reverse
from orienteer.local_search.shorten import Shorten

STRETCH = 30
"""The most nodes of a stretch that is moved."""


@kernel
def kick_and_shorten(
    route: Ints,
    size: int,
    place: Ints,
    costs: Floats,
    near: Ints,
    shorten: Shorten,
    least: float,
    kicks: int,
    state: State,
) -> float:
    """The length saved by `kicks` kicks; `route` and `place`, as of `lin_kernighan`, are left at the best."""
    saved = shorten(route, size, place, costs, near, least)
    if size < 5:
        return saved
    kept = route[:size].copy()
    for _ in range(kicks):
        gain = _kick(route, size, place, costs, state)
        gain += shorten(route, size, place, costs, near, least)
        if gain < -least:
            for i in range(size):
                route[i] = kept[i]
                place[kept[i]] = i
        else:
            saved += gain
            for i in range(size):
                kept[i] = route[i]
    return saved


@kernel
def _kick(route: Ints, size: int, place: Ints, costs: Floats, state: State) -> float:
    """What the kick saves, usually less than nothing: two random stretches side by side change places."""
    inner = size - 2
    one = 1 + next_int(state, min(STRETCH, inner - 1))
    two = 1 + next_int(state, min(STRETCH, inner - one))
    before = next_int(state, inner - one - two + 1)
    middle, last = before + one, before + one + two
    opened = costs[route[before], route[before + 1]] + costs[route[middle], route[middle + 1]]
    opened += costs[route[last], route[last + 1]]
    reverse(route, place, before + 1, middle)
    reverse(route, place, middle + 1, last)
    reverse(route, place, before + 1, last)
    middle = before + two
    joined = costs[route[before], route[before + 1]] + costs[route[middle], route[middle + 1]]
    return opened - joined - costs[route[last], route[last + 1]]
