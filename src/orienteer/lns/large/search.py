"""The search of large problems: a grown route, ruin and recreation at a price, Lin-Kernighan in between."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from orienteer.kernel import Floats, Ints, seed_state
from orienteer.lns.large.anneal import Prices
from orienteer.lns.large.ground import large_view
from orienteer.lns.large.grow import grow, new_heap
from orienteer.lns.large.rounds import Crew, Rounds
from orienteer.lns.large.trim import trim
from orienteer.lns.phases import Phase, starts
from orienteer.lns.route import Ground, Route, new_route, write_nodes
from orienteer.local_search.chained import chained_lin_kernighan, new_chain_room
from orienteer.local_search.shorten import shorten_directed
from orienteer.model.distances import Distances, euclidean
from orienteer.model.instance import Instance
from orienteer.model.view import View, nearest
from orienteer.search.run import Run
from orienteer.search.stop import MaxSteps

LARGE = 400
"""From how many nodes on, within reach, this search takes the place of evolution and annealing."""
FLOOR = 0.1
"""What is added to detours when a route is grown, as a share of the budget over the number of nodes."""
FIRST_PRICE = 0.6
"""The first price of cost, as a share of what the grown route collects for its cost."""
LEAST_PRICE = 0.03
"""The least price, likewise: where all nodes can be visited, the price would fall for ever."""
BETWEEN = 8
"""Steps for each node between two passes of Lin-Kernighan."""
KICKS, KICK_FROM = 0.03, 0.4
"""Kicks for each step, about a quarter of the time, and how far the temperature must have fallen for them."""
STRETCH = 3000
"""The most stops of a stretch that Lin-Kernighan works on: turning a longer one round takes too long."""
STRICT = 0.96
"""The share of the search after which no step may take the route over its limit."""
OVER = 0.02
"""By which share a route may be longer than it should be before."""
EXTRA, SHRINK = 1.0, 0.5
"""A route begins with a length of 1 + EXTRA limits, and is as long as the limit after a share SHRINK of the search.

