"""Groups and budgets: the weights of the visited nodes add up to no more than is allowed.

In the root these rows come in when a solution breaks them, as all cuts do; the tree has them from the beginning.
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.separate.base import LEAST, Point, Separator


class Rules(Separator):
    """All groups and budgets that the point breaks."""

    family = "rule"

    def find(self, point: Point, beat: float) -> list[Cut]:
        cuts = []
        for weights, most in self.model.rows:
            if float(weights @ point.y) > most + LEAST:
                nodes = np.flatnonzero(weights)
                cuts.append(Cut("rule", most, nodes=nodes, node_values=weights[nodes]))
        return cuts
