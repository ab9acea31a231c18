"""The large neighbourhood search: a good start from a short evolution, then ruin, recreate and anneal."""

import math
import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from orienteer.construct.tsili import Tsili
from orienteer.evolution.solver import Evolution, EvolutionConfig
from orienteer.kernel import seed_state
from orienteer.lns.anneal import Best, Moves, anneal
from orienteer.lns.large.search import STEP_SECONDS, improve_large, is_large, kernels_for
from orienteer.lns.large.stops import visits_few
from orienteer.lns.plans.search import PlanMoves, improve_plan, moves_for
from orienteer.lns.recreate import new_candidates
from orienteer.lns.route import Graph, new_route
from orienteer.model.instance import Instance
from orienteer.model.rules import FEATURES
from orienteer.model.tour import Tour, check_tour
from orienteer.model.view import View, nearest
from orienteer.search.run import Run
from orienteer.search.solver import Solver
from orienteer.search.stop import MaxSteps, Stop


@dataclass(frozen=True)
class NeighbourhoodConfig:
    """What a step of the search does; temperatures and prices are relative to the instance."""

    start_share: float = 0.5
    """The share of the allowance that the evolution of the start is meant to take; 0 for a start by insertion."""
    hot: float = 0.5
    """Temperature at the start, in mean prizes."""
    cold: float = 0.2
    """Temperature at the end, in mean prizes."""
    slack_price: float = 24.0
    """What an unused limit is worth when two routes are compared, in mean prizes; unused cost in proportion."""
    floor: float = 0.0005
    """Added to insertion costs before prizes are divided by them, as a share of the limit."""
    remove: int = 13
    """The most stops removed in a step."""
    longest: int = 10
    """The most stops of a string that is removed."""
    strings: int = 2
    """The most strings removed in a step."""
    spare: float = 0.3
    """The probability that a string leaves one stop inside it."""
    fewest: int = 8
    """The fewest candidates for insertion in a step."""
    most: int = 24
    """The most candidates for insertion in a step."""
    ratio_share: float = 0.1
    """The probability that a route is recreated by prize over cost; otherwise in random order or by prize."""
    noise: float = 0.25
    """The random factor on prizes, where they are divided by costs, is between 1 - noise and 1 + noise."""
    blink: float = 0.01
    """The probability that a node that would fit is passed over, where routes are recreated in an order."""
    threads: int = 1
    """Cores that search parts of a large plain problem side by side; other problems are searched on one."""

    def __post_init__(self) -> None:
        for field in ("start_share", "spare", "ratio_share", "noise", "blink"):
            if not 0 <= getattr(self, field) <= 1:
                raise ValueError(f"NeighbourhoodConfig.{field} must be from 0 to 1, got {getattr(self, field)}")
        for field in ("remove", "longest", "strings", "fewest", "most", "threads"):
            if not isinstance(getattr(self, field), int) or getattr(self, field) < 1:
                raise ValueError(
                    f"NeighbourhoodConfig.{field} must be a whole number of at least 1, got {getattr(self, field)}"
                )
        for field in ("hot", "slack_price", "floor"):
            if not 0 <= getattr(self, field) < math.inf:
                raise ValueError(
                    f"NeighbourhoodConfig.{field} must be finite and not negative, got {getattr(self, field)}"
                )
        if self.most < self.fewest:
            raise ValueError(f"NeighbourhoodConfig.most must be at least fewest, {self.fewest}, got {self.most}")
        if not 0 < self.cold <= self.hot:
            raise ValueError(f"NeighbourhoodConfig.cold must be above 0 and at most hot, {self.hot}, got {self.cold}")


