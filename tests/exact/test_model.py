"""The model loses no route, and reads routes back from links."""

import itertools

import numpy as np
import pytest

from instances import all_families, small_instance
from model_routes import all_tours, is_trivial, model_and_routes
from orienteer import Instance, MaxSteps
from orienteer.exact.model import fitting, offer_trivial, reduce
from orienteer.search.run import Run


def test_every_route_is_in_the_model_and_comes_back() -> None:
    for instance in all_families(count=10):
        model, routes = model_and_routes(instance)
        for one in routes:
            assert model.costs @ one.x <= model.limit
            degree = np.bincount(model.tail, one.x, model.size) + np.bincount(model.head, one.x, model.size)
            assert np.array_equal(degree, 2 * one.y)
            back = model.route(np.flatnonzero(one.x))
            assert back is not None
            assert tuple(back) in (one.tour.nodes, one.tour.nodes[::-1])
            assert fitting(model, back) is not None


def test_what_is_left_out_is_offered_first() -> None:
    for instance in all_families(count=10):
        model, run = reduce(instance), Run(instance, MaxSteps(9))
        offer_trivial(run)
        trivial = [tour.prize for tour in all_tours(instance) if is_trivial(model, tour)]
        assert run.best.prize >= max(trivial, default=0.0)


def test_links_that_are_no_route() -> None:
    model = reduce(Instance.from_coords(np.random.default_rng(1).random((7, 2)), np.ones(7), 9))
    triangle, other = (
        model.find(np.array([0, 1, 2]), np.array([1, 2, 0])),
        model.find(np.array([3, 4, 5]), np.array([4, 5, 3])),
    )
    assert model.route(triangle.astype(np.int64)) is not None
    assert model.route(other.astype(np.int64)) is None, "without the start"
    assert model.route(np.append(triangle, other).astype(np.int64)) is None, "in two parts"
    assert model.route(triangle[:2].astype(np.int64)) is None, "without a way home"
    assert model.route(np.zeros(0, dtype=np.int64)) is None


def test_far_nodes_and_dear_links_are_left_out() -> None:
    line = Instance.from_coords([[0, 0], [1, 0], [2, 0], [9, 0]], [0, 1, 1, 1], 4.5)
    model = reduce(line)
    assert model.nodes.tolist() == [0, 1, 2]
    assert len(model.tail) == 3
    tight = reduce(line.replace(limit=3.9))
    assert tight.nodes.tolist() == [0, 1]


def test_a_route_that_costs_too_much_does_not_fit() -> None:
    model = reduce(small_instance("euclidean", 7, seed=8))
    inner = [node for node in range(7) if node != model.instance.start]
    assert fitting(model, [model.instance.start, *inner, model.instance.start]) is None


@pytest.mark.parametrize("reverse", [False, True])
def test_a_limit_at_the_last_bit(reverse: bool) -> None:
    """Legs added in another order differ in the last bit: the direction that fits must be found."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        points = rng.random((6, 2))
        order = [0, 1, 2, 3, 4, 5, 0]
        costs = Instance.from_coords(points, np.ones(6), 99).costs
        legs = [costs[i, j] for i, j in itertools.pairwise(order)]
        total = sum(legs[::-1] if reverse else legs)
        instance = Instance(costs, np.ones(6), total / (1 + 1e-9))
        model = reduce(instance)
        if total <= instance.budget:
            links = model.links_of(tuple(order))
            assert model.costs[links].sum() <= model.limit
            assert fitting(model, order) is not None
