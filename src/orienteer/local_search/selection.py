"""The best choice of stops along a fixed order: all ways to leave stops out and put others in, at the same time.

The order is that of a route, with every other node where it would be the least detour. Choosing from it is a longest
path with a limit, from left to right. Labels, the cost and prize of a beginning, are dropped where another is as good,
or where not even the rest without a limit, in which cost has a price, could make a better route of them.
"""

import numpy as np

from orienteer.kernel import Floats, Ints, kernel

DOUBLINGS, HALVINGS = 40, 10
"""Steps of the search for the price of cost, up or down from what all prizes are worth for the whole limit, then
closer."""
MOST_LABELS = 2**14
"""Then the best so far counts; with 100 nodes and a good route some 900 are enough."""
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""How far below its bound, in units of the way down to what is known, a better route is looked for first: all labels
with an outlook above that are few, and if there is such a route, then the best is among them."""


@kernel
def ordered(nodes: Ints, size: int, place: Ints, costs: Floats, prizes: Floats, budget: float) -> Ints:
    """The stops of a route in their order, and between them every other node with a prize, nearest ones first.

    `place` is below zero for nodes that are not on the route.
    """
    count = len(prizes)
    order = np.empty(count, dtype=np.int64)
    order[:size] = nodes[:size]
    detour = np.full(count, np.inf)
    for node in range(count):
        # What is beyond reach would promise prizes that no choice can keep.
        if place[node] < 0 and is_wanted(node, nodes[0], nodes[size - 1], costs, prizes, budget):
            detour[node] = least_detour(order, size, costs, node)[1]
    for node in np.argsort(detour, kind="mergesort"):
        if not detour[node] <= budget:
            break
        at = least_detour(order, size, costs, node)[0]
        for later in range(size, at + 1, -1):
            order[later] = order[later - 1]
        order[at + 1] = node
        size += 1
    return order[:size]


@kernel
def is_wanted(node: int, start: int, end: int, costs: Floats, prizes: Floats, budget: float) -> bool:
    """Whether a node has a prize and a route could visit it alone; detours to it and from it are not considered."""
    return prizes[node] > 0.0 and costs[start, node] + costs[node, end] <= budget


@kernel
def least_detour(order: Ints, size: int, costs: Floats, node: int) -> tuple[int, float]:
    """After which place a node would cost least, and how much."""
    best, least = 0, np.inf
    for at in range(size - 1):
        before, after = order[at], order[at + 1]
        detour = costs[before, node] + costs[node, after] - costs[before, after]
        if detour < least:
            best, least = at, detour
    return best, least


@kernel
def best_selection(order: Ints, costs: Floats, prizes: Floats, budget: float, known: float) -> tuple[Ints, float]:
    """The route along the order with the most prize above `known` that costs no more than the budget; empty for none.

    And the price of cost at which the best way along the order just keeps the budget, 0 where there is none. Prizes are
    those of the stops, without start and end.
    """
    count = len(order)
    worth = prizes[order]
    worth[0] = worth[-1] = 0.0
    if not 0.0 < worth.sum() < np.inf or budget <= 0.0:
        return order[:0], 0.0
    legs = np.empty((count, count))
    for one in range(count):
        for other in range(one + 1, count):
            legs[one, other] = costs[order[one], order[other]]
    rest, price, places = _priced(legs, worth, budget)
    if len(places) == 0:
        return order[:0], 0.0
    route, prize, bound = order[:0], worth[places].sum(), rest[0] + price * budget
    if prize > known:
        route, known = order[places], prize
    for share in SHARES:
        if bound <= known:
            break
        lowest = max(known, bound - share * (bound - known))  # which may be below what is known, by rounding
        places, whole = _longest(legs, worth, budget, rest, price, lowest)
        if len(places):
            return order[places], price
        if not whole:
            break
    return route, price


@kernel
def _longest(legs: Floats, worth: Floats, budget: float, rest: Floats, price: float, known: float) -> tuple[Ints, bool]:
    """The places of the route with the most prize above `known`, or none, and whether labels were enough to tell."""
    count = len(worth)
    begun, spent, won = np.empty(MOST_LABELS, dtype=np.int64), np.empty(MOST_LABELS), np.empty(MOST_LABELS)
    at, after = np.empty(MOST_LABELS, dtype=np.int64), np.empty(MOST_LABELS, dtype=np.int64)
    cheapest = np.full(count, -1)  # each place's labels, by cost
    begun[0], spent[0], won[0], at[0], after[0], cheapest[0] = -1, 0.0, 0.0, 0, -1, 0
    used, best, winner = 1, known, -1
    for here in range(count - 1):
        label = cheapest[here]
        while label >= 0:
            # What is left of the limit is worth its price at most: a label needs a better outlook than the best route.
            enough = best - price * (budget - spent[label]) - won[label]
            if rest[here] > enough:
                for there in range(here + 1, count):
                    gain = worth[there] - price * legs[here, there]
                    cost = spent[label] + legs[here, there]
                    if gain + rest[there] <= enough or cost > budget:
                        continue
                    prize = won[label] + worth[there]
                    if there == count - 1:
                        if prize > best:
                            best, winner = prize, label
                        continue
                    if used == MOST_LABELS:
                        return _places(begun, at, winner, count - 1), False
                    if _is_new(there, cost, prize, cheapest, after, spent, won, used):
                        begun[used], spent[used], won[used], at[used] = label, cost, prize, there
                        used += 1
            label = after[label]
    return _places(begun, at, winner, count - 1), True


@kernel
def _priced(legs: Floats, worth: Floats, budget: float) -> tuple[Floats, float, Ints]:
    """What is still to be won from each place on, cost at its price subtracted; that price; the best way at it.

    It is the lowest price found at which the best way keeps the limit. That way is itself a good route; it is empty
    where no way along the order keeps the limit, whatever the price.
    """
    rest, following = np.empty(len(worth)), np.empty(len(worth), dtype=np.int64)
    back = legs.T.copy()
    price = worth.sum() / budget
    low, high = 0.0, np.inf
    for _ in range(DOUBLINGS):
        if _way_through(back, worth, price, rest, following) > budget:
            low, price = price, 2 * price
        else:
            high, price = price, price / 2
        if low > 0.0 and high < np.inf:
            break
    if high == np.inf:
        return rest, high, following[:0]
    for _ in range(HALVINGS):
        price = (low + high) / 2
        if _way_through(back, worth, price, rest, following) > budget:
            low = price
        else:
            high = price
    _way_through(back, worth, high, rest, following)
    places, size = np.zeros(len(worth), dtype=np.int64), 1
    while places[size - 1] < len(worth) - 1:
        places[size] = following[places[size - 1]]
        size += 1
    return rest, high, places[:size]


@kernel
def _way_through(back: Floats, worth: Floats, price: float, rest: Floats, following: Ints) -> float:
    """Writes what is to be won from each place on at that price of cost, and the next place; the whole way's cost.

    `back` are the legs by the place that they lead to: the inner loop goes along memory, several places at a time.
    """
    last = len(worth) - 1
    rest[:] = -np.inf
    rest[last] = 0.0
    for there in range(last, 0, -1):
        legs, worthwhile = back[there], rest[there] + worth[there]
        for here in range(there):
            gain = worthwhile - price * legs[here]
            better = gain > rest[here]
            rest[here] = gain if better else rest[here]
            following[here] = there if better else following[here]
    cost, here = 0.0, 0
    while here < last:
        cost += back[following[here], here]
        here = following[here]
    return cost


@kernel
def _is_new(
    place: int, cost: float, prize: float, cheapest: Ints, after: Ints, spent: Floats, won: Floats, label: int
) -> bool:
    """Whether no label of a place is as good; then this one joins them, and those that are no better leave."""
    before, other = -1, cheapest[place]
    while other >= 0 and spent[other] < cost:
        if won[other] >= prize:
            return False
        before, other = other, after[other]
    if other >= 0 and spent[other] == cost and won[other] >= prize:
        return False
    while other >= 0 and won[other] <= prize:
        other = after[other]
    after[label] = other
    if before < 0:
        cheapest[place] = label
    else:
        after[before] = label
    return True


@kernel
def _places(begun: Ints, at: Ints, label: int, last: int) -> Ints:
    """Where the stops of a label lie, and the last place; none for no label."""
    size, one = 1, label
    while one >= 0:
        size, one = size + 1, begun[one]
    places = np.full(size if size > 1 else 0, last)
    for number in range(size - 2, -1, -1):
        places[number] = at[label]
        label = begun[label]
    return places
