"""The best route of a problem with one route, by labels from both ends in turn.

At first a node remembers only a few places, so that labels are few and routes with cycles count too: their best profit
is a bound. Then the places of the cycles found are remembered around them, and the search goes on from the other end,
with the labels of the search before as bounds (decremental state-space relaxation: Righini and Salani 2009, with local
sets). Budgets are watched from the time on when a route breaks them. Prices for visits make cycles pay less: at good
prices far fewer labels can belong to a better route (Lagrange).
"""

import numpy as np

from orienteer.exact.labels.extend import Far
from orienteer.exact.labels.graph import Floats, Graph, Side, side_of
from orienteer.exact.labels.ways import Purses, Ways, best_ways, first_memory, nothing_known
from orienteer.exact.units import Units, finish, in_units
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE
from orienteer.search.run import Run

REMEMBERED = 6
MOST_PATHS = 20
"""Routes whose cycles are broken up after a search."""
LEAST_PULL, PATIENCE, MOMENTUM = 0.1, 4, 0.5
"""The search for prices ends when the factor of its steps is below `LEAST_PULL`. The factor is halved after `PATIENCE`
steps without a lower bound; `MOMENTUM` is the share of the step before that each step keeps."""
LEAST_FALL = 0.01
"""A bound is lower if it came nearer to the best prize by this share of their distance."""
LOOSE = 1e-8
"""Added to budgets as a share: the judge's tolerance is less."""
ROUNDING = 1e-12
"""Added to the sum of all prices as a share, so that rounding loses no route."""
ACCURACY = 1e-10
"""Where prizes have no unit: how much better, as a share, a route must be to count."""


