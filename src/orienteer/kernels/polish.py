"""A route made shorter and fuller by local search: the small moves that a beam has no path for.

A network that has learned from problems of up to some size leaves more and more of them in larger ones. All is made
here, for one route: what `kernel_problem` prepares for a long search takes several times as long as this one.
"""

import numpy as np
from numba import njit

from orienteer.kernels.drop_add import add_while_fits, link, route_cost, unlink
from orienteer.kernels.lin_kernighan import Floats, Ints
from orienteer.kernels.shorten import shorten

NEAR = 20
"""Near nodes that are listed for each node."""
LEAST = 1e-10
"""Savings up to this share of the budget are rounding."""


@njit(cache=True, error_model="numpy", nogil=True)
def polished(route: Ints, costs: Floats, prizes: Floats, budget: float, symmetric: bool) -> Ints:
    """The route after it was shortened and filled up in turn, until nothing more fits; it has the same ends.

    Costs are (n, n) and may be infinite, prizes (n,); the route must cost no more than the budget.
    """
    names = _names(route[0], route[-1], len(prizes))
    table, worth = _renumbered(names, route[0] == route[-1], costs, prizes, budget)
    near_out = _nearest(table)
    near_in = near_out if symmetric else _nearest(table.T.copy())
    last = len(names) - 1
    number = np.empty(len(prizes), dtype=np.int64)
    for at, name in enumerate(names[:-1]):
        number[name] = at
    nodes, place = np.empty(len(names), dtype=np.int64), np.full(len(names), -1)
    size = len(route)
    for at in range(size):
        nodes[at] = number[route[at]] if at < size - 1 else last
        place[nodes[at]] = at
    following, leading = np.empty_like(nodes), np.empty_like(nodes)
    while True:
        shorten(nodes, size, place, table, near_out, symmetric, LEAST * budget)
        link(nodes, size, following, leading)
        cost = route_cost(nodes, size, table)
        add_while_fits(0, last, following, leading, place, table, worth, near_in, near_out, cost, budget)
        before, size = size, unlink(0, last, following, nodes, place)
        if size == before:
            return names[nodes[:size]]


@njit(cache=True, error_model="numpy")
def _names(start: int, end: int, nodes: int) -> Ints:
    """The nodes with the start first and the end last; where they are one, it is there twice."""
    names = np.empty(nodes + (1 if start == end else 0), dtype=np.int64)
    names[0], names[-1] = start, end
    at = 1
    for node in range(nodes):
        if node not in (start, end):
            names[at] = node
            at += 1
    return names


@njit(cache=True, error_model="numpy")
def _renumbered(names: Ints, round_trip: bool, costs: Floats, prizes: Floats, budget: float) -> tuple[Floats, Floats]:
    """Costs and prizes of the nodes in that order; an arc that no route can afford costs twice the budget."""
    count = len(names)
    table, worth = np.empty((count, count)), prizes[names]
    for row in range(count):
        for column in range(count):
            cost = costs[names[row], names[column]]
            table[row, column] = 0.0 if row == column else cost if cost <= budget else 2 * budget
    if round_trip:
        table[0, -1] = table[-1, 0] = 0.0
        worth[-1] = 0.0
    return table, worth


@njit(cache=True, error_model="numpy")
def _nearest(table: Floats) -> Ints:
    """(n, k) the nodes cheapest to reach from each, cheapest first, itself left out."""
    count = len(table)
    few = min(count - 1, NEAR)
    near, away = np.empty((count, few), dtype=np.int64), np.empty(few)
    for here in range(count):
        known = 0
        for there in range(count):
            cost = table[here, there]
            if there == here or (known == few and cost >= away[few - 1]):
                continue
            at = known if known < few else few - 1
            while at > 0 and away[at - 1] > cost:
                away[at], near[here, at] = away[at - 1], near[here, at - 1]
                at -= 1
            away[at], near[here, at] = cost, there
            known = min(known + 1, few)
    return near
