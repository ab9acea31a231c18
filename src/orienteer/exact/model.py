"""The problem as branch and cut sees it: links and nodes that some route within the limit could use."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from orienteer.exact.units import Units, in_units
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE, Array
from orienteer.model.tour import check_tour
from orienteer.model.view import View
from orienteer.search.run import Run

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SLACK = 1e-11
"""Added to the limit as a share of it, so that rounding cuts off no route, in whatever order its costs are added."""

WHOLE = 1e5
"""A budget of whole weights stays as it is up to this: a linear program's accuracy is far below one part of it."""


MANY = 400
"""With more nodes than this, a model of a problem without rules begins with links between near nodes alone."""
NEAR = 8
"""The number of cheapest links from and to each node that such a model begins with."""


@dataclass(eq=False)
class Model:
    """A cycle through node 0: node variables y, link variables x.

    Links are edges if costs are symmetric, arcs if not. Where start and end differ, the end is the last node, and a
    link from there to the start costs nothing and is always used: so every route is a cycle. Trivial routes (nowhere,
    straight to the end, and, on edges, out and back) are not cycles of the model: `offer_trivial` tries these.
    """

    instance: Instance
    nodes: Ints
    """(m,) the instance's number of each node: the start first, and the end last where it differs from the start."""
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
    required: tuple[int, ...] = ()
    """Nodes that every plan visits, beside the ends."""
    barred: tuple[int, ...] = ()
    """Nodes that no plan visits, since a required node or a budget rules them out."""
    rows: tuple[tuple[Array, float], ...] = ()
    """Groups and budgets: (m,) weights, and the most that they may add up to over the visited nodes."""
    groups: tuple[Ints, ...] = ()
    """The nodes of each group."""
    partial: bool = False
    """Whether further links may join these: the model of a large problem begins with few (`exact/price.py`)."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def limit(self) -> float:
        """The most that a cycle may cost, as a share of the limit: 1, plus `check_tour`'s tolerance and rounding."""
        return self.instance.budget / self.instance.limit * (1 + SLACK)

    @property
    def always(self) -> tuple[int, ...]:
        """The nodes that every plan visits."""
        return (*self.ends, *self.required)

    @property
    def ends(self) -> tuple[int, ...]:
        """Start and end."""
        return (0,) if self.closed else (0, self.size - 1)

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints]:
        """(key, link): tail * m + head of each link, in rising order, and which link that is."""
        key = self.tail * self.size + self.head
        order = np.argsort(key, kind="stable")
        return key[order], order

    def find(self, tail: Ints, head: Ints) -> Ints:
        """The number of the link from each tail to its head, -1 where there is no such link."""
        if not self.directed:
            tail, head = np.minimum(tail, head), np.maximum(tail, head)
        known, order = self._sorted
        key = np.asarray(tail) * self.size + head
        place = np.minimum(np.searchsorted(known, key), len(known) - 1)
        return np.where(known[place] == key, order[place], -1) if len(known) else np.full(key.shape, -1)

    def grow(self, tail: Ints, head: Ints, costs: Array) -> Ints:
        """Adds links, which must be new; returns their numbers."""
        count = len(self.tail)
        self.tail, self.head = np.append(self.tail, tail), np.append(self.head, head)
        self.costs = np.append(self.costs, costs)
        self.__dict__.pop("_sorted", None)
        return np.arange(count, len(self.tail))

    def route(self, links: Ints) -> list[int] | None:
        """The instance's nodes along these links if they make one cycle through node 0, else None."""
        neighbours: dict[int, list[tuple[int, int]]] = {}
        for link in links.tolist():
            if link or self.closed:  # else the link from end to start, which is no leg
                i, j = int(self.tail[link]), int(self.head[link])
                neighbours.setdefault(i, []).append((j, link))
                if not self.directed:
                    neighbours.setdefault(j, []).append((i, link))
        path, used = [0], set()
        while True:
            ahead = [(node, link) for node, link in neighbours.get(path[-1], []) if link not in used]
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
        """The links of a route of the instance; empty if the model lacks any of them, as for trivial routes."""
        place = {int(node): number for number, node in enumerate(self.nodes)}
        if len(route) < (3 if self.directed or not self.closed else 4) or any(node not in place for node in route):
            return np.zeros(0, dtype=np.int64)
        path = [place[node] for node in route]
        if not self.closed:
            path.append(0)
        links = self.find(np.array(path[:-1]), np.array(path[1:]))
        return links if (links >= 0).all() else np.zeros(0, dtype=np.int64)


