"""Several routes: a linear program over routes, which labels find, bounds all plans and often proves one.

The program takes a share of each route so that no place is visited more than once, required places are, and groups
and budgets hold. Its prices make places dearer to the labels, which find the route that pays most: if none pays, the
program is solved. At any prices the rules' own prices and the best route of each kind bound what a plan can collect
(Lagrange), whatever the accuracy of the linear program. Where the bound is near to the best plan, the routes that a
better plan may use are few enough to be listed, and a search over the list decides.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orienteer.exact.labels.choice import Choice
from orienteer.exact.labels.extend import BEST, EVERY, RUSH
from orienteer.exact.labels.graph import Floats, Graph, Side, Words, side_of
from orienteer.exact.labels.single import break_cycles, threshold
from orienteer.exact.labels.ways import Purses, Ways, best_ways, first_memory, nothing_known
from orienteer.exact.missing import scip
from orienteer.exact.units import finish, in_units
from orienteer.model.errors import InfeasibleTour
from orienteer.model.rules import Route
from orienteer.search.run import Run

REMEMBERED = 8
"""How many near places each place remembers at first."""
ROUGHLY = 1
"""How many in the rough search that bounds the other one."""
LOOSE = 1e-8
"""Added to budgets as a share: the judge's tolerance is less."""
PAYS = 1e-7
"""What a route must earn, in units of prize, to become a column."""
SMOOTH = 0.6
"""The share of the best prices so far in those that routes are sought with: prices of a small program jump."""
RUSHES = 12
"""Every how many programs the bound is computed, even if routes that pay are still found without."""
LISTED = 50_000
"""The most routes that are listed for a search over all of them."""
PROGRAM_SHARE = 0.6
"""The share of the allowance after which a plan is made of the columns known, if the program is not solved by then."""
CHOICE_SHARE = 0.3
"""The share of the time left that the search for a plan of the program's columns may take."""
LISTED_LABELS = 1 << 19
"""The most labels of the search that lists routes."""


class Column(NamedTuple):
    """A route of a kind: its places, in the numbers of its side."""

    kind: int
    path: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Kind:
    """Routes that are alike."""

    which: list[int]
    """Their numbers."""
    side: Side
    rows: np.ndarray
    """(m,) the row of each place."""
    near: Words
    rough: Words
    """What nodes remember in a first, rough search."""
    all: Words
    idle: bool
    """Whether a route may go straight from start to end."""


class Prices(NamedTuple):
    """What the rules cost: a price for each row, and the bound that follows."""

    rows: Floats
    bound: float
    best: list[float]
    """The most that a route of each kind earns at these prices."""


