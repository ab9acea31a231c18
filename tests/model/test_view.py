"""The form of a problem that searches read: its numbers there and back, its costs, its near nodes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import small_instances
from orienteer import Instance, check_tour
from orienteer.model.view import NEAR, in_order, make_view, nearest, view_of

INF = np.inf


def test_a_round_trip_by_hand() -> None:
    """Node 2 is the start, node 0 too far away; the view's 0 and 3 are the start, 1 and 2 are nodes 1 and 3."""
    instance = Instance.from_coords([(9, 0), (1, 0), (0, 0), (2, 0)], [7, 1, 5, 2], limit=4.0, start=2, end=2)
    view = instance.view
    assert view.nodes.tolist() == [2, 1, 3, 2]
    assert view.number.tolist() == [-1, 1, 0, 2]
    assert view.costs.tolist() == [[0, 1, 2, 0], [1, 0, 1, 1], [2, 1, 0, 2], [0, 1, 2, 0]]
    assert view.prizes.tolist() == [5, 1, 2, 0]
    assert view.near_out.tolist() == [[3, 1, 2], [0, 2, 3], [1, 0, 3], [0, 1, 2]]
    assert view.near_in is view.near_out
    assert view.fallback.tolist() == [0, 3]
    assert (view.budget, view.symmetric, view.round_trip) == (instance.budget, True, True)
    assert view.numbers([2, 3, 1, 2]).tolist() == [0, 2, 1, 3]
    assert view.route(np.array([0, 2, 1, 3])) == [2, 3, 1, 2]


def test_a_way_of_its_own_ends_by_hand() -> None:
    """From node 1 to node 0 there is no leg, only the way through node 2."""
    instance = Instance([[0, 1, 1], [INF, 0, 2], [3, 90, 0]], [1, 2, 4], limit=6.0, start=1, end=0)
    view = instance.view
    out = 2 * instance.budget
    assert view.nodes.tolist() == [1, 2, 0]
    assert view.number.tolist() == [2, 0, 1]
    assert view.costs.tolist() == [[0, 2, out], [out, 0, 3], [1, 1, 0]]
    assert view.prizes.tolist() == [2, 4, 1]
    assert view.near_out.tolist() == [[1, 2], [2, 0], [0, 1]]
    assert view.near_in.tolist() == [[2, 1], [2, 0], [1, 0]]
    assert view.fallback.tolist() == [0, 1, 2]
    assert (view.symmetric, view.round_trip) == (False, False)


@given(small_instances(max_size=7))
def test_every_route_has_the_same_cost_and_prize_in_both_numbers(instance: Instance) -> None:
    view = instance.view
    for array in (one for one in view if isinstance(one, np.ndarray)):
        assert array.flags.c_contiguous
        assert array.flags.writeable  # numba would compile every kernel once more for what is not
    assert np.isfinite(view.costs).all()
    assert check_tour(instance, view.route(view.fallback)).nodes == tuple(instance.cheapest_route())
    inner = [node for node in np.flatnonzero(instance.reachable) if node not in (instance.start, instance.end)]
    for order in itertools.permutations(inner, min(2, len(inner))):
        route = [instance.start, *map(int, order), instance.end]
        numbers = view.numbers(route)
        assert (numbers[0], numbers[-1]) == (0, len(view.nodes) - 1)
        assert view.route(numbers) == route
        cost = float(view.costs[numbers[:-1], numbers[1:]].sum())
        legs = sum(float(instance.costs[a, b]) for a, b in itertools.pairwise(route) if a != b)
        assert cost == pytest.approx(legs) if legs <= instance.limit else cost > instance.limit
        assert view.prizes[numbers].sum() == pytest.approx(instance.prizes[list(set(route))].sum())


@given(small_instances(max_size=7))
def test_symmetry_is_that_of_the_legs_that_a_route_can_afford(instance: Instance) -> None:
    view = instance.view
    assert view.symmetric == np.array_equal(view.costs, view.costs.T)
    assert view.symmetric or not instance.symmetric
    np.testing.assert_array_equal(view.near_in, nearest(np.ascontiguousarray(view.costs.T)))


def test_it_is_made_once_and_not_taken_over_by_another_problem() -> None:
    """At thousands of nodes a view takes a good part of a second to make, in which no stop criterion is asked."""
    instance = Instance([[0, 1, 1], [2, 0, 2], [3, 1, 0]], [1, 2, 4], limit=6.0, start=1, end=0)
    assert instance.view is instance.view
    for other in (instance.turned(), instance.replace(limit=5.0)):
        assert other.view is not instance.view
        fresh = Instance(other.costs, other.prizes, other.limit, other.start, other.end)
        for one, two in zip(other.view, view_of(fresh), strict=True):
            np.testing.assert_array_equal(one, two)


def test_nodes_that_are_not_kept_are_left_out() -> None:
    kept = np.array([True, False, True, True])
    assert in_order(kept, 2, 0).tolist() == [2, 3, 0]
    assert in_order(kept, 1, 1).tolist() == [1, 0, 2, 3, 1]
    view = make_view(1.0 - np.eye(4), np.arange(4.0), 3.0, 2, 0, kept)
    assert view.number.tolist() == [2, -1, 0, 1]
    assert view.fallback.tolist() == [0, 2]


@given(st.integers(1, 130), st.integers(0, 99), st.booleans())
def test_near_nodes_are_the_cheapest_by_cost_then_number(size: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 4, (size, size)) * 0.1 if ties else rng.random((size, size))
    away = costs.copy()
    np.fill_diagonal(away, INF)
    wish = np.argsort(away, axis=1, kind="stable")[:, : min(size - 1, NEAR)]
    np.testing.assert_array_equal(nearest(costs), wish)


def test_a_zero_with_a_sign_is_a_zero() -> None:
    assert nearest(np.array([[0, 0.0, -0.0], [1, 0, 1], [1, 1, 0]])).tolist() == [[1, 2], [0, 2], [0, 1]]
