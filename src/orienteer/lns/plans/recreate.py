"""Filling ruined orders up again: by worth over the cost of insertion, or place by place at the cheapest spot."""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Bools, Floats, Ints, State, inlined, lean, next_float, next_int, next_word
from orienteer.kernel.clock import begin_at
from orienteer.lns.plans.orders import Orders, Saved, insert, is_free
from orienteer.model.plan_view import PlanView

NOTHING = 1e-300
"""A positive number that stands for a cost of zero where worth is divided by costs."""


class Candidates(NamedTuple):
    """Room for the places that one step may insert; the arrays run side by side."""

    node: Ints
    cost: Floats
    """The cost of the cheapest insertion known; infinite if there is none."""
    route: Ints
    left: Ints
    right: Ints
    """The route and the two stops between which that insertion is."""
    weight: Floats
    """The worth, to a power and with noise, that `by_ratio` divides by the cost."""
    spot: Floats
    """Room for the costs of all spots of a route."""
    known: Ints
    """(places, r) the version of the route for which `least` and `behind` hold."""
    least: Floats
    """(places, r) the cost of the cheapest insertion of each place in each route; infinite if there is none."""
    behind: Ints
    """(places, r) the column behind which that insertion is."""
    is_in: Bools
    """(places,) whether a place is among the candidates."""


def new_candidates(view: PlanView) -> Candidates:
    """Room for all places."""
    places = len(view.nodes)
    shape = places, view.routes
    return Candidates(
        node=np.zeros(places, dtype=np.int64),
        cost=np.zeros(places),
        route=np.zeros(places, dtype=np.int64),
        left=np.zeros(places, dtype=np.int64),
        right=np.zeros(places, dtype=np.int64),
        weight=np.zeros(places),
        spot=np.zeros(places + 2),
        known=np.full(shape, -1, dtype=np.int64),
        least=np.zeros(shape),
        behind=np.zeros(shape, dtype=np.int64),
        is_in=np.zeros(places, dtype=np.bool_),
    )


@lean
def gather(view: PlanView, orders: Orders, seed: int, most: int, candidates: Candidates, saved: Saved) -> int:
    """Lists the places that the step has removed and up to `most` others near `seed`; returns how many there are."""
    count = 0
    for index in range(saved.counts[1]):
        node = saved.moved[index]
        candidates.node[count] = node
        candidates.is_in[node] = True
        count += 1
    more = 0
    if orders.route[seed] < 0 and not candidates.is_in[seed]:
        candidates.node[count] = seed
        count += 1
        more = 1
    for node in view.near[seed]:
        if more >= most:
            break
        if orders.route[node] < 0 and not candidates.is_in[node]:
            candidates.node[count] = node
            count += 1
            more += 1
    for index in range(saved.counts[1]):
        candidates.is_in[saved.moved[index]] = False
    return count


@inlined
def spot_cost(view: PlanView, orders: Orders, node: int, route: int, place: int) -> float:
    """The cost of inserting a place behind column `place`, infinite if it does not fit.

    Half of it is the detour with the waiting, half of it how much later the next visit begins.
    """
    left, right = orders.node[route, place], orders.node[route, place + 1]
    to, on = view.costs[left, node], view.costs[node, right]
    arrive = orders.begin[route, place] + to
    begin = begin_at(view, node, arrive)
    after = begin + on
    if not after <= orders.latest[route, place + 1]:
        return np.inf
    detour = to + on - orders.leg[route, place] + (begin - arrive)
    return 0.5 * (detour + max(0.0, after - orders.begin[route, place + 1]))


@inlined
def _spot_costs(
    view: PlanView, orders: Orders, node: int, route: int, opens: float, closes: float, costs: Floats
) -> None:
    """`spot_cost` of all spots of a route, for a place with one window: a loop without branches.

    Rows are not taken out of arrays first: counting the references to each row takes longer than the loop.
    """
    for place in range(orders.size[route] - 1):
        time = orders.begin[route, place]
        arrive = time + view.back[node, np.uint64(orders.node[route, place])]
        visit = arrive if arrive > opens else opens
        on = view.costs[node, np.uint64(orders.node[route, place + 1])]
        after = visit + on
        later = after - orders.begin[route, place + 1]
        cost = 0.5 * (visit - time + on - orders.leg[route, place] + (later if later > 0.0 else 0.0))
        costs[place] = cost if (arrive <= closes) & (after <= orders.latest[route, place + 1]) else np.inf


