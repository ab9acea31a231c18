"""The best route that two paths make, one from each end, among all pairs of paths.

A path from the start and a path from the end make a route if they share no stop and the route fits the budget.
"""

import numpy as np

from orienteer.kernel import NONE, Floats, Ints, kernel, ranked

MOST_PAIRS = 2**25
"""Pairs that are compared, at most: where all paths bring about equal prizes, prizes rule out too few pairs."""
BINS = 128
"""Parts of the budget into which paths from the end are sorted: in a part, only those with enough prize count."""


@kernel
def best_meeting(
    last: Ints, cost: Floats, prize: Floats, stops: Ints,
    last_back: Ints, cost_back: Floats, prize_back: Floats, stops_back: Ints,
    costs: Floats, budget: float, least: float, mirrored: bool, most_looks: int = MOST_PAIRS,
) -> tuple[int, int]:  # fmt: skip
    """The numbers of the two paths with the most prize above `least`, or -1 and -1.

    Args:
        last, cost, prize: (path,) of the paths from the start.
        stops: (path, word) their stops as sets of bits.
        last_back, cost_back, prize_back, stops_back: These four arrays of the paths from the end.
        costs: (n, n) costs of legs.
        budget: The most that a route may cost.
        least: A prize that is known; the sum of two paths' prizes has to be above it.
        mirrored: Whether the paths from the end are those from the start: then each pair is compared once.
        most_looks: Pairs after which no further path from the start is begun.
    """
    ordered, first, cheapest = _binned(cost_back, prize_back, budget)
    nearest = _nearest(costs)
    front, back, looks = NONE, NONE, 0
    for path in range(len(last)):
        if looks > most_looks:
            break
        left = budget - cost[path] - nearest[last[path]]
        if mirrored:
            left = min(left, cost[path])
        for part in range(BINS):
            if cheapest[part] > left:
                continue
            for place in range(first[part], first[part + 1]):
                other = ordered[place]
                if prize[path] + prize_back[other] <= least:
                    break
                looks += 1
                if cost[path] + costs[last[path], last_back[other]] + cost_back[other] > budget:
                    continue
                if _apart(stops[path], stops_back[other]):
                    least = prize[path] + prize_back[other]
                    front, back = path, other
    return front, back


@kernel
def _binned(cost: Floats, prize: Floats, budget: float) -> tuple[Ints, Ints, Floats]:
    """Paths by part of the budget, most prize first; where each part begins, and its cheapest path's cost."""
    part = np.empty(len(cost), dtype=np.int64)
    cheapest = np.full(BINS, np.inf)
    first = np.zeros(BINS + 1, dtype=np.int64)
    for path in range(len(cost)):
        part[path] = min(int(BINS * (cost[path] / budget)), BINS - 1) if cost[path] > 0.0 else 0
        cheapest[part[path]] = min(cheapest[part[path]], cost[path])
        first[part[path] + 1] += 1
    for number in range(BINS):
        first[number + 1] += first[number]
    ordered, filled = np.empty(len(cost), dtype=np.int64), first.copy()
    for path in ranked(-prize):
        ordered[filled[part[path]]] = path
        filled[part[path]] += 1
    return ordered, first, cheapest


@kernel
def _nearest(costs: Floats) -> Floats:
    """(n,) the cost of each node's cheapest leg to another."""
    size = len(costs)
    nearest = np.full(size, np.inf)
    for node in range(size):
        for other in range(size):
            if other != node:
                nearest[node] = min(nearest[node], costs[node, other])
    return nearest


@kernel
def _apart(one: Ints, other: Ints) -> bool:
    """Whether two sets have nothing in common."""
    for word in range(len(one)):  # noqa: SIM110 (numba compiles no generator)
        if one[word] & other[word]:
            return False
    return True
