"""EA4OP, the genetic algorithm known by the name of its authors' program, Compass (Kobeaga, Merino and Lozano 2018)."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orienteer.evolution.evolve import breed, improve, plant
from orienteer.evolution.first_calls import kernels_for
from orienteer.evolution.population import Population, new_population
from orienteer.kernel import State, seed_state
from orienteer.local_search.shorten import Shorten, shorten_for
from orienteer.model.instance import Instance
from orienteer.model.view import View
from orienteer.search.run import Run
from orienteer.search.solver import Solver


@dataclass(frozen=True)
class EvolutionConfig:
    """The parameters of EA4OP; the defaults are the published ones."""

    population: int = 100
    """How many individuals there are."""
    every: int = 50
    """Every how many steps the whole population is improved instead of a child bred."""
    candidates: int = 10
    """How many individuals are drawn, of which two become parents."""
    mutation: float = 0.01
    """The probability that a child is changed: a random node is dropped from it or added to it."""
    stop_percent: float = 25.0
    """The search ends when this percentage of the population, the best individuals, is equally good."""

    def __post_init__(self) -> None:
        for field, least in (("population", 2), ("every", 1), ("candidates", 1)):
            if getattr(self, field) < least:
                raise ValueError(f"EvolutionConfig.{field} must be at least {least}, got {getattr(self, field)}")
        if self.candidates > self.population:
            raise ValueError(
                f"EvolutionConfig.candidates must be at most the population, {self.population}, got {self.candidates}"
            )
        if not 0 <= self.mutation <= 1:
            raise ValueError(f"EvolutionConfig.mutation must be from 0 to 1, got {self.mutation}")
        if not 0 < self.stop_percent <= 100:
            raise ValueError(f"EvolutionConfig.stop_percent must be above 0 and at most 100, got {self.stop_percent}")


class Evolution(Solver[EvolutionConfig]):
    """The genetic algorithm; a step is one child, or one improvement of the whole population.

    docs/explanation/compass.md tells where it differs from the authors' description.
    """

    name = "compass"
    config_class = EvolutionConfig

    def kernels(self, instance: Instance) -> list[str]:
        return kernels_for(instance.view.symmetric)

    def search(self, run: Run, seed: int) -> None:
        """Offers each better route after the piece of work that found it."""
        self.best_route(run, seed)

    def best_route(self, run: Run, seed: int) -> list[int]:
        """The best route that this search itself finds, which need not be the run's best; empty if it finds none."""
        view, route = run.instance.view, list[int]()
        if len(view.nodes) < 3:
            return route  # nowhere to go between start and end
        population = new_population(self.config.population, len(view.nodes))
        known = population.best_prize[0]
        for steps in self._evolve(view, population, run, seed_state(seed)):
            run.steps += steps
            if population.best_prize[0] > known:
                known = population.best_prize[0]
                route = view.route(population.best[: population.best_size[0]])
                run.offer(route)
            if run.step(0):
                break
        return route

    def _evolve(self, problem: View, population: Population, run: Run, state: State) -> Iterator[int]:
        """Runs the algorithm in pieces that take little time; yields each piece's number of steps."""
        config = self.config
        unit = float(problem.prizes.max()) / 100  # the authors add 1 to scores from 1 to 100
        shorten = shorten_for(problem.symmetric)
        share = _first_share(problem, shorten)
        timed = math.isfinite(run.stop.seconds_left(run.now()))
        for first, last in _pieces(population.settled, len(problem.prizes), timed):
            plant(problem, population, first, last, share, state)
            improve(problem, population, first, last, shorten, True)
            yield 0
        while True:
            left = config.every - 1
            while left:
                count = int(min(left, run.stop.steps_left(run.now())))
                made = breed(problem, population, config.candidates, unit, config.mutation, count, state)
                left -= made
                yield made
            for first, last in _pieces(population.settled, len(problem.prizes), timed):
                improve(problem, population, first, last, shorten, True)
                yield int(last == config.population)
            if _converged(population.prizes, config.stop_percent):
                return


PIECE_SECONDS = 0.02
"""About how long a piece of work takes; the stop criterion is asked between pieces."""


def _pieces(settled: npt.NDArray[np.bool_], nodes: int, timed: bool) -> Iterator[tuple[int, int]]:
    """Ranges (first, last), last exclusive, that together cover all individuals, `settled` or not.

    A range is as long as it holds a certain number of individuals that are not settled: only those make work, and
    between two ranges other threads have to wait. In `timed` runs that number is higher where the work on the range
    before was quick. In others nothing depends on the clock, so that these runs are repeatable.
    """
    busy = np.flatnonzero(~settled)
    first, done, length = 0, 0, 1 if timed else max(1, 2000 // nodes)
    while first < len(settled):
        began = time.perf_counter()
        done += length
        last = int(busy[done]) if done < len(busy) else len(settled)
        yield first, last
        if timed:
            length = length * 4 if time.perf_counter() - began < PIECE_SECONDS / 4 else max(1, length // 2)
        first = last


def _converged(prizes: npt.NDArray[np.float64], percent: float) -> bool:
    """Whether the best `percent` per cent of the individuals are equally good, rounding aside."""
    ranked = np.sort(prizes)[::-1]
    rank = min(int(len(prizes) * percent / 100), len(prizes) - 1)
    return bool(ranked[0] - ranked[rank] <= 1e-9 * ranked[0])


def _first_share(problem: View, shorten: Shorten) -> float:
    """The share of nodes in the first routes: the root of the budget over the cost of a route through all nodes."""
    through_all = new_population(1, len(problem.prizes))
    plant(problem, through_all, 0, 1, 1.0, seed_state(0))
    improve(problem, through_all, 0, 1, shorten, False)
    return min(1.0, math.sqrt(problem.budget / max(problem.budget, float(through_all.costs[0]))))
