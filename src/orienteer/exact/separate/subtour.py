"""Generalised subtour elimination: a visited set without the start is entered and left.

x(delta(S)) >= 2 y_k for every node k of a set S without node 0 (Fischetti, Salazar and Toth 1998); with the degree
equations that is x(E(S)) <= y(S) - y_k, or x(E(T)) <= y(T) - y_k for the nodes T outside S, where these are fewer.
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.flow import max_flow_to_any, source_side
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.kernel import kernel
from orienteer.model.numbers import Array

THRESHOLDS = (0.0, 0.1, 0.25, 0.5)
"""Links with x up to each of these values in turn are left out before components are computed."""


class Components(Separator):
    """Components, without node 0, of the links above a threshold: found fast, and often enough."""

    family = "components"

    def find(self, point: Point, beat: float) -> list[Cut]:
        low, high, weight = point.pairs
        cuts: dict[bytes, Cut] = {}
        for threshold in THRESHOLDS:
            strong = weight > threshold
            label = components(self.model.size, low[strong], high[strong])
            crossing = np.bincount(label[low], weight * (label[low] != label[high]), minlength=self.model.size)
            crossing += np.bincount(label[high], weight * (label[low] != label[high]), minlength=self.model.size)
            top = np.zeros(self.model.size)
            np.maximum.at(top, label, point.y)
            for component in np.flatnonzero(crossing < 2 * top - 2 * LEAST):
                if component != label[0]:
                    inside = label == component
                    cuts.setdefault(inside.tobytes(), subtour_cut(self.model, inside, point.y))
        return list(cuts.values())


class Subtour(Separator):
    """Sets by minimum cuts between node 0 and every other node: finds a broken cut if there is one."""

    family = "subtour"

    def find(self, point: Point, beat: float) -> list[Cut]:
        order = np.argsort(-point.y, kind="stable")
        order = order[(point.y[order] > LEAST) & (order != 0)]
        sets = _broken(*point.graph, point.y, order, 2 * LEAST)
        return [subtour_cut(self.model, inside, point.y) for inside in sets]


def subtour_cut(model: Model, inside: Mask, y: Array) -> Cut:
    """The cut of a set without node 0, for its node of largest y, which is broken most.

    Of a group at most one node is visited, so that the nodes of a group may stand together in the place of one.
    """
    within = np.flatnonzero(inside)
    top = within[[np.argmax(y[within])]]
    for group in model.groups:
        members = group[inside[group]]
        if y[members].sum() > y[top].sum():
            top = members
    if 2 * len(within) <= model.size:
        others = np.setdiff1d(within, top)
        return Cut("subtour", 0.0, inside=within, nodes=others, node_values=np.full(len(others), -1.0))
    outside = np.flatnonzero(~inside)
    return Cut(
        "subtour",
        0.0,
        inside=outside,
        nodes=np.append(outside, top),
        node_values=np.append(np.full(len(outside), -1.0), np.ones(len(top))),
    )


@kernel
def components(size: int, low: Ints, high: Ints) -> Ints:
    """(n,) the smallest node of each node's component in the graph of edges from `low` to `high`."""
    label = np.arange(size)
    for e in range(len(low)):
        a, b = low[e], high[e]
        while label[a] != a:
            label[a] = label[label[a]]
            a = label[a]
        while label[b] != b:
            label[b] = label[label[b]]
            b = label[b]
        if a < b:
            label[b] = a
        else:
            label[a] = b
    for v in range(size):
        label[v] = label[label[v]]
    return label


@kernel
def _broken(
    first: Ints, neighbour: Ints, twin: Ints, capacity: Array, y: Array, order: Ints, least: float
) -> list[Mask]:
    """Sets S, each with a cut below 2 y_k - `least` for its node k of largest y; `order` has nodes by falling y.

    A node k that is done counts as node 0 from then on: where every set with k is cut by 2 y_k, none of them breaks the
    inequality of a later node, whose y is smaller. So most flows find a node that is done nearby.
    """
    sets = [np.zeros(len(y), dtype=np.bool_) for _ in range(0)]
    done = np.zeros(len(y), dtype=np.bool_)
    done[0] = True
    for k in order:
        rest = capacity.copy()
        enough = 2 * y[k]
        if max_flow_to_any(first, neighbour, twin, rest, k, done, enough) < enough - least:
            sets.append(source_side(first, neighbour, rest, k))
        done[k] = True
    return sets
