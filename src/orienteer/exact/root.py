"""The root of the tree: a linear program that grows by cuts and links until neither helps.

It gives a bound, and rules out nodes and links that no better route uses.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import Point, Separator
from orienteer.model.numbers import Array

NEAREST = 8
"""How many links of each node, those to its cheapest neighbours, are columns at first."""
STALL_ROUNDS = 8
"""The root ends after this number of rounds in a row ..."""
STALL = 0.02
"""... in which the bound came nearer to the best prize by less than this share of their distance."""
SLACK_ROUNDS = 4
"""A cut is dropped after this number of rounds in a row without a price."""
MOST_NEW_LINKS = 200
"""The most links added in a round."""
MOST_CUTS = 300
"""With this number of new cuts in a round, no further separator is asked."""


@dataclass(frozen=True, eq=False)
class Root:
    """What the root leaves to the tree."""

    bound: float
    """The most that a route can collect, in units of prize."""
    cuts: list[Cut]
    """The cuts that the linear program had at the end."""
    links: Ints
    """Links that a better route than the best known might use."""
    never: Mask
    """(m,) nodes that no better route visits."""
    always: Mask
    """(m,) nodes that every better route visits."""
    columns: Ints
    """The links that were columns of the linear program: those that a good route is likely to use."""
    earnings: Array
    """(l,) each link's reduced profit at the last prices; a route with the link has at most `last_bound` plus this."""
    last_bound: float
    """The bound at the last prices."""

    def after(self, beat: float) -> "Root":
        """This root without the links that a route of `beat` units, which is more than before, cannot use."""
        keep = self.earnings[self.links] >= -_room(self.last_bound, beat)
        return replace(self, links=self.links[keep])

    def sparse(self) -> "Root":
        """This root with the linear program's columns as its only links: a tree on them may find routes, not proofs."""
        return replace(self, links=np.intersect1d(self.links, self.columns))


