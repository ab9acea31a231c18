"""A problem with rules as searches read it: nodes renumbered, visits put into legs, windows in one list."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.model.reach import latest_end, with_service
from orienteer.model.view import NEAR, nearest

if TYPE_CHECKING:
    from orienteer.model.instance import Instance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WITHIN = 1 - 1e-3
"""The share of the tolerance that searches use, so that rounding takes none of their plans over it."""


class PlanView(NamedTuple):
    """A problem in its own numbers: m places, then the start and the end of each route, two nodes a route.

    A free end is a node that every other reaches for the cost of its own visit. A view holds plain contiguous arrays,
    so that it can be an argument of a kernel; nobody may write to them.
    """

    nodes: Ints
    """(m,) the instance's number of each place: nodes within reach of a route, other than starts and ends."""
    number: Ints
    """(n,) the view's number of each of the instance's nodes, -1 for those that are no places."""
    costs: Floats
    """(m + 2 r, m + 2 r) from the beginning of a visit to the arrival at the next node: the visit and the leg. Finite;
    what no route can afford costs more than all routes have."""
    back: Floats
    """The costs, transposed."""
    prizes: Floats
    """(m,) what each place is worth."""
    required: npt.NDArray[np.bool_]
    """(m,) whether the place must be visited."""
    first: Ints
    """(m + 2 r + 1,) where the windows of each node begin in `opens` and `closes`; every node has at least one."""
    opens: Floats
    closes: Floats
    """All windows, those of each node in order; a route's start has the moment of its opening, its end the time up to
    the route's limit. The tolerance is in `closes`."""
    near: Ints
    """(m, k) the places nearest to each place, by the cheaper direction, nearest first."""
    group_first: Ints
    """(m + 1,) where the groups of each place begin in `group`."""
    group: Ints
    """The groups of all places."""
    groups: int
    """How many groups there are."""
    weights: Floats
    """(m, b) what each place weighs in each budget."""
    room: Floats
    """(b,) what each budget allows besides starts and ends, the tolerance included."""
    routes: int
    """How many routes there are."""
    free: npt.NDArray[np.bool_]
    """(r,) whether the end of a route is free."""
    ends: Ints
    """(r, 2) the instance's numbers of the start and the end of each route; -1 for a free end."""

    def route(self, numbers: Ints, which: int) -> list[int]:
        """A route of the view, its ends included, in the instance's numbers."""
        start, end = self.ends[which].tolist()
        inner = self.nodes[numbers[1:-1]].tolist()
        return [start, *inner] if self.free[which] else [start, *inner, end]

    def numbers(self, nodes: tuple[int, ...], which: int) -> Ints:
        """A route of the instance in the view's numbers, its ends included."""
        inner = nodes[1:] if self.free[which] else nodes[1:-1]
        ends = len(self.nodes) + 2 * which
        return np.array([ends, *self.number[list(inner)], ends + 1], dtype=np.int64)


def plan_view_of(instance: "Instance") -> PlanView:
    """The view of an instance; `instance.plan_view` is this view, made once and kept."""
    routes = instance.each_route
    within = np.flatnonzero(instance.reach.fits.any(axis=0))
    nodes = within[~np.isin(within, list(instance.ends))]
    size = len(nodes)
    number = np.full(instance.size, -1, dtype=np.int64)
    number[nodes] = np.arange(size)
    costs = _costs(instance, nodes)
    first, opens, closes = _windows(instance, nodes)
    near = nearest(np.ascontiguousarray(np.minimum(costs, costs.T)[:size, :size]), NEAR)
    group_first, group = _groups(instance, number, size)
    always = sorted(instance.ends)
    weights = np.array([budget.weights for budget in instance.budgets]).reshape(len(instance.budgets), instance.size)
    return PlanView(
        nodes=nodes,
        number=number,
        costs=costs,
        back=np.ascontiguousarray(costs.T),
        prizes=np.ascontiguousarray(instance.prizes[nodes]),
        required=np.isin(nodes, instance.required),
        first=first,
        opens=opens,
        closes=closes,
        near=near,
        group_first=group_first,
        group=group,
        groups=len(instance.groups),
        weights=np.ascontiguousarray(weights[:, nodes].T),
        room=np.array([b.most * (1 + WITHIN * 1e-9) for b in instance.budgets]) - weights[:, always].sum(axis=1),
        routes=len(routes),
        free=np.array([route.end is None for route in routes]),
        ends=np.array([(route.start, -1 if route.end is None else route.end) for route in routes], dtype=np.int64),
    )


def _costs(instance: "Instance", nodes: Ints) -> Floats:
    size, routes = len(nodes), instance.each_route
    given = with_service(instance)
    latest = max(latest_end(instance, route) for route in routes)
    too_much = 10 * (latest - min(route.opens for route in routes)) + 10 * abs(latest)
    costs = np.full((size + 2 * len(routes),) * 2, too_much)
    costs[:size, :size] = given[np.ix_(nodes, nodes)]
    service = np.zeros(instance.size) if instance.service is None else instance.service
    for which, route in enumerate(routes):
        start, end = size + 2 * which, size + 2 * which + 1
        costs[start, :size] = given[route.start, nodes]
        costs[:size, end] = service[nodes] if route.end is None else given[nodes, route.end]
        direct = 0.0 if route.end in (None, route.start) else given[route.start, route.end]
        costs[start, end] = direct
    np.fill_diagonal(costs, 0.0)
    return np.minimum(costs, too_much)


def _windows(instance: "Instance", nodes: Ints) -> tuple[Ints, Floats, Floats]:
    slack = WITHIN * instance.slack
    latest = max(latest_end(instance, route) for route in instance.each_route)
    earliest = min(route.opens for route in instance.each_route)
    first, opens, closes = [0], list[float](), list[float]()
    for node in nodes.tolist():
        windows = None if instance.windows is None else instance.windows[node]
        for begin, end in windows or ((earliest, latest),):
            opens.append(max(begin, earliest))
            closes.append(min(end, latest) + slack)
        first.append(len(opens))
    for route in instance.each_route:
        end = route.opens + route.limit + slack
        opens += [route.opens, route.opens]
        closes += [route.opens, end]
        first += [first[-1] + 1, first[-1] + 2]
    return np.array(first, dtype=np.int64), np.array(opens), np.array(closes)


def _groups(instance: "Instance", number: Ints, size: int) -> tuple[Ints, Ints]:
    groups: list[list[int]] = [[] for _ in range(size)]
    for which, group in enumerate(instance.groups):
        for node in group:
            if number[node] >= 0:
                groups[number[node]].append(which)
    first = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    return first, np.array([which for group in groups for which in group], dtype=np.int64)
