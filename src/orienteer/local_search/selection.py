"""The best choice of stops along a fixed order of nodes: any stops left out and any others put in, all at once.

The order is that of a route, with every other node where its detour is least. Choosing stops from the order is a
longest path problem with a limit, solved from left to right by labels. A label is the beginning of a route, with its
cost and prize. A label is dropped where another at its place costs no more and has no less prize, or where even the
best rest of the route, in which a unit of cost has a price instead of a limit, would not make it a better route.
"""

import numpy as np

from orienteer.kernel import NONE, ONE, ZERO, Floats, Ints, copy, kernel, ranked

DOUBLINGS, HALVINGS = 40, 10
"""Steps of the search for the price of cost: from all prizes over the limit, the price is first doubled or halved until
it lies between two bounds; then these are brought together."""
MOST_LABELS = 2**14
"""The most labels; beyond, the best route found by then counts. For 100 nodes and a good route some 900 suffice."""
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""Better routes are looked for first among the few labels that promise nearly the bound: they fall short of it by at
most this share of its distance to the known prize. If these labels hold a route, they hold the best route."""


@kernel
def ordered(nodes: Ints, size: int, place: Ints, costs: Floats, prizes: Floats, budget: float) -> Ints:
    """The stops of a route in their order, and every other node with a prize where its detour is least.

    Nodes with a small detour are put in first. `place` is below zero for nodes that are not on the route.
    """
    order = np.empty(len(prizes), dtype=np.int64)
    copy(nodes[:size], order)
    waiting, detours, count = np.empty(len(prizes), dtype=np.int64), np.empty(len(prizes)), ZERO
    for node in range(len(prizes)):
        # Nodes beyond reach would promise prizes that no route can collect.
        if place[node] < 0 and is_wanted(node, nodes[0], nodes[size - 1], costs, prizes, budget):
            detour = least_detour(order, size, costs, node)[1]
            if detour <= budget:
                waiting[count], detours[count] = node, detour
                count += 1
    for number in ranked(detours[:count]):
        node = waiting[number]
        at = least_detour(order, size, costs, node)[0]
        for later in range(size, at + 1, -1):
            order[later] = order[later - 1]
        order[at + 1] = node
        size += 1
    return order[:size]


@kernel
def is_wanted(node: int, start: int, end: int, costs: Floats, prizes: Floats, budget: float) -> bool:
    """Whether a node has a prize and a route from start to end could visit it as its only stop."""
    return prizes[node] > 0.0 and costs[start, node] + costs[node, end] <= budget


@kernel
def least_detour(order: Ints, size: int, costs: Floats, node: int) -> tuple[int, float]:
    """The place in `order` behind which `node` would add least cost, and that cost."""
    best, least = 0, np.inf
    for at in range(size - 1):
        before, after = order[at], order[at + 1]
        detour = costs[before, node] + costs[node, after] - costs[before, after]
        if detour < least:
            best, least = at, detour
    return best, least


@kernel
def best_selection(order: Ints, costs: Floats, prizes: Floats, budget: float, known: float) -> tuple[Ints, float]:
    """(route, price): the best route along the order that costs no more than the budget, and the price of cost.

    The route is empty if none collects more than `known`, which like all prizes here leaves start and end out. The
    price is that of a unit of cost at which the best route without a limit just keeps the budget; 0 where there is no
    such price.
    """
    count = len(order)
    worth, total = np.zeros(count), 0.0
    for at in range(1, count - 1):
        worth[at] = prizes[order[at]]
        total += worth[at]
    if not 0.0 < total < np.inf or budget <= 0.0:
        return order[:0], 0.0
    legs, back = np.empty((count, count)), np.empty((count, count))
    for here in range(count):
        for there in range(here + 1, count):
            legs[here, there] = back[there, here] = costs[order[here], order[there]]
    rest, price, places = _priced(back, worth, total, budget)
    if len(places) == 0:
        return order[:0], 0.0
    route, prize, bound = order[:0], 0.0, rest[0] + price * budget
    for at in places:
        prize += worth[at]
    if prize > known:
        route, known = _taken(order, places), prize
    for share in SHARES:
        if bound <= known:
            break
        lowest = max(known, bound - share * (bound - known))  # the difference may be below `known` by rounding
        places, whole = _longest(legs, worth, budget, rest, price, lowest)
        if len(places):
            return _taken(order, places), price
        if not whole:
            break
    return route, price


@kernel
def _taken(order: Ints, places: Ints) -> Ints:
    """The nodes at some places of the order."""
    taken = np.empty(len(places), dtype=np.int64)
    for at in range(len(places)):
        taken[at] = order[places[at]]
    return taken


@kernel
def _longest(legs: Floats, worth: Floats, budget: float, rest: Floats, price: float, known: float) -> tuple[Ints, bool]:
    """The places of the route with the most prize above `known`, or none, and whether the labels sufficed to prove it.

    `rest` and `price` are those of `_priced`.
    """
    count = len(worth)
    begun, spent, won = np.empty(MOST_LABELS, dtype=np.int64), np.empty(MOST_LABELS), np.empty(MOST_LABELS)
    at, after = np.empty(MOST_LABELS, dtype=np.int64), np.empty(MOST_LABELS, dtype=np.int64)
    cheapest = np.full(count, -1)  # the first label of each place; `after` leads to the next dearer one
    begun[0], spent[0], won[0], at[0], after[0], cheapest[0] = -1, 0.0, 0.0, 0, -1, 0
    used, best, winner = ONE, known, NONE
    for here in range(count - 1):
        label = cheapest[here]
        while label >= 0:
            # The rest of the budget earns its price at most: a label goes on where even so it may beat the best route.
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
def _priced(back: Floats, worth: Floats, total: float, budget: float) -> tuple[Floats, float, Ints]:
    """(rest, price, places): at a price of cost, the best route's places and what is to be won from each place on.

    The price is the lowest found at which the best route, prizes less cost times price, keeps the limit. That route is
    a good one; it is empty where no route along the order keeps the limit, whatever the price. `back` is that of
    `_best_at_price`; `total` is what all places are worth.
    """
    rest, following = np.empty(len(worth)), np.empty(len(worth), dtype=np.int64)
    price = total / budget
    low, high = 0.0, np.inf
    for _ in range(DOUBLINGS):
        if _best_at_price(back, worth, price, rest, following) > budget:
            low, price = price, 2 * price
        else:
            high, price = price, price / 2
        if low > 0.0 and high < np.inf:
            break
    if high == np.inf:
        return rest, high, following[:0]
    for _ in range(HALVINGS):
        price = (low + high) / 2
        if _best_at_price(back, worth, price, rest, following) > budget:
            low = price
        else:
            high = price
    _best_at_price(back, worth, high, rest, following)
    places, size = np.zeros(len(worth), dtype=np.int64), 1
    while places[size - 1] < len(worth) - 1:
        places[size] = following[places[size - 1]]
        size += 1
    return rest, high, places[:size]


@kernel
def _best_at_price(back: Floats, worth: Floats, price: float, rest: Floats, following: Ints) -> float:
    """The cost of the best route, prizes less cost times `price`, through the places of an order.

    `rest` gets what such a route wins from each place on, `following` its next place. `back` are the legs by the place
    that they lead to, so that the inner loop goes along memory, several places at a time.
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
    """Whether no label of a place is as cheap with as much prize; then `label` joins the place's list.

    Labels of the list that are no better than the new label leave it.
    """
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
    """The places of the stops of a label, back through the labels it was `begun` with, and the `last` place.

    None for label -1.
    """
    size, earlier = 1, label
    while earlier >= 0:
        size, earlier = size + 1, begun[earlier]
    places = np.full(size if size > 1 else 0, last)
    for number in range(size - 2, -1, -1):
        places[number] = at[label]
        label = begun[label]
    return places
