"""The root of the tree: a linear program that grows by cuts and links until neither helps.

It gives a bound, and rules out nodes and links that no better route uses.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from orienteer.exact.cut import Cut
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Ints, Mask, Model
from orienteer.exact.price import Pairs
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


BLUNT_ROUNDS = 2
"""Interior points become more accurate after this number of such rounds."""
TINY_X = 1e-4
"""Links with no more than this in an interior point are left out of separation: no link has nothing there."""
TINY_PRICE = 1e-3
"""What counts as no price of a cut at an interior point, as a share of the largest prize."""


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
    whole: bool = True
    """Whether `links` are all that a better route might use; a partial model's are known only after `solve(True)`."""

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
        How many links of each node, those to its cheapest neighbours, are columns from the beginning too. A partial
        model begins with all links that it has.
    halfway
        Told the bound in the middle of a linear program; says whether to stop.
    """

    def __init__(
        self,
        model: Model,
        separators: list[Separator],
        beat: Callable[[], float],
        ended: Callable[[float, Point], bool],
        first_links: Ints,
        nearest: int = NEAREST,
        halfway: Callable[[float], bool] = lambda bound: False,
    ):
        self.model, self.separators, self.beat, self.ended, self.halfway = model, separators, beat, ended, halfway
        self.interior = model.partial
        self.program = LinearProgram(model, _first_links(model, first_links, nearest), self.interior)
        self.tiny = TINY_PRICE * float(model.units.prizes.max(initial=0.0)) if self.interior else 1e-9
        self.waits: dict[int, int] = {}
        self.known: set[tuple[object, ...]] = set()
        self.best = float(model.units.prizes.sum())

    def solve(self, whole: bool = False) -> Root:
        """Adds cuts and links until the bound stalls, nothing is left to add, or `ended` says so.

        With `whole`, a partial model gets all links at the end that a better route might use.
        """
        program, model = self.program, self.model
        links, never = np.arange(len(model.tail)), np.zeros(model.size, dtype=bool)
        always, bound, earn_links = np.zeros(model.size, dtype=bool), self.best, np.zeros(len(model.tail))
        stalled, mark = 0, np.inf
        while program.solve(self._pause) or self._complete(links):
            x, y = program.point()
            prices = program.prices()
            earn_links, earn_nodes, bound, others = self._reduced(prices)
            self.best = min(self.best, bound)
            links, never, always = self._fix(links, never, always, earn_links, earn_nodes, bound)
            point = Point(model, program.links, x, y, TINY_X if self.interior else 1e-9)
            if self.ended(self.best, point) or self.best < self.beat():
                break
            missing = self._grown(others) if model.partial else self._missing(links, earn_links)
            if len(missing):
                program.add_links(missing)
                if not model.partial:
                    continue
                links = np.append(links, missing)
            if mark - self.best > STALL * max(0.0, self.best - self.beat() + 1):
                stalled, mark = 0, self.best
            else:
                stalled += 1
            if self.interior and stalled >= BLUNT_ROUNDS and program.sharpen():
                stalled = 0
            if stalled >= STALL_ROUNDS:
                break
            cuts = self._cuts(point)
            if not cuts and not (self.interior and program.sharpen()):
                break
            self._drop(prices)
            program.add_cuts(cuts)
        else:
            whole, prices = False, None
        if model.partial and whole and prices is not None:
            more = self._rest(prices)
            links, earn_links = np.append(links, more[0]), more[1]
        return Root(
            self.best,
            list(program.cuts),
            links,
            never,
            always,
            program.links,
            earn_links,
            bound,
            whole=whole or not model.partial,
        )

    def _rest(self, prices: Array) -> tuple[Ints, Array]:
        """(new links, earnings of all): the model gets all links that lose less than the room of the last bound."""
        bound = self._reduced(prices)[2]
        pairs = self._reduced(prices, _room(bound, self.beat()))[3]
        fresh = self.model.grow(*pairs[:3])
        return fresh, self._reduced(prices)[0]

    def _reduced(self, prices: Array, room: float = np.inf) -> tuple[Array, Array, float, Pairs]:
        """What the program returns, with nothing for the link from end to start: the bound has it already."""
        links, nodes, bound, others = self.program.reduced(prices, room)
        if not self.model.closed:
            links[0] = 0.0
        return links, nodes, bound, others

    def _pause(self) -> bool:
        """Notes the bound of the prices halfway through a linear program; says whether to stop."""
        if not self.interior:
            self.best = min(self.best, self.program.reduced(self.program.prices())[2])
        return self.halfway(self.best)

    def _grown(self, others: Pairs) -> Ints:
        """The links that a partial model gets: those that earn most."""
        pays = np.flatnonzero(others.earnings > self.tiny)
        most = max(MOST_NEW_LINKS, self.model.size // 2)
        chosen = pays[np.argsort(-others.earnings[pays], kind="stable")[:most]]
        return self.model.grow(*others.some(chosen)[:3])

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
            if len(cuts) >= MOST_CUTS and not self.interior:
                break
        return cuts

    def _drop(self, prices: Array) -> None:
        """Drops the cuts that have had no price for more than `SLACK_ROUNDS` rounds."""
        old = []
        for place, price in enumerate(prices[self.program.fixed_rows :].tolist()):
            cut = self.program.cuts[place]
            wait = 0 if price > self.tiny else self.waits.get(id(cut), 0) + 1
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
    if model.partial:
        return np.arange(len(model.tail))
    table = np.full((model.size, model.size), np.inf)
    table[model.tail, model.head] = model.costs
    if not model.directed:
        table[model.head, model.tail] = model.costs
    count = min(nearest, model.size)
    rows = np.repeat(np.arange(model.size), count)
    out = np.argpartition(table, count - 1, axis=1)[:, :count].ravel()
    chosen = [model.find(rows, out)]
    if model.directed:
        into = np.argpartition(table, count - 1, axis=0)[:count].T.ravel()
        chosen.append(model.find(into, rows))
    if not model.closed:
        chosen.append(np.zeros(1, dtype=np.int64))
    ends = np.isin(model.tail, model.ends) | np.isin(model.head, model.ends)
    found = np.unique(np.concatenate([*chosen, wanted, np.flatnonzero(ends)]))
    return found[found >= 0]
