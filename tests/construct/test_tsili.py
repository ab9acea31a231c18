"""Tsiligirides' heuristics on hand-checked problems and against the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSteps, solve
from orienteer.construct.insertion import at_once
from orienteer.construct.tsili import TsiliConfig, _best_only, _draw, desirability
from orienteer.data.generate import generate


@settings(max_examples=60, deadline=None)
@given(small_instances(max_size=6), st.sampled_from([1, 20]))
def test_never_above_the_oracle(instance, tries):
    assert solve(instance, "tsili", tries=tries).prize <= best_prize(instance) + 1e-9


def test_greedy_takes_the_best_ratio_first():
    """Ratios from the start: 3/1, 5/2, 1/1; then from node 1: 5/2 and 1/1, and node 3 no longer fits."""
    costs = np.array([[0, 1, 2, 1], [1, 0, 2, 1], [2, 2, 0, 1.5], [1, 1, 1.5, 0]])
    result = solve(Instance(costs, [0, 3, 5, 1], 5.2), "tsili")
    assert result.tour.nodes == (0, 1, 2, 0)
    assert result.steps == 1


def test_random_routes_are_never_worse_than_greedy_and_sometimes_better():
    better = 0
    for seed in range(30):
        instance = small_instance("euclidean", size=7, seed=seed)
        greedy, best = (solve(instance, "tsili", tries=tries).prize for tries in (1, 100))
        assert best >= greedy
        better += best > greedy
    assert better > 3


def test_draws_only_among_the_best_in_proportion():
    """Ratios 4, 2, 1, 1, 0.1 with power 1 and the best two: the first twice as often as the second, no other."""
    costs = np.full((6, 6), 1.0)
    instance = Instance(costs, [0, 4, 2, 1, 1, 0.1], 2.0)
    rng = np.random.default_rng(0)
    leg, fits = np.repeat(costs[:1], 3000, axis=0), np.repeat([[False] + [True] * 5], 3000, axis=0)
    drawn = _draw(_best_only(desirability(instance.prizes, leg, fits), 2), rng)
    counts = np.bincount(drawn, minlength=6)
    assert counts[3:].sum() == counts[0] == 0
    assert 1850 < counts[1] < 2150


def test_desirability_of_free_and_worthless_nodes():
    prizes = np.array([0.0, 2.0, 0.0, 1.0])
    leg = np.array([[1.0, 4.0, 0.0, 0.0], [1.0, 4.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    fits = np.array([[True] * 4, [True] * 4, [True, False, True, False]])
    expected = [[0, 0, 0, 1], [0, 0.25, 0, 1], [1, 0, 1, 0]]
    assert desirability(prizes, leg, fits, power=2.0).tolist() == expected


def test_tiny_costs_do_not_overflow():
    costs = np.full((3, 3), 1e-300)
    result = solve(Instance(costs, [0, 1e8, 1e9], 1e-299), "tsili", tries=10)
    assert result.prize == 1e8 + 1e9


def test_same_seed_same_route_and_steps_obeyed():
    instance = small_instance("nonmetric", size=7, seed=3)
    one, two = (solve(instance, "tsili", seed=7, tries=500, stop=MaxSteps(100)) for _ in range(2))
    assert one.tour == two.tour
    assert one.steps == two.steps == 100


def test_bad_setting():
    with pytest.raises(ValueError, match=r"TsiliConfig.best must be at least 1, got 0"):
        TsiliConfig(best=0)


def test_large_problems_look_at_the_clock_often():
    assert [at_once(size) for size in (1, 100, 500, 2000, 10_000)] == [64, 64, 10, 1, 1]
    instance = generate(n=900, count=1, seed=0)[0].replace(limit=2.0)
    looks = []
    solve(instance, "tsili", tries=9, on_progress=lambda now: looks.append(now.steps))
    assert looks == [0, 1, 4, 7, 9]
