"""The best route of a problem with one route, by labels from both ends in turn.

At first a node remembers only a few places, so that labels are few and routes with cycles count too: their best profit
is a bound. Then the places of the cycles found are remembered around them, and the search goes on from the other end,
with the labels of the search before as bounds (decremental state-space relaxation: Righini and Salani 2009, with local
sets). Budgets are watched from the time on when a route breaks them. Prices for visits make cycles pay less: at good
prices far fewer labels can belong to a better route (Lagrange). Legs, places and times that no better route uses are
left out for good after each search. At the end a search without cycles decides, where a way also loses the prices of
the places that it can no longer reach.
"""

import numpy as np

from orienteer.exact.labels.extend import BEST, RUSH, WHOLE, Far
from orienteer.exact.labels.graph import Floats, Ints, Side, Words, side_of
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
LONGEST = 6
"""The most legs of a cycle that is broken up while prices are sought."""
TRIES = 5
"""After how many prices a proof by routes without cycles is tried."""
TRIED = 1 << 13
"""The most labels of the first such try; each further one may have twice as many."""
NARROWED = 0.95
"""Legs are left out for good if no more than this share of them is used."""
ALL = np.uint64(2**64 - 1)
"""A word of places with all of them."""
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
        self.tried = TRIED

    def prove(self, most_labels: int) -> None:
        """Searches until the best route is proven, the run ends or the labels are too many."""
        far, back = self._roughly(most_labels), False
        while far:
            ways = self._ways(back, far, most_labels)
            if ways is None:
                return
            learnt, priced = self._learn_all(ways, back), self.prices.any()
            if self.run.report() or not (learnt or priced):
                return
            # The best route at the prices may have no cycle, but be no better without them.
            if priced and (self._try_whole(ways.far, not back, most_labels, certain=not learnt) or not learnt):
                return
            far, back = ways.far, not back

    def price(self, most_labels: int) -> None:
        """Finds prices of visits at which routes with cycles pay little; proves the best route if that is easy then.

        At any prices, the best route at these prices and the sum of the prices bound what a route without cycles can
        collect. Prices of places that the best route visits twice rise, those of places that it leaves out fall
        (subgradients, with Polyak's step).
        """
        remembered = self.remembered
        self.near = first_memory(self.side, remembered)
        best, lowest = self.prices.copy(), np.inf
        pull, wait, rounds, direction = 1.0, 0, 0, np.zeros(len(best))
        while pull > LEAST_PULL:
            far = self._roughly(most_labels)
            ways = far and self._ways(False, far, most_labels)
            if far and ways is None and remembered and not self.run.report():
                remembered //= 2  # with less memory there are fewer labels
                self.near = first_memory(self.side, remembered)
                continue
            if ways is None:
                break
            self._learn_all(ways, False, LONGEST)
            self._rush(ways.far, most_labels)
            wait, rounds = wait + 1, rounds + 1
            if ways.profit < lowest - LEAST_FALL * abs(lowest - self._beat()):
                wait = 0
            if ways.profit < lowest:
                lowest, best = ways.profit, self.prices
            if self.run.report() or (rounds % TRIES == 0 and self._decide(ways.far, most_labels)):
                break
            prices = self.prices
            if wait >= PATIENCE:
                pull, wait, prices = pull / 2, 0, best
            direction = self._visits(ways.paths[0][1]) - 1.0 + MOMENTUM * direction
            direction[[0, -1]] = 0.0
            direction[(prices <= 0) & (direction < 0)] = 0.0
            size = float(direction @ direction)
            if not size:
                break
            self.prices = np.maximum(prices + pull * (ways.profit - self._beat()) / size * direction, 0.0)
            self.prices[self._lost()] = 0.0
        self.prices = best.copy()
        self.prices[self._lost()] = 0.0

    def _roughly(self, most_labels: int) -> Far | None:
        """What routes can collect from each place on to the end, if places remember almost nothing."""
        if self.missing:
            finish(self.run, self.units)
            return None
        near, nothing = first_memory(self.side, 0), nothing_known(self.side, len(self.watched))
        ways = self._search(True, near, nothing, most_labels)
        return ways and ways.far

    def _ways(self, back: bool, far: Far, most_labels: int) -> Ways | None:
        """The best routes at the prices; None if there are none, or the search was not finished.

        What no better route uses is left out from then on.
        """
        ways = self._search(back, self.near, far, most_labels)
        if ways is None:
            return None
        if not ways.paths:
            finish(self.run, self.units)
            return None
        self._tighten(ways.profit)
        if ways.used.sum() < NARROWED * len((self.side.back if back else self.side.ahead).next):
            self.side = self.side.narrowed(back, ways.used, ways.soonest)
        return ways

    def _decide(self, far: Far, most_labels: int) -> bool:
        """Tries a proof at prices that may not be the last, `far` being labels from the start; says if it was made."""
        ways = self._ways(True, far, most_labels)
        if ways is None:
            return self.run.report()
        self._learn_all(ways, True, LONGEST)
        return self._try_whole(ways.far, False, most_labels)

    def _try_whole(self, far: Far, back: bool, most_labels: int, certain: bool = False) -> bool:
        """Searches for routes without cycles, `far` being labels from the other end; says whether this was finished.

        There are few labels at the first tries, unless it is `certain` that this must be done.
        """
        most = most_labels if certain else min(most_labels, self.tried)
        self.tried *= 2
        while True:
            found = self._search(back, np.full_like(self.near, ALL), far, most, WHOLE)
            if found is None:
                return self.run.report()
            if not found.paths:
                finish(self.run, self.units)
                return True
            self._tighten(found.profit)
            if not self._learn_all(found, back) or self.run.report():
                return True

    def _rush(self, far: Far, most_labels: int) -> None:
        """Offers good routes without cycles that are found soon, `far` being labels from the start."""
        found = self._search(True, np.full_like(self.near, ALL), far, most_labels, RUSH)
        for _, path in found.paths if found else []:
            if self.profits[path].sum() >= self._beat():
                self._learn(path[::-1], 0)

    def _search(self, back: bool, near: Words, far: Far, most_labels: int, mode: int = BEST) -> Ways | None:
        """The best routes at the prices that are better than the best plan, if the other end is known."""
        return best_ways(
            self.side.back if back else self.side.ahead,
            near,
            self.profits,
            self._purses(),
            far,
            self._beat() if far.known else -np.inf,
            not self.instance.groups,
            self.side.horizon,
            self.run.step,
            most_labels,
            mode,
            self.prices,
        )

    def _lost(self) -> Ints:
        """The places that no better route visits."""
        return np.flatnonzero(np.isinf(self.side.ahead.leg).all(axis=1))

    def _learn_all(self, ways: Ways, back: bool, longest: int | None = None) -> bool:
        """Learns from the best routes; says whether there was anything to learn."""
        paths = [path[::-1] if back else path for _, path in ways.paths[:MOST_PATHS]]
        learnt = [self._learn(path, longest) for path in paths]
        return any(learnt)

    def _tighten(self, profit: float) -> None:
        """Tells the run what follows from the largest profit."""
        most = profit + self.always - self._leads()
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

    def _learn(self, path: list[int], longest: int | None) -> bool:
        """Offers a route that keeps the rules, or forbids what breaks them; says whether anything was learnt."""
        if break_cycles(self.side, self.near, path, longest):
            return True
        if len(set(path)) < len(path):
            return False
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


def break_cycles(side: Side, near: Words, path: list[int], longest: int | None = None) -> bool:
    """Makes the nodes between two visits that bar each other remember both; says whether there were such visits.

    Visits that are more than `longest` legs apart are left as they are.
    """
    rivals, found = side.ahead.rivals, False
    for later, node in enumerate(path):
        word, bit = (node - 1) >> 6, np.uint64(1) << np.uint64((node - 1) & 63)
        for sooner in range(later - 1, -1 if longest is None else max(later - longest, 0) - 1, -1):
            if rivals[path[sooner], word] & bit:
                found = True
                other = path[sooner]
                between = path[sooner : later + 1]
                near[between, word] |= bit
                near[between, (other - 1) >> 6] |= np.uint64(1) << np.uint64((other - 1) & 63)
                break
    return found
