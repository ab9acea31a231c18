"""Routes through every node, by local search alone: a quick one, and a nearly shortest one."""

import numpy as np
import numpy.typing as npt

from orienteer.kernel.rng import seed_state
from orienteer.local_search.directed_opt import swap_stretches, turn_stretches
from orienteer.local_search.kick import kick_and_shorten
from orienteer.local_search.or_opt import or_opt
from orienteer.local_search.shorten import nearest_neighbour
from orienteer.model.instance import Array
from orienteer.model.view import nearest

KICKS = 20
"""Kicks for each node of a nearly shortest route."""
LEAST = 1e-10
"""A move must save this share of the route."""


def quick_route(costs: Array, start: int, end: int) -> list[int] | None:
    """A short route through every node: nearest neighbour, then 2-opt and or-opt until neither finds a shorter one.

    On asymmetric costs stretches change places instead (or-opt with stretches of any length that keep their direction).
    None where the route would need a way that there is not.
    """
    return _Table(costs, start, end).quick()


def good_route(costs: Array, start: int, end: int, seed: int, kicks: int = KICKS) -> list[int] | None:
    """A nearly shortest route through every node: Lin-Kernighan and or-opt, then `kicks` double bridges a node.

    On asymmetric costs the moves are those that mind the direction. None as for `quick_route`.
    """
    return _Table(costs, start, end).good(seed, kicks)


class _Table:
    """The nodes in the kernels' order, start first and end last, a round trip's start at both places."""

    def __init__(self, costs: Array, start: int, end: int):
        inner = np.ones(len(costs), dtype=bool)
        inner[[start, end]] = False
        self.names = np.array([start, *np.flatnonzero(inner), end], dtype=np.int64)
        table = np.ascontiguousarray(costs[np.ix_(self.names, self.names)])
        np.fill_diagonal(table, 0.0)
        if start == end:
            table[0, -1] = table[-1, 0] = 0.0
        self.missing = np.isinf(table)
        largest = float(table[~self.missing].max())
        self.costs = np.where(self.missing, len(table) * max(largest, 1.0), table)  # dearer than any real route
        self.symmetric = bool(np.array_equal(self.costs, self.costs.T))
        self.near = nearest(self.costs)

    def quick(self) -> list[int] | None:
        route, place, least = self._nearest_neighbour()
        size, costs, near = len(route), self.costs, self.near
        saved = 1.0
        while saved > 0.0 and size > 3:
            saved = turn_stretches(route, size, place, costs, least)
            more = or_opt if self.symmetric else swap_stretches
            saved += more(route, size, place, costs, near, least)
        return self._named(route)

    def good(self, seed: int, kicks: int) -> list[int] | None:
        route, place, least = self._nearest_neighbour()
        size = len(route)
        kick_and_shorten(
            route, size, place, self.costs, self.near, self.symmetric, least, kicks * size, seed_state(seed)
        )
        return self._named(route)

    def _nearest_neighbour(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], float]:
        """The route, its places, and what a move must save."""
        size = len(self.names)
        chosen = np.arange(1, size - 1)
        route, place = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        nearest_neighbour(chosen, size - 2, self.costs, self.near, route, place)
        return route, place, LEAST * float(self.costs[route[:-1], route[1:]].sum())

    def _named(self, route: npt.NDArray[np.int64]) -> list[int] | None:
        if self.missing[route[:-1], route[1:]].any():
            return None
        return [int(node) for node in self.names[route]]
