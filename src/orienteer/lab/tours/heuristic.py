"""Routes through every node, by local search alone: a quick one, and a nearly shortest one."""

import numpy as np

from orienteer.kernel import seed_state
from orienteer.local_search.directed_opt import swap_stretches, turn_stretches
from orienteer.local_search.kick import kick_and_shorten
from orienteer.local_search.or_opt import or_opt
from orienteer.local_search.shorten import nearest_neighbour, shorten_for
from orienteer.model.numbers import Array
from orienteer.model.view import Ints, View, make_view

KICKS = 20
"""Kicks for each node of a nearly shortest route."""
LEAST = 1e-10
"""A move must save this share of the route."""


def quick_route(costs: Array, start: int, end: int) -> list[int] | None:
    """A short route through every node: nearest neighbour, then 2-opt and or-opt until neither finds a shorter one.

    On asymmetric costs stretches change places instead (or-opt with stretches of any length that keep their direction).
    None where the route would need a way that there is not.
    """
    view = _view(costs, start, end)
    route, place, least = _nearest_neighbour(view)
    size, saved = len(route), 1.0
    while saved > 0.0 and size > 3:
        saved = turn_stretches(route, size, place, view.costs, least)
        more = or_opt if view.symmetric else swap_stretches
        saved += more(route, size, place, view.costs, view.near_out, least)
    return _named(view, route)


def good_route(costs: Array, start: int, end: int, seed: int, kicks: int = KICKS) -> list[int] | None:
    """A nearly shortest route through every node: Lin-Kernighan and or-opt, then `kicks` double bridges a node.

    On asymmetric costs the moves are those that mind the direction. None as for `quick_route`.
    """
    view = _view(costs, start, end)
    route, place, least = _nearest_neighbour(view)
    shorten, state = shorten_for(view.symmetric), seed_state(seed)
    kick_and_shorten(route, len(route), place, view.costs, view.near_out, shorten, least, kicks * len(route), state)
    return _named(view, route)


def _view(costs: Array, start: int, end: int) -> View:
    """A view of all nodes, with a budget that pays for any route: what it does not pay for is a missing way."""
    largest = float(np.where(np.isfinite(costs), costs, 0.0).max())
    everything = np.ones(len(costs), dtype=bool)
    return make_view(costs, everything.astype(np.float64), len(costs) * max(largest, 1.0), start, end, everything)


def _nearest_neighbour(view: View) -> tuple[Ints, Ints, float]:
    """The route that goes to the nearest node each time, its places, and what a move must save."""
    size = len(view.nodes)
    route, place = np.empty((2, size), dtype=np.int64)
    nearest_neighbour(np.arange(1, size - 1), size - 2, view.costs, view.near_out, route, place)
    return route, place, LEAST * float(view.costs[route[:-1], route[1:]].sum())


def _named(view: View, route: Ints) -> list[int] | None:
    """The route in the instance's numbers, None where it has a leg that is missing."""
    missing = view.costs[route[:-1], route[1:]] > view.budget
    return None if missing.any() else view.route(route)
