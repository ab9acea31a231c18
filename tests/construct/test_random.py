"""The random baseline: feasible, reproducible, never above the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSteps, solve
from orienteer.construct.random import RandomConfig


@settings(max_examples=60, deadline=None)
@given(small_instances(max_size=6), st.integers(0, 100))
def test_never_above_the_oracle(instance, seed):
    assert solve(instance, "random", seed=seed).prize <= best_prize(instance) + 1e-9


def test_many_tries_find_the_optimum_of_tiny_problems():
    for seed in range(20):
        instance = small_instance("euclidean", size=5, seed=seed)
        assert solve(instance, "random", tries=300).prize == pytest.approx(best_prize(instance))


def test_goes_on_until_nothing_fits():
    for seed in range(20):
        instance = small_instance("euclidean", size=7, seed=seed).replace(limit=100.0)
        assert solve(instance, "random", seed=seed).prize == pytest.approx(instance.prizes.sum())


def test_every_feasible_node_is_as_likely():
    costs = np.ones((4, 4))
    instance = Instance(costs, [0, 1, 2, 4], 2.0)
    first = [solve(instance, "random", seed=seed).tour.nodes[1] for seed in range(300)]
    assert all(70 < first.count(node) < 130 for node in (1, 2, 3))


def test_cut_back_to_where_it_can_close():
    """From node 2 the only way out is to node 3, which leads home through the used node 1 alone."""
    inf = np.inf
    costs = [[0, 1, inf, inf], [1, 0, 1, inf], [inf, inf, 0, 1], [inf, 1, inf, 0]]
    result = solve(Instance(costs, [0, 1, 1, 1], 50.0), "random")
    assert result.tour.nodes == (0, 1, 0)


def test_same_seed_same_route_and_steps_obeyed():
    instance = small_instance("asymmetric", size=7, seed=3)
    one, two = (solve(instance, "random", seed=7, tries=500, stop=MaxSteps(100)) for _ in range(2))
    assert one.tour == two.tour
    assert one.steps == two.steps == 100


def test_bad_setting():
    with pytest.raises(ValueError, match=r"RandomConfig.tries must be at least 1, got 0"):
        RandomConfig(tries=0)
