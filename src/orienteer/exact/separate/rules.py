"""Groups and budgets: the weights of the visited nodes add up to no more than is allowed.

In the root these rows come in when a solution breaks them, as all cuts do; the tree has them from the beginning.
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.model import Ints, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.model.numbers import TOLERANCE


class Rules(Separator):
    """All groups and budgets that the point breaks."""

    family = "rule"

    def find(self, point: Point, beat: float) -> list[Cut]:
        cuts = []
        for weights, most in self.model.rows:
            if float(weights @ point.y) > most + LEAST:
                nodes = np.flatnonzero(weights)
                cuts.append(Cut("rule", most, nodes=nodes, node_values=weights[nodes]))
        return cuts + self._legs(point)

    def _legs(self, point: Point) -> list[Cut]:
        """Legs between a node other than node 0 and a group: at most one, and none if the node is not visited."""
        low, high, weight = point.pairs
        cuts = []
        for group in self.model.groups:
            member = np.zeros(self.model.size, dtype=bool)
            member[group] = True
            legs = np.zeros(self.model.size)
            np.add.at(legs, low[member[high]], weight[member[high]])
            np.add.at(legs, high[member[low]], weight[member[low]])
            broken = legs > point.y + LEAST
            broken[group] = broken[0] = False
            for node in np.flatnonzero(broken).tolist():
                inside = np.sort(np.append(group, node))
                cuts.append(Cut("rule", 0.0, inside=inside, nodes=np.array([node]), node_values=np.array([-1.0])))
        return cuts


def budget_cover(model: Model, links: Ints) -> list[Cut]:
    """Forbids the nodes of a cycle whose weights exceed a budget by so little that the program's tolerance let them."""
    visited = np.union1d(model.tail[links], model.head[links])
    cuts = []
    for budget in model.instance.budgets:
        weights = budget.weights[model.nodes[visited]]
        if float(weights.sum()) > budget.most * (1 + TOLERANCE):
            nodes = visited[weights > 0]
            cuts.append(Cut("rule", len(nodes) - 1.0, nodes=nodes, node_values=np.ones(len(nodes))))
    return cuts
