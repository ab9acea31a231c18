"""A local search on routes."""

import numpy as np
import pytest

from instances import all_families
from orienteer import Instance, check_tour
from orienteer.beam.polish import polish
from orienteer.data.generate import generate


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


def test_no_route_and_problems_too_large_stay() -> None:
    square = Instance(1.0 - np.eye(4), [1.0] * 4, 4.0)
    assert polish([square], [[]]) == [[]]
    assert polish([square], [[0, 0]], most_nodes=3) == [[0, 0]]
    assert polish([square], [[0, 0]], most_nodes=4) != [[0, 0]]


def test_many_are_polished_in_order() -> None:
    instances = list(generate(8, count=9, seed=1))
    routes = [[one.start, one.end] for one in instances]
    for quick in (0, 100):
        alone = polish(instances, routes, quick)
        assert polish(instances, routes, quick, threads=3, share=2) == alone
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


@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("apart", [False, True])
def test_problems_with_hardly_a_node(nodes: int, apart: bool) -> None:
    instance = Instance(1.0 - np.eye(nodes), [1.0] * nodes, 5.0, 0, nodes - 1 if apart else 0)
    (made,) = polish([instance], [[instance.start, instance.end]])
    assert check_tour(instance, made).prize == nodes


def test_no_changes_are_tried_once_it_is_over() -> None:
    line = Instance.from_coords([(0, 0), (1, 0), (-1, 0)], [0, 1, 5], 2.0)
    assert polish([line] * 2, [[0, 1, 0]] * 2, over=iter((False, True)).__next__) == [[0, 2, 0], [0, 1, 0]]
