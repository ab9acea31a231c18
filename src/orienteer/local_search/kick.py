"""Iterated local search on a route with fixed ends: kick and shorten it, and go back if it became longer.

The kick is the double bridge (Martin, Otto and Felten 1991): two neighbouring stretches change places, both keeping
their direction, so that the kick serves asymmetric costs too. The stretches are short: little has to be repaired.
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
    """The length saved by `shorten` and `kicks` kicks; `route` and `place`, those of `lin_kernighan`, are changed."""
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
    """Lets two random stretches side by side change places; returns what that saves, usually less than nothing."""
    inner = size - 2
    first_length = 1 + next_int(state, min(STRETCH, inner - 1))
    second_length = 1 + next_int(state, min(STRETCH, inner - first_length))
    before = next_int(state, inner - first_length - second_length + 1)
    middle, last = before + first_length, before + first_length + second_length
    opened = costs[route[before], route[before + 1]] + costs[route[middle], route[middle + 1]]
    opened += costs[route[last], route[last + 1]]
    reverse(route, place, before + 1, middle)
    reverse(route, place, middle + 1, last)
    reverse(route, place, before + 1, last)
    middle = before + second_length
    joined = costs[route[before], route[before + 1]] + costs[route[middle], route[middle + 1]]
    return opened - joined - costs[route[last], route[last + 1]]
