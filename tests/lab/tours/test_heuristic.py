"""Routes through every node, and the problems made of them."""

import itertools

import numpy as np
import pytest

from orienteer import InvalidInstance, check_tour
from orienteer.lab.tours.heuristic import good_route, quick_route
from orienteer.lab.tours.instance import known_route, tour_problem
from orienteer.model.tour import route_cost
from salesman import least_cost, small_costs, some_problems

FAMILIES = ("plane", "asymmetric", "nonmetric")


@pytest.mark.parametrize("family", FAMILIES)
def test_routes_visit_everything_and_are_no_shorter_than_the_truth(family: str) -> None:
    for seed in range(8):
        for size in (2, 3, 4, 7):
            costs, end = small_costs(family, size, seed), seed % size
            best = least_cost(costs, 0, end)
            for route in (quick_route(costs, 0, end), good_route(costs, 0, end, seed)):
                assert route is not None
                assert (route[0], route[-1]) == (0, end)
                assert sorted(set(route)) == list(range(size))
                assert len(route) == size + (end == 0)
                cost = sum(costs[a, b] for a, b in itertools.pairwise(route))
                assert cost >= best - 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_kicks_find_the_shortest_route_of_tiny_problems(family: str) -> None:
    for seed in range(8):
        costs = small_costs(family, 7, seed)
        route = good_route(costs, 0, seed % 2, seed)
        assert route is not None
        cost = sum(costs[a, b] for a, b in itertools.pairwise(route))
        assert cost == pytest.approx(least_cost(costs, 0, seed % 2))


def test_same_seed_same_route_and_more_kicks_are_no_worse() -> None:
    costs = small_costs("plane", 80, 1)
    problem = tour_problem(costs)
    one, two = (good_route(costs, 0, 0, seed=3) for _ in range(2))
    assert one == two
    assert one is not None
    few = good_route(costs, 0, 0, seed=3, kicks=0)
    assert few is not None
    assert route_cost(problem, one) <= route_cost(problem, few) <= problem.limit * 1.05


def test_the_limit_is_the_quick_tours_cost() -> None:
    for instance in some_problems(6):
        tour = check_tour(instance, known_route(instance) or [])
        assert tour.prize == instance.size
        assert tour.cost == pytest.approx(instance.limit)
        assert instance.start == instance.end


def test_corner_cases() -> None:
    assert tour_problem([[0.0]]).limit == 1.0
    assert tour_problem(np.zeros((4, 4))).limit == 1.0
    assert tour_problem([[0, 2], [3, 0]], start=1).limit == 5
    assert tour_problem([[0, 2], [3, 0]], names=["a", "b"]).names == ("a", "b")


def test_ways_that_are_missing() -> None:
    ring = np.full((6, 6), np.inf)
    ring[np.arange(6), np.roll(np.arange(6), -1)] = 1.0
    assert tour_problem(ring).limit == 6
    ring[3, 4] = np.inf
    with pytest.raises(InvalidInstance, match="no tour that could be found"):
        tour_problem(ring)
    with pytest.raises(InvalidInstance, match=r"costs must have 2 dimension\(s\)"):
        tour_problem([1.0, 2.0])
