"""Edge recombination of two routes (Whitley et al. 1989, as extended by Kobeaga, Merino and Lozano 2018).

The child visits the nodes common to both parents. It walks from the first node to the last along links, a link being a
parent's stretch between two common nodes that follow each other, and takes along the parent's own nodes on the way.
"""

import numpy as np

from orienteer.kernel import NONE, ONE, ZERO, Ints, State, kernel, next_int

LINKS = 4
"""A node's links in order: forward in either parent, then backward in either."""


@kernel
def recombine(
    one: Ints,
    one_size: int,
    two: Ints,
    two_size: int,
    nodes: int,
    turning: bool,
    round_trip: bool,
    child: Ints,
    state: State,
) -> int:
    """The size of the child, which is written to `child`.

    Parameters
    ----------
    one, two
        The parents, both from the same first to the same last node.
    nodes
        How many nodes there are.
    turning
        Whether links may be walked backward, as symmetric costs allow.
    round_trip
        Whether the first and the last node are one spot.
    """
    first, last = one[0], one[one_size - 1]
    places = np.empty((2, nodes), dtype=np.int64)
    links = np.empty((nodes, LINKS), dtype=np.int64)
    slot = np.empty(nodes, dtype=np.int64)
    for node in range(nodes):
        places[0, node] = places[1, node] = slot[node] = -1
        for k in range(LINKS):
            links[node, k] = -1
    for i in range(one_size):
        places[0, one[i]] = i
    for i in range(two_size):
        places[1, two[i]] = i
    _find_links(one, one_size, places[1], ZERO, links)
    _find_links(two, two_size, places[0], ONE, links)
    if turning and round_trip:  # from the start one may also walk a parent's way home backward
        links[first, 2], links[first, 3] = links[last, 2], links[last, 3]
    open_nodes = np.empty(nodes, dtype=np.int64)
    count = ZERO
    for i in range(1, one_size - 1):
        if places[1, one[i]] >= 0:
            open_nodes[count] = one[i]
            slot[one[i]] = count
            count += 1

    allowed = LINKS if turning else 2
    child[0] = first
    size, here = ONE, first
    taken = NONE
    while count:
        there = _next_node(here, links, slot, allowed, state)
        if there < 0:
            there = open_nodes[next_int(state, count)]
        else:
            which = _pick_link(here, there, there, NONE, links, allowed, state)
            size = _walk(here, which, one, one_size, two, two_size, places, child, size)
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
    banned = taken ^ 2 if taken >= 0 else NONE  # the link by which the child left, walked the other way
    which = _pick_link(here, last, home, banned, links, allowed, state)
    if which >= 0:
        size = _walk(here, which, one, one_size, two, two_size, places, child, size)
    child[size] = last
    return size + 1


@kernel
def _find_links(route: Ints, size: int, other: Ints, parent: int, links: Ints) -> None:
    """Writes each common node's next common node on `route`, forward and backward."""
    before = route[0]
    for i in range(1, size):
        node = route[i]
        if other[node] >= 0:
            links[before, parent] = node
            links[node, parent + 2] = before
            before = node


@kernel
def _next_node(here: int, links: Ints, slot: Ints, allowed: int, state: State) -> int:
    """The open node linked to `here` that has the fewest open links itself, ties drawn; -1 if none is open."""
    chosen, fewest, ties = NONE, LINKS + 1, ZERO
    for k in range(allowed):
        node = links[here, k]
        if node < 0 or slot[node] < 0 or _repeats(links[here], k):
            continue
        degree = 0
        for m in range(allowed):
            other = links[node, m]
            if other >= 0 and slot[other] >= 0 and not _repeats(links[node], m):
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
    """Whether the k-th link leads where an earlier one does."""
    for m in range(k):  # noqa: SIM110, the loop compiles faster than a generator
        if row[m] == row[k]:
            return True
    return False


@kernel
def _pick_link(here: int, there: int, alias: int, banned: int, links: Ints, allowed: int, state: State) -> int:
    """One of the links from `here` to `there` or to its alias, drawn; -1 if there is none but the banned one."""
    chosen, ties = NONE, ZERO
    for k in range(allowed):
        if k != banned and (links[here, k] == there or links[here, k] == alias):
            ties += 1
            if next_int(state, ties) == 0:
                chosen = k
    return chosen


@kernel
def _walk(
    here: int, which: int, one: Ints, one_size: int, two: Ints, two_size: int, places: Ints, child: Ints, size: int
) -> int:
    """The child's size after the private nodes of one link from `here` are appended."""
    parent, step = which % 2, 1 if which < 2 else -1
    route, route_size = (one, one_size) if parent == 0 else (two, two_size)
    at = places[parent, here] + step
    if at < 0:  # backward from the start of a round trip
        at = route_size - 2
    while places[1 - parent, route[at]] < 0:
        child[size] = route[at]
        size += 1
        at += step
    return size