class NeighbourhoodSearch(Solver[NeighbourhoodConfig]):
    """Anytime search; a step is one ruin and recreation, one child of the evolution, or the greedy first route."""

    name = "lns"
    config_class = NeighbourhoodConfig
    handles = frozenset(FEATURES)

    def default_stop(self, instance: Instance) -> Stop:
        """Steps, so that a call gives the same route on every machine; about a second for a hundred nodes.

        Measured from 20 to 1,000 nodes, a step takes time in proportion to their power 1.75 above a hundred nodes, and
        less than a hundredth of a millisecond below. The search takes about n / 100 seconds, but no more than 20; with
        tens of thousands of nodes, where a step takes longer, up to a minute.
        """
        if not instance.features and is_large(instance):
            return MaxSteps(min(2500 * instance.size, 5_000_000))
        size = max(100, instance.size)
        return MaxSteps(int(STEPS * (100 / size) ** 0.75 * min(1.0, 2000 / size)))

    def kernels(self, instance: Instance) -> list[str]:
        if instance.features:
            return [f"{__name__}:anneal_a_little_plan"]
        if is_large(instance):
            more = Evolution().kernels(instance) if self._evolves_large(instance) else []
            return [*kernels_for(instance, self.config.threads), *more]
        start = Evolution().kernels(instance) if self.config.start_share else []
        return [*start[:1], f"{__name__}:anneal_a_little", *start[1:]]  # those that take longest to compile first

    def search(self, run: Run, seed: int) -> None:
        """Evolves a start, then improves it until the end."""
        if run.instance.features:
            improve_plan(run, seed, moves_for(run.instance), _next_piece, _used(run))
            return
        if is_large(run.instance):
            self._search_large(run, seed)
            return
        first = run.best  # a better route than the cheapest one where another solver ran before
        Tsili().search(run, seed)  # on a large problem the evolution may have no time to build a route
        if run.report():
            return
        start = self._evolve(run, seed) if self.config.start_share else run.best
        if not run.report():
            # An evolved route has the better shape, even where the greedy one collects more at first.
            self._improve(run, seed, max(start, first, key=lambda tour: tour.prize))

    def _search_large(self, run: Run, seed: int) -> None:
        """Searches at a price of cost, where few stops are visited after a short evolution."""
        threads = self.config.threads
        afresh = len(run.best) == 2 and self._evolves_large(run.instance)
        if afresh:
            self._evolve_shortly(run, seed)
            if run.report():
                return
        next_piece = partial(_next_piece, piece=PIECE * threads)
        improve_large(run, seed, next_piece, _used(run), threads=threads, afresh=afresh)

    def _evolves_large(self, instance: Instance) -> bool:
        """Whether the search of a large problem begins with an evolution, which finds regions that pay."""
        return self.config.start_share > 0 and visits_few(instance)

    def _evolve_shortly(self, run: Run, seed: int) -> None:
        """Offers what a small population finds in a small share of the allowance; nothing where there is no time."""
        now = run.now()
        seconds = SHORT_SHARE * min(run.stop.seconds_left(now), STEP_SECONDS * run.stop.steps_left(now))
        population = int(min(POPULATION, seconds / _individual_seconds(run.instance)))
        if population >= LEAST_POPULATION:
            with run.share(SHORT_SHARE, OVERTIME):
                Evolution(EvolutionConfig(population=population)).search(run, seed)

    def _evolve(self, run: Run, seed: int) -> Tour:
        """The best route of a genetic algorithm on a share of the allowance, or the run's best if it finds none."""
        now = run.now()
        share = self.config.start_share
        seconds, steps = run.stop.seconds_left(now), run.stop.steps_left(now)
        config = EvolutionConfig(population=_population(run.instance, share * seconds, share * steps))
        with run.share(share, OVERTIME):
            route = Evolution(config).best_route(run, seed)
        return check_tour(run.instance, route) if route else run.best

    def _improve(self, run: Run, seed: int, start: Tour) -> None:
        """Ruins and recreates a route while the temperature falls."""
        view = run.instance.view
        size = len(view.nodes)
        if size < 3:
            return  # nowhere to go between start and end
        graph, moves = _graph(view), self._moves(view)
        route = new_route(graph, view.numbers(start.nodes))
        best = Best(np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64), route.total.copy())
        candidates, removed = new_candidates(size), np.zeros((size, 2), dtype=np.int64)
        state = seed_state(seed)
        began, pace = _used(run), 0.0
        while True:
            steps, begin, end = _next_piece(run, began, pace)
            started = time.perf_counter()
            anneal(graph, route, best, moves, candidates, removed, steps, begin, end, state)
            pace = (time.perf_counter() - started) / steps
            if best.size[0]:
                run.steps += steps
                run.offer(view.route(best.nodes[: best.size[0]]))
                best.size[0] = 0
                steps = 0
            if run.step(steps):
                return

    def _moves(self, view: View) -> Moves:
        config = self.config
        mean = float(view.prizes[1:-1].mean()) or 1.0
        return Moves(
            budget=view.budget,
            hot=config.hot * mean,
            cold=config.cold * mean,
            slack_price=config.slack_price * mean / view.budget,
            floor=config.floor * view.budget,
            remove=config.remove,
            longest=config.longest,
            strings=config.strings,
            spare=config.spare,
            fewest=config.fewest,
            most=config.most,
            ratio_share=config.ratio_share,
            noise=config.noise,
            blink=config.blink,
        )