class ManyRoutes:
    """The search for a better plan than the run's best."""

    def __init__(self, run: Run):
        self.run, self.instance = run, run.problem
        alike: dict[Route, list[int]] = {}
        for number, route in enumerate(self.instance.each_route):
            alike.setdefault(route, []).append(number)
        sides = [side_of(self.instance, which[0], groups=False) for which in alike.values()]
        self.nodes = np.unique(np.concatenate([side.places for side in sides]))
        ends = sorted(self.instance.ends)
        self.units = in_units(self.instance.prizes[[*self.nodes.tolist(), *ends]])
        self.worth = self.units.prizes[: len(self.nodes)]
        self.always = float(self.units.prizes[len(self.nodes) :].sum())
        self.kinds = [
            Kind(
                which,
                side,
                np.searchsorted(self.nodes, side.places),
                first_memory(side, REMEMBERED),
                first_memory(side, ROUGHLY),
                np.full_like(side.ahead.rivals, np.uint64(2**64 - 1)),
                bool(np.isfinite(side.ahead.leg[0, -1])),
            )
            for which, side in zip(alike.values(), sides, strict=True)
        ]
        self.missing = not set(self.instance.required) <= set(self.nodes.tolist())
        self.rules, self.most, self.least = self._rules()
        self.columns: dict[Column, None] = {}
        self.center: Prices | None = None

    def prove(self, most_labels: int, listing: bool) -> None:
        """Searches until the best plan is proven, the run ends or the labels are too many.

        Without `listing` the end is the bound of the linear program.
        """
        if self.missing:
            finish(self.run, self.units)
            return
        self.most_labels = most_labels
        self._add_plan()
        with self.run.share(PROGRAM_SHARE):
            self._bound()
            hurried = self.run.report()
        if hurried and listing and not self.run.report():
            self._choose()
            self._bound()
        if self._settled():
            finish(self.run, self.units)
        elif listing and self.center is not None and not self.run.report():
            self._choose()
            self._list()

    def _bound(self) -> None:
        """Solves the linear program over routes that go in no circles."""
        while self._solve_program() and not self._settled() and self._remember():
            pass

    def _settled(self) -> bool:
        """Whether no plan can be better than the run's best."""
        beat = threshold(self.run, self.units, self.always)
        return self.center is not None and self.center.bound + self.always < beat

    def _rules(self) -> tuple[Floats, Floats, Floats]:
        """(rows, places) coefficients, and the most and the least of each row: places first, then groups, budgets."""
        count = len(self.nodes)
        required = np.isin(self.nodes, self.instance.required)
        rows, most, least = [np.eye(count)], [np.ones(count)], [np.where(required, 1.0, -np.inf)]
        for group in self.instance.groups:
            rows.append(np.isin(self.nodes, group)[None, :].astype(np.float64))
            most.append(np.ones(1))
            least.append(np.full(1, -np.inf))
        ends = sorted(self.instance.ends)
        for budget in self.instance.budgets:
            room = budget.most * (1 + LOOSE) - float(budget.weights[ends].sum())
            scale = room if room > 0 else 1.0
            rows.append(budget.weights[self.nodes][None, :] / scale)
            most.append(np.array([max(room, 0.0) / scale]))
            least.append(np.full(1, -np.inf))
        return np.concatenate(rows), np.concatenate(most), np.concatenate(least)

    def counts(self, column: Column) -> Floats:
        """(places,) how often a column visits each place."""
        rows = self.kinds[column.kind].rows[np.array(column.path, dtype=np.int64) - 1]
        return np.bincount(rows, minlength=len(self.nodes)).astype(np.float64)

    def _add_plan(self) -> None:
        """Makes columns of the routes of the run's best plan."""
        if self.run.plan is None:
            return
        for number, kind in enumerate(self.kinds):
            place = {int(node): k + 1 for k, node in enumerate(kind.side.places)}
            for which in kind.which:
                path = tuple(place[node] for node in self.run.plan.routes[which].nodes if node in place)
                if path:
                    self.columns[Column(number, path)] = None

    def _solve_program(self) -> bool:
        """Adds columns until none pays; says whether that was reached, and not ended before."""
        program, rounds = _Program(self), 0
        while not self.run.report():
            rounds += 1
            self.values, prices, sums = program.solve()
            if rounds % RUSHES and program.add(self._rush(prices, sums), prices, sums):
                continue
            for trial in self._trials(prices):
                priced = self._price(trial, sums)
                if priced is None:
                    return False
                if self._settled():
                    return True
                if program.add(priced, prices, sums):
                    break
            else:
                return True
        return False

    def _trials(self, prices: Floats) -> list[Floats]:
        """Prices to seek routes with, in turn: nearer to the best so far, then those of the program."""
        if self.center is None:
            return [prices]
        return [SMOOTH * self.center.rows + (1 - SMOOTH) * prices, prices]

    def _rush(self, rows: Floats, sums: Floats) -> list[Column]:
        """Good routes at these prices, found soon."""
        columns: list[Column] = []
        for number, kind in enumerate(self.kinds):
            beat = float(sums[number]) + PAYS
            ways = self._ways(kind, kind.side.ahead, kind.all, rows, None, beat, RUSH)
            columns += [Column(number, tuple(path)) for _, path in ways.paths if path] if ways else []
        return columns

    def _price(self, rows: Floats, sums: Floats) -> list[Column] | None:
        """The best routes at these prices; notes the bound. None if the run ended.

        A rough search from the end bounds the one from the start, and by itself what plans can collect.
        """
        roughly = [self._ways(kind, kind.side.back, kind.rough, rows, None, -np.inf) for kind in self.kinds]
        if any(ways is None for ways in roughly):
            return None
        self._note(rows, [ways.profit for ways in roughly if ways])
        columns: list[Column] = []
        best = []
        for number, (kind, rough) in enumerate(zip(self.kinds, roughly, strict=True)):
            beat = float(sums[number]) - PAYS
            ways = self._ways(kind, kind.side.ahead, kind.near, rows, rough, beat)
            if ways is None:
                return None
            best.append(max(ways.profit, beat))
            columns += [Column(number, tuple(path)) for _, path in ways.paths if path]
        self._note(rows, best)
        return columns

    def _note(self, rows: Floats, best: list[float]) -> None:
        """Notes the bound at these prices, at which a route of each kind earns no more than `best`."""
        best = [max(value, 0.0 if kind.idle else -np.inf) for kind, value in zip(self.kinds, best, strict=True)]
        # A negative price, which only the rows of required places have, counts for what these need at least.
        bound = float(np.where(rows < 0, rows * np.where(rows < 0, self.least, 0.0), rows * self.most).sum())
        bound += sum(len(kind.which) * value for kind, value in zip(self.kinds, best, strict=True))
        if self.center is None or bound < self.center.bound:
            self.center = Prices(rows, bound, best)
        if np.isfinite(bound):  # else a kind that must go has no route at all
            self.run.tighten(max(self.run.prize, self.units.bound(bound + self.always)))

    def _ways(
        self, kind: Kind, graph: Graph, near: Words, rows: Floats, other: Ways | None, beat: float, mode: int = BEST
    ) -> Ways | None:
        """The best routes of a kind at these prices, of at least `beat`; `other` is a search from the other end."""
        side = kind.side
        profits = np.zeros(len(side.places) + 2)
        profits[1:-1] = (self.worth - rows @ self.rules)[kind.rows]
        purses = Purses(np.zeros((len(profits), 0)), np.zeros(0))
        far = nothing_known(side, 0) if other is None else other.far
        most = min(LISTED_LABELS, self.most_labels) if mode == EVERY else self.most_labels
        return best_ways(graph, near, profits, purses, far, beat, True, side.horizon, self.run.step, most, mode)

    def _remember(self) -> bool:
        """Forbids the cycles of the program's solution; says whether there were any."""
        found = False
        for column, share in zip(self.columns, self.values, strict=True):
            if share > 1e-6:
                kind = self.kinds[column.kind]
                found |= break_cycles(kind.side, kind.near, list(column.path))
        if found:  # routes with cycles that are forbidden now must go; the others come back if they pay
            self.columns = {one: None for one in self.columns if len(set(one.path)) == len(one.path)}
        return found

    def _choose(self) -> None:
        """Looks for a plan of columns known so far, for a share of the time."""
        with self.run.share(CHOICE_SHARE):
            Choice(self, [one for one in self.columns if len(set(one.path)) == len(one.path)]).solve()

    def _list(self) -> None:
        """Lists the routes that a better plan may use, and searches over the list."""
        center = self.center
        assert center is not None
        beat = threshold(self.run, self.units, self.always) - self.always
        listed: list[Column] = []
        for number, kind in enumerate(self.kinds):
            least = center.best[number] - (center.bound - beat) - PAYS
            other = self._ways(kind, kind.side.back, kind.near, center.rows, None, -np.inf)
            if other is None:
                return
            ways = self._ways(kind, kind.side.ahead, kind.all, center.rows, other, least, EVERY)
            if ways is None or len(listed) + len(ways.paths) > LISTED:
                return
            listed += [Column(number, tuple(path)) for _, path in ways.paths if path]
        if Choice(self, listed).solve():
            finish(self.run, self.units)

    def offer(self, chosen: list[Column]) -> bool:
        """Offers the plan of these columns, other routes idle; says whether the plan fits."""
        routes: list[list[int]] = [[] for _ in self.instance.each_route]
        for number, kind in enumerate(self.kinds):
            paths = [list(column.path) for column in chosen if column.kind == number]
            if len(paths) > len(kind.which) or (len(paths) < len(kind.which) and not kind.idle):
                return False
            for place, which in enumerate(kind.which):
                path = paths[place] if place < len(paths) else []
                routes[which] = kind.side.route(self.instance, which, path)
        try:
            self.run.offer_plan(routes)
        except InfeasibleTour:
            return False
        return True