class RootSolver:
    """Solves the root.

    Parameters
    ----------
    beat
        Tells the prize, in units, that a route must have to be better than the best known.
    ended
        Told the bound and the solution of each linear program; says whether to stop.
    first_links
        Links that are columns from the beginning, as those of the best known route.
    nearest
        How many links of each node, those to its cheapest neighbours, are columns from the beginning too.
    """

    def __init__(
        self,
        model: Model,
        separators: list[Separator],
        beat: Callable[[], float],
        ended: Callable[[float, Point], bool],
        first_links: Ints,
        nearest: int = NEAREST,
    ):
        self.model, self.separators, self.beat, self.ended = model, separators, beat, ended
        self.program = LinearProgram(model, _first_links(model, first_links, nearest))
        self.waits: dict[int, int] = {}
        self.known: set[tuple[object, ...]] = set()

    def solve(self) -> Root:
        """Adds cuts and links until the bound stalls, nothing is left to add, or `ended` says so."""
        program, model = self.program, self.model
        best = float(model.units.prizes.sum())
        links, never = np.arange(len(model.tail)), np.zeros(model.size, dtype=bool)
        always, bound, earn_links = np.zeros(model.size, dtype=bool), best, np.zeros(len(model.tail))
        stalled, mark = 0, np.inf
        while program.solve() or self._complete(links):
            x, y = program.point()
            prices = program.prices()
            earn_links, earn_nodes, bound = program.reduced(prices)
            if not model.closed:
                earn_links[0] = 0.0  # always used, so the bound has it already
            best = min(best, bound)
            links, never, always = self._fix(links, never, always, earn_links, earn_nodes, bound)
            point = Point(model, program.links, x, y)
            if self.ended(best, point) or best < self.beat():
                break
            missing = self._missing(links, earn_links)
            if len(missing):
                program.add_links(missing)
                continue
            if mark - best > STALL * max(0.0, best - self.beat() + 1):
                stalled, mark = 0, best
            else:
                stalled += 1
            if stalled >= STALL_ROUNDS:
                break
            self._drop(prices)
            cuts = self._cuts(point)
            if not cuts:
                break
            program.add_cuts(cuts)
        return Root(best, list(program.cuts), links, never, always, program.links, earn_links, bound)

    def _complete(self, links: Ints) -> bool:
        """Adds all links, without which required nodes may be out of reach; says whether a solution exists then.

        Without required nodes every program has a solution, unless the solver fails.
        """
        missing = np.setdiff1d(links, self.program.links)
        if not self.model.required or not len(missing):
            return False
        self.program.add_links(missing)
        return self.program.solve()

    def _cuts(self, point: Point) -> list[Cut]:
        """New cuts that the point breaks; later families are asked only where the earlier find few."""
        cuts: list[Cut] = []
        for separator in self.separators:
            for cut in separator(point, self.beat()):
                key = cut.key()
                if key not in self.known:
                    self.known.add(key)
                    cuts.append(cut)
            if len(cuts) >= MOST_CUTS:
                break
        return cuts

    def _drop(self, prices: Array) -> None:
        """Drops the cuts that have had no price for more than `SLACK_ROUNDS` rounds."""
        old = []
        for place, price in enumerate(prices[self.program.fixed_rows :].tolist()):
            cut = self.program.cuts[place]
            wait = 0 if price > 1e-9 else self.waits.get(id(cut), 0) + 1
            self.waits[id(cut)] = wait
            if wait > SLACK_ROUNDS:
                old.append(place)
                self.known.discard(cut.key())
                del self.waits[id(cut)]
        if old:
            self.program.drop_cuts(np.array(old))

    def _missing(self, links: Ints, earn: Array) -> Ints:
        """Links that are not columns yet and would improve the linear program, those that earn most first."""
        absent = np.ones(len(self.model.tail), dtype=bool)
        absent[self.program.links] = False
        wanted = links[absent[links] & (earn[links] > 1e-7)]
        return wanted[np.argsort(-earn[wanted], kind="stable")[:MOST_NEW_LINKS]]

    def _fix(
        self, links: Ints, never: Mask, always: Mask, earn_links: Array, earn_nodes: Array, bound: float
    ) -> tuple[Ints, Mask, Mask]:
        """(links, never, always) without choices that would push the bound below the prize to beat.

        This is reduced-cost fixing: a link or node that loses more than the room between bound and prize is ruled out.
        """
        room = _room(bound, self.beat())
        program = self.program
        links = links[earn_links[links] >= -room]
        never = never | ((earn_nodes < -room) & (program.low < 1))
        always = always | ((earn_nodes > room) & (program.high > 0))
        return links, never, always


def _room(bound: float, beat: float) -> float:
    """How much a link or node may take from the bound before a route with it cannot collect `beat` units."""
    return bound - beat + 1e-6 * max(1.0, abs(bound))


def _first_links(model: Model, wanted: Ints, nearest: int) -> Ints:
    """The wanted links, those of start and end, and the `nearest` cheapest from and to each node."""
    table = np.full((model.size, model.size), np.inf)
    table[model.tail, model.head] = model.costs
    if not model.directed:
        table[model.head, model.tail] = model.costs
    count = min(nearest, model.size)
    rows = np.repeat(np.arange(model.size), count)
    out = np.argpartition(table, count - 1, axis=1)[:, :count].ravel()
    chosen = [model.index[rows, out]]
    if model.directed:
        into = np.argpartition(table, count - 1, axis=0)[:count].T.ravel()
        chosen.append(model.index[into, rows])
    if not model.closed:
        chosen.append(np.zeros(1, dtype=np.int32))
    ends = np.isin(model.tail, model.ends) | np.isin(model.head, model.ends)
    found = np.unique(np.concatenate([*chosen, wanted, np.flatnonzero(ends)]))
    return found[found >= 0].astype(np.int64)