@inlined
def _measure(view: PlanView, orders: Orders, candidates: Candidates, node: int, route: int) -> None:
    """Finds the cheapest insertion of a place in a route, and keeps it until the route changes."""
    first, last = view.first[node], view.first[node + 1] - 1
    costs = candidates.spot
    spots = orders.size[route] - 1
    if first == last:
        _spot_costs(view, orders, node, route, view.opens[first], view.closes[first], costs)
    else:
        for place in range(spots):
            costs[place] = spot_cost(view, orders, node, route, place)
    least, behind = np.inf, -1
    for place in range(spots):
        if costs[place] < least:
            least, behind = costs[place], place
    candidates.known[node, route] = orders.version[route]
    candidates.least[node, route] = least
    candidates.behind[node, route] = behind


@lean
def _next_best(view: PlanView, orders: Orders, node: int, route: int, passed_over: int) -> tuple[float, int]:
    """The cheapest insertion in a route that is not behind the column `passed_over`, and its column, -1 for none."""
    best, best_place = np.inf, -1
    for place in range(orders.size[route] - 1):
        cost = spot_cost(view, orders, node, route, place)
        if cost < best and place != passed_over:
            best, best_place = cost, place
    return best, best_place


@inlined
def cheapest_spot(
    view: PlanView, orders: Orders, node: int, candidates: Candidates, look: int, blink: bool, state: State
) -> tuple[float, int, int]:
    """The cost of the cheapest insertion, its route, and the column behind which it is; spots are skipped by chance.

    Spots beside the `look` nearest visited places are looked at, and those at the ends of all routes; with 0 all spots.
    With `blink` one of 32 better spots, drawn by chance, is passed over.
    """
    best, best_route, best_place = np.inf, -1, -1
    dice = next_word(state)
    if look == 0:
        for route in range(view.routes):
            if candidates.known[node, route] != orders.version[route]:
                _measure(view, orders, candidates, node, route)
            cost = candidates.least[node, route]
            if cost < best:
                place = candidates.behind[node, route]
                if blink:
                    dice = (dice >> np.uint64(5)) | (dice << np.uint64(59))
                    if dice & np.uint64(31) == np.uint64(0):
                        cost, place = _next_best(view, orders, node, route, place)
                        if not cost < best:
                            continue
                best, best_route, best_place = cost, route, place
        return best, best_route, best_place
    for route in range(view.routes):
        for side in range(2):
            place = side * (orders.size[route] - 2)
            cost = spot_cost(view, orders, node, route, place)
            if cost < best:
                best, best_route, best_place = cost, route, place
    seen = 0
    for other in view.near[node]:
        route = orders.route[other]
        if route < 0:
            continue
        for side in range(2):
            place = orders.place[other] - side
            cost = spot_cost(view, orders, node, route, place)
            if cost < best:
                dice = (dice >> np.uint64(5)) | (dice << np.uint64(59))
                if blink and dice & np.uint64(31) == np.uint64(0):
                    continue
                best, best_route, best_place = cost, route, place
        seen += 1
        if seen >= look:
            break
    return best, best_route, best_place


@lean
def by_ratio(
    view: PlanView,
    orders: Orders,
    worth: Floats,
    power: Floats,
    candidates: Candidates,
    count: int,
    floor: float,
    noise: float,
    look: int,
    blink: bool,
    saved: Saved,
    state: State,
) -> None:
    """Inserts, again and again, the candidate that fits with the largest power * noise / (cost + floor).

    A candidate that fits nowhere is not looked at again: where no detour is shorter than the direct way, it will not
    fit beside a new stop either.
    """
    fit = 0
    for index in range(count):
        node = candidates.node[index]
        candidates.node[fit] = node
        candidates.weight[fit] = power[node] * (1.0 - noise + 2.0 * noise * next_float(state))
        _look(view, orders, candidates, fit, look, blink, state)
        if candidates.cost[fit] < np.inf:
            fit += 1
    count = fit
    while True:
        pick = _best_ratio(candidates, count, floor)
        if pick < 0:
            return
        node = candidates.node[pick]
        route, left = candidates.route[pick], candidates.left[pick]
        if not is_free(view, orders, node):
            count = _drop(candidates, pick, count)
            continue
        place = orders.place[left]
        right = orders.node[route, place + 1]
        cost = spot_cost(view, orders, node, route, place) if right == candidates.right[pick] else np.inf
        if cost > candidates.cost[pick] + 1e-9 * floor:  # earlier insertions have taken the spot, or made it dearer
            _look(view, orders, candidates, pick, look, False, state)
            if candidates.cost[pick] == np.inf:
                count = _drop(candidates, pick, count)
            continue
        insert(view, orders, worth, node, route, place, saved)
        count = _drop(candidates, pick, count)
        for index in range(count):
            _look_at(view, orders, candidates, index, route, place)
            _look_at(view, orders, candidates, index, route, place + 1)


