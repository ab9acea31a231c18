"""A large problem as the search reads it, and the place where a node costs least."""

from typing import cast

import numpy as np

from orienteer.kernel import Floats, Ints, lean
from orienteer.kernel.legs import (
    ATT,
    CEIL_2D,
    EUC_2D,
    EUCLIDEAN,
    GEO,
    GREAT_CIRCLE,
    MAN_2D,
    MANHATTAN,
    MAX_2D,
    Points,
    leg,
)
from orienteer.kernel.tree import nearest_points, side_by_side
from orienteer.lns.route import Ground, Route
from orienteer.model.distances import Distances, geo_radians
from orienteer.model.instance import Instance
from orienteer.model.view import ROUNDING, View, in_order, numbering

LOOK = 5
"""Beside how many of its nearest visited nodes a node is tried."""


@lean
def cheapest_detour(ground: Ground, route: Route, node: int, anchor: int) -> tuple[float, int]:
    """The cost of inserting a node beside one of its nearest visited nodes, and the node that would precede it.

    Where no near node is on the route, the node is tried behind the anchor; the cost is infinite if that is -1.
    """
    size = len(ground.prizes)
    best, place, seen = np.inf, -1, 0
    for index in range(ground.near.shape[1]):
        other = ground.near[node, index]
        if route.before[other] < 0:
            continue
        right = route.after[other]
        if right < size:
            cost = leg(ground.costs, other, node) + leg(ground.costs, node, right) - leg(ground.costs, other, right)
            if cost < best:
                best, place = cost, other
        left = route.before[other]
        if left < size:
            cost = leg(ground.costs, left, node) + leg(ground.costs, node, other) - leg(ground.costs, left, other)
            if cost < best:
                best, place = cost, left
        seen += 1
        if seen >= LOOK:
            break
    if place < 0 and anchor >= 0:
        right = route.after[anchor]
        place = anchor
        best = leg(ground.costs, anchor, node) + leg(ground.costs, node, right) - leg(ground.costs, anchor, right)
    return best, place


NEAR = 40
"""How many near nodes are listed for each node where costs are computed from points."""

KINDS = {
    "euclidean": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "great_circle": GREAT_CIRCLE,
    "euc_2d": EUC_2D,
    "ceil_2d": CEIL_2D,
    "man_2d": MAN_2D,
    "max_2d": MAX_2D,
    "att": ATT,
    "geo": GEO,
}
"""The kinds of `Points` by the names of the functions in `model/distances.py`."""


def large_view(instance: Instance) -> View:
    """The view of an instance whose costs are distances between points, with `Points` in the place of the table.

    Nodes near each other have numbers near each other, so that what a step reads is together in memory.
    """
    costs = instance.costs
    assert isinstance(costs, Distances), "a view with a table is `instance.view`"
    nodes = in_order(instance.reachable, instance.start, instance.end)
    nodes[1:-1] = nodes[1:-1][side_by_side(_placed(costs, nodes[1:-1])[2])]
    last, budget = len(nodes) - 1, instance.budget
    prizes = instance.prizes[nodes]
    if instance.start == instance.end:
        prizes[last] = 0.0
    x, y, space = _placed(costs, nodes)
    near = nearest_points(space, NEAR)
    return View(
        nodes=nodes,
        number=numbering(nodes, instance.size),
        costs=cast(Floats, Points(x, y, KINDS[costs.metric.__name__], costs.divisor)),
        prizes=prizes,
        near_in=near,
        near_out=near,
        fallback=np.array([0, last], dtype=np.int64),
        budget=budget,
        least=ROUNDING * budget,
        symmetric=True,
        round_trip=instance.start == instance.end,
    )


def _placed(costs: Distances, nodes: Ints) -> tuple[Floats, Floats, Floats]:
    """What `Points` needs, and (m, d) coordinates in which the nearest points are the nearest by cost, or nearly so."""
    coords, name = costs.coords[nodes], costs.metric.__name__
    if name == "geo":
        coords = geo_radians(coords)[:, ::-1]
    elif name == "great_circle":
        coords = np.radians(coords)
    x, y = np.ascontiguousarray(coords[:, 0]), np.ascontiguousarray(coords[:, 1])
    if name in ("geo", "great_circle"):  # on a ball, whose chords are in the order of its great circles
        return x, y, np.stack([np.cos(x) * np.cos(y), np.sin(x) * np.cos(y), np.sin(y)], axis=1)
    return x, y, np.ascontiguousarray(coords)
