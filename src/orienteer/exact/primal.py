"""Routes from the solution of a linear program: nodes with a large share of a visit are tried first."""

import itertools

import numpy as np

from orienteer.exact.separate.base import Point
from orienteer.model.errors import InfeasibleTour
from orienteer.search.run import Run


def offer_rounded(run: Run, point: Point) -> bool:
    """Inserts nodes by falling y, each at its cheapest place, and offers the route; says whether it is a new best."""
    instance, costs = run.instance, run.instance.costs
    route, total = instance.cheapest_route(), float(run.instance.to_end[run.instance.start])
    order = np.argsort(-point.y, kind="stable")
    for node in point.model.nodes[order[point.y[order] > LEAST_Y]].tolist():
        if node in route:
            continue
        before, after = np.array(route[:-1]), np.array(route[1:])
        legs = np.where(before == after, 0.0, costs[before, after])
        more = costs[before, node] + costs[node, after]
        extra = np.where(np.isfinite(more), more, np.inf) - np.where(np.isfinite(legs), legs, 0.0)
        place = int(np.argmin(extra))
        if total + extra[place] <= instance.budget:
            route.insert(place + 1, node)
            total = sum(float(costs[i, j]) for i, j in itertools.pairwise(route))
    try:
        return run.offer(route)
    except InfeasibleTour:  # too long by a rounding error
        return False


LEAST_Y = 0.05
"""Nodes with a smaller y than this are left out."""