@lean
def line_up(worth: Floats, nodes: Ints, count: int, sort: bool, state: State) -> None:
    """Puts the first `count` nodes in random order, or with `sort` in that of falling worth, equal ones at random."""
    for i in range(count - 1, 0, -1):
        j = next_int(state, i + 1)
        nodes[i], nodes[j] = nodes[j], nodes[i]
    if sort:
        sort_by_worth(worth, nodes, count)


@lean
def by_order(
    view: PlanView,
    orders: Orders,
    worth: Floats,
    candidates: Candidates,
    count: int,
    sort: bool,
    look: int,
    blink: bool,
    saved: Saved,
    state: State,
) -> None:
    """Inserts the candidates that fit, each at its cheapest spot, in random order or by falling worth with `sort`."""
    nodes = candidates.node
    line_up(worth, nodes, count, sort, state)
    for index in range(count):
        node = nodes[index]
        if not is_free(view, orders, node):
            continue
        cost, route, place = cheapest_spot(view, orders, node, candidates, look, blink, state)
        if route >= 0 and (worth[node] > 0 or cost < 0):
            insert(view, orders, worth, node, route, place, saved)


@inlined
def _look(
    view: PlanView, orders: Orders, candidates: Candidates, index: int, look: int, blink: bool, state: State
) -> None:
    """Finds the cheapest insertion of a candidate anew."""
    cost, route, place = cheapest_spot(view, orders, candidates.node[index], candidates, look, blink, state)
    candidates.cost[index] = cost
    if route >= 0:
        candidates.route[index] = route
        candidates.left[index] = orders.node[route, place]
        candidates.right[index] = orders.node[route, place + 1]


@inlined
def _look_at(view: PlanView, orders: Orders, candidates: Candidates, index: int, route: int, place: int) -> None:
    """Notes an insertion behind column `place` if it is cheaper than the one known."""
    cost = spot_cost(view, orders, candidates.node[index], route, place)
    if cost < candidates.cost[index]:
        candidates.cost[index] = cost
        candidates.route[index] = route
        candidates.left[index] = orders.node[route, place]
        candidates.right[index] = orders.node[route, place + 1]


@lean
def _best_ratio(candidates: Candidates, count: int, floor: float) -> int:
    """The candidate that fits and has the largest weight / (cost + floor); -1 if none fits."""
    pick, weight, divisor = -1, 0.0, 1.0
    for index in range(count):
        cost = candidates.cost[index]
        if cost < np.inf and (candidates.weight[index] > 0 or cost < 0):
            own_divisor = max(cost + floor, NOTHING)
            if pick < 0 or candidates.weight[index] * divisor > weight * own_divisor:
                pick, weight, divisor = index, candidates.weight[index], own_divisor
    return pick


@lean
def _drop(candidates: Candidates, index: int, count: int) -> int:
    """Takes a candidate off the list; returns how many are left."""
    last = count - 1
    candidates.node[index] = candidates.node[last]
    candidates.cost[index] = candidates.cost[last]
    candidates.route[index] = candidates.route[last]
    candidates.left[index] = candidates.left[last]
    candidates.right[index] = candidates.right[last]
    candidates.weight[index] = candidates.weight[last]
    return last


@lean
def sort_by_worth(worth: Floats, nodes: Ints, count: int) -> None:
    """Insertion sort, largest worth first: the lists are short, and equal ones keep their random order."""
    for i in range(1, count):
        node = nodes[i]
        j = i
        while j > 0 and worth[nodes[j - 1]] < worth[node]:
            nodes[j] = nodes[j - 1]
            j -= 1
        nodes[j] = node
