"""How soon each node can be visited on each route, and whether the route can still reach its end from there."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.model.cheapest import cheapest_to
from orienteer.model.numbers import Array
from orienteer.model.rules import Route, Window

if TYPE_CHECKING:
    from orienteer.model.instance import Instance


class Reach(NamedTuple):
    """Bounds by cheapest walks, which may repeat nodes and ignore windows on the way: no visit is earlier."""

    arrive: Array
    """(routes, n) the earliest arrival."""
    begin: Array
    """(routes, n) the earliest beginning of a visit; infinite where every window has closed by then."""
    after: Array
    """(routes, n) the least cost from the beginning of the visit to the end of the route."""
    fits: npt.NDArray[np.bool_]
    """(routes, n) whether the route could visit the node and reach its end within its limit."""


def reach(instance: "Instance") -> Reach:
    """The reach of all routes; routes with the same ends, opening and limit share the work."""
    legs = with_service(instance)
    known: dict[Route, tuple[Array, Array, Array]] = {}
    for route in instance.each_route:
        if route not in known:
            known[route] = _reach(instance, legs, route)
    arrive, begin, after = (np.array([known[route][part] for route in instance.each_route]) for part in range(3))
    latest = np.array([latest_end(instance, route) for route in instance.each_route])
    with np.errstate(over="ignore"):
        fits = begin + after <= latest[:, None]
    return Reach(arrive, begin, after, fits)


def with_service(instance: "Instance") -> Array:
    """(n, n) the cost from the beginning of a visit to the arrival at the next node: the visit and the leg."""
    return instance.costs if instance.service is None else instance.costs + instance.service[:, None]


def latest_end(instance: "Instance", route: Route) -> float:
    """When a route must be at its end, the tolerance included."""
    return route.opens + route.limit + instance.slack


def first_begin(windows: tuple[Window, ...] | None, arrive: float, slack: float) -> float:
    """When a visit begins after an arrival; infinite where the node has closed for good."""
    if windows is None:
        return arrive
    for opens, closes in windows:
        if arrive <= closes + slack:
            return max(arrive, opens)
    return np.inf


def _reach(instance: "Instance", legs: Array, route: Route) -> tuple[Array, Array, Array]:
    start, end = route.start, route.end
    arrive = route.opens + cheapest_to(legs.T[None], np.array([start]))[0]
    if end is None:
        after = np.zeros(instance.size) if instance.service is None else instance.service.copy()
    else:
        after = cheapest_to(legs[None], np.array([end]))[0]
    begin = arrive.copy()
    if instance.windows is not None:
        for node, windows in enumerate(instance.windows):
            begin[node] = first_begin(windows, float(arrive[node]), instance.slack)
    return arrive, begin, after
