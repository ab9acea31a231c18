"""Edge recombination of two routes (Whitley et al. 1989, as extended by Kobeaga, Merino and Lozano 2018).

The child visits the nodes common to both parents. It walks from the first node to the last along stretches of its
parents, from one common node to the next, and visits the nodes on them that only this parent has.
"""

import numpy as np

from orienteer.kernel import NONE, ONE, ZERO, Ints, State, kernel, next_int

STRETCHES = 4
"""How many stretches begin at a node: forward in either parent, then backward in either."""


@kernel
def recombine(
    mother: Ints,
    mother_size: int,
    father: Ints,
    father_size: int,
    nodes: int,
    turning: bool,
    round_trip: bool,
    child: Ints,
    state: State,
) -> int:
    """The size of the child, which is written to `child`.

    Parameters
    ----------
    mother, father
        The parents, whose first nodes are equal, and whose last nodes are.
    nodes
        How many nodes the problem has.
    turning
        Whether stretches may be walked backward, as symmetric costs allow.
    round_trip
        Whether the first and the last node are two numbers of one place.
    """
    first, last = mother[0], mother[mother_size - 1]
    places = np.empty((2, nodes), dtype=np.int64)
    ends = np.empty((nodes, STRETCHES), dtype=np.int64)  # where each node's stretches lead, -1 for none
    slot = np.empty(nodes, dtype=np.int64)
    for node in range(nodes):
        places[0, node] = places[1, node] = slot[node] = -1
        for k in range(STRETCHES):
            ends[node, k] = -1
    for i in range(mother_size):
        places[0, mother[i]] = i
    for i in range(father_size):
        places[1, father[i]] = i
    _find_stretches(mother, mother_size, places[1], ZERO, ends)
    _find_stretches(father, father_size, places[0], ONE, ends)
    if turning and round_trip:  # a child may also begin with the last stretch of a parent, backward
        ends[first, 2], ends[first, 3] = ends[last, 2], ends[last, 3]
    open_nodes = np.empty(nodes, dtype=np.int64)  # common nodes that the child has yet to visit
    count = ZERO
    for i in range(1, mother_size - 1):
        if places[1, mother[i]] >= 0:
            open_nodes[count] = mother[i]
            slot[mother[i]] = count
            count += 1

    allowed = STRETCHES if turning else 2
    child[0] = first
    size, here = ONE, first
    taken = NONE
    while count:
        there = _next_node(here, ends, slot, allowed, state)
        if there < 0:
            there = open_nodes[next_int(state, count)]
        else:
            which = _pick_stretch(here, there, there, NONE, ends, allowed, state)
            size = _walk(here, which, mother, mother_size, father, father_size, places, child, size)
            if here == first:
                taken = which
        count -= 1
        moved = open_nodes[count]
        open_nodes[slot[there]], slot[moved] = moved, slot[there]
        slot[there] = -1
        child[size] = there
        size += 1
        here = there
    home = first if turning and round_trip else last
    banned = taken ^ 2 if taken >= 0 else NONE  # the stretch by which the child left, walked the other way
    which = _pick_stretch(here, last, home, banned, ends, allowed, state)
    if which >= 0:
        size = _walk(here, which, mother, mother_size, father, father_size, places, child, size)
    child[size] = last
    return size + 1


@kernel
def _find_stretches(route: Ints, size: int, other: Ints, parent: int, ends: Ints) -> None:
    """Writes each common node's next common node on `route`, forward and backward, into `ends`.

    `route` is that of parent 0 or 1; `other` has the places of nodes on the other parent's route, -1 for the rest.
    """
    before = route[0]
    for i in range(1, size):
        node = route[i]
        if other[node] >= 0:
            ends[before, parent] = node
            ends[node, parent + 2] = before
            before = node


@kernel
def _next_node(here: int, ends: Ints, slot: Ints, allowed: int, state: State) -> int:
    """The open node at the end of a stretch from `here` with the fewest stretches to open nodes; -1 for none.

    Ties are drawn.
    """
    chosen, fewest, ties = NONE, STRETCHES + 1, ZERO
    for k in range(allowed):
        node = ends[here, k]
        if node < 0 or slot[node] < 0 or _repeats(ends[here], k):
            continue
        degree = 0
        for m in range(allowed):
            other = ends[node, m]
            if other >= 0 and slot[other] >= 0 and not _repeats(ends[node], m):
                degree += 1
        if degree < fewest:
            chosen, fewest, ties = node, degree, ONE
        elif degree == fewest:
            ties += 1
            if next_int(state, ties) == 0:
                chosen = node
    return chosen


@kernel
def _repeats(row: Ints, k: int) -> bool:
    """Whether the k-th stretch leads where an earlier stretch does."""
    for m in range(k):  # noqa: SIM110, the loop compiles faster than a generator
        if row[m] == row[k]:
            return True
    return False


@kernel
def _pick_stretch(here: int, there: int, alias: int, banned: int, ends: Ints, allowed: int, state: State) -> int:
    """A random stretch from `here` to `there` or to `alias`, but for number `banned`; -1 if there is none."""
    chosen, ties = NONE, ZERO
    for k in range(allowed):
        if k != banned and (ends[here, k] == there or ends[here, k] == alias):
            ties += 1
            if next_int(state, ties) == 0:
                chosen = k
    return chosen


@kernel
def _walk(
    here: int,
    which: int,
    mother: Ints,
    mother_size: int,
    father: Ints,
    father_size: int,
    places: Ints,
    child: Ints,
    size: int,
) -> int:
    """The child's size after the nodes inside stretch number `which` from `here` are appended."""
    parent, step = which % 2, 1 if which < 2 else -1
    route, route_size = (mother, mother_size) if parent == 0 else (father, father_size)
    at = places[parent, here] + step
    if at < 0:  # backward from the start of a round trip
        at = route_size - 2
    while places[1 - parent, route[at]] < 0:
        child[size] = route[at]
        size += 1
        at += step
    return size