def reduce(instance: Instance, many: int = MANY) -> Model:
    """The model of the nodes and links within reach: those through which no walk from start to end fits are left out.

    A walk may repeat nodes, so the cheapest walk through a link is never dearer than a route with it: no route is lost.
    With more than `many` nodes and no rules, the model has the links between near nodes, and the rest join later.
    """
    view = instance.view
    closed = view.round_trip
    nodes = view.nodes[:-1] if closed else view.nodes
    partial = len(nodes) > many and not instance.features
    tail, head = near_pairs(view) if partial else all_pairs(len(nodes), not view.symmetric)
    kept = possible(instance, tail, head)
    tail, head = tail[kept], head[kept]
    cost = view.costs[tail, head] / instance.limit
    if not closed:
        tail, head, cost = np.append(0, tail), np.append(len(nodes) - 1, head), np.append(0.0, cost)
        if not view.symmetric:
            tail[0], head[0] = len(nodes) - 1, 0
    units = in_units(instance.prizes[nodes])
    model = Model(instance, nodes, units, tail, head, cost, not view.symmetric, closed, partial=partial)
    return with_rules(model) if instance.features else model


def all_pairs(size: int, directed: bool) -> tuple[Ints, Ints]:
    """(tail, head) of all links that there could be; tail < head unless they are directed."""
    tail, head = np.nonzero(~np.eye(size, dtype=bool) if directed else np.triu(np.ones((size, size), dtype=bool), 1))
    return tail, head


def near_pairs(view: View, count: int = NEAR) -> tuple[Ints, Ints]:
    """(tail, head) of the `count` cheapest links from and to each node."""
    size = len(view.nodes) - view.round_trip
    rows = np.repeat(np.arange(size), min(count, view.near_out.shape[1]))
    after, before = view.near_out[:size, :count].ravel(), view.near_in[:size, :count].ravel()
    tail, head = np.append(rows, before), np.append(after, rows)
    if view.symmetric:
        tail, head = np.minimum(tail, head), np.maximum(tail, head)
    key = np.unique((tail * size + head)[(tail != head) & (tail < size) & (head < size)])
    return key // size, key % size


def possible(instance: Instance, tail: Ints, head: Ints) -> Mask:
    """Whether some walk within the limit goes from each tail to its head, or back where costs are symmetric."""
    view = instance.view
    budget, last = instance.budget * (1 + SLACK), len(view.nodes) - 1
    before, after = instance.from_start[view.nodes], instance.to_end[view.nodes]
    costs = view.costs[tail, head]
    with np.errstate(over="ignore"):
        there, back = before[tail] + costs + after[head], before[head] + costs + after[tail]
    fits: Mask = there <= budget
    if not view.round_trip:
        fits &= (head != 0) & (tail != last) & ((tail != 0) | (head != last))
    if view.symmetric:
        turned = back <= budget
        if not view.round_trip:
            turned &= (tail != 0) & (head != last) & ((tail != last) | (head != 0))
        fits |= turned
    return fits


def offer_trivial(run: Run, instance: Instance | None = None) -> None:
    """Offers the routes that the model does not hold: straight to the end, and to one node and back.

    `instance` is the problem of the model where that is not the run's.
    """
    instance = run.instance if instance is None else instance
    start, end = instance.start, instance.end
    if instance.features or (instance.costs[start, end] <= instance.budget and start != end):
        offer(run, [start, end])
    with np.errstate(over="ignore"):
        costs = instance.costs[start] + instance.costs[:, end]
    fits = costs <= instance.budget * (1 + SLACK)
    fits[[start, end]] = False
    for node in sorted(np.flatnonzero(fits).tolist(), key=lambda node: -instance.prizes[node]):
        if offer(run, [start, node, end]):
            return


