"""The local search that ends a learned search."""

import numpy as np
import pytest
from orienteer.network.solvers import LearnedCostLevelSearch, LearnedLevelConfig

from instances import all_families
from orienteer import Instance, check_tour
from orienteer.beam import polish as polishing
from orienteer.beam.polish import polish
from orienteer.data.generate import generate
from orienteer.search.stop import MaxSteps


def test_routes_never_get_worse() -> None:
    instances = all_families(30)
    routes = [list(one.cheapest_route()) for one in instances]
    better = 0
    quick, thorough = polish(instances, routes, quick=30), polish(instances, routes)
    for instance, route, made, more in zip(instances, routes, quick, thorough, strict=True):
        before, after = check_tour(instance, route), check_tour(instance, made)
        assert check_tour(instance, more).prize >= after.prize >= before.prize
        better += after.prize > before.prize
    assert better > len(instances) / 3


def test_crossings_go_and_what_fits_comes_in() -> None:
    square = Instance.from_coords([(0, 0), (0, 1), (1, 1), (1, 0), (0.5, 0)], [0, 1, 1, 1, 1], 4.0)
    (made,) = polish([square], [[0, 2, 1, 0]])
    assert check_tour(square, made).prize == 4


def test_no_route_and_problems_too_large_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    square = Instance(1.0 - np.eye(4), [1.0] * 4, 4.0)
    assert polish([square], [[]]) == [[]]
    monkeypatch.setattr(polishing, "MOST_NODES", 3)
    assert polish([square], [[0, 0]]) == [[0, 0]]


def test_many_are_polished_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = list(generate(8, count=9, seed=1))
    routes = [[one.start, one.end] for one in instances]
    monkeypatch.setattr(polishing, "SHARE", 2)
    for quick in (0, 100):
        alone = polish(instances, routes, quick)
        assert polish(instances, routes, quick, threads=3) == alone
        assert max(map(len, alone)) > 2


@pytest.mark.parametrize("quick", [0, 3])
def test_a_node_takes_the_place_of_another(quick: int) -> None:
    line = Instance.from_coords([(0, 0), (1, 0), (-1, 0)], [0, 1, 5], 2.0)
    assert polish([line], [[0, 1, 0]], quick) == [[0, 2, 0]]


def test_changes_are_tried_unless_it_is_to_be_quick() -> None:
    instances = list(generate(60, "uniform", count=12, seed=3))
    routes = [[one.start, one.end] for one in instances]
    quick, thorough = (
        sum(check_tour(one, made).prize for one, made in zip(instances, polish(instances, routes, few), strict=True))
        for few in (61, 0)
    )
    assert thorough > quick


def test_a_stop_makes_way_for_two() -> None:
    """Node 1 is 2 away to the left; nodes 2 and 3, each worth less, lie side by side to the right."""
    line = Instance.from_coords([(0, 0), (-2, 0), (2, 0), (1.9, 0)], [0, 3, 2, 2], 4.0)
    (made,) = polish([line], [[0, 1, 0]])
    assert sorted(made) == [0, 0, 2, 3]


def test_a_huge_prize_out_of_reach_is_not_looked_for_for_ever() -> None:
    """Rounding beside its 1e6 once made the same route count as a better one, thousands of times."""
    rng = np.random.default_rng(1)
    points, prizes = rng.random((100, 2)), rng.random(100)
    points[0], points[-1], prizes[-1] = (0.5, 0.5), (1.51, 0.5), 1e6
    instance = Instance.from_coords(points, prizes, 2.0)
    (made,) = polish([instance], [list(instance.cheapest_route())], quick=100)
    assert check_tour(instance, made).prize > 10


def test_prizes_that_are_equal_but_for_rounding_end() -> None:
    tenths = Instance(1.0 - np.eye(30), [0.1] * 30, 12.0)
    (made,) = polish([tenths], [[0, 1, 2, 0]])
    assert len(made) == 13


def test_a_search_is_polished_unless_told_otherwise() -> None:
    instances = list(generate(80, "uniform", "tmat", count=4, seed=5))
    found = [
        LearnedCostLevelSearch(LearnedLevelConfig(beam=1, device="cpu", polish=one)).solve_batch(instances)
        for one in (False, True)
    ]
    assert sum(one.prize for one in found[1]) > sum(one.prize for one in found[0])
    assert all(after.prize >= before.prize for before, after in zip(*found, strict=True))


@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("apart", [False, True])
def test_problems_with_hardly_a_node(nodes: int, apart: bool) -> None:
    instance = Instance(1.0 - np.eye(nodes), [1.0] * nodes, 5.0, 0, nodes - 1 if apart else 0)
    (made,) = polish([instance], [[instance.start, instance.end]])
    assert check_tour(instance, made).prize == nodes
    (found,) = LearnedCostLevelSearch(LearnedLevelConfig(device="cpu")).solve_batch([instance])
    assert found.prize == nodes


def test_no_changes_are_tried_once_it_is_over() -> None:
    line = Instance.from_coords([(0, 0), (1, 0), (-1, 0)], [0, 1, 5], 2.0)
    assert polish([line] * 2, [[0, 1, 0]] * 2, over=iter((False, True)).__next__) == [[0, 2, 0], [0, 1, 0]]


@pytest.mark.parametrize("batch", [False, True])
def test_a_search_that_is_stopped_early_is_filled_up(batch: bool) -> None:
    (instance,) = generate(60, "uniform", seed=7)
    found = []
    for polished in (False, True):
        solver = LearnedCostLevelSearch(LearnedLevelConfig(beam=2, device="cpu", polish=polished))
        found += solver.solve_batch([instance], MaxSteps(2)) if batch else [solver.solve(instance, MaxSteps(2))]
    assert found[1].prize > 3 * found[0].prize


def test_a_search_without_a_route_yet_begins_with_the_cheapest() -> None:
    """Legs lead to the next two nodes only, so that no path closes early."""
    places = np.arange(40)
    costs = np.abs(places[:, None] - places).astype(float)
    costs[costs > 2] = np.inf
    instance = Instance(costs, [1.0] * 40, 60.0, 0, 39)
    found = LearnedCostLevelSearch(LearnedLevelConfig(beam=2, device="cpu")).solve(instance, MaxSteps(2))
    assert found.prize == 40


def test_a_stopped_search_is_never_worse_than_what_goes_in_without_one() -> None:
    (instance,) = generate(60, "uniform", seed=7)
    solver = LearnedCostLevelSearch(LearnedLevelConfig(beam=2, device="cpu"))
    least = check_tour(instance, polish([instance], [[0, 0]], quick=100)[0]).prize
    assert all(solver.solve(instance, MaxSteps(steps)).prize >= least for steps in (1, 5, 20, 40))
