"""Filling ruined orders up again where there are no windows.

Without windows nobody waits, and a place fits wherever its detour is within what is left of the route's limit. So the
cheapest detour of a place in each route holds until that route changes, and finding it takes one addition a spot.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, State, inlined, lean, next_float, next_word
from orienteer.lns.plans.orders import Orders, Saved, is_free, put_in
from orienteer.lns.plans.recreate import NOTHING, Candidates, line_up
from orienteer.model.plan_view import PlanView


class Detours(NamedTuple):
    """Room for the cheapest detour of each candidate in each route; rows are candidates, columns routes."""

    cost: Floats
    left: Ints
    right: Ints
    """The two stops between which that detour is."""
    known: Ints
    """(places, r) the version of the route for which `least` and `stop` hold."""
    least: Floats
    """(places, r) what all detours to a place cost at least."""
    stop: Ints
    """(places, r) the stop behind which a detour costs that; -1 if no detour was as cheap as wished."""


def new_detours(view: PlanView) -> Detours:
    """Room for all places."""
    shape = len(view.nodes), view.routes
    left, right = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    return Detours(
        cost=np.zeros(shape),
        left=left,
        right=right,
        known=np.full(shape, -1, dtype=np.int64),
        least=np.zeros(shape),
        stop=np.full(shape, -1, dtype=np.int64),
    )


@inlined
def room(orders: Orders, route: int) -> float:
    """What is left of the limit of a route."""
    last = orders.size[route] - 1
    return orders.latest[route, last] - orders.begin[route, last]


@inlined
def cheapest_detour(
    view: PlanView, orders: Orders, detours: Detours, node: int, route: int, most: float, dice: np.uint64
) -> tuple[float, int]:
    """The cheapest detour below `most` and the column behind which it is, -1 for none; dice may ask for the next."""
    if detours.known[node, route] != orders.version[route] or (
        detours.stop[node, route] < 0 and detours.least[node, route] < most
    ):
        _measure(view, orders, detours, node, route, most)
    if detours.least[node, route] >= most:
        return most, -1
    place = orders.place[detours.stop[node, route]]
    if dice & np.uint64(31) == np.uint64(0):
        return _next_best(view, orders, node, route, most, place)
    return detours.least[node, route], place


@inlined
def _measure(view: PlanView, orders: Orders, detours: Detours, node: int, route: int, most: float) -> None:
    """Finds the cheapest detour of a place in a route below `most`, and keeps it until the route changes."""
    spots = orders.size[route] - 1
    best, best_stop = most, -1
    stop = detours.stop[node, route]
    if stop >= 0:
        place = orders.place[stop]
        if place < spots and orders.node[route, place] == stop:  # often the cheapest again, which saves wrong guesses
            left, right = np.uint64(stop), np.uint64(orders.node[route, place + 1])
            cost = view.back[node, left] + view.costs[node, right] - orders.leg[route, place]
            if cost < best:
                best, best_stop = cost, stop
    for place in range(spots):
        left, right = np.uint64(orders.node[route, place]), np.uint64(orders.node[route, place + 1])
        cost = view.back[node, left] + view.costs[node, right] - orders.leg[route, place]
        if cost < best:
            best, best_stop = cost, orders.node[route, place]
    detours.known[node, route] = orders.version[route]
    detours.least[node, route] = best
    detours.stop[node, route] = best_stop


@lean
def _next_best(
    view: PlanView, orders: Orders, node: int, route: int, most: float, passed_over: int
) -> tuple[float, int]:
    """The cheapest detour below `most` that is not behind the column `passed_over`, and its column, -1 for none."""
    best, best_place = most, -1
    for place in range(orders.size[route] - 1):
        left, right = orders.node[route, place], orders.node[route, place + 1]
        cost = view.back[node, left] + view.costs[node, right] - orders.leg[route, place]
        if cost < best and place != passed_over:
            best, best_place = cost, place
    return best, best_place


@lean
def detour_by_ratio(
    view: PlanView,
    orders: Orders,
    worth: Floats,
    power: Floats,
    candidates: Candidates,
    count: int,
    floor: float,
    noise: float,
    detours: Detours,
    saved: Saved,
    state: State,
) -> None:
    """`by_ratio` where there are no windows."""
    fit = 0
    for index in range(count):
        node = candidates.node[index]
        weight = power[node] * (1.0 - noise + 2.0 * noise * next_float(state))
        candidates.node[fit] = node
        candidates.weight[fit] = weight
        dice = next_word(state)
        for route in range(view.routes):
            _look(view, orders, detours, node, fit, route, dice >> np.uint64(5 * (route % 12)))
        if _choose_route(view, candidates, detours, fit):
            fit += 1
    count = fit
    while True:
        pick = _best(candidates, count, floor)
        if pick < 0:
            return
        node, route, cost = candidates.node[pick], candidates.route[pick], candidates.cost[pick]
        place = orders.place[detours.left[pick, route]]
        right = orders.node[route, place + 1]
        fits = is_free(view, orders, node)
        if fits and (right != detours.right[pick, route] or cost > room(orders, route)):
            # Earlier insertions have taken the spot, or the room.
            _look(view, orders, detours, node, pick, route, BEST)
            if _choose_route(view, candidates, detours, pick):
                continue
            fits = False
        count -= 1
        _move(view, candidates, detours, count, pick)
        if fits:
            put_in(view, orders, worth, node, route, place, cost, saved)
            _learn(view, orders, candidates, detours, count, route, place)


BEST = np.uint64(1)
"""Dice that pass over no spot."""


@inlined
def _look(view: PlanView, orders: Orders, detours: Detours, node: int, index: int, route: int, dice: np.uint64) -> None:
    """Notes the cheapest detour of a candidate in a route, infinite if none fits."""
    cost, place = cheapest_detour(view, orders, detours, node, route, room(orders, route), dice)
    if place < 0:
        detours.cost[index, route] = np.inf
    else:
        detours.cost[index, route] = cost
        detours.left[index, route] = orders.node[route, place]
        detours.right[index, route] = orders.node[route, place + 1]


@inlined
def _learn(
    view: PlanView, orders: Orders, candidates: Candidates, detours: Detours, count: int, route: int, place: int
) -> None:
    """Notes the two detours that are new after an insertion behind column `place`, where they are the cheapest."""
    left, node, right = orders.node[route, place], orders.node[route, place + 1], orders.node[route, place + 2]
    to, on = orders.leg[route, place], orders.leg[route, place + 1]
    for index in range(count):
        other = candidates.node[index]
        before = view.back[other, left] + view.costs[other, node] - to
        behind = view.back[other, node] + view.costs[other, right] - on
        if min(before, behind) < detours.cost[index, route]:
            if before <= behind:
                detours.left[index, route], detours.right[index, route] = left, node
            else:
                detours.left[index, route], detours.right[index, route] = node, right
            detours.cost[index, route] = min(before, behind)
            if detours.cost[index, route] < candidates.cost[index]:
                candidates.cost[index] = detours.cost[index, route]
                candidates.route[index] = route


@inlined
def _choose_route(view: PlanView, candidates: Candidates, detours: Detours, index: int) -> bool:
    """Notes the cheapest of a candidate's detours; returns whether there is any."""
    best, best_route = np.inf, -1
    for route in range(view.routes):
        cost = detours.cost[index, route]
        if cost < best:
            best, best_route = cost, route
    candidates.cost[index] = best
    candidates.route[index] = best_route
    return best_route >= 0