class OneRoute:
    """The search for a better route than the run's best, until there is none.

    `remembered` is how many near places each place remembers at first.
    """

    def __init__(self, run: Run, remembered: int = REMEMBERED):
        self.run, self.instance = run, run.problem
        self.side = side_of(self.instance, 0)
        self.units, self.always = units_of(self.instance, self.side)
        places = self.side.places
        self.profits = np.zeros(len(places) + 2)
        self.profits[1:-1] = self.units.prizes[: len(places)]
        self.lead = float(self.profits.sum()) + 1.0  # what a required place is worth besides: more than all prizes
        self.missing = not set(self.instance.required) <= set(places.tolist())
        self.profits[1:-1] += self.lead * np.isin(places, self.instance.required)
        self.remembered = remembered
        self.near = first_memory(self.side, remembered)
        self.watched = np.zeros(len(self.instance.budgets), dtype=np.bool_)
        self.prices = np.zeros(len(places) + 2)
        self.far = nothing_known(self.side, len(self.watched))

    def prove(self, most_labels: int) -> None:
        """Searches until the best route is proven, the run ends or the labels are too many."""
        run, side = self.run, self.side
        far, graphs, strict = self.far, [side.back, side.ahead], False
        while not self.missing:
            ways = self._ways(graphs[0], far, self._beat(), most_labels, strict)
            if ways is None:
                return
            paths = [path if graphs[0] is side.ahead else path[::-1] for _, path in ways.paths]
            if not paths:
                break
            self._tighten(ways.profit)
            learnt = [self._learn(path) for path in paths[:MOST_PATHS]]
            if run.report() or not (any(learnt) or (self.prices.any() and not strict)):
                return
            # The best route at the prices has no cycle, but is no better without them: now both must be good.
            strict, far = strict or not learnt[0], ways.far
            graphs.reverse()
        finish(run, self.units)

    def price(self, most_labels: int) -> None:
        """Finds prices of visits at which routes with cycles pay little.

        At any prices, the best route at these prices and the sum of the prices bound what a route without cycles can
        collect. Prices of places that the best route visits twice rise, those of places that it leaves out fall
        (subgradients, with Polyak's step).
        """
        remembered = self.remembered
        self.near = first_memory(self.side, remembered)
        prices, best, lowest = self.prices.copy(), self.prices.copy(), np.inf
        pull, wait, direction = 1.0, 0, np.zeros(len(prices))
        nothing = nothing_known(self.side, len(self.watched))
        while pull > LEAST_PULL and not self.missing:
            self.prices = prices
            ways = self._ways(self.side.ahead, nothing, -np.inf, most_labels, strict=False)
            if ways is None and remembered and not self.run.report():
                remembered //= 2  # with less memory there are fewer labels
                self.near = first_memory(self.side, remembered)
                continue
            if ways is None or not ways.paths:
                break
            bound = ways.profit + float(prices.sum())
            self._tighten(ways.profit)
            wait += 1
            if bound < lowest - LEAST_FALL * abs(lowest - self._beat()):
                wait = 0
            if bound < lowest:
                lowest, best, self.far = bound, prices, ways.far
            if lowest < self._beat() or self.run.report():
                break
            if wait >= PATIENCE:
                pull, wait, prices = pull / 2, 0, best
            direction = self._visits(ways.paths[0][1]) - 1.0 + MOMENTUM * direction
            direction[[0, -1]] = 0.0
            direction[(prices <= 0) & (direction < 0)] = 0.0
            size = float(direction @ direction)
            if not size:
                break
            prices = np.maximum(prices + pull * (bound - self._beat()) / size * direction, 0.0)
        self.prices = best

    def _ways(self, graph: Graph, far: Far, beat: float, most_labels: int, strict: bool) -> Ways | None:
        """The best routes at the prices of the moment that earn `beat`; where `strict`, even without these prices."""
        return best_ways(
            graph,
            self.near,
            self.profits - self.prices,
            self._purses(),
            far,
            beat - float(self.prices.sum()) * (1 + ROUNDING),
            not self.instance.groups,
            self.side.horizon,
            self.run.step,
            most_labels,
            worths=self.profits if strict else None,
            least=beat if strict else -np.inf,
        )

    def _tighten(self, profit: float) -> None:
        """Tells the run what follows from the largest profit at the prices of the moment."""
        most = profit + float(self.prices.sum()) + self.always - self._leads()
        self.run.tighten(max(self.run.prize, self.units.bound(most)))

    def _visits(self, path: list[int]) -> Floats:
        return np.bincount(np.array(path, dtype=np.int64), minlength=len(self.prices)).astype(np.float64)

    def _leads(self) -> float:
        return self.lead * len(self.instance.required)

    def _beat(self) -> float:
        """The least profit of a better route."""
        return threshold(self.run, self.units, self.always) - self.always + self._leads()

    def _purses(self) -> Purses:
        """The budgets that are watched; the others weigh nothing."""
        weights = np.zeros((len(self.side.places) + 2, len(self.watched)))
        room = np.zeros(len(self.watched))
        for number, budget in enumerate(self.instance.budgets):
            if self.watched[number]:
                weights[1:-1, number] = budget.weights[self.side.places]
            ends = float(budget.weights[sorted(self.instance.ends)].sum())
            room[number] = (budget.most - ends) + LOOSE * max(budget.most, 1e-300)
        return Purses(weights, room)

    def _learn(self, path: list[int]) -> bool:
        """Offers a route that keeps the rules, or forbids what breaks them; says whether anything was learnt."""
        if break_cycles(self.side, self.near, path):
            return True
        nodes = self.side.places[np.array(path, dtype=np.int64) - 1].tolist()
        for number, budget in enumerate(self.instance.budgets):
            used = float(budget.weights[sorted({*nodes, *self.instance.ends})].sum())
            if used > budget.most * (1 + TOLERANCE) and not self.watched[number]:
                self.watched[number] = True
                return True
        before = self.run.prize
        try:
            self.run.offer_plan([self.side.route(self.instance, 0, path)])
        except InfeasibleTour:
            return False
        return self.run.prize > before


def units_of(instance: Instance, side: Side) -> tuple[Units, float]:
    """Prizes of the places and of the ends in units, and the sum of those of the ends."""
    ends = sorted(instance.ends)
    units = in_units(instance.prizes[[*side.places.tolist(), *ends]])
    return units, float(units.prizes[len(side.places) :].sum())


def threshold(run: Run, units: Units, always: float) -> float:
    """The units that a plan better than the run's best has at least, with room for rounding.

    `always` is what every plan has.
    """
    if run.plan is None:
        return always - 0.5
    return units.beats(run.prize) - 0.5 if units.whole else run.prize / units.unit * (1 + ACCURACY)


def break_cycles(side: Side, near: np.ndarray, path: list[int]) -> bool:
    """Makes the nodes between two visits that bar each other remember both; says whether there were such visits."""
    rivals, found = side.ahead.rivals, False
    for later, node in enumerate(path):
        word, bit = (node - 1) >> 6, np.uint64(1) << np.uint64((node - 1) & 63)
        for sooner in range(later - 1, -1, -1):
            if rivals[path[sooner], word] & bit:
                found = True
                other = path[sooner]
                between = path[sooner : later + 1]
                near[between, word] |= bit
                near[between, (other - 1) >> 6] |= np.uint64(1) << np.uint64((other - 1) & 63)
                break
    return found
