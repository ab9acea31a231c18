"""The orders of all routes with their clocks: inserting and removing places, and taking both back.

For every stop an order keeps when the visit begins and when it could begin at the latest, so that whether a place fits
between two stops is a question of constant time (Vansteenwegen et al. 2009). Since arriving earlier never hurts, this
is exact for several windows too.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, inlined, lean
from orienteer.kernel.clock import begin_at
from orienteer.model.plan_view import PlanView


class Orders(NamedTuple):
    """The orders of all routes; rows are routes, and the first `size` columns of a row are its stops, ends included."""

    node: Ints
    begin: Floats
    """When the visit begins."""
    latest: Floats
    """When the visit could begin at the latest, so that all later stops are in time."""
    leg: Floats
    """The cost from the beginning of this visit to the arrival at the next stop."""
    size: Ints
    """(r,) how many stops each order has."""
    route: Ints
    """(nodes,) the route that visits each place, -1 for none."""
    place: Ints
    """(nodes,) the column of each visited node."""
    used: Floats
    """(b,) what the visited places weigh in each budget."""
    taken: Ints
    """(groups,) how many places of each group are visited."""
    version: Ints
    """(r,) a number that is new whenever a step changes an order."""
    total: Floats
    """(2,) what the visited places are worth in the search, and how many required ones are among them."""


class Saved(NamedTuple):
    """What is needed to take a step back: the orders that the step changed, and the places that it moved."""

    orders: Orders
    """Copies of the changed rows, and of `used`, `taken` and `total`."""
    changed: Ints
    """(r,) the routes that the step has changed so far."""
    is_changed: Ints
    """(r,) whether each route is among them."""
    moved: Ints
    """The places that the step removed or inserted."""
    counts: Ints
    """(3,) how many routes are changed, how many places are in `moved`, and how many versions of orders there were."""


def new_orders(view: PlanView) -> Orders:
    """Orders that visit no place."""
    routes, places = view.routes, len(view.nodes)
    shape = routes, places + 2
    orders = Orders(
        node=np.zeros(shape, dtype=np.int64),
        begin=np.zeros(shape),
        latest=np.zeros(shape),
        leg=np.zeros(shape),
        size=np.full(routes, 2, dtype=np.int64),
        route=np.full(len(view.costs), -1, dtype=np.int64),
        place=np.zeros(len(view.costs), dtype=np.int64),
        used=np.zeros(len(view.room)),
        taken=np.zeros(view.groups, dtype=np.int64),
        version=np.arange(routes),
        total=np.zeros(2),
    )
    orders.node[:, 0] = places + 2 * np.arange(routes)
    orders.node[:, 1] = orders.node[:, 0] + 1
    for route in range(routes):
        refresh(view, orders, route)
    return orders


def new_saved(view: PlanView) -> Saved:
    """Room for one step."""
    routes = view.routes
    return Saved(
        orders=new_orders(view),
        changed=np.zeros(routes, dtype=np.int64),
        is_changed=np.zeros(routes, dtype=np.int64),
        moved=np.zeros(2 * len(view.nodes) + 2, dtype=np.int64),
        counts=np.array([0, 0, routes], dtype=np.int64),
    )


@inlined
def latest_at(view: PlanView, node: int, time: float) -> float:
    """The last moment up to `time` at which a visit may begin; minus infinity if there is none."""
    for window in range(view.first[node + 1] - 1, view.first[node] - 1, -1):
        if time >= view.opens[window]:
            return min(time, view.closes[window])
    return -np.inf


@lean
def refresh(view: PlanView, orders: Orders, route: int) -> None:
    """Brings everything but the nodes of an order up to date."""
    node, begin, latest, leg = orders.node[route], orders.begin[route], orders.latest[route], orders.leg[route]
    last = orders.size[route] - 1
    begin[0] = view.opens[view.first[node[0]]]
    orders.place[node[0]] = 0
    for place in range(1, last + 1):
        here = node[place]
        cost = view.costs[node[place - 1], here]
        leg[place - 1] = cost
        begin[place] = begin_at(view, here, begin[place - 1] + cost)
        orders.place[here] = place
    latest[last] = view.closes[view.first[node[last]]]
    for place in range(last - 1, -1, -1):
        latest[place] = latest_at(view, node[place], latest[place + 1] - leg[place])


@lean
def insert(view: PlanView, orders: Orders, worth: Floats, node: int, route: int, place: int, saved: Saved) -> None:
    """Puts a place that is not visited behind the stop at column `place` of a route."""
    save_route(orders, route, saved)
    nodes, begin, latest, leg = orders.node[route], orders.begin[route], orders.latest[route], orders.leg[route]
    size = orders.size[route] + 1
    orders.size[route] = size
    for column in range(size - 1, place + 1, -1):
        nodes[column] = nodes[column - 1]
        begin[column] = begin[column - 1]
        latest[column] = latest[column - 1]
        leg[column] = leg[column - 1]
        orders.place[nodes[column]] = column
    new = place + 1
    nodes[new] = node
    orders.place[node] = new
    leg[place] = view.costs[nodes[place], node]
    leg[new] = view.costs[node, nodes[new + 1]]
    for column in range(new, size):
        time = begin_at(view, nodes[column], begin[column - 1] + leg[column - 1])
        if column > new and time == begin[column]:
            break
        begin[column] = time
    for column in range(new, -1, -1):
        time = latest_at(view, nodes[column], latest[column + 1] - leg[column])
        if column < new and time == latest[column]:
            break
        latest[column] = time
    orders.route[node] = route
    renew(orders, route, saved)
    _count(view, orders, worth, node, 1)
    _note_moved(saved, node)


@lean
def put_in(
    view: PlanView,
    orders: Orders,
    worth: Floats,
    node: int,
    route: int,
    place: int,
    detour: float,
    saved: Saved,
) -> None:
    """`insert` where there are no windows: of the clocks only those of the two ends of a route are kept."""
    save_route(orders, route, saved)
    size = orders.size[route] + 1
    orders.size[route] = size
    orders.begin[route, size - 1] = orders.begin[route, size - 2] + detour
    orders.latest[route, size - 1] = orders.latest[route, size - 2]
    for column in range(size - 1, place + 1, -1):
        other = orders.node[route, column - 1]
        orders.node[route, column] = other
        orders.leg[route, column] = orders.leg[route, column - 1]
        orders.place[other] = column
    new = place + 1
    orders.node[route, new] = node
    orders.place[node] = new
    orders.leg[route, place] = view.costs[orders.node[route, place], node]
    orders.leg[route, new] = view.costs[node, orders.node[route, new + 1]]
    orders.route[node] = route
    renew(orders, route, saved)
    _count(view, orders, worth, node, 1)
    _note_moved(saved, node)


@lean
def remove(view: PlanView, orders: Orders, worth: Floats, node: int, saved: Saved) -> None:
    """Marks a place as not visited; `close_up` then takes it out of its order."""
    save_route(orders, orders.route[node], saved)
    orders.route[node] = -1
    _count(view, orders, worth, node, -1)
    _note_moved(saved, node)


@lean
def close_up(view: PlanView, orders: Orders, route: int, saved: Saved) -> None:
    """Takes places that `remove` has marked out of an order."""
    node, size = orders.node[route], orders.size[route]
    kept = 1
    for column in range(1, size):
        here = node[column]
        if column == size - 1 or orders.route[here] == route:
            node[kept] = here
            kept += 1
    orders.size[route] = kept
    refresh(view, orders, route)
    renew(orders, route, saved)


@lean
def draw_together(view: PlanView, orders: Orders, route: int, saved: Saved) -> None:
    """`close_up` where there are no windows: of the clocks only those of the two ends of a route are kept."""
    last = orders.size[route] - 1
    closes = orders.latest[route, last]
    kept = 0
    left = orders.node[route, 0]
    time = orders.begin[route, 0]
    for column in range(1, last + 1):
        here = orders.node[route, column]
        if column < last and orders.route[here] != route:
            continue
        leg = view.costs[left, here]
        orders.leg[route, kept] = leg
        time += leg
        kept += 1
        orders.node[route, kept] = here
        orders.place[here] = kept
        left = here
    orders.size[route] = kept + 1
    orders.begin[route, kept] = time
    orders.latest[route, kept] = closes
    renew(orders, route, saved)


@lean
def exchange_tails(
    view: PlanView, orders: Orders, one: int, one_first: int, other: int, other_first: int, plain: bool, saved: Saved
) -> None:
    """Two changed routes exchange their stops from columns `one_first` and `other_first` on, if both stay in time.

    With `plain` there are no windows, and of the clocks only those of the two ends of a route are kept.
    """
    if not (
        _end_alike(view, one, other)
        and _can_go_on(view, orders, one, one_first, other, other_first, plain)
        and _can_go_on(view, orders, other, other_first, one, one_first, plain)
    ):
        return
    one_stops, other_stops = orders.size[one] - 1 - one_first, orders.size[other] - 1 - other_first
    both = min(one_stops, other_stops)
    for index in range(both):
        node = orders.node[one, one_first + index]
        _put(orders, one, one_first + index, orders.node[other, other_first + index])
        _put(orders, other, other_first + index, node)
    for index in range(both, one_stops):
        _put(orders, other, other_first + index, orders.node[one, one_first + index])
    for index in range(both, other_stops):
        _put(orders, one, one_first + index, orders.node[other, other_first + index])
    _end_at(view, orders, one, one_first + other_stops, plain, saved)
    _end_at(view, orders, other, other_first + one_stops, plain, saved)


@inlined
def _end_alike(view: PlanView, one: int, other: int) -> bool:
    """Whether two routes end at the same place and time."""
    one_end, other_end = view.first[_end(view, one)], view.first[_end(view, other)]
    return view.ends[one, 1] == view.ends[other, 1] and view.closes[one_end] == view.closes[other_end]


@inlined
def _end(view: PlanView, route: int) -> int:
    return len(view.nodes) + 2 * route + 1


@inlined
def _can_go_on(
    view: PlanView, orders: Orders, route: int, first: int, other: int, other_first: int, plain: bool
) -> bool:
    """Whether a route is in time if its stops from column `first` on are replaced by the last ones of another route."""
    last = orders.size[other] - 1
    following = orders.node[other, other_first] if other_first < last else _end(view, route)
    leg = view.costs[orders.node[route, first - 1], following]
    if not plain:
        return orders.begin[route, first - 1] + leg <= orders.latest[other, other_first]
    time = orders.begin[route, 0] + leg
    for column in range(first - 1):
        time += orders.leg[route, column]
    for column in range(other_first, last):
        time += orders.leg[other, column]
    return time <= orders.latest[other, last]


@inlined
def _put(orders: Orders, route: int, column: int, node: int) -> None:
    orders.node[route, column] = node
    orders.route[node] = route


@inlined
def _end_at(view: PlanView, orders: Orders, route: int, column: int, plain: bool, saved: Saved) -> None:
    """Lets a route end at a column, and brings the route up to date."""
    orders.node[route, column] = _end(view, route)
    orders.latest[route, column] = orders.latest[route, orders.size[route] - 1]
    orders.size[route] = column + 1
    if plain:
        draw_together(view, orders, route, saved)
    else:
        refresh(view, orders, route)
        renew(orders, route, saved)


@lean
def begin_step(orders: Orders, saved: Saved) -> None:
    """Remembers the state before a step, as far as it is not an order."""
    for index in range(saved.counts[0]):
        saved.is_changed[saved.changed[index]] = 0
    saved.counts[0] = 0
    saved.counts[1] = 0
    _copy_sums(orders, saved.orders)


@inlined
def save_route(orders: Orders, route: int, saved: Saved) -> None:
    """Copies an order before the step's first change of it."""
    if saved.is_changed[route]:
        return
    saved.is_changed[route] = 1
    saved.changed[saved.counts[0]] = route
    saved.counts[0] += 1
    _copy_order(orders, saved.orders, route)


