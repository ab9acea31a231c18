"""Nodes taken off a route until it fits and put on while it does (Kobeaga, Merino and Lozano 2018, section 3).

Here a route is a chain: `following[v]` and `leading[v]` are the nodes after and before v, and `place[v]` is negative
for the nodes v that are not on the route. The first and the last node are never dropped.
"""

import numpy as np

from orienteer.kernel import Floats, Ints, kernel

NEAREST = 3
"""Beside how many of its nearest visited nodes a new node is tried."""


@kernel
def make_chain(route: Ints, size: int, following: Ints, leading: Ints) -> None:
    """Fills the chain from the first `size` nodes of `route`."""
    for i in range(size - 1):
        following[route[i]] = route[i + 1]
        leading[route[i + 1]] = route[i]


@kernel
def write_route(first: int, last: int, following: Ints, route: Ints, place: Ints) -> int:
    """The number of nodes on the chain; they are written to `route`, and their positions to `place`."""
    size, node = 0, first
    while True:
        route[size] = node
        place[node] = size
        size += 1
        if node == last:
            return size
        node = following[node]


@kernel
def route_cost(route: Ints, size: int, costs: Floats) -> float:
    """The legs' costs added in order, as the judge adds them."""
    total = 0.0
    for i in range(size - 1):
        total += costs[route[i], route[i + 1]]
    return total


@kernel
def drop_until_fits(
    first: int,
    last: int,
    following: Ints,
    leading: Ints,
    place: Ints,
    costs: Floats,
    prizes: Floats,
    cost: float,
    budget: float,
) -> float:
    """The cost after dropping the node with the lowest prize per cost saved, again and again until the route fits.

    Where no single node saves anything, as may happen without a triangle inequality, the stretch of nodes with the
    lowest prize per cost saved goes instead. The cost stays above the budget only if no stretch saves anything either.
    """
    while cost > budget:
        worst, lowest, most = -1, np.inf, 0.0
        node = following[first]
        while node != last:
            saved = saving(node, following, leading, costs)
            if saved > 0.0 and prizes[node] / saved < lowest:
                worst, lowest, most = node, prizes[node] / saved, saved
            node = following[node]
        if worst >= 0:
            drop(worst, following, leading, place)
            cost -= most
            continue
        saved = _drop_stretch(first, last, following, leading, place, costs, prizes)
        if saved <= 0.0:
            break
        cost -= saved
    return cost


@kernel
def add_while_fits(
    first: int,
    last: int,
    following: Ints,
    leading: Ints,
    place: Ints,
    costs: Floats,
    prizes: Floats,
    near_in: Ints,
    near_out: Ints,
    cost: float,
    budget: float,
) -> float:
    """The cost after adding the node with the highest prize per cost added, again and again while one fits.

    A node goes beside one of its nearest visited nodes, or beside a node added by this call. `near_in` lists the nodes
    by their cost to each node, `near_out` by the cost from it, cheapest first.
    """
    absent = np.empty(len(place), dtype=np.int64)
    cheapest = np.empty(len(place))
    behind = np.empty(len(place), dtype=np.int64)
    count = 0
    for node in range(len(place)):
        if place[node] < 0:
            absent[count] = node
            count += 1
            behind[node], cheapest[node] = best_spot(
                node, first, last, following, leading, place, costs, near_in, near_out
            )
    while count:
        chosen, highest = -1, 0.0
        for k in range(count):
            node = absent[k]
            if cost + cheapest[node] <= budget:
                worth = _worth(prizes[node], cheapest[node], budget)
                if worth > highest:
                    chosen, highest = k, worth
        if chosen < 0:
            break
        node = absent[chosen]
        count -= 1
        absent[chosen] = absent[count]
        before, after = behind[node], following[behind[node]]
        cost += cheapest[node]
        add(node, before, following, leading, place)
        for k in range(count):
            other = absent[k]
            if behind[other] == before:
                behind[other], cheapest[other] = best_spot(
                    other, first, last, following, leading, place, costs, near_in, near_out
                )
            added = costs[before, other] + costs[other, node] - costs[before, node]
            if added < cheapest[other]:
                behind[other], cheapest[other] = before, added
            added = costs[node, other] + costs[other, after] - costs[node, after]
            if added < cheapest[other]:
                behind[other], cheapest[other] = node, added
    return cost


@kernel
def best_spot(
    node: int,
    first: int,
    last: int,
    following: Ints,
    leading: Ints,
    place: Ints,
    costs: Floats,
    near_in: Ints,
    near_out: Ints,
) -> tuple[int, float]:
    """The node behind which `node` adds least cost, among spots beside its nearest visited nodes, and that cost."""
    behind, cheapest = -1, np.inf
    seen = 0
    for before in near_in[node]:
        if place[before] >= 0 and before != last:
            added = costs[before, node] + costs[node, following[before]] - costs[before, following[before]]
            if added < cheapest:
                behind, cheapest = before, added
            seen += 1
            if seen == NEAREST:
                break
    seen = 0
    for after in near_out[node]:
        if place[after] >= 0 and after != first:
            added = costs[leading[after], node] + costs[node, after] - costs[leading[after], after]
            if added < cheapest:
                behind, cheapest = leading[after], added
            seen += 1
            if seen == NEAREST:
                break
    if behind < 0:  # no visited node is near: any spot may do
        before = first
        while before != last:
            after = following[before]
            added = costs[before, node] + costs[node, after] - costs[before, after]
            if added < cheapest:
                behind, cheapest = before, added
            before = after
    return behind, cheapest


@kernel
def saving(node: int, following: Ints, leading: Ints, costs: Floats) -> float:
    """What the route would save without `node`."""
    before, after = leading[node], following[node]
    return costs[before, node] + costs[node, after] - costs[before, after]


@kernel
def drop(node: int, following: Ints, leading: Ints, place: Ints) -> None:
    """Takes `node` off the chain."""
    following[leading[node]] = following[node]
    leading[following[node]] = leading[node]
    place[node] = -1


@kernel
def add(node: int, behind: int, following: Ints, leading: Ints, place: Ints) -> None:
    """Puts `node` on the chain behind the node `behind`; its entry in `place` only says that it is on the route."""
    after = following[behind]
    following[behind], following[node] = node, after
    leading[node], leading[after] = behind, node
    place[node] = 0


@kernel
def _worth(prize: float, added: float, budget: float) -> float:
    """Prize per cost added; a prize at no cost is worth most, and a node without a prize is worth 0 unless it saves."""
    if prize == 0.0 and added >= 0.0:
        return 0.0
    tiny = 1e-12 * budget
    return prize / added if added > tiny else (prize + tiny) / tiny


@kernel
def _drop_stretch(
    first: int, last: int, following: Ints, leading: Ints, place: Ints, costs: Floats, prizes: Floats
) -> float:
    """Drops the stretch of nodes with the lowest prize per cost saved; returns its saving, 0 if no stretch saves."""
    best_before, best_after, lowest, most = -1, -1, np.inf, 0.0
    before = first
    while before != last:
        after = following[before]
        walked, lost = costs[before, after], 0.0
        while after != last:
            lost += prizes[after]
            walked += costs[after, following[after]]
            after = following[after]
            saved = walked - costs[before, after]
            if saved > 0.0 and lost / saved < lowest:
                best_before, best_after, lowest, most = before, after, lost / saved, saved
        before = following[before]
    if best_before >= 0:
        while following[best_before] != best_after:
            drop(following[best_before], following, leading, place)
    return most
