"""Conflicts: of nodes that no route within the limit can pair, at most one is visited.

Nodes i and j are in conflict if the cheapest ways from the start through both to the end, in either order, cost too
much. y(K) <= 1 for a set K of nodes in conflict with each other.
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.kernel import kernel
from orienteer.model.instance import Array

MOST_NODES = 600
"""Ways between all pairs of more nodes would take too long."""


class Conflict(Separator):
    """Sets grown from each broken pair by the largest y."""

    family = "conflict"

    def __init__(self, model: Model):
        super().__init__(model)
        self.apart = conflicts(model)
        self.any = bool(self.apart.any())

    def find(self, point: Point, beat: float) -> list[Cut]:
        if not self.any:
            return []
        order = np.argsort(-point.y, kind="stable")
        order = order[point.y[order] > LEAST]
        cuts: dict[bytes, Cut] = {}
        for one in order:
            clique = _clique(self.apart, order, int(one))
            if point.y[clique].sum() > 1 + LEAST:
                nodes = np.sort(clique)
                cut = Cut("conflict", 1.0, nodes=nodes, node_values=np.ones(len(nodes)))
                cuts.setdefault(nodes.tobytes(), cut)
        return list(cuts.values())


def conflicts(model: Model) -> Mask:
    """(m, m) which pairs of nodes no route can visit together."""
    apart = np.zeros((model.size, model.size), dtype=bool)
    if model.size > MOST_NODES:
        return apart
    instance = model.instance
    between = np.full((model.size, model.size), np.inf)
    between[model.tail, model.head] = model.costs
    if not model.directed:
        between[model.head, model.tail] = model.costs
    if not model.closed:
        between[-1, 0] = np.inf
        between[0, -1] = np.inf
    _close(between)
    start = instance.from_start[model.nodes] / instance.limit
    end = instance.to_end[model.nodes] / instance.limit
    forth = start[:, None] + between + end[None, :] > model.limit
    apart = forth & forth.T
    np.fill_diagonal(apart, False)
    ends = list(model.ends)
    apart[ends] = apart[:, ends] = False
    return apart


@kernel
def _close(between: Array) -> None:
    """Makes direct ways the cheapest ways through any nodes (Floyd and Warshall)."""
    size = len(between)
    for k in range(size):
        for i in range(size):
            leg = between[i, k]
            if np.isfinite(leg):
                for j in range(size):
                    between[i, j] = min(between[i, j], leg + between[k, j])


@kernel
def _clique(apart: Mask, order: Ints, first: int) -> Ints:
    """Nodes in conflict with each other, `first` and then greedily in the order given."""
    found = np.empty(len(order) + 1, dtype=np.int64)
    found[0] = first
    count = 1
    for v in order:
        fits = True
        for k in range(count):
            if not apart[v, found[k]]:
                fits = False
                break
        if fits:
            found[count] = v
            count += 1
    return found[:count].copy()