@inlined
def renew(orders: Orders, route: int, saved: Saved) -> None:
    """Gives an order a new version."""
    orders.version[route] = saved.counts[2]
    saved.counts[2] += 1


@lean
def take_back(orders: Orders, saved: Saved) -> None:
    """Puts everything back as it was at `begin_step`."""
    for index in range(saved.counts[1]):
        orders.route[saved.moved[index]] = -1
    for index in range(saved.counts[0]):
        route = saved.changed[index]
        _copy_order(saved.orders, orders, route)
        node = orders.node[route]
        for column in range(orders.size[route]):
            orders.place[node[column]] = column
        for column in range(1, orders.size[route] - 1):
            orders.route[node[column]] = route
    _copy_sums(saved.orders, orders)


@inlined
def is_free(view: PlanView, orders: Orders, node: int) -> bool:
    """Whether groups and budgets let a place be visited too."""
    for index in range(view.group_first[node], view.group_first[node + 1]):
        if orders.taken[view.group[index]]:
            return False
    for budget in range(len(view.room)):
        if orders.used[budget] + view.weights[node, budget] > view.room[budget]:
            return False
    return True


@lean
def _copy_order(source: Orders, target: Orders, route: int) -> None:
    size = source.size[route]
    target.size[route] = size
    target.version[route] = source.version[route]
    for column in range(size):
        target.node[route, column] = source.node[route, column]
        target.begin[route, column] = source.begin[route, column]
        target.latest[route, column] = source.latest[route, column]
        target.leg[route, column] = source.leg[route, column]


@lean
def _copy_sums(source: Orders, target: Orders) -> None:
    """Copies what orders hold together; loops, since numba copies a slice by way of a new array."""
    for index in range(len(source.used)):
        target.used[index] = source.used[index]
    for index in range(len(source.taken)):
        target.taken[index] = source.taken[index]
    for index in range(len(source.total)):
        target.total[index] = source.total[index]


@inlined
def _count(view: PlanView, orders: Orders, worth: Floats, node: int, sign: int) -> None:
    """Adds a place to the totals, or takes it away with a `sign` of -1."""
    orders.total[0] += sign * worth[node]
    if view.required[node]:
        orders.total[1] += sign
    for index in range(view.group_first[node], view.group_first[node + 1]):
        orders.taken[view.group[index]] += sign
    for budget in range(len(view.room)):
        orders.used[budget] += sign * view.weights[node, budget]


@inlined
def _note_moved(saved: Saved, node: int) -> None:
    saved.moved[saved.counts[1]] = node
    saved.counts[1] += 1