def offer(run: Run, route: list[int]) -> bool:
    """Offers the run a route of the model's instance; says whether the route fits."""
    free = bool(run.instance.features) and run.problem.end is None
    try:
        if run.instance.features:
            run.offer_plan([route[:-1] if free else route])
        else:
            run.offer(route)
    except InfeasibleTour:
        return False
    return True


def to_beat(run: Run, model: Model) -> float:
    """The fewest units of prize that make a route better than the run's best; below 0 while there is none."""
    return model.units.beats(run.prize) if run.plan is not None else -1.0


def links_of_best(run: Run, model: Model) -> Ints:
    """The links of the run's best route, where it has one."""
    if not run.instance.features:
        return model.links_of(run.best.nodes)
    if run.plan is None:
        return np.zeros(0, dtype=np.int64)
    nodes = run.plan.nodes
    return model.links_of((*nodes, model.instance.end) if run.problem.end is None else nodes)


def offer_cycle(run: Run, model: Model, links: Ints) -> bool:
    """Offers the route of these links; says whether they make one that fits."""
    cycle = model.route(links)
    if cycle is None:
        return False
    if run.instance.features:
        return any(offer(run, direction) for direction in _directions(model, cycle))
    route = fitting(model, cycle)
    return route is not None and offer(run, route)


def _directions(model: Model, route: list[int]) -> list[list[int]]:
    """The route and, as a round trip on symmetric costs, the route backwards.

    Backwards its costs are added in another order, which may round to just within the limit.
    """
    return [route] if model.directed or not model.closed else [route, route[::-1]]


def fitting(model: Model, route: list[int]) -> list[int] | None:
    """The route, perhaps backwards, if `check_tour` passes it, else None."""
    for direction in _directions(model, route):
        try:
            check_tour(model.instance, direction)
        except InfeasibleTour:
            continue
        return direction
    return None


def _scaled(weights: Array, most: float) -> tuple[Array, float]:
    """The row of a budget: whole weights as they are, for which SCIP knows more, others as shares of the budget."""
    if most < WHOLE and np.array_equal(weights, np.round(weights)):
        return weights.copy(), float(np.floor(most))
    return (weights / most, 1.0) if most else (np.zeros(len(weights)), 1.0)


def with_rules(model: Model) -> Model:
    """The model with the required nodes, groups and budgets of its instance."""
    instance = model.instance
    place = {int(node): number for number, node in enumerate(model.nodes)}
    required = tuple(place[node] for node in instance.required if node in place)
    rows, barred = [], set[int]()
    groups, apart = [], np.ones(len(model.tail), dtype=bool)
    for group in instance.groups:
        member = np.isin(model.nodes, group)
        rows.append((member.astype(np.float64), 1.0))
        groups.append(np.flatnonzero(member))
        apart &= ~(member[model.tail] & member[model.head])  # no route goes from one node of a group to another
    for budget in instance.budgets:  # the tolerance is `check_plan`'s
        weights, most = budget.weights[model.nodes], budget.most * (1 + TOLERANCE) * (1 + SLACK)
        barred.update(np.flatnonzero(weights > most).tolist())
        rows.append(_scaled(weights, most))
    for weights, most in rows:
        used = float(weights[[*model.ends, *required]].sum())
        barred.update(np.flatnonzero(weights + used > most * (1 + SLACK)).tolist())
    barred.difference_update(model.ends, required)
    for weights, _ in rows:
        weights[list(barred)] = 0.0
    can_break = tuple((weights, most) for weights, most in rows if weights.sum() > most)
    return replace(
        model,
        tail=model.tail[apart],
        head=model.head[apart],
        costs=model.costs[apart],
        required=required,
        barred=tuple(sorted(barred)),
        rows=can_break,
        groups=tuple(groups),
    )
