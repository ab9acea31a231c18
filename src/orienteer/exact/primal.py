"""Routes from the solution of a linear program: nodes with a large share of a visit are tried first."""

import itertools

import numpy as np

from orienteer.exact.model import offer
from orienteer.exact.separate.base import Point
from orienteer.search.run import Run


def offer_rounded(run: Run, point: Point) -> None:
    """Inserts nodes by falling y, each at its cheapest place, and offers the route."""
    model = point.model
    instance, costs = model.instance, model.instance.costs
    route, total = instance.cheapest_route(), float(instance.to_end[instance.start])
    order = np.argsort(-point.y, kind="stable")
    order = order[point.y[order] > LEAST_Y]
    used = [float(weights[np.isin(model.nodes, route)].sum()) for weights, _ in model.rows]
    for number, node in zip(order.tolist(), model.nodes[order].tolist(), strict=True):
        if node in route:
            continue
        if any(sum_ + weights[number] > most for sum_, (weights, most) in zip(used, model.rows, strict=True)):
            continue
        before, after = np.array(route[:-1]), np.array(route[1:])
        legs = np.where(before == after, 0.0, costs[before, after])
        more = costs[before, node] + costs[node, after]
        extra = np.where(np.isfinite(more), more, np.inf) - np.where(np.isfinite(legs), legs, 0.0)
        place = int(np.argmin(extra))
        if total + extra[place] <= instance.budget:
            route.insert(place + 1, node)
            total = sum(float(costs[i, j]) for i, j in itertools.pairwise(route))
            used = [sum_ + weights[number] for sum_, (weights, _) in zip(used, model.rows, strict=True)]
    offer(run, route)


LEAST_Y = 0.05
"""Nodes with a smaller y than this are left out."""
