"""The drawing of parents and the book-keeping of individuals."""

import numpy as np

from orienteer import Instance
from orienteer.evolution.evolve import breed, improve, plant
from orienteer.evolution.population import load, new_population, pick_parents, route_prize, store
from orienteer.kernel import seed_state
from orienteer.local_search.shorten import shorten_for


def line(budget):
    """Five spots on a line, a round trip from the first; the kernels' last node is the start again."""
    spots = np.arange(5.0)
    costs = np.abs(spots[:, None] - spots[None])
    instance = Instance(costs, np.array([0, 1, 2, 3, 4.0]), 8.0)  # all within reach
    return instance.view._replace(budget=budget)


def test_the_better_are_drawn_more_often():
    population = new_population(5, 3)
    population.prizes[:] = [0, 1, 2, 3, 4]
    state = seed_state(0)
    counts = np.zeros(5)
    for _ in range(10_000):
        for parent in pick_parents(population, 5, 1.0, state):
            counts[parent] += 1  # in proportion to 1, 2, 3, 4, 5
    assert sorted(population.order) == [0, 1, 2, 3, 4]
    assert np.abs(counts / 20_000 - np.arange(1, 6) / 15).max() < 0.02


def test_parents_come_from_the_candidates_only():
    """With one candidate of a hundred, the candidate is both parents, so all individuals appear equally often."""
    population = new_population(100, 3)
    population.prizes[0] = 1e6
    state = seed_state(0)
    pairs = np.array([pick_parents(population, 1, 1.0, state) for _ in range(10_000)])
    assert np.array_equal(pairs[:, 0], pairs[:, 1])
    counts = np.bincount(pairs[:, 0], minlength=100)
    assert counts.min() > 50
    assert counts.max() < 150


def test_equal_prizes_and_no_unit_still_give_two_parents():
    population = new_population(4, 3)
    assert set(pick_parents(population, 3, 0.0, seed_state(0))) <= set(range(4))


def test_store_notes_the_best_that_fits():
    problem = line(budget=6.0)
    population = new_population(2, 6)
    route = np.array([0, 1, 2, 3, 5, 0])
    store(0, route, 5, problem, population)
    assert population.costs[0] == 6.0
    assert population.prizes[0] == population.best_prize[0] == 6.0
    store(1, np.array([0, 1, 2, 3, 4, 5]), 6, problem, population)
    assert population.prizes[1] == 10.0
    assert population.best_prize[0] == 6.0  # the second is longer than the limit
    assert population.best[: population.best_size[0]].tolist() == [0, 1, 2, 3, 5]
    out, place = np.zeros((2, 6), dtype=np.int64)
    assert load(0, population, out, place) == 5
    assert out[:5].tolist() == [0, 1, 2, 3, 5]
    assert place.tolist() == [0, 1, 2, 3, -1, 4]
    assert route_prize(route, 5, problem.prizes) == 6.0


def test_improve_makes_every_individual_fit():
    problem = line(budget=6.0)
    population = new_population(10, 6)
    plant(problem, population, 0, 10, 1.0, seed_state(0))
    assert population.costs.tolist() == [8.0] * 10  # to the far end and back
    improve(problem, population, 0, 10, shorten_for(problem.symmetric), True)
    assert (population.costs <= 6.0).all()
    assert population.best_prize[0] == 6.0
    improve(problem, population, 0, 10, shorten_for(problem.symmetric), True)
    assert population.settled.all()


def test_breed_stops_at_a_better_route():
    """Two short routes that fit together: some child soon has the nodes of both."""
    problem = line(budget=8.0)
    population = new_population(2, 6)
    store(0, np.array([0, 1, 5, 0, 0, 0]), 3, problem, population)
    store(1, np.array([0, 1, 2, 5, 0, 0]), 4, problem, population)
    made = breed(problem, population, 2, 1.0, 1.0, 1000, seed_state(0))
    assert made < 1000
    assert population.best_prize[0] > 3.0