STEPS = 50_000
"""Steps where the caller does not say when to end, with up to a hundred nodes."""
POPULATION = 300
"""Individuals of the start's evolution where nothing says how long the search may take."""
LARGEST_POPULATION = 3000
LEAST_POPULATION, SHORT_SHARE = 50, 0.15
"""The least population of the short evolution before a large problem is searched, and its share of the allowance."""
OVERTIME = 1.4
"""The factor by which an evolution may exceed its share before it is cut off: an unfinished one is worth little."""
PIECE = 1000
"""Steps between two looks at the stop criterion, where the criterion does not read the clock."""
PIECE_SECONDS = 0.02
"""About how many seconds pass between two looks, where the criterion reads the clock."""
CYCLE = 100_000
"""Steps from hot to cold where nothing says how long the search may take."""
EXPONENTS = np.linspace(0.6, 1.4, 9)
"""The powers to which prizes are raised before they are divided by costs; each recreation draws a power."""


def anneal_a_little() -> None:
    """Compiles `anneal` on a tiny problem."""
    run = Run(Instance(1.0 - np.eye(4), np.ones(4), 2.5), MaxSteps(4))
    NeighbourhoodSearch()._improve(run, 0, run.best)


def anneal_a_little_plan() -> None:
    """Compiles the search for plans on a tiny problem."""
    run = Run(Instance(1.0 - np.eye(4), np.ones(4), 2.5, routes=2), MaxSteps(4))
    improve_plan(run, 0, PlanMoves(), _next_piece, 0.0)


def _population(instance: Instance, seconds: float, steps: float) -> int:
    """How large a population is likely to converge within both `seconds` and `steps`."""
    each = _individual_seconds(instance)
    size = POPULATION if math.isinf(seconds) and math.isinf(steps) else min(seconds / each, steps / 20)
    return int(min(LARGEST_POPULATION, max(10, size)))


def _individual_seconds(instance: Instance) -> float:
    """About how long an evolution takes for each of its individuals."""
    nodes = int(instance.reachable.sum())
    return 5e-4 * (nodes / 100) ** 1.57  # measured on random problems of 20 to 400 nodes


def _graph(view: View) -> Graph:
    back = view.costs if view.symmetric else np.ascontiguousarray(view.costs.T)
    near = view.near_out if view.symmetric else nearest(np.minimum(view.costs, back))
    relative = view.prizes / (view.prizes.max() or 1.0)  # powers of the largest floats would overflow
    powers = np.array([relative**exponent for exponent in EXPONENTS])
    return Graph(view.costs, back, view.prizes, powers, near)


def _used(run: Run) -> float:
    """The share of the allowance that is used up; without an allowance, how far the search is into a cycle."""
    now = run.now()
    used = run.stop.fraction(now)
    return now.steps % CYCLE / CYCLE if math.isnan(used) else used


def _next_piece(run: Run, began: float, pace: float, piece: int = PIECE) -> tuple[int, float, float]:
    """(steps, begin, end): how many steps to do next, and how far the temperature has fallen before and after them.

    `began` is what was used of the allowance when annealing began, `pace` the seconds that a step took lately. Only
    where the stop criterion reads the clock does the number of steps depend on it, so that other runs are repeatable.
    """
    now = run.now()
    seconds = run.stop.seconds_left(now)
    steps = min(piece, run.stop.steps_left(now))
    if math.isfinite(seconds):
        wish = min(PIECE_SECONDS, seconds) / pace if pace else PIECE / 10
        steps = min(run.stop.steps_left(now), wish)
    count = max(1, int(steps))
    used = _used(run)
    if math.isnan(run.stop.fraction(now)):
        return count, used, used + count / CYCLE
    later = run.stop.fraction(replace(now, seconds=now.seconds + count * pace, steps=now.steps + count))
    span = max(1e-9, 1 - began)
    return count, (used - began) / span, (later - began) / span
