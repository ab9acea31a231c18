"""The individuals of the genetic algorithm, as arrays that kernels share."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.kernel import Floats, Ints, State, kernel, next_float, next_int
from orienteer.local_search.drop_add import route_cost
from orienteer.model.view import View


class Population(NamedTuple):
    """The individuals, and the best route so far."""

    routes: Ints
    """(individual, n) nodes in order, in the first entries of each row."""
    sizes: Ints
    """(individual,) how many nodes each route has."""
    costs: Floats
    """(individual,)"""
    prizes: Floats
    """(individual,)"""
    settled: npt.NDArray[np.bool_]
    """Whether the last improvement left the individual as it was."""
    order: Ints
    """A permutation of the individuals, from which candidates are drawn."""
    best: Ints
    """(n,) the best route so far that fits."""
    best_size: Ints
    """(1,) how many nodes it has."""
    best_prize: Floats
    """(1,) what it collects; -1 as long as no route fits."""


def new_population(size: int, nodes: int) -> Population:
    """Room for `size` individuals, none of them built."""
    return Population(
        routes=np.zeros((size, nodes), dtype=np.int64),
        sizes=np.zeros(size, dtype=np.int64),
        costs=np.zeros(size),
        prizes=np.zeros(size),
        settled=np.zeros(size, dtype=np.bool_),
        order=np.arange(size, dtype=np.int64),
        best=np.zeros(nodes, dtype=np.int64),
        best_size=np.zeros(1, dtype=np.int64),
        best_prize=np.full(1, -1.0),
    )


@kernel
def store(index: int, route: Ints, size: int, problem: View, population: Population) -> None:
    """Puts a route in the place of individual `index`, and keeps it as the best if it fits and collects more."""
    cost = route_cost(route, size, problem.costs)
    prize = route_prize(route, size, problem.prizes)
    for i in range(size):
        population.routes[index, i] = route[i]
    population.sizes[index] = size
    population.costs[index] = cost
    population.prizes[index] = prize
    population.settled[index] = False
    if cost <= problem.budget and prize > population.best_prize[0]:
        population.best_prize[0] = prize
        population.best_size[0] = size
        for i in range(size):
            population.best[i] = route[i]


@kernel
def load(index: int, population: Population, route: Ints, place: Ints) -> int:
    """The size of individual `index`; its nodes are written to `route` and their positions to `place`, else -1."""
    size = population.sizes[index]
    for node in range(len(place)):
        place[node] = -1
    for i in range(size):
        route[i] = population.routes[index, i]
        place[route[i]] = i
    return size


@kernel
def route_prize(route: Ints, size: int, prizes: Floats) -> float:
    """The prizes of the route's nodes, added in order."""
    total = 0.0
    for i in range(size):
        total += prizes[route[i]]
    return total


@kernel
def pick_parents(population: Population, candidates: int, unit: float, state: State) -> tuple[int, int]:
    """Two of `candidates` individuals drawn, each with a probability that grows with its prize above the worst of them.

    `unit` is added to every weight, so that the worst has a chance too. Both parents may be one individual: its child
    is a copy, and without copies a best individual whose other children never fit could not take the population over.
    """
    order, prizes = population.order, population.prizes
    lowest = np.inf
    for k in range(candidates):
        other = k + next_int(state, len(order) - k)
        order[k], order[other] = order[other], order[k]
        lowest = min(lowest, prizes[order[k]])
    total = 0.0
    for k in range(candidates):
        total += prizes[order[k]] - lowest + unit
    mother = _spin(population, candidates, lowest - unit, next_float(state) * total)
    father = _spin(population, candidates, lowest - unit, next_float(state) * total)
    return mother, father


@kernel
def _spin(population: Population, candidates: int, base: float, left: float) -> int:
    """The candidate at which the prizes above `base`, added up in order, exceed `left`: a spin of a roulette wheel."""
    for k in range(candidates - 1):
        left -= population.prizes[population.order[k]] - base
        if left < 0.0:
            return population.order[k]
    return population.order[candidates - 1]
