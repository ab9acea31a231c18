"""The linear program of the root, solved by HiGHS: nodes and links as columns, cuts as rows."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from orienteer.exact.cut import Cut, Sets
from orienteer.exact.missing import highs
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.price import Pairs, others
from orienteer.model.numbers import Array

SLICE = 2000
"""After this number of pivots the caller is asked whether to go on: a large program takes tens of thousands."""
BLUNT, SHARPEST = 1e-2, 1e-4
"""The accuracy of interior points at first and at last: the blunter, the deeper the cuts; prices of any accuracy give a
valid bound."""
ASK_SECONDS = 0.1
"""How often `ended` is asked at most on the way to an interior point."""
FEW_INSIDE = 10
"""A set of more nodes than this has fewer links across its border than inside."""
ROUNDING = 1e-13
"""The error of a bound as a share of all that was added up to it."""


def go_on() -> bool:
    """Never ends a solution halfway."""
    return False


class LinearProgram:
    """max prizes . y subject to the degree equations, the limit and the cuts added so far.

    With `interior`, solutions are points inside the best face, not corners: cuts found there are far deeper.

    Columns are all nodes, then the links added so far; rows are the equations, the limit (row `fixed_rows` - 1), cuts.
    """

    def __init__(self, model: Model, links: Ints, interior: bool = False):
        self.model, self.interior, self.tolerance = model, interior, BLUNT
        self.links = np.zeros(0, dtype=np.int64)
        self.cuts: list[Cut] = []
        self.low, self.high = np.zeros(model.size), np.ones(model.size)
        self.low[list(model.always)] = 1.0
        self.high[list(model.barred)] = 0.0
        self.program = highs().Highs()
        for name, value in {**SETTINGS, **(INTERIOR if interior else {})}.items():
            self.program.setOptionValue(name, value)
        self._add_columns(model.units.prizes, self.low, self.high, [])
        self.program.changeObjectiveSense(highs().ObjSense.kMaximize)
        nodes = np.arange(model.size)
        minus = np.full(model.size, -1.0 if model.directed else -2.0)
        entries = [(nodes + shift, nodes, minus) for shift in ((0, model.size) if model.directed else (0,))]
        self.fixed_rows = len(entries) * model.size + 1
        low, high = np.zeros(self.fixed_rows), np.zeros(self.fixed_rows)
        low[-1], high[-1] = -np.inf, model.limit
        self._add_rows(low, high, entries)
        self.add_links(links)

    def add_links(self, links: Ints) -> None:
        """Adds a column for each of these links."""
        model, count = self.model, len(links)
        tail, head, new = model.tail[links], model.head[links], np.arange(count)
        shift = model.size if model.directed else 0
        ones = np.ones(count)
        entries = [(new, tail, ones), (new, head + shift, ones)]
        entries.append((new, np.full(count, self.fixed_rows - 1), model.costs[links]))
        column, row, value = Sets(model.size, self.cuts).on_links(model, links, _turned(self.cuts))
        entries.append((column, row + self.fixed_rows, value))
        least = np.zeros(count) if model.closed else (links == 0).astype(np.float64)
        self._add_columns(np.zeros(count), least, ones, entries)
        self.links = np.append(self.links, links)

    def add_cuts(self, cuts: list[Cut]) -> None:
        """Adds a row for each of these cuts."""
        turned = _turned(cuts)
        column, row, value = Sets(self.model.size, cuts).on_links(self.model, self.links, turned)
        entries = [(row, column + self.model.size, value)]
        for number, cut in enumerate(cuts):
            entries.append((np.full(len(cut.nodes), number), cut.nodes, cut.node_values))
            if turned[number]:
                entries.append((np.full(len(cut.inside), number), cut.inside, np.ones(len(cut.inside))))
        self._add_rows(np.full(len(cuts), -np.inf), np.array([cut.most for cut in cuts], dtype=np.float64), entries)
        self.cuts += cuts

    def drop_cuts(self, chosen: Ints) -> None:
        """Removes the rows of these cuts, `chosen` by their places in `self.cuts`."""
        rows = np.sort(chosen).astype(np.int32) + np.int32(self.fixed_rows)
        self.program.deleteRows(len(rows), rows)
        gone = set(chosen.tolist())
        self.cuts = [cut for place, cut in enumerate(self.cuts) if place not in gone]

    def solve(self, ended: Callable[[], bool] = go_on) -> bool:
        """Solves the program, from the last basis unless by an interior point; says whether there is a solution.

        `ended` is asked every `SLICE` pivots, or at every interior point. After a stop, prices may be good for a bound.
        """
        if self.interior:
            return self._solve_inside(ended)
        status = highs().HighsModelStatus
        while True:
            self.program.run()
            if self.program.getModelStatus() != status.kIterationLimit:
                return bool(self.program.getModelStatus() == status.kOptimal)
            if ended():
                return False

    def _solve_inside(self, ended: Callable[[], bool]) -> bool:
        asked = time.perf_counter()

        def listen(event: Any) -> None:
            nonlocal asked
            if time.perf_counter() > asked + ASK_SECONDS:
                if ended():
                    event.interrupt()
                asked = time.perf_counter()

        self.program.clearSolver()
        self.program.cbIpmInterrupt.subscribe(listen)
        self.program.run()
        self.program.cbIpmInterrupt.unsubscribe(listen)
        found = self.program.getSolution()
        return bool(found.value_valid and found.dual_valid)

    def sharpen(self) -> bool:
        """Solves interior points ten times as accurately from now on; False if that is no use any more."""
        self.tolerance /= 10
        self.program.setOptionValue("ipm_optimality_tolerance", self.tolerance)
        return self.interior and self.tolerance > SHARPEST / 2

    def point(self) -> tuple[Array, Array]:
        """(x, y) of the solution; x in the order of `self.links`."""
        values = np.array(self.program.getSolution().col_value)
        return values[self.model.size :], values[: self.model.size]

    def prices(self) -> Array:
        """The rows' dual values; those of the limit and the cuts are never negative, and are set to 0 if they are."""
        duals = np.array(self.program.getSolution().row_dual)
        duals[~np.isfinite(duals)] = 0.0
        first = self.fixed_rows - 1
        duals[first:] = np.maximum(duals[first:], 0.0)
        for cut, turned, price in zip(self.cuts, _turned(self.cuts), duals[first + 1 :].tolist(), strict=True):
            if turned and price:  # the equations that the row took along
                duals[cut.inside] -= price / 2
                if self.model.directed:
                    duals[cut.inside + self.model.size] -= price / 2
        return duals

    def reduced(self, prices: Array, room: float = np.inf) -> tuple[Array, Array, float, Pairs]:
        """(links, nodes, bound, others): what each link and node earns at these prices, and the bound that follows.

        No route collects more than the bound, whatever the prices are (weak duality): the bound holds for all links,
        not only those that are columns, and does not rest on the accuracy of the solver. `others` are pairs of nodes
        that are not links of the model yet, and earn something or, with a finite `room`, lose no more than that.
        Links that lose more than `room` may lose even more than is returned.
        """
        model = self.model
        first, floor = self.fixed_rows - 1, 0.0 if np.isinf(room) else -room
        out = prices[: model.size]
        back = prices[model.size : first] if model.directed else out
        paid = prices[first + 1 :]
        priced = np.flatnonzero(paid)
        sets = Sets(model.size, [self.cuts[place] for place in priced.tolist()])
        links = -out[model.tail] - back[model.head] - prices[first] * model.costs
        sets.charge(links, model, paid[priced], -room)
        nodes = model.units.prizes + out + back - sets.on_nodes(paid[priced])
        absent, more = others(model, out, back, float(prices[first]), sets, paid[priced], floor)
        most = np.array([cut.most for cut in self.cuts])
        terms = [
            prices[first:] * np.append(model.limit, most),
            np.maximum(links, 0.0),
            np.maximum(nodes * self.low, nodes * self.high),
            np.array([more]),
        ]
        if not model.closed:
            terms.append(np.minimum(links[:1], 0.0))  # the link from end to start is used, whatever it earns
        bound = sum(float(term.sum()) + ROUNDING * float(np.abs(term).sum()) for term in terms)
        return links, nodes, bound, absent

    def _add_columns(self, earn: Array, low: Array, high: Array, entries: "Entries") -> None:
        """Adds columns; each entry has its column, counted from the first new one, its row and its value."""
        start, rows, values = _packed(len(earn), entries)
        self.program.addCols(len(earn), earn.astype(np.float64), low, high, len(rows), start, rows, values)

    def _add_rows(self, low: Array, high: Array, entries: "Entries") -> None:
        """Adds rows; each entry has its row, counted from the first new one, its column and its value."""
        start, columns, values = _packed(len(low), entries)
        self.program.addRows(len(low), low, high, len(columns), start, columns, values)


