"""Path cuts: after a chain of links, a route goes on only to a node that it can still afford.

For a simple path i_1 ... i_k away from node 0 and the set W of nodes that may follow it within the limit,
x(path) - y(i_2) - ... - y(i_{k-1}) <= x(i_k to W) (Fischetti, Salazar and Toth 1998).
"""

import itertools

import numpy as np
import numpy.typing as npt

from orienteer.exact.cut import Cut
from orienteer.exact.model import Ints, Model
from orienteer.exact.separate.base import LEAST, Point, Separator
from orienteer.kernel import kernel
from orienteer.model.instance import Array

MOST_CUTS = 30
"""The most cuts of a call."""


class Path(Separator):
    """Paths of the support along which x stays above y, looked at from every link and in both directions."""

    family = "path"

    def __init__(self, model: Model):
        super().__init__(model)
        instance = model.instance
        self.to_end = instance.to_end[model.nodes] / instance.limit
        self.from_start = instance.from_start[model.nodes] / instance.limit
        self.table = np.full((model.size, model.size), np.inf)
        self.table[model.tail, model.head] = model.costs
        if not model.directed:
            self.table[model.head, model.tail] = model.costs

    def find(self, point: Point, beat: float) -> list[Cut]:
        model = self.model
        x = np.zeros((model.size, model.size))
        x[model.tail[point.links], model.head[point.links]] = point.x
        if not model.directed:
            x[model.head[point.links], model.tail[point.links]] = point.x
        cuts = self._on(x, point.y, back=False)
        if model.directed:
            cuts += self._on(np.ascontiguousarray(x.T), point.y, back=True)
        return cuts

    def _on(self, x: Array, y: Array, back: bool) -> list[Cut]:
        """Cuts of paths along x; `back` if that is against the direction of travel."""
        costs = np.ascontiguousarray(self.table.T) if back else self.table
        before, after = (self.to_end, self.from_start) if back else (self.from_start, self.to_end)
        first, near = _followers(x)
        ends = np.array(self.model.ends)
        free = not self.model.directed
        paths = _paths(x, costs, y, before, after, first, near, self.model.limit, ends, free, LEAST)
        return [self.cut(path, back) for path in paths[:MOST_CUTS]]

    def cut(self, path: Ints, back: bool = False) -> Cut:
        """The cut of a path; `back` if it is meant against the direction of travel."""
        model, table = self.model, self.table.T if back else self.table
        before, after = (self.to_end, self.from_start) if back else (self.from_start, self.to_end)
        around = before[path[0]] + after
        if not model.directed:  # a route may take the path either way
            around = np.minimum(around, after[path[0]] + before)
        cost = sum(table[i, j] for i, j in itertools.pairwise(path))
        follow = cost + table[path[-1]] + around <= model.limit
        follow[path] = False
        forth = [(int(i), int(j)) for i, j in itertools.pairwise(path)]
        on = [(int(path[-1]), int(v)) for v in np.flatnonzero(follow)]
        pairs = [(j, i) for i, j in forth + on] if back else forth + on
        links = np.array([model.index[i, j] for i, j in pairs], dtype=np.int64)
        values = np.array([1.0] * len(forth) + [-1.0] * len(on))
        inner = path[1:-1].astype(np.int64)
        return Cut("path", 0.0, links=links, link_values=values, nodes=inner, node_values=np.full(len(inner), -1.0))


@kernel
def _followers(x: Array) -> tuple[Ints, Ints]:
    """(first, near): the nodes that x leads to from each node."""
    size = len(x)
    first = np.zeros(size + 1, dtype=np.int64)
    for i in range(size):
        first[i + 1] = first[i] + np.sum(x[i] > 1e-6)
    near = np.empty(first[-1], dtype=np.int64)
    for i in range(size):
        near[first[i] : first[i + 1]] = np.flatnonzero(x[i] > 1e-6)
    return first, near


@kernel
def _paths(
    x: Array,
    costs: Array,
    y: Array,
    before: Array,
    after: Array,
    first: Ints,
    near: Ints,
    limit: float,
    ends: Ints,
    free: bool,
    least: float,
) -> list[npt.NDArray[np.int64]]:
    """Paths whose cut is broken: from each first node a walk in depth, as far as x(path) stays above y."""
    size = len(y)
    found = [np.zeros(0, dtype=np.int64) for _ in range(0)]
    path = np.empty(size, dtype=np.int64)
    place = np.empty(size, dtype=np.int64)
    spent = np.empty(size)
    value = np.empty(size)
    on_path = np.zeros(size, dtype=np.bool_)
    looks = 0
    for origin in range(size):
        if origin in ends:
            continue
        path[0], place[0], spent[0], value[0] = origin, first[origin], 0.0, 0.0
        on_path[origin] = True
        depth = 0
        while depth >= 0:
            here = path[depth]
            looks += 1
            if looks > 20000:
                return found
            if place[depth] == first[here + 1]:
                on_path[here] = False
                depth -= 1
                continue
            there = near[place[depth]]
            place[depth] += 1
            if on_path[there] or there in ends:
                continue
            worth = value[depth] + x[here, there] - (y[here] if depth else 0.0)
            cost = spent[depth] + costs[here, there]
            if worth <= least or not np.isfinite(cost):
                continue
            onward = 0.0
            for a in range(first[there], first[there + 1]):
                v = near[a]
                around = before[origin] + after[v]
                if free:
                    around = min(around, after[origin] + before[v])
                if not on_path[v] and cost + costs[there, v] + around <= limit:
                    onward += x[there, v]
            depth += 1
            path[depth], place[depth], spent[depth], value[depth] = there, first[there], cost, worth
            on_path[there] = True
            if worth > onward + least:
                found.append(path[: depth + 1].copy())
                on_path[there] = False
                depth -= 1
    return found
