"""Conditional cuts: a route better than the best known leaves every set whose own prizes are too few for that.

If the nodes outside a set S without node 0 are worth less than the prize to beat, then x(delta(S)) >= 2, that is
x(E(S)) <= y(S) - 1. Equal routes may be cut off, better ones are not (Fischetti, Salazar and Toth 1998).
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.flow import max_flow, source_side
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.kernel import kernel
from orienteer.model.numbers import Array

MOST_FLOWS, FEW_FLOWS = 60, 5
"""The most minimum cuts computed in a call, and where a partial model makes each of them dear."""


class Conditional(Separator):
    """Minimum cuts below 2 between node 0 and others, kept where the side of node 0 has too few prizes."""

    family = "conditional"

    def find(self, point: Point, beat: float) -> list[Cut]:
        order = np.argsort(-point.y, kind="stable")
        order = order[(point.y[order] > 0.1) & (order != 0)]
        order = order[: FEW_FLOWS if self.model.partial else MOST_FLOWS]
        found = _poor(*point.graph, self.model.units.prizes, order, beat - 1e-6 * max(1.0, beat), 2 - 2 * LEAST)
        return [conditional_cut(self.model, around) for around in found]


def conditional_cut(model: Model, around: Mask) -> Cut:
    """The cut of a set around node 0 with too few prizes, written on the smaller of its two sides."""
    side = around if 2 * around.sum() <= model.size else ~around
    nodes = np.flatnonzero(side)
    return Cut("conditional", -1.0, inside=nodes, nodes=nodes, node_values=np.full(len(nodes), -1.0))


@kernel
def _poor(
    first: Ints, neighbour: Ints, twin: Ints, capacity: Array, prizes: Array, order: Ints, beat: float, most: float
) -> list[Mask]:
    """The smallest sets around node 0 with a cut below `most` and prizes below `beat`.

    Each separates node 0 from a node of `order`, tried in turn, but for nodes outside of an earlier set.
    """
    sets = [np.zeros(len(prizes), dtype=np.bool_) for _ in range(0)]
    seen = np.zeros(len(prizes), dtype=np.bool_)
    for k in order:
        if seen[k]:
            continue
        rest = capacity.copy()
        if max_flow(first, neighbour, twin, rest, 0, k, 2.0) < most:
            around = source_side(first, neighbour, rest, 0)
            total = 0.0
            for v in range(len(prizes)):
                if around[v]:
                    total += prizes[v]
            if total < beat:
                seen |= ~around
                sets.append(around)
    return sets
