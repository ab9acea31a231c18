"""A thin wrapper of SCIP's linear programs: nodes and links as columns, cuts as rows."""

import numpy as np

from orienteer.exact.cut import Cut, charge
from orienteer.exact.missing import scip
from orienteer.exact.model import Ints, Model
from orienteer.model.numbers import Array


class LinearProgram:
    """max prizes . y subject to the degree equations, the limit and the cuts added so far.

    Columns are all nodes, then the links added so far; rows are the equations, the limit (row `fixed_rows` - 1), cuts.
    """

    def __init__(self, model: Model, links: Ints):
        self.model = model
        self.links = np.zeros(0, dtype=np.int64)
        self.cuts: list[Cut] = []
        self.low, self.high = np.zeros(model.size), np.ones(model.size)
        self.low[list(model.always)] = 1.0
        self.high[list(model.barred)] = 0.0
        self.program = scip().LP(sense="maximize")
        prizes = model.units.prizes.tolist()
        self.program.addCols([[]] * model.size, prizes, self.low.tolist(), self.high.tolist())
        infinity = self.program.infinity()
        if model.directed:
            rows = [[(v, -1.0)] for v in range(model.size)] * 2
        else:
            rows = [[(v, -2.0)] for v in range(model.size)]
        self.program.addRows([*rows, []], [0.0] * len(rows) + [-infinity], [0.0] * len(rows) + [model.limit])
        self.fixed_rows = len(rows) + 1
        self.add_links(links)

    def add_links(self, links: Ints) -> None:
        """Adds a column for each of these links."""
        model = self.model
        tail, head, cost = model.tail[links], model.head[links], model.costs[links]
        shift = model.size if model.directed else 0
        columns = [
            [(i, 1.0), (j + shift, 1.0), (self.fixed_rows - 1, c)]
            for i, j, c in zip(tail.tolist(), head.tolist(), cost.tolist(), strict=True)
        ]
        for number, cut in enumerate(self.cuts):
            values = cut.on_links(model, links)
            for place in np.flatnonzero(values).tolist():
                columns[place].append((self.fixed_rows + number, float(values[place])))
        always = [0.0 if model.closed or link else 1.0 for link in links.tolist()]
        self.program.addCols(columns, [0.0] * len(links), always, [1.0] * len(links))
        self.links = np.append(self.links, links)

    def add_cuts(self, cuts: list[Cut]) -> None:
        """Adds a row for each of these cuts."""
        rows = []
        for cut in cuts:
            nodes, links = cut.on_nodes(self.model), cut.on_links(self.model, self.links)
            row = [(place, float(nodes[place])) for place in np.flatnonzero(nodes).tolist()]
            row += [(self.model.size + place, float(links[place])) for place in np.flatnonzero(links).tolist()]
            rows.append(row)
        infinity = self.program.infinity()
        self.program.addRows(rows, [-infinity] * len(cuts), [cut.most for cut in cuts])
        self.cuts += cuts

    def drop_cuts(self, chosen: Ints) -> None:
        """Removes the rows of these cuts, `chosen` by their places in `self.cuts`."""
        for place in sorted(chosen.tolist(), reverse=True):
            self.program.delRows(self.fixed_rows + place, self.fixed_rows + place)
            del self.cuts[place]

    def solve(self) -> bool:
        """Solves from the last basis; says whether an optimum was found."""
        self.program.solve(dual=True)
        if not self.program.isOptimal():
            self.program.solve(dual=False)
        return bool(self.program.isOptimal())

    def point(self) -> tuple[Array, Array]:
        """(x, y) of the solution; x in the order of `self.links`."""
        values = np.array(self.program.getPrimal())
        return values[self.model.size :], values[: self.model.size]

    def prices(self) -> Array:
        """The rows' dual values; those of the limit and the cuts are never negative, and are set to 0 if they are."""
        duals = np.array(self.program.getDual())
        first = self.fixed_rows - 1
        duals[first:] = np.maximum(duals[first:], 0.0)
        return duals

    def reduced(self, prices: Array) -> tuple[Array, Array, float]:
        """(links, nodes, bound): each link's and node's reduced profit at these prices, and the bound that follows.

        No route collects more than the bound, whatever the prices are (weak duality): the bound holds for all links of
        the model, not only those that are columns, and does not rest on the accuracy of the solver.
        """
        model = self.model
        first = self.fixed_rows - 1
        on_links, on_nodes = charge(model, self.cuts, prices[first + 1 :])
        if model.directed:
            out, back = prices[: model.size], prices[model.size : first]
            links = -out[model.tail] - back[model.head]
            nodes = model.units.prizes + out + back
        else:
            links = -prices[model.tail] - prices[model.head]
            nodes = model.units.prizes + 2 * prices[:first]
        links = links - prices[first] * model.costs - on_links
        nodes = nodes - on_nodes
        bound = prices[first] * model.limit + float(prices[first + 1 :] @ np.array([cut.most for cut in self.cuts]))
        bound += float(np.maximum(links, 0.0).sum()) + float(np.maximum(nodes * self.low, nodes * self.high).sum())
        if not model.closed:
            bound += min(0.0, float(links[0]))  # the link from end to start is used, whatever it earns
        return links, nodes, bound