@inlined
def _best(candidates: Candidates, count: int, floor: float) -> int:
    """The candidate with the largest weight / (cost + floor); -1 if there is none."""
    pick, weight, divisor = -1, 0.0, 1.0
    for index in range(count):
        cost = candidates.cost[index]
        if candidates.weight[index] > 0 or cost < 0:
            own_divisor = max(cost + floor, NOTHING)
            if pick < 0 or candidates.weight[index] * divisor > weight * own_divisor:
                pick, weight, divisor = index, candidates.weight[index], own_divisor
    return pick


@inlined
def _move(view: PlanView, candidates: Candidates, detours: Detours, source: int, target: int) -> None:
    """Puts a candidate in the place of another."""
    candidates.node[target] = candidates.node[source]
    candidates.weight[target] = candidates.weight[source]
    candidates.cost[target] = candidates.cost[source]
    candidates.route[target] = candidates.route[source]
    for route in range(view.routes):
        detours.cost[target, route] = detours.cost[source, route]
        detours.left[target, route] = detours.left[source, route]
        detours.right[target, route] = detours.right[source, route]


@lean
def detour_by_order(
    view: PlanView,
    orders: Orders,
    worth: Floats,
    candidates: Candidates,
    count: int,
    sort: bool,
    detours: Detours,
    saved: Saved,
    state: State,
) -> None:
    """`by_order` where there are no windows."""
    nodes = candidates.node
    line_up(worth, nodes, count, sort, state)
    for index in range(count):
        node = nodes[index]
        if not is_free(view, orders, node):
            continue
        best, best_route, best_place = np.inf, -1, -1
        dice = next_word(state)
        for route in range(view.routes):
            most = min(best, room(orders, route))
            own_dice = dice >> np.uint64(5 * (route % 12))
            cost, place = cheapest_detour(view, orders, detours, node, route, most, own_dice)
            if place >= 0:
                best, best_route, best_place = cost, route, place
        if best_route >= 0 and (worth[node] > 0 or best < 0):
            put_in(view, orders, worth, node, best_route, best_place, best, saved)
