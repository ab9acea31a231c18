"""EA4OP on small problems of every family, on problems with a known answer, and its promises about steps and seeds."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings

from instances import FAMILIES, small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSeconds, MaxSteps, NoImprovement, TargetPrize, check_tour, solve
from orienteer.evolution import solver as evolution
from orienteer.evolution.solver import Evolution, EvolutionConfig

SMALL = {"population": 20, "candidates": 5}


def euclidean(seed, size=60, limit=3.0, end=0):
    rng = np.random.default_rng(seed)
    return Instance.from_coords(rng.random((size, 2)), rng.integers(1, 101, size) / 100, limit, 0, end)


def asymmetric(seed, size=60, limit=2.0, end=0):
    rng = np.random.default_rng(seed)
    points = rng.random((size, 2))
    costs = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) * (0.5 + rng.random((size, size)))
    return Instance(costs, rng.integers(1, 101, size) / 100, limit, 0, end)


@settings(max_examples=80)
@given(small_instances(max_size=6))
def test_never_above_the_oracle(instance):
    result = solve(instance, "compass", MaxSteps(120), **SMALL)
    assert check_tour(instance, result.tour.nodes) == result.tour
    assert result.prize <= best_prize(instance) + 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_nearly_always_equal_to_the_oracle(family):
    instances = [small_instance(family, (4, 5, 6)[seed % 3], seed, seed // 3 % 2 == 0) for seed in range(30)]
    found = sum(solve(one, "compass").prize >= best_prize(one) - 1e-9 for one in instances)
    assert found >= 28


def test_everything_is_visited_when_the_limit_allows():
    instance = euclidean(1, 30, 50.0)
    result = solve(instance, "compass")
    assert np.isclose(result.prize, instance.prizes.sum())


@pytest.mark.parametrize("make", [euclidean, asymmetric])
@pytest.mark.parametrize("end", [0, 7])
def test_same_seed_and_steps_give_the_same_result(make, end):
    instance = make(3, end=end)
    one = solve(instance, "compass", MaxSteps(180), seed=5)
    two = solve(instance, "compass", MaxSteps(180), seed=5)
    assert one.tour == two.tour
    assert [(found.steps, found.prize) for found in one.trace] == [(found.steps, found.prize) for found in two.trace]


def test_the_size_of_the_pieces_does_not_matter(monkeypatch):
    """Pieces are cut by the clock; the search must not notice."""
    instance = asymmetric(4)
    results = []
    for seconds in (1e-9, 10.0):
        monkeypatch.setattr(evolution, "PIECE_SECONDS", seconds)
        results.append(solve(instance, "compass", MaxSteps(300), seed=2))
    assert results[0].tour == results[1].tour
    assert results[0].steps == results[1].steps


def test_other_seeds_search_elsewhere():
    tours = {solve(euclidean(2), "compass", MaxSteps(1), seed=seed, **SMALL).tour.nodes for seed in range(6)}
    assert len(tours) > 1


@pytest.mark.parametrize("steps", [0, 1, 7, 49, 50, 51, 120])
def test_as_many_steps_as_allowed(steps):
    assert solve(euclidean(5), "compass", MaxSteps(steps)).steps == steps


def test_no_improvement_ends_after_exactly_so_many_steps():
    result = solve(euclidean(6), "compass", NoImprovement(30))
    assert result.steps - result.trace[-1].steps == 30


def test_a_target_ends_the_search_at_once():
    free = solve(euclidean(7), "compass")
    target = free.trace[-1].prize
    result = solve(euclidean(7), "compass", TargetPrize(target))
    assert result.prize >= target
    assert result.steps == free.trace[-1].steps


def test_no_time_still_gives_a_route():
    instance = euclidean(8)
    result = solve(instance, "compass", MaxSeconds(0))
    assert check_tour(instance, result.tour.nodes) == result.tour


def test_it_ends_by_itself_when_the_population_agrees():
    result = solve(euclidean(9), "compass")
    assert result.steps % EvolutionConfig().every == 0
    assert result.status == "stopped"


def test_the_best_takes_the_population_over_though_its_children_never_fit():
    """Once parents had to differ: the best individual of this search bred nothing that fitted, and it never ended."""
    assert solve(euclidean(143), "compass", MaxSteps(5_000)).steps < 5_000


def test_one_node():
    assert solve(Instance([[0.0]], [3.0], 1.0), "compass").tour.nodes == (0, 0)


def test_two_nodes_from_one_to_the_other():
    instance = Instance([[0, 1], [1, 0.0]], [1.0, 2.0], 1.0, start=0, end=1)
    assert solve(instance, "compass").prize == 3.0


def test_a_limit_that_admits_nothing():
    result = solve(euclidean(1, 20, 1e-6), "compass")
    assert result.tour.nodes == (0, 0)


def test_zero_prizes():
    instance = euclidean(1).replace(prizes=np.zeros(60))
    assert solve(instance, "compass").prize == 0.0


def test_ties_everywhere():
    """Nodes of one spot and one prize each: as many as the limit pays for."""
    costs = 1.0 - np.eye(12)
    result = solve(Instance(costs, np.ones(12), 7.0), "compass")
    assert result.prize == 7.0


def test_no_arc_home_but_through_others():
    """The only way is 0-1-2-3-0; every single drop leads over a missing arc."""
    costs = np.full((5, 5), np.inf)
    for here, there in ((0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 3)):
        costs[here, there] = 1.0
    instance = Instance(costs, [0, 1, 1, 1, 5.0], 4.5)
    assert solve(instance, "compass").prize == 3.0
    assert solve(instance.replace(limit=5.0), "compass").prize == 8.0


def test_a_way_from_start_to_end_that_only_the_cheapest_route_knows():
    """Start and end have no arc between them: a route dropped empty is none, and the cheapest one takes its place."""
    costs = np.full((4, 4), np.inf)
    costs[0, 1] = costs[1, 3] = 1.0
    costs[0, 2] = costs[2, 3] = 5.0
    result = solve(Instance(costs, [0, 1, 9, 0.0], 2.0, 0, 3), "compass")
    assert result.tour.nodes == (0, 1, 3)


@pytest.mark.parametrize("make", [euclidean, asymmetric])
@pytest.mark.parametrize("end", [0, 7])
def test_better_than_its_first_generation(make, end):
    gains = []
    for seed in range(4):
        instance = make(seed, end=end)
        first = solve(instance, "compass", MaxSteps(1), seed=seed).prize
        last = solve(instance, "compass", seed=seed).prize
        gains.append(last - first)
    assert min(gains) >= 0
    assert max(gains) > 0


def test_an_initial_route_is_never_lost():
    instance = euclidean(10)
    best = solve(instance, "compass", seed=1)
    again = solve(instance, "compass", MaxSteps(1), seed=2, initial=best.tour.nodes, **SMALL)
    assert again.prize >= best.prize


def test_settings_are_the_published_ones_and_kept_in_the_result():
    result = solve(euclidean(1), "compass", MaxSteps(1))
    assert result.settings == {
        "population": 100,
        "every": 50,
        "candidates": 10,
        "mutation": 0.01,
        "stop_percent": 25.0,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"population": 1}, "population must be at least 2, got 1"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"candidates": 0}, "candidates must be at least 1, got 0"),
        ({"candidates": 200}, "candidates must be at most the population, 100, got 200"),
        ({"mutation": 1.5}, "mutation must be from 0 to 1, got 1.5"),
        ({"stop_percent": 0}, "stop_percent must be above 0 and at most 100, got 0"),
    ],
)
def test_wrong_settings(change, message):
    with pytest.raises(ValueError, match=message):
        EvolutionConfig(**change)


def test_every_step_an_improvement():
    """The smallest population and no children at all still end in a result."""
    config = EvolutionConfig(population=2, candidates=2, every=1, stop_percent=100.0)
    result = Evolution(config).solve(euclidean(3), MaxSteps(5))
    assert 1 <= result.steps <= 5
    assert dataclasses.asdict(config) == result.settings


@pytest.mark.parametrize("stop", [MaxSteps(300), NoImprovement(60)])
def test_the_clock_does_not_matter_where_nothing_reads_it(stop, monkeypatch):
    """Work was cut into pieces by time, and which routes were offered hung on the cuts."""
    found = []
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr(evolution, "PIECE_SECONDS", seconds)
        found.append([solve(euclidean(seed), "compass", stop, seed=seed) for seed in range(6)])
    for one, other in zip(*found, strict=True):
        assert (one.tour, one.steps) == (other.tour, other.steps)
