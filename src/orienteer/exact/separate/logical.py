"""Logical cuts: a link is used only if its ends are visited, x_e <= y_i.

On arcs the two directions between a pair of nodes count together, except at node 0: a route may go out and back.
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.model import Model
from orienteer.exact.separate.base import LEAST, Point, Separator


class Logical(Separator):
    """All broken logical cuts."""

    family = "logical"

    def find(self, point: Point, beat: float) -> list[Cut]:
        low, high, weight = point.pairs
        cuts = []
        for here, there in ((low, high), (high, low)):
            broken = weight - point.y[here] > LEAST
            broken &= (here != 0) & ((there != 0) | (not self.model.directed))
            cuts += [logical_cut(self.model, int(i), int(j)) for i, j in zip(here[broken], there[broken], strict=True)]
        return cuts


def logical_cut(model: Model, i: int, j: int) -> Cut:
    """The cut that x between nodes i and j is at most y_i."""
    return Cut("logical", 0.0, inside=np.array(sorted((i, j))), nodes=np.array([i]), node_values=np.array([-1.0]))
