"""Full enumeration against the oracle of permutations."""

import numpy as np
import pytest
from hypothesis import given, settings

from instances import FAMILIES, all_families, shuffled, small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSteps, solve


@pytest.mark.parametrize("family", FAMILIES)
def test_finds_the_optimum_and_proves_it(family):
    for seed in range(30):
        instance = small_instance(family, size=3 + seed % 5, seed=seed, round_trip=seed % 2 == 0)
        result = solve(instance, "enumerate")
        assert result.prize == pytest.approx(best_prize(instance))
        assert result.status == "optimal"
        assert result.bound == result.prize


@settings(max_examples=30, deadline=None)
@given(small_instances())
def test_optimum_ignores_numbering(instance):
    assert solve(shuffled(instance), "enumerate").prize == pytest.approx(solve(instance, "enumerate").prize)


def test_optimum_never_falls_with_the_limit():
    for instance in all_families(4):
        prizes = [solve(instance.replace(limit=instance.limit * f), "enumerate").prize for f in (1.0, 1.2, 1.5, 3.0)]
        assert prizes == sorted(prizes)


def test_a_way_that_is_dear_at_first_sight():
    """Node 1 cannot go straight home, but through node 2 it can."""
    inf = np.inf
    costs = [[0, 1, inf], [inf, 0, 1], [1, inf, 0]]
    result = solve(Instance(costs, [0, 1, 1], 3.0), "enumerate")
    assert result.tour.nodes == (0, 1, 2, 0)


def test_too_many_nodes_are_refused():
    instance = small_instance("euclidean", size=14).replace(limit=100.0)
    with pytest.raises(ValueError, match="at most 12 reachable nodes besides start and end, got 13"):
        solve(instance, "enumerate")


def test_unreachable_nodes_do_not_count():
    instance = small_instance("euclidean", size=14)
    far = np.array(instance.costs)
    far[5:] += 1000.0
    result = solve(instance.replace(costs=far, start=0, end=0, limit=3.0), "enumerate")
    assert result.status == "optimal"


def test_stopped_early_proves_nothing():
    result = solve(small_instance("euclidean", size=7), "enumerate", stop=MaxSteps(2))
    assert result.steps == 2
    assert result.status == "stopped"
