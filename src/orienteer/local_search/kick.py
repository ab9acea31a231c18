"""Iterated local search on a route with fixed ends: kick and shorten it, and go back if it became longer.

The kick is the double bridge (Martin, Otto and Felten 1991): two neighbouring stretches change places, both keeping
their direction, so that the kick serves asymmetric costs too. The stretches are short: little has to be repaired.
"""

from orienteer.kernel import Floats, Ints, State, kernel, next_int
from orienteer.kernel.legs import Costs, leg
from orienteer.local_search.or_opt import move_stretch
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
    first, last, after = drawn_kick(size, state)
    saved = saved_by_kick(route, costs, first, last, after)
    move_stretch(route, place, first, last, after, False)
    return saved


@kernel
def drawn_kick(size: int, state: State) -> tuple[int, int, int]:
    """A random stretch, from its first to its last position, and the position of the stretch behind it that ends it."""
    inner = size - 2
    first_length = 1 + next_int(state, min(STRETCH, inner - 1))
    second_length = 1 + next_int(state, min(STRETCH, inner - first_length))
    before = next_int(state, inner - first_length - second_length + 1)
    return before + 1, before + first_length, before + first_length + second_length


@kernel
def saved_by_kick(route: Ints, costs: Costs, first: int, last: int, after: int) -> float:
    """What is saved if the stretch from `first` to `last` and that from there to `after` change places."""
    before, head, tail = route[first - 1], route[first], route[last]
    other_head, other_tail, behind = route[last + 1], route[after], route[after + 1]
    opened = leg(costs, before, head) + leg(costs, tail, other_head) + leg(costs, other_tail, behind)
    return opened - (leg(costs, before, other_head) + leg(costs, other_tail, head) + leg(costs, tail, behind))
