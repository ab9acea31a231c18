"""The loop of the search for plans: ruin, recreate, accept or take back."""

import math
from typing import NamedTuple

from orienteer.kernel import Floats, Ints, State, lean, next_float, next_int
from orienteer.lns.plans.detours import Detours, detour_by_order, detour_by_ratio
from orienteer.lns.plans.orders import (
    Orders,
    Saved,
    begin_step,
    close_up,
    draw_together,
    exchange_tails,
    remove,
    take_back,
)
from orienteer.lns.plans.recreate import Candidates, by_order, by_ratio, gather
from orienteer.model.plan_view import PlanView


class Moves(NamedTuple):
    """What a step may do, in the problem's units of cost and prize."""

    hot: float
    """Temperature at the start, in prize."""
    cold: float
    """Temperature at the end, in prize."""
    slack_price: float
    """What the unused limit of one route is worth when plans are compared, in prize."""
    floor: float
    """Added to insertion costs before worth is divided by them."""
    remove: int
    """The most stops removed in a step."""
    longest: int
    """The most stops of a string that is removed."""
    strings: int
    """The most strings, each from another route, removed in a step."""
    spare: float
    """The probability that a string leaves a stop inside."""
    fewest: int
    """The fewest candidates besides removed stops."""
    most: int
    """The most candidates besides removed stops."""
    ratio_share: float
    """The probability that orders are recreated by `by_ratio`; otherwise by `by_order`."""
    noise: float
    """The random factor on a candidate's worth is between 1 - noise and 1 + noise."""
    big_share: float
    """The probability of a large ruin."""
    big: int
    """The factor on the numbers of stops and strings in a large ruin."""
    tails_share: float
    """The probability that two ruined routes exchange what comes behind their ruins."""
    look: int
    """Beside how many of its nearest visited places a place is tried; 0 tries it everywhere."""
    plain: bool
    """Whether there are no windows and a place is tried everywhere: clocks are not kept, only lengths."""


class Best(NamedTuple):
    """Room for the best plan found."""

    node: Ints
    size: Ints
    """Orders as in `Orders`."""
    total: Floats
    """(3,) worth, cost, and how many times `anneal` has found a better plan."""


@lean
def anneal(
    view: PlanView,
    orders: Orders,
    best: Best,
    moves: Moves,
    worth: Floats,
    powers: Floats,
    candidates: Candidates,
    detours: Detours,
    saved: Saved,
    needed: int,
    steps: int,
    begin: float,
    end: float,
    state: State,
) -> None:
    """Does `steps` steps of ruin and recreation, while the temperature falls.

    `worth` is the prize of each place, with a bonus for the `needed` required ones; row i of `powers` is the worth to
    the i-th power. `begin` and `end` say how far the temperature has fallen before and after these steps, from 0 at
    `moves.hot` to 1 at `moves.cold`. `candidates`, `detours` and `saved` are room for the work of a step; what
    `detours` knows must be true of the orders.
    """
    places = len(view.prizes)
    cooling = math.log(moves.cold / moves.hot)
    for step in range(steps):
        temperature = moves.hot * math.exp(cooling * (begin + (end - begin) * step / steps))
        begin_step(orders, saved)
        value = orders.total[0] + moves.slack_price * slack(view, orders)
        seed = next_int(state, places)
        ruin(view, orders, worth, seed, moves, saved, state)
        most = moves.fewest + next_int(state, moves.most - moves.fewest + 1)
        count = gather(view, orders, seed, most, candidates, saved)
        if next_float(state) < moves.ratio_share:
            power = powers[next_int(state, len(powers))]
            if moves.plain:
                detour_by_ratio(
                    view,
                    orders,
                    worth,
                    power,
                    candidates,
                    count,
                    moves.floor,
                    moves.noise,
                    detours,
                    saved,
                    state,
                )
            else:
                by_ratio(
                    view,
                    orders,
                    worth,
                    power,
                    candidates,
                    count,
                    moves.floor,
                    moves.noise,
                    moves.look,
                    True,
                    saved,
                    state,
                )
        else:
            sort = next_float(state) < 0.5
            if moves.plain:
                detour_by_order(view, orders, worth, candidates, count, sort, detours, saved, state)
            else:
                by_order(view, orders, worth, candidates, count, sort, moves.look, True, saved, state)
        _note_better(view, orders, best, needed)
        gain = orders.total[0] + moves.slack_price * slack(view, orders) - value
        if gain < 0 and next_float(state) >= math.exp(gain / temperature):
            take_back(orders, saved)


@lean
def slack(view: PlanView, orders: Orders) -> float:
    """What is left of all limits, in limits of one route; waiting counts as used."""
    total = 0.0
    for route in range(view.routes):
        last = orders.size[route] - 1
        opens, closes = orders.begin[route, 0], orders.latest[route, last]
        total += (closes - orders.begin[route, last]) / (closes - opens)
    return total


@lean
def spent(view: PlanView, orders: Orders) -> float:
    """The cost of all routes."""
    total = 0.0
    for route in range(view.routes):
        total += orders.begin[route, orders.size[route] - 1] - orders.begin[route, 0]
    return total


@lean
def ruin(view: PlanView, orders: Orders, worth: Floats, seed: int, moves: Moves, saved: Saved, state: State) -> None:
    """Removes strings of stops near the place `seed`, at most one from each route.

    The first two of these routes may then go on with each other's stops.
    """
    big = moves.big if next_float(state) < moves.big_share else 1
    target = 1 + next_int(state, big * moves.remove)
    strings = 1 + next_int(state, big * moves.strings)
    gone = 0
    one, one_gap, other, other_gap = -1, -1, -1, -1
    near = view.near[seed]
    for index in range(-1, len(near)):
        node = seed if index < 0 else near[index]
        route = orders.route[node]
        if route < 0 or saved.is_changed[route]:
            continue
        size = min(1 + next_int(state, big * moves.longest), target - gone, orders.size[route] - 2)
        first = orders.place[node] - next_int(state, size)
        first = max(1, min(first, orders.size[route] - 1 - size))
        spared = first + 1 + next_int(state, size - 2) if size > 2 and next_float(state) < moves.spare else -1
        for column in range(first, first + size):
            if column != spared:
                remove(view, orders, worth, orders.node[route, column], saved)
        if moves.plain:
            draw_together(view, orders, route, saved)
        else:
            close_up(view, orders, route, saved)
        if one < 0:
            one, one_gap = route, first
        elif other < 0:
            other, other_gap = route, first
        gone += size
        if gone >= target or saved.counts[0] >= strings:
            break
    if other >= 0 and next_float(state) < moves.tails_share:
        exchange_tails(view, orders, one, one_gap, other, other_gap, moves.plain, saved)


@lean
def _note_better(view: PlanView, orders: Orders, best: Best, needed: int) -> None:
    """Keeps the plan if it holds all required places, every route is in time, and it is better than the best."""
    if orders.total[1] < needed:
        return
    margin = 1e-12 * abs(best.total[0])
    if orders.total[0] < best.total[0] - margin:
        return
    cost = spent(view, orders)
    if orders.total[0] <= best.total[0] + margin and not cost < best.total[1] * (1 - 1e-9):
        return
    for route in range(view.routes):
        last = orders.size[route] - 1
        if not orders.begin[route, last] <= orders.latest[route, last]:
            return
    for route in range(view.routes):
        best.size[route] = orders.size[route]
        for column in range(orders.size[route]):
            best.node[route, column] = orders.node[route, column]
    best.total[0], best.total[1] = orders.total[0], cost
    best.total[2] += 1