Entries = Sequence[tuple[Ints, Ints, Array]]
"""Entries of a matrix, in parts: (line, place in the line, value)."""

SETTINGS: dict[str, object] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",  # every program but the first begins with a basis
    "solver": "simplex",
    "simplex_strategy": 0,  # the dual method after new cuts, the primal one after new links
    "simplex_dual_edge_weight_strategy": 1,  # Devex: steepest edges would be computed anew after every round of cuts
    "simplex_iteration_limit": SLICE,
}

INTERIOR: dict[str, object] = {"solver": "ipm", "run_crossover": "off", "ipm_optimality_tolerance": BLUNT}


def _turned(cuts: list[Cut]) -> Mask:
    """Which cuts have rows over the links across the border of their set: those with many nodes inside."""
    return np.array([len(cut.inside) > FEW_INSIDE for cut in cuts], dtype=bool)


def _packed(count: int, entries: Entries) -> tuple[Array, Array, Array]:
    """(start, place, value) of the entries, line by line; equal places of a line are added up."""
    line = np.concatenate([np.zeros(0, dtype=np.int64), *(part[0] for part in entries)])
    place = np.concatenate([np.zeros(0, dtype=np.int64), *(part[1] for part in entries)]).astype(np.int64)
    value = np.concatenate([np.zeros(0), *(part[2] for part in entries)])
    width = int(place.max(initial=0)) + 1
    key, same = np.unique(line * width + place, return_inverse=True)
    value = np.bincount(same, value, minlength=len(key)).astype(np.float64)
    key, value = key[value != 0], value[value != 0]
    start = np.searchsorted(key // width, np.arange(count))
    return start.astype(np.int32), (key % width).astype(np.int32), value