class _Program:
    """The linear program over the columns known so far."""

    def __init__(self, routes: ManyRoutes):
        self.routes = routes
        self.program = scip().LP(sense="maximize")
        infinity = self.program.infinity()
        idle = [kind.idle for kind in routes.kinds]
        counts = [float(len(kind.which)) for kind in routes.kinds]
        least = [*np.maximum(routes.least, -infinity).tolist()]
        least += [-infinity if one else count for one, count in zip(idle, counts, strict=True)]
        self.program.addRows([[] for _ in least], least, [*routes.most.tolist(), *counts])
        self.rules = len(routes.most)
        # Columns that pay a penalty for what required places and busy kinds lack, so that there always is a solution.
        lacking = [row for row, value in enumerate(least) if value > 0]
        penalty = 2.0 * float(routes.worth.sum()) + 1.0
        self.program.addCols(
            [[(row, 1.0)] for row in lacking],
            [-penalty] * len(lacking),
            [0.0] * len(lacking),
            [infinity] * len(lacking),
        )
        self.penalties = len(lacking)
        self._put(list(routes.columns))

    def _put(self, columns: list[Column]) -> None:
        routes = self.routes
        entries, values = [], []
        for column in columns:
            counts = routes.counts(column)
            on_rules = routes.rules @ counts
            entry = [(int(row), float(on_rules[row])) for row in np.flatnonzero(on_rules)]
            entries.append([*entry, (self.rules + column.kind, 1.0)])
            values.append(float(routes.worth @ counts))
        if columns:
            most = [self.program.infinity()] * len(columns)
            self.program.addCols(entries, values, [0.0] * len(columns), most)

    def solve(self) -> tuple[Floats, Floats, Floats]:
        """(columns,) the share of each; (rules,) prices; (kinds,) the price of a route of each kind."""
        self.program.solve(dual=False)
        values = np.array(self.program.getPrimal())[self.penalties :]
        duals = np.array(self.program.getDual())
        rows = np.where(np.isfinite(self.routes.least), duals[: self.rules], np.maximum(duals[: self.rules], 0.0))
        idle = np.array([kind.idle for kind in self.routes.kinds])
        sums = np.where(idle, np.maximum(duals[self.rules :], 0.0), duals[self.rules :])
        return values, rows, sums

    def add(self, columns: list[Column], prices: Floats, sums: Floats) -> bool:
        """Adds the columns that pay at these prices; says whether there are any."""
        routes = self.routes
        earn = routes.worth - prices @ routes.rules
        fresh = [one for one in dict.fromkeys(columns) if one not in routes.columns]
        paying = [one for one in fresh if float(earn @ routes.counts(one)) > sums[one.kind] + PAYS]
        self._put(paying)
        routes.columns.update(dict.fromkeys(paying))
        return bool(paying)
