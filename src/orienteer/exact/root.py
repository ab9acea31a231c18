"""The root: a linear program that grows by cuts and by links until neither helps; its bound, and what it rules out."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.separate.base import Point, Separator
from orienteer.model.instance import Array

NEAREST = 8
"""How many links of each node, those to its cheapest neighbours, are columns at first."""
STALL_ROUNDS = 8
"""The root ends after so many rounds in a row ..."""
STALL = 0.02
"""... in which the bound came nearer to the best prize by less than this share of their distance."""
SLACK_ROUNDS = 4
"""A cut goes after so many rounds without a price."""
MOST_NEW_LINKS = 200
MOST_CUTS = 300
"""The most links and cuts added in a round."""


@dataclass(frozen=True, eq=False)
class Root:
    """What the root leaves to the tree."""

    bound: float
    """In units."""
    cuts: list[Cut]
    """Those that had a price at the end."""
    links: Ints
    """Links that a better route than the best known might use."""
    never: Mask
    """(m,) nodes that no better route visits."""
    always: Mask
    """(m,) nodes that every better route visits."""
    columns: Ints
    """The links that the linear program had, most of those that matter."""
    earnings: Array
    """(l,) what each link earned at the last prices; a route with it has at most the last bound and this."""
    last_bound: float
    """The bound at the last prices."""

    def after(self, beat: float) -> "Root":
        """The same without the links that a route of `beat` units, more than before, cannot use."""
        keep = self.earnings[self.links] >= -_room(self.last_bound, beat)
        return replace(self, links=self.links[keep])

    def sparse(self) -> "Root":
        """The same on the linear program's own links: a heuristic's problem, whose end proves nothing."""
        return replace(self, links=np.intersect1d(self.links, self.columns))


class RootSolver:
    """Runs the root; `beat` tells the prize in units that is worth looking for, `ended` asks whether to stop.

    Its first columns are `first_links` and, of each node, the links to its `nearest` cheapest neighbours.
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
        """Cuts and prices until the end."""
        program, model = self.program, self.model
        best = float(model.units.prizes.sum())
        links, never = np.arange(len(model.tail)), np.zeros(model.size, dtype=bool)
        always, bound, earn_links = np.zeros(model.size, dtype=bool), best, np.zeros(len(model.tail))
        stalled, mark = 0, np.inf
        while program.solve():
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

    def _cuts(self, point: Point) -> list[Cut]:
        """New cuts that the point breaks: later families are asked only where the earlier find little."""
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
        """Takes out cuts that have had no price for some rounds."""
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
        """Links that are no columns yet and would earn something, the best first."""
        absent = np.ones(len(self.model.tail), dtype=bool)
        absent[self.program.links] = False
        wanted = links[absent[links] & (earn[links] > 1e-7)]
        return wanted[np.argsort(-earn[wanted], kind="stable")[:MOST_NEW_LINKS]]

    def _fix(
        self, links: Ints, never: Mask, always: Mask, earn_links: Array, earn_nodes: Array, bound: float
    ) -> tuple[Ints, Mask, Mask]:
        """Rules out what would push the bound below the prize to beat (reduced-cost fixing)."""
        room = _room(bound, self.beat())
        program = self.program
        links = links[earn_links[links] >= -room]
        never = never | ((earn_nodes < -room) & (program.low < 1))
        always = always | ((earn_nodes > room) & (program.high > 0))
        return links, never, always


def _room(bound: float, beat: float) -> float:
    """How much a link or node may take from the bound before a route with it has no chance."""
    return bound - beat + 1e-6 * max(1.0, abs(bound))


def _first_links(model: Model, wanted: Ints, nearest: int) -> Ints:
    """Those wanted, and the cheapest from and to each node."""
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
