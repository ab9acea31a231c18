"""The problem as branch and cut sees it: links and nodes that some route within the limit could use."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from orienteer.exact.units import Units, in_units
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Array, Instance
from orienteer.model.tour import check_tour
from orienteer.search.run import Run

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SLACK = 1e-11
"""Added to the limit as a share, so that no order of adding the same costs is cut off by rounding."""


@dataclass(frozen=True, eq=False)
class Model:
    """A cycle through node 0: node variables y, link variables x.

    Links are edges if costs are symmetric, arcs if not. Where start and end differ, the end is the last node, and a
    link from there to the start costs nothing and is always used: every route is a cycle. Trivial routes (nowhere,
    straight to the end, and, on edges, out and back) are not among them: `offer_trivial` tries these.
    """

    instance: Instance
    nodes: Ints
    """(m,) the instance's number of each node; the start first, an end of its own last."""
    units: Units
    """Prizes of these nodes."""
    tail: Ints
    head: Ints
    """(l,) the ends of each link; tail < head for edges."""
    costs: Array
    """(l,) as shares of the limit."""
    directed: bool
    closed: bool
    """Whether start and end are the same; if not, link 0 leads from end to start."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def limit(self) -> float:
        """The most that a cycle may cost: one, with what `check_tour` tolerates and rounding."""
        return self.instance.budget / self.instance.limit * (1 + SLACK)

    @property
    def ends(self) -> tuple[int, ...]:
        """The nodes that every route visits."""
        return (0,) if self.closed else (0, self.size - 1)

    @cached_property
    def index(self) -> npt.NDArray[np.int32]:
        """(m, m) the number of the link from row to column, -1 where there is none."""
        table = np.full((self.size, self.size), -1, dtype=np.int32)
        table[self.tail, self.head] = np.arange(len(self.tail))
        if not self.directed:
            table[self.head, self.tail] = np.arange(len(self.tail))
        return table

    def route(self, links: Ints) -> list[int] | None:
        """The instance's nodes along these links if they make one cycle through node 0, else None."""
        ways: dict[int, list[tuple[int, int]]] = {}
        for link in links.tolist():
            if link or self.closed:  # else the link from end to start, which is no leg
                i, j = int(self.tail[link]), int(self.head[link])
                ways.setdefault(i, []).append((j, link))
                if not self.directed:
                    ways.setdefault(j, []).append((i, link))
        path, used = [0], set()
        while True:
            ahead = [(node, link) for node, link in ways.get(path[-1], []) if link not in used]
            if not ahead:
                break
            node, link = ahead[0]
            used.add(link)
            path.append(node)
            if node == 0:
                break
        whole = len(used) == len(links) - (not self.closed) and path[-1] == self.ends[-1]
        if not whole or len(path) < 2 or len(set(path)) != len(path) - self.closed:
            return None
        return [int(self.nodes[node]) for node in path]

    def links_of(self, route: tuple[int, ...]) -> Ints:
        """The links of a route of the instance; empty if one of them is not in the model."""
        place = {int(node): number for number, node in enumerate(self.nodes)}
        if len(route) < (3 if self.directed or not self.closed else 4) or any(node not in place for node in route):
            return np.zeros(0, dtype=np.int64)
        path = [place[node] for node in route]
        if not self.closed:
            path.append(0)
        links = self.index[path[:-1], path[1:]].astype(np.int64)
        return links if (links >= 0).all() else np.zeros(0, dtype=np.int64)


def reduce(instance: Instance) -> Model:
    """The model of what is within reach: nodes and links on no way that fits are left out.

    The cheapest ways through any nodes, repeats allowed, are never dearer than a route's own legs, so no route is lost.
    """
    view = instance.view
    directed, closed = not view.symmetric, view.round_trip
    nodes, costs = (view.nodes[:-1], view.costs[:-1, :-1]) if closed else (view.nodes, view.costs)
    budget = instance.budget * (1 + SLACK)
    with np.errstate(over="ignore"):
        fits = instance.from_start[nodes][:, None] + costs + instance.to_end[nodes][None, :] <= budget
    np.fill_diagonal(fits, False)
    if not closed:
        fits[:, 0] = fits[-1, :] = fits[0, -1] = False
    if directed:
        tail, head = np.nonzero(fits)
    else:
        tail, head = np.nonzero(np.triu(fits | fits.T))
    cost = costs[tail, head] / instance.limit
    if not closed:
        tail, head, cost = np.append(len(nodes) - 1, tail), np.append(0, head), np.append(0.0, cost)
        if not directed:
            tail[0], head[0] = 0, len(nodes) - 1
    return Model(instance, nodes, in_units(instance.prizes[nodes]), tail, head, cost, directed, closed)


def offer_trivial(run: Run) -> None:
    """Offers the routes that the model does not hold: straight to the end, and to one node and back."""
    instance = run.instance
    start, end = instance.start, instance.end
    if instance.costs[start, end] <= instance.budget and start != end:
        run.offer([start, end])
    with np.errstate(over="ignore"):
        costs = instance.costs[start] + instance.costs[:, end]
    fits = costs <= instance.budget * (1 + SLACK)
    fits[[start, end]] = False
    for node in sorted(np.flatnonzero(fits).tolist(), key=lambda node: -instance.prizes[node]):
        try:
            run.offer([start, node, end])
        except InfeasibleTour:
            continue
        return


def fitting(model: Model, route: list[int]) -> list[int] | None:
    """The route, forwards or backwards where that is the same, if `check_tour` passes it, else None."""
    for way in [route] if model.directed or not model.closed else [route, route[::-1]]:
        try:
            check_tour(model.instance, way)
        except InfeasibleTour:
            continue
        return way
    return None