So it visits more regions than it can keep, and loses those that pay least when the price rises.
"""

HEAP = 40
"""Room for entries of the heap from which a route is grown, for each node."""
ENOUGH = 0.02
"""The share by which the prize must rise for a route to be filled once more."""
MOST_STARTS, STARTS_SHARE = 8, 0.6
"""The most searches from a new route, and the share of the allowance after which the best route is improved."""
START_STEPS, STOP_STEPS, MORE_STARTS = 450, 800, 3
"""The steps that one of these searches needs for each node or for each stop, whichever is less, and how many times as
many searches there are at most where the stops are few: a route of few stops has many regions to choose from."""
TENTH = 10
"""A search of several phases begins with the whole search that a tenth of its allowance would be: so ten times the time
does not find less, since the same seed takes the same steps first."""
ROUNDING = 1e-12
"""Shares of an allowance that differ by less are the same; a step is far more."""
COOLED = 0.6
"""How far the temperature has fallen when a route that was given, or the best of several, is improved."""
STEP_SECONDS = 5e-6
"""About what a step takes."""

NextPiece = Callable[[Run, float, float], tuple[int, float, float]]
"""Says how many steps to do next, and how far the temperature has fallen before and after them."""


@dataclass(frozen=True)
class PriceMoves:
    """What a step does where cost has a price; temperatures are in mean legs of the first route."""

    hot: float = 20.0
    cold: float = 0.04
    remove: int = 16
    longest: int = 12
    strings: int = 2
    spare: float = 0.1
    fewest: int = 6
    most: int = 32
    noise: float = 0.2
    lowest: float = 0.3
    highest: float = 0.95
    force: float = 0.5
    sort_share: float = 0.3
    close: float = 0.5


def is_large(instance: Instance) -> bool:
    """Whether a plain problem is searched here: where there are many nodes within reach, or no table of costs."""
    return isinstance(instance.costs, Distances) or int(instance.reachable.sum()) > LARGE


def kernels_for(instance: Instance, threads: int = 1) -> list[str]:
    """The tasks that compile what the search of a large problem calls."""
    more = [f"{Rounds.__module__}:divide_a_little"] if threads > 1 else []
    if isinstance(instance.costs, Distances):
        return [f"{__name__}:search_points_a_little", *more]
    return [f"{__name__}:{'search_a_little' if instance.symmetric else 'search_directed_a_little'}", *more]


def search_a_little() -> None:
    """Compiles the search on a tiny problem with a table of costs."""
    _search_a_little(1.0 - np.eye(5))


def search_directed_a_little() -> None:
    """Compiles the search on a tiny problem whose legs cost less one way than the other."""
    _search_a_little(np.triu(np.ones((5, 5))))


def search_points_a_little() -> None:
    """Compiles the search on a tiny problem of points."""
    _search_a_little(Distances(np.arange(10.0).reshape(5, 2), euclidean))


def _search_a_little(costs: object) -> None:
    run = Run(Instance(cast(Floats, costs), np.ones(5), 20.0), MaxSteps(4))
    improve_large(run, 0, lambda run, began, pace: (4, 0.0, 1.0), 0.0)


def improve_large(
    run: Run,
    seed: int,
    next_piece: NextPiece,
    began: float,
    config: PriceMoves | None = None,
    threads: int = 1,
    afresh: bool = False,
) -> None:
    """Searches a large plain problem until the run ends.

    With `afresh` the run's route, if it has one, is one of several to choose from; otherwise it is what is improved.
    """
    view = large_view(run.instance) if isinstance(run.instance.costs, Distances) else run.instance.view
    if len(view.nodes) < 3:
        return  # nowhere to go between start and end
    near = view.near_out if view.symmetric else nearest(np.minimum(view.costs, view.costs.T))
    crew, pace = Crew(threads, len(view.nodes)), 0.0
    try:
        ground = Ground(view.costs, view.prizes, near)
        search = _Search(run, view, ground, seed, config or PriceMoves(), crew, began, afresh)
        while True:
            steps, begin, end = next_piece(run, began, pace)
            started = time.perf_counter()
            search.search(steps, begin, end)
            pace = (time.perf_counter() - started) / steps
            if run.step(steps):
                search.offer()
                return
    finally:
        crew.close()


def _steps_left(run: Run, threads: int) -> float:
    """About how many steps the allowance is good for, however fast the machine is."""
    now = run.now()
    return min(run.stop.steps_left(now), threads * run.stop.seconds_left(now) / STEP_SECONDS)


def phases_for(steps: float, nodes: int, stops: int, used: float = 0.0) -> list[Phase]:
    """One search, or all phases of a tenth of the allowance, several searches, and the best route improved.

    The stops are those of a grown route. A share of the allowance may be used before the `steps` begin.
    """
    each = min(START_STEPS * nodes, STOP_STEPS * stops)
    most = int(MOST_STARTS * min(MORE_STARTS, START_STEPS * nodes / each))
    count = 1 if math.isinf(steps) else min(most, int(STARTS_SHARE * steps / each))
    if count <= 1:
        return starts(1, 1.0)
    tenth = (1 / TENTH - used) / (1 - used)
    if tenth <= 0:
        return [*starts(count, STARTS_SHARE), Phase(STARTS_SHARE, 1.0, COOLED, False)]
    first = [phase.moved(0.0, tenth) for phase in phases_for(tenth * steps, nodes, stops, TENTH * used)]
    others = [phase.moved(tenth, STARTS_SHARE) for phase in starts(count - 1, 1.0)]
    return [*first, *others, Phase(STARTS_SHARE, 1.0, COOLED, False)]


def _rounded(share: float) -> float:
    """A share without the last digits, which differ where a search is the first tenth of another."""
    return round(share / ROUNDING) * ROUNDING


class _Search:
    """The route of a search, and what its steps need."""

    def __init__(
        self,
        run: Run,
        view: View,
        ground: Ground,
        seed: int,
        config: PriceMoves,
        crew: Crew,
        used: float,
        afresh: bool,
    ):
        self.run, self.view, self.ground, self.crew = run, view, ground, crew
        size = len(view.nodes)
        self.nodes = np.zeros(size, dtype=np.int64)
        self.shorteners = [_Shortener(view, ground, seed + index) for index in range(crew.size)]
        self.between = BETWEEN * size
        self.since = self.passes = 0
        given = len(run.best) > 2 and not afresh
        self._begin_with(np.array([0, size - 1]) if afresh else view.numbers(run.best.nodes))
        self._fill()
        stops = write_nodes(self.route, self.nodes)
        steps = _steps_left(run, crew.size)
        self.phases = [Phase(0.0, 1.0, COOLED, False)] if given else phases_for(steps, size, stops, used)
        mean = view.budget / stops  # about what a leg costs
        prices = Prices(**{**vars(config), "hot": config.hot * mean, "cold": config.cold * mean})
        self.rounds = Rounds(ground, prices, crew, seed)
        self.price = np.array([FIRST_PRICE, LEAST_PRICE]) * self.route.total[1] / view.budget
        self.offer()

    def search(self, steps: int, begin: float, end: float) -> None:
        """Does `steps` steps, while the share of the allowance that is used rises from `begin` to `end`."""
        while len(self.phases) > 1 and begin >= self.phases[0].ends - ROUNDING:
            self.offer()
            self.phases.pop(0)
            if self.phases[0].afresh:
                self._begin_with(np.array([0, len(self.nodes) - 1]))
                self._fill()
            else:
                self._begin_with(self.view.numbers(self.run.best.nodes))
        phase = self.phases[0]
        self._anneal(steps, _rounded(phase.at(begin)), _rounded(phase.at(end)))

    def _begin_with(self, nodes: Ints) -> None:
        self.route, self.since = new_route(self.ground, nodes), 0

    def _anneal(self, steps: int, begin: float, end: float) -> None:
        """Does `steps` steps, with passes of Lin-Kernighan in between; offers better routes now and then."""
        while steps:
            count = min(steps, self.between - self.since)
            if begin > STRICT and self.route.total[0] > self.view.budget:
                self.rounds.join(self.route)
                trim(self.ground, self.route, self.view.budget, 0.5 * self.price[0])
            aim = self.view.budget * (1 + EXTRA * max(0.0, 1 - begin / SHRINK))
            later = begin + (end - begin) * count / steps
            most = aim * (1 if begin > STRICT else 1 + OVER)
            self.rounds.anneal(self.route, self.price, aim, most, count, begin, later)
            begin = later
            steps -= count
            self.since += count
            if self.since >= self.between:
                self.since = 0
                self.rounds.join(self.route)
                self._shorten(KICKS * self.between if begin > KICK_FROM else 0.0)
                self.offer()

    def offer(self) -> None:
        """Hands the route, made to fit, to the run if it is better than the best."""
        self.rounds.join(self.route)
        route = self.route
        if route.total[0] > self.view.budget:
            route = Route(route.after.copy(), route.before.copy(), route.total.copy())
            trim(self.ground, route, self.view.budget, 0.5 * self.price[0])
        if route.total[0] <= self.view.budget and route.total[1] > self.run.best.prize:
            count = write_nodes(route, self.nodes)
            self.run.offer(self.view.route(self.nodes[:count]))

    def _fill(self) -> None:
        """Grows the route and makes it shorter in turn, while that brings much."""
        size = len(self.nodes)
        floor = FLOOR * self.view.budget / size
        heap, worth = new_heap(HEAP * size), np.zeros(size)
        while True:
            before = self.route.total[1]
            worth[:] = 0.0
            grow(self.ground, self.route, self.view.budget, floor, heap, worth)
            self._shorten()
            if self.route.total[1] < before * (1 + ENOUGH):
                return

    def _shorten(self, kicks: float = 0.0) -> None:
        """Makes the route shorter, stretch by stretch, with kicks if asked; the stretches of two passes overlap."""
        count = write_nodes(self.route, self.nodes)
        self.passes += 1
        first = STRETCH // 2 if self.passes % 2 and count > STRETCH else 0
        ends = [0, *range(first, count - 1, STRETCH - 1), count - 1]  # a stretch begins with the last stop of another
        stretches = [self.nodes[begin : last + 1] for begin, last in pairwise(ends) if last > begin + 2]
        shared = [
            (shortener, stretches[index :: self.crew.size], kicks / count)
            for index, shortener in enumerate(self.shorteners)
        ]
        self.crew.do(_Shortener.shorten, shared)
        self.route = new_route(self.ground, self.nodes[:count])


class _Shortener:
    """Makes stretches of a route shorter, in one thread."""

    def __init__(self, view: View, ground: Ground, seed: int):
        self.view, self.ground = view, ground
        self.place = np.full(len(view.nodes), -1, dtype=np.int64)
        self.state = seed_state(seed)
        self.room = new_chain_room(len(view.nodes)) if view.symmetric else None

    def shorten(self, stretches: list[Ints], kicks: float) -> None:
        """Changes the order of the stops of each stretch; costs that differ by direction have no kicks."""
        for stretch in stretches:
            size, near, least = len(stretch), self.ground.near, self.view.least
            self.place[stretch] = np.arange(size)
            if self.room is None:
                shorten_directed(stretch, size, self.place, cast(Floats, self.ground.costs), near, least)
            else:
                count = round(kicks * size)
                chained_lin_kernighan(
                    stretch, size, self.place, self.ground.costs, near, least, count, self.state, self.room
                )
            self.place[stretch] = -1
