"""The steps of the genetic algorithm EA4OP on a population (Kobeaga, Merino and Lozano 2018)."""

import numpy as np

from orienteer.evolution.population import Population, load, pick_parents, route_prize, store
from orienteer.evolution.recombination import recombine
from orienteer.kernel import ZERO, Ints, State, kernel, next_float, next_int
from orienteer.local_search.drop_add import (
    add,
    add_while_fits,
    best_spot,
    drop,
    drop_until_fits,
    make_chain,
    route_cost,
    write_route,
)
from orienteer.local_search.shorten import Shorten, nearest_neighbour
from orienteer.model.view import View


@kernel
def plant(problem: View, population: Population, first: int, last: int, share: float, state: State) -> None:
    """Makes the individuals from `first` up to `last`, exclusive, each of a random `share` of the nodes.

    From every node a route goes on to the nearest of its nodes not yet visited. The routes need not fit.
    """
    nodes = len(problem.prizes)
    route = np.empty(nodes, dtype=np.int64)
    place = np.empty(nodes, dtype=np.int64)
    chosen = np.empty(nodes, dtype=np.int64)
    for index in range(first, last):
        count = ZERO
        for node in range(1, nodes - 1):
            if next_float(state) < share:
                chosen[count] = node
                count += 1
        size = nearest_neighbour(chosen, count, problem.costs, problem.near_out, route, place)
        store(index, route, size, problem, population)


@kernel
def breed(
    problem: View,
    population: Population,
    candidates: int,
    unit: float,
    mutation: float,
    count: int,
    state: State,
) -> int:
    """How many children were made: `count`, or fewer if the last of them is the best route so far that fits.

    A child takes the place of the worst individual if it collects more, whether it fits or not. `candidates` and `unit`
    are those of `pick_parents`; `mutation` is the probability that a child is changed by `_mutate`.
    """
    route = np.empty(len(problem.prizes), dtype=np.int64)
    known = population.best_prize[0]
    for made in range(1, count + 1):
        mother, father = pick_parents(population, candidates, unit, state)
        size = recombine(
            population.routes[mother],
            population.sizes[mother],
            population.routes[father],
            population.sizes[father],
            len(problem.prizes),
            problem.symmetric,
            problem.round_trip,
            route,
            state,
        )
        if next_float(state) < mutation:
            size = _mutate(route, size, problem, state)
        worst = ZERO
        for index in range(1, len(population.prizes)):
            if population.prizes[index] < population.prizes[worst]:
                worst = index
        if route_prize(route, size, problem.prizes) > population.prizes[worst]:
            store(worst, route, size, problem, population)
            if population.best_prize[0] > known:
                return made
    return count


@kernel
def improve(problem: View, population: Population, first: int, last: int, shorten: Shorten, fit: bool) -> None:
    """Makes the individuals from `first` up to `last`, exclusive, shorter by `shorten`, then fit, then fuller.

    Without `fit` they are only made shorter. A kernel of its own for that would compile `shorten` again, which is slow.
    """
    costs, budget = problem.costs, problem.budget
    route = np.empty(len(problem.prizes), dtype=np.int64)
    place = np.empty(len(problem.prizes), dtype=np.int64)
    for index in range(first, last):
        if population.settled[index]:
            continue
        size = load(index, population, route, place)
        saved = shorten(route, size, place, costs, problem.near_out, problem.least)
        new_size = _fit(route, size, place, problem) if fit else size
        if saved == 0.0 and new_size == size and population.costs[index] <= budget:
            population.settled[index] = True
        else:
            store(index, route, new_size, problem, population)


@kernel
def _fit(route: Ints, size: int, place: Ints, problem: View) -> int:
    """The route's size after nodes are dropped until the route fits, and added while it does."""
    first, last = 0, len(place) - 1
    costs, prizes, budget = problem.costs, problem.prizes, problem.budget
    following = np.empty(len(place), dtype=np.int64)
    leading = np.empty(len(place), dtype=np.int64)
    make_chain(route, size, following, leading)
    cost = route_cost(route, size, costs)
    cost = drop_until_fits(first, last, following, leading, place, costs, prizes, cost, budget)
    if cost > budget:
        for node in range(len(place)):
            place[node] = -1
        for node in problem.fallback:
            place[node] = 0
        make_chain(problem.fallback, len(problem.fallback), following, leading)
        cost = route_cost(problem.fallback, len(problem.fallback), costs)
    add_while_fits(
        first, last, following, leading, place, costs, prizes, problem.near_in, problem.near_out, cost, budget
    )
    return write_route(first, last, following, route, place)


@kernel
def _mutate(route: Ints, size: int, problem: View, state: State) -> int:
    """The route's size after a random node is dropped from it or added to it."""
    first, last = 0, len(problem.prizes) - 1
    following = np.empty(len(problem.prizes), dtype=np.int64)
    leading = np.empty(len(problem.prizes), dtype=np.int64)
    place = np.empty(len(problem.prizes), dtype=np.int64)
    for node in range(len(place)):
        place[node] = -1
    for i in range(size):
        place[route[i]] = i
    make_chain(route, size, following, leading)
    node = 1 + next_int(state, len(problem.prizes) - 2)
    if place[node] >= 0:
        drop(node, following, leading, place)
    else:
        behind, _ = best_spot(
            node, first, last, following, leading, place, problem.costs, problem.near_in, problem.near_out
        )
        add(node, behind, following, leading, place)
    return write_route(first, last, following, route, place)
