"""Cycle covers: no route is a cycle through node 0 that costs more than the limit.

x(C) <= y(V(C)) - 1 for the links C of such a cycle: the links of C that a route uses make paths, each with one node
more than links, unless the route uses all of C (Fischetti, Salazar and Toth 1998).
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.model import Ints, Model
from orienteer.exact.separate.base import LEAST, Point, Separator


class CycleCover(Separator):
    """Cycles through node 0 along the links of largest x, where they cost too much."""

    family = "cycle cover"

    def find(self, point: Point, beat: float) -> list[Cut]:
        cuts = []
        value = dict(zip(point.links.tolist(), point.x.tolist(), strict=True))
        for cycle in _cycles(self.model, value):
            cost = float(self.model.costs[cycle].sum())
            nodes = np.unique(np.concatenate([self.model.tail[cycle], self.model.head[cycle]]))
            x = sum(value.get(link, 0.0) for link in cycle.tolist())
            if cost > self.model.limit and x > float(point.y[nodes].sum()) - 1 + LEAST:
                cuts.append(cycle_cover(self.model, cycle))
        return cuts


def cycle_cover(model: Model, cycle: Ints) -> Cut:
    """The cut of a cycle through node 0 that costs too much."""
    nodes = np.unique(np.concatenate([model.tail[cycle], model.head[cycle]]))
    return Cut(
        "cycle cover",
        -1.0,
        links=np.sort(cycle),
        link_values=np.ones(len(cycle)),
        nodes=nodes,
        node_values=np.full(len(nodes), -1.0),
    )


def _cycles(model: Model, value: dict[int, float]) -> list[Ints]:
    """Cycles through node 0, grown along the links of largest x from each link at node 0; `value` has x by link."""
    neighbours: dict[int, list[tuple[float, int, int]]] = {}
    for link, x in value.items():
        i, j = int(model.tail[link]), int(model.head[link])
        neighbours.setdefault(i, []).append((-x, j, link))
        if not model.directed:
            neighbours.setdefault(j, []).append((-x, i, link))
    found = []
    for _, second, first in sorted(neighbours.get(0, [])):
        path, seen, here = [first], {0, second}, second
        while True:
            ahead = [
                (node, link)
                for _, node, link in sorted(neighbours.get(here, []))
                if node not in seen or (node == 0 and link != first)
            ]
            if not ahead:
                break
            here, link = ahead[0]
            path.append(link)
            if here == 0:
                found.append(np.array(path))
                break
            seen.add(here)
    return found
