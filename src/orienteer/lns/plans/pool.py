"""Routes that the search for plans has passed, and the choice of those that together visit the most.

Searches from empty routes end in plans of which one has this good route and another has that one. A plan made of routes
of several plans may be better than all of these (set packing over a pool of routes: Hu and Lim 2014).
Routes may share places here: each place is then visited by the first of its routes, which gives the other slack.
"""

import numpy as np

from orienteer.kernel import Bools, Floats, Ints
from orienteer.model.plan_view import PlanView

MOST = 4000
"""How many routes a pool holds; then it begins anew."""
TRIALS = 16
"""From how many plans the choice begins."""


class Pool:
    """The routes of many plans, each set of places once. Groups and budgets are not looked at."""

    def __init__(self, view: PlanView, worth: Floats):
        """`worth` is what each place is worth in the search."""
        self.worth = worth
        self.kinds = _kinds(view)
        self.routes: list[Ints] = []
        self._visits: list[Bools] = []
        self._kind: list[int] = []
        self._row: dict[tuple[int, bytes], int] = {}
        self._plans: dict[tuple[int, ...], None] = {}

    def add(self, node: Ints, size: Ints) -> tuple[int, ...]:
        """Adds the routes of a plan, whose orders are given as in `Orders`; returns their numbers."""
        if len(self.routes) + len(self.kinds) > MOST:
            for kept in (self.routes, self._visits, self._kind, self._row, self._plans):
                kept.clear()
        plan = tuple(self._add(node[route, 1 : size[route] - 1], kind) for route, kind in enumerate(self.kinds))
        self._plans[plan] = None
        return plan

    def best_choice(self, first: tuple[int, ...]) -> list[Ints]:
        """A plan at least as good as the plan `first` of the pool: the places of each route, in order."""
        visits, kind = np.array(self._visits, dtype=np.float64), np.array(self._kind)
        plans = list(self._plans)
        best, chosen = self._exchanged(first, visits, kind)
        for plan in plans[:: max(1, len(plans) // TRIALS)]:
            value, other = self._exchanged(plan, visits, kind)
            if value > best * (1 + 1e-12):
                best, chosen = value, other
        seen = np.zeros(len(self.worth), dtype=np.bool_)
        routes = []
        for number in chosen:
            nodes = self.routes[number]
            routes.append(nodes[~seen[nodes]])
            seen[nodes] = True
        return routes

    def _add(self, nodes: Ints, kind: int) -> int:
        visits = np.zeros(len(self.worth), dtype=np.bool_)
        visits[nodes] = True
        key = kind, visits.tobytes()
        row = self._row.setdefault(key, len(self.routes))
        if row == len(self.routes):
            self.routes.append(nodes.copy())
            self._visits.append(visits)
            self._kind.append(kind)
        return row

    def _exchanged(self, plan: tuple[int, ...], visits: Floats, kind: Ints) -> tuple[float, list[int]]:
        """What the plan's places are worth, and its routes, after exchanging one route at a time while that helps."""
        chosen = list(plan)
        best = float(self.worth @ visits[chosen].any(axis=0))
        last, route = len(chosen) - 1, 0
        while route <= last:
            others = visits[chosen[:route] + chosen[route + 1 :]].any(axis=0)
            gains = np.where(kind == self.kinds[route], visits @ (self.worth * ~others), -1.0)
            pick = int(np.argmax(gains))
            value = float(self.worth @ others) + float(gains[pick])
            route += 1
            if value > best * (1 + 1e-12):
                best, chosen[route - 1], route = value, pick, 0
        return best, chosen


def _kinds(view: PlanView) -> list[int]:
    """A number for each route, the same for routes with the same ends and hours."""
    hours = []
    for route, ends in enumerate(view.ends.tolist()):
        start = view.first[len(view.nodes) + 2 * route]
        hours.append((*ends, view.opens[start], view.closes[start + 1]))
    return [hours.index(each) for each in hours]
