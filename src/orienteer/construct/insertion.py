"""Routes built node by node, many at a time, by any rule for the next node."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from orienteer.model.instance import Instance
from orienteer.model.numbers import Array

Choose = Callable[[Array, npt.NDArray[np.bool_]], npt.NDArray[np.intp]]
"""From the (route, node) costs of the next leg and whether the node fits: the (route,) nodes to go to."""


def at_once(size: int) -> int:
    """How many routes to build between two looks at the stop criterion, for a problem of `size` nodes.

    The work for a route grows with the square of the size.
    """
    return max(1, min(64, 2_500_000 // (size * size)))


def construct(instance: Instance, count: int, choose: Choose) -> list[list[int]]:
    """`count` routes, each grown by `choose` until no node fits, then cut back to where it can go straight to the end.

    A node fits if the end can still be reached from it, through whatever nodes. On costs that obey the triangle
    inequality no route is cut back. On others a route may nowhere be able to go straight to the end: it is left out.
    """
    if count == 1:
        return _construct_one(instance, choose)
    rows = np.arange(count)
    path = np.full((count, instance.size + 1), -1)
    path[:, 0] = instance.start
    cost = np.zeros(count)
    to_visit = np.ones((count, instance.size), dtype=bool)
    to_visit[:, [instance.start, instance.end]] = False
    closes = _closes(instance, path[:, 0], cost).astype(int)  # how many nodes of the path go before the end
    if instance.start == instance.end:
        closes[:] = 1  # staying at home costs nothing, whatever the diagonal says
    for place in range(1, instance.size):
        leg = instance.costs[path[rows, place - 1]]
        fits = to_visit[rows] & (cost[:, None] + leg + instance.to_end <= instance.budget)
        on = fits.any(axis=1)
        rows, cost, leg, fits = rows[on], cost[on], leg[on], fits[on]
        if not len(rows):
            break
        node = choose(leg, fits)
        path[rows, place] = node
        to_visit[rows, node] = False
        cost = cost + leg[np.arange(len(rows)), node]
        closes[rows[_closes(instance, node, cost)]] = place + 1
    return [[*path[row, : closes[row]].tolist(), instance.end] for row in range(count) if closes[row]]


def _construct_one(instance: Instance, choose: Choose) -> list[list[int]]:
    """`construct` for one route, without the book-keeping of many: takes a third of the time."""
    costs, to_end, budget, end = instance.costs, instance.to_end, instance.budget, instance.end
    path, cost = [instance.start], 0.0
    to_visit = np.ones((1, instance.size), dtype=bool)
    to_visit[0, [instance.start, end]] = False
    closes = int(instance.start == end or costs[instance.start, end] <= budget)
    while True:
        leg = costs[path[-1]][None]
        arrival = cost + leg
        arrival += to_end
        fits = arrival <= budget
        fits &= to_visit
        if not np.count_nonzero(fits):
            break
        node = int(choose(leg, fits)[0])
        path.append(node)
        to_visit[0, node] = False
        cost += float(leg[0, node])
        if cost + costs[node, end] <= budget:
            closes = len(path)
    return [[*path[:closes], end]] if closes else []


def _closes(instance: Instance, last: npt.NDArray[np.intp], cost: Array) -> npt.NDArray[np.bool_]:
    """Whether paths to the nodes `last`, each of a `cost`, can go straight to the end."""
    return cost + instance.costs[last, instance.end] <= instance.budget
