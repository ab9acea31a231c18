"""Blossoms: a route crosses every set an even number of times.

For a set H and an odd number of links T across its border, x(E(H)) + x(T) <= y(H) + (|T| - 1) / 2: with the degree
equations, x over the rest of the border plus the sum of 1 - x over T is at least 1 (Padberg and Hong 1980: H is a
component of the links strictly between 0 and 1, T the links across its border that are nearly whole).
"""

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.exact.separate.subtour import components
from orienteer.model.numbers import Array

MARGINS = (1e-4, 0.15, 0.3)
MORE_MARGINS = (1e-4, 0.01, 0.1, 0.2, 0.3, 0.4)
"""How near to 0 or 1 a link counts as whole; each margin is tried in turn, and more of them in a partial model."""


class Blossom(Separator):
    """Components of the fractional links are the handles; each gets the teeth that break its inequality most."""

    family = "blossom"

    def find(self, point: Point, beat: float) -> list[Cut]:
        low, high, weight = point.pairs
        cuts: dict[bytes, Cut] = {}
        for margin in MORE_MARGINS if self.model.partial else MARGINS:
            broken = (weight > margin) & (weight < 1 - margin)
            label = components(self.model.size, low[broken], high[broken])
            for component in np.unique(label[low[broken]]):
                handle = label == component
                cut = blossom_cut(self.model, handle, low, high, weight)
                if cut is not None:
                    cuts.setdefault(handle.tobytes(), cut)
        return list(cuts.values())


def blossom_cut(model: Model, handle: Mask, low: Ints, high: Ints, weight: Array) -> Cut | None:
    """The blossom inequality with this handle that is broken most, or None if none is broken."""
    border = np.flatnonzero(handle[low] != handle[high])
    gain = 2 * weight[border] - 1  # what a tooth takes from the left side of the cut form
    teeth = gain > 0
    if teeth.sum() % 2 == 0:
        if not len(border):
            return None
        turn = int(np.argmin(np.abs(gain)))
        teeth[turn] = not teeth[turn]
    left = float(weight[border][~teeth].sum() + (1 - weight[border][teeth]).sum())
    if left > 1 - 2 * LEAST or teeth.sum() < 3:
        return None
    links = np.concatenate([_links(model, int(low[e]), int(high[e])) for e in border[teeth]])
    inside = np.flatnonzero(handle)
    return Cut(
        "blossom",
        (int(teeth.sum()) - 1) / 2,
        inside=inside,
        links=links,
        link_values=np.ones(len(links)),
        nodes=inside,
        node_values=np.full(len(inside), -1.0),
    )


def _links(model: Model, i: int, j: int) -> Ints:
    """The links between two nodes: one edge, or up to two arcs."""
    both = np.unique(model.find(np.array([i, j]), np.array([j, i])))
    return both[both >= 0]
