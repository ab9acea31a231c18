"""The large neighbourhood search: against the truth on small problems, and its promises about steps and seeds."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings

from instances import FAMILIES, small_instance, small_instances
from oracle import best_prize
from orienteer import AnyOf, Instance, MaxSeconds, MaxSteps, NoImprovement, TargetPrize, check_tour, solve
from orienteer.data.generate import generate
from orienteer.evolution import solver as evolution
from orienteer.lns.solver import NeighbourhoodConfig, NeighbourhoodSearch

INF = np.inf


def town(seed=1, costs="euclidean", size=60, separate_end=False):
    """A random problem of `size` nodes."""
    return generate(n=size, costs=costs, count=1, seed=seed, separate_end=separate_end)[0]


@settings(max_examples=80)
@given(small_instances(max_size=6))
def test_never_above_the_oracle(instance):
    for share in (0.0, 0.5):
        result = solve(instance, "lns", MaxSteps(60), start_share=share)
        assert check_tour(instance, result.tour.nodes) == result.tour
        assert result.prize <= best_prize(instance) + 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_nearly_always_equal_to_the_oracle(family):
    instances = [small_instance(family, (4, 5, 6, 7)[seed % 4], seed, seed // 4 % 2 == 0) for seed in range(24)]
    found = sum(solve(one, "lns", MaxSteps(1000), seed=1).prize >= best_prize(one) - 1e-9 for one in instances)
    assert found >= 23


@pytest.mark.parametrize("family", ["euclidean", "manhattan", "asymmetric", "worthless"])
def test_insertion_alone_does_where_the_triangle_inequality_holds(family):
    instances = [small_instance(family, (4, 5, 6, 7)[seed % 4], seed, seed // 4 % 2 == 0) for seed in range(24)]
    found = sum(
        solve(one, "lns", MaxSteps(1000), seed=1, start_share=0.0).prize >= best_prize(one) - 1e-9 for one in instances
    )
    assert found >= 23


def test_a_route_of_everything_is_known_to_be_best():
    instance = Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [1, 2, 3, 4], 4.0)
    result = solve(instance, "lns", MaxSteps(1000))
    assert (result.prize, result.cost, result.bound, result.status) == (10.0, 4.0, 10.0, "optimal")
    assert result.steps < 1000


def test_ways_that_lead_through_worthless_nodes_only():
    """Prizes on one side, junctions without any on the other: every second stop collects nothing."""
    rng = np.random.default_rng(1)
    for limit in (3.0, 4.0, 5.0, 6.0):
        costs = np.full((7, 7), INF)
        for junction in (1, 2, 3):
            for place in (0, 4, 5, 6):
                costs[junction, place], costs[place, junction] = rng.integers(1, 4, 2) / 2
        instance = Instance(costs, [0, 0, 0, 0, 0.3, 0.5, 0.9], limit)
        assert solve(instance, "lns", MaxSteps(10_000)).prize == best_prize(instance)


def test_no_arc_home_but_through_others():
    """The only way is 0-1-2-3-0, longer by one with the prize of node 4."""
    costs = np.full((5, 5), INF)
    for here, there in ((0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 3)):
        costs[here, there] = 1.0
    instance = Instance(costs, [0, 1, 1, 1, 5.0], 4.5)
    assert solve(instance, "lns", MaxSteps(1000)).prize == 3.0
    assert solve(instance.replace(limit=5.0), "lns", MaxSteps(1000)).tour.nodes == (0, 1, 2, 4, 3, 0)


def test_a_way_from_start_to_end_that_only_the_cheapest_route_knows():
    costs = np.full((4, 4), INF)
    costs[0, 1] = costs[1, 3] = 1.0
    costs[0, 2] = costs[2, 3] = 5.0
    assert solve(Instance(costs, [0, 1, 9, 0.0], 2.0, 0, 3), "lns", MaxSteps(100)).tour.nodes == (0, 1, 3)


@pytest.mark.parametrize("start_share", [0.0, 0.5])
@pytest.mark.parametrize(("costs", "separate_end"), [("euclidean", False), ("tmat", True), ("road", True)])
def test_same_seed_and_steps_give_the_same_result(costs, separate_end, start_share):
    instance = town(3, costs, separate_end=separate_end)
    one, two = (solve(instance, "lns", MaxSteps(3000), seed=5, start_share=start_share) for _ in range(2))
    assert (one.tour, one.status, one.steps) == (two.tour, two.status, two.steps)


@pytest.mark.parametrize("steps", [90, 700, 1500])
def test_the_clock_does_not_matter_where_the_criterion_does_not_read_it(steps, monkeypatch):
    """Pieces of the evolution are cut by the clock; here they are as short and as long as can be."""
    instance = town(4)
    results = []
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr(evolution, "PIECE_SECONDS", seconds)
        results.append(solve(instance, "lns", AnyOf(MaxSteps(steps), NoImprovement(400)), seed=2))
    assert results[0].tour == results[1].tour
    assert results[0].steps == results[1].steps


def test_other_seeds_search_elsewhere():
    tours = {solve(town(2), "lns", MaxSteps(30), seed=seed).tour.nodes for seed in range(6)}
    assert len(tours) > 1


@pytest.mark.parametrize("start_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("steps", [0, 1, 2, 39, 40, 999, 1000, 1001, 2500])
def test_as_many_steps_as_allowed(steps, start_share):
    assert solve(town(5), "lns", MaxSteps(steps), start_share=start_share).steps == steps


@pytest.mark.parametrize("start_share", [0.0, 0.5])
def test_no_improvement_ends_after_exactly_so_many_steps(start_share):
    result = solve(town(6), "lns", NoImprovement(70), start_share=start_share)
    assert result.steps - result.trace[-1].steps == 70


def test_the_first_criterion_of_several_ends_the_search():
    both = AnyOf(MaxSteps(1234), NoImprovement(100_000))
    assert solve(town(7), "lns", both).steps == 1234
    result = solve(town(7), "lns", AnyOf(MaxSteps(100_000), NoImprovement(300)))
    assert result.steps - result.trace[-1].steps == 300


def test_a_target_ends_the_search():
    target = solve(town(8), "lns", MaxSteps(1000)).prize
    result = solve(town(8), "lns", AnyOf(TargetPrize(target), MaxSteps(50_000)))
    assert result.prize >= target
    assert result.steps < 50_000


def test_little_time_still_gives_a_route():
    for seconds in (0.0, 1e-6, 0.05):
        instance = town(9)
        result = solve(instance, "lns", MaxSeconds(seconds))
        assert check_tour(instance, result.tour.nodes) == result.tour


@pytest.mark.parametrize("start_share", [0.0, 0.5])
@pytest.mark.parametrize(("costs", "separate_end"), [("euclidean", True), ("road", False), ("tmat", False)])
def test_better_with_more_steps(costs, separate_end, start_share):
    gains = []
    for seed in range(4):
        instance = town(seed, costs, separate_end=separate_end)
        few, many = (
            solve(instance, "lns", MaxSteps(steps), seed=seed, start_share=start_share).prize for steps in (20, 4000)
        )
        gains.append(many / few)
    assert min(gains) >= 1
    assert max(gains) > 1.02


def test_better_than_the_evolution_it_begins_with():
    gains = []
    for seed in range(4):
        instance = town(seed, size=100)
        alone = solve(instance, "compass", seed=seed)
        gains.append(solve(instance, "lns", MaxSteps(20_000), seed=seed).prize - alone.prize)
    assert sum(gains) > 0


@pytest.mark.parametrize("start_share", [0.0, 0.5])
def test_an_initial_route_is_never_lost(start_share):
    instance = town(10)
    best = solve(instance, "lns", MaxSteps(5000), seed=1)
    for steps in (0, 1, 300):
        again = solve(instance, "lns", MaxSteps(steps), seed=2, initial=best.tour.nodes, start_share=start_share)
        assert (again.prize, -again.cost) >= (best.prize, -best.cost)


def test_insertion_begins_with_the_initial_route():
    """Without an evolution and within few steps the answer is still close to the route it was given."""
    instance = town(11)
    best = solve(instance, "lns", MaxSteps(5000), seed=1)
    given = best.tour.nodes[:1] + best.tour.nodes[2:]
    assert solve(instance, "lns", MaxSteps(300), initial=given, start_share=0.0).prize >= best.prize
    assert solve(instance, "lns", MaxSteps(300), start_share=0.0).prize < best.prize


@pytest.mark.parametrize("symmetric", [True, False])
def test_two_thousand_nodes(symmetric):
    instance = town(1, size=2000, separate_end=True)
    if not symmetric:
        factor = 0.8 + 0.4 * np.random.default_rng(1).random(instance.costs.shape)
        instance = instance.replace(costs=instance.costs * factor, coords=None)
    result = solve(instance, "lns", MaxSteps(200))
    assert result.steps == 200
    assert check_tour(instance, result.tour.nodes) == result.tour
    assert result.prize > 0


@pytest.mark.parametrize("start_share", [0.0, 0.5])
def test_problems_of_few_nodes(start_share):
    def answer(instance):
        return solve(instance, "lns", MaxSteps(50), start_share=start_share).tour.nodes

    assert answer(Instance([[0.0]], [3.0], 1.0)) == (0, 0)
    assert answer(Instance([[0, 1], [1, 0.0]], [1.0, 2.0], 1.0, 0, 1)) == (0, 1)
    assert answer(Instance([[0, 1], [1, 0.0]], [1.0, 2.0], 2.0)) == (0, 1, 0)
    assert answer(Instance([[0, 1], [1, 0.0]], [1.0, 2.0], 1.9)) == (0, 0)
    assert answer(Instance(np.full((4, 4), INF), [1, 2, 3, 4.0], 9.0)) == (0, 0)


@pytest.mark.parametrize("start_share", [0.0, 0.5])
def test_zero_prizes_and_ties(start_share):
    instance = town(1)
    worthless = instance.replace(prizes=np.zeros(instance.size))
    assert solve(worthless, "lns", MaxSteps(100), start_share=start_share).status == "optimal"
    alike = Instance(1.0 - np.eye(12), np.ones(12), 7.0)
    assert solve(alike, "lns", MaxSteps(500), start_share=start_share).prize == 7.0


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(scale):
    """A power of two would change no bit; these change the last ones, and hardly the search."""
    instance = town(12)
    plain = solve(instance, "lns", MaxSteps(4000), seed=3)
    other = instance.replace(
        costs=instance.costs * scale, limit=instance.limit * scale, prizes=instance.prizes * 7 * scale, coords=None
    )
    assert solve(other, "lns", MaxSteps(4000), seed=3).prize == pytest.approx(plain.prize * 7 * scale, rel=0.02)


def test_without_a_criterion_steps_are_counted_so_that_a_call_can_be_repeated():
    """50,000 up to a hundred nodes; beyond, fewer that take longer: n ** -0.75; steps at a price are many and short."""
    search = NeighbourhoodSearch()
    sizes = (5, 100, 256, 1600, 4000)
    allowed = [search.default_stop(Instance(np.zeros((n, n)), np.ones(n), 1.0)) for n in sizes]
    assert allowed == [MaxSteps(50_000), MaxSteps(50_000), MaxSteps(24_705), MaxSteps(4_000_000), MaxSteps(5_000_000)]
    (instance,) = generate(12, count=1, seed=1)
    assert [solve(instance, "lns").steps for _ in range(2)] == [50_000, 50_000]


def test_settings_are_kept_in_the_result():
    config = NeighbourhoodConfig(remove=5, start_share=0.0)
    result = NeighbourhoodSearch(config).solve(town(1), MaxSteps(10))
    assert result.settings == dataclasses.asdict(config)
    assert result.settings["remove"] == 5


def test_the_narrowest_settings():
    """Settings under which a step removes one stop and tries one candidate; only the seed node is random."""
    narrow = {"remove": 1, "longest": 1, "strings": 1, "fewest": 1, "most": 1, "noise": 0.0, "blink": 0.0}
    for ratio_share in (0.0, 1.0):
        result = solve(town(1), "lns", MaxSteps(2000), start_share=0.0, spare=0.0, ratio_share=ratio_share, **narrow)
        assert result.prize > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start_share": 1.5}, "start_share must be from 0 to 1, got 1.5"),
        ({"spare": -0.1}, "spare must be from 0 to 1, got -0.1"),
        ({"ratio_share": 2}, "ratio_share must be from 0 to 1, got 2"),
        ({"noise": float("nan")}, "noise must be from 0 to 1, got nan"),
        ({"blink": 1.01}, "blink must be from 0 to 1, got 1.01"),
        ({"remove": 0}, "remove must be a whole number of at least 1, got 0"),
        ({"longest": 0}, "longest must be a whole number of at least 1, got 0"),
        ({"strings": 0}, "strings must be a whole number of at least 1, got 0"),
        ({"fewest": 0}, "fewest must be a whole number of at least 1, got 0"),
        ({"most": 9.5}, "most must be a whole number of at least 1, got 9.5"),
        ({"hot": float("inf")}, "hot must be finite and not negative, got inf"),
        ({"slack_price": float("nan")}, "slack_price must be finite and not negative, got nan"),
        ({"floor": -0.1}, "floor must be finite and not negative, got -0.1"),
        ({"most": 3}, "most must be at least fewest, 8, got 3"),
        ({"cold": 0.9}, "cold must be above 0 and at most hot, 0.5, got 0.9"),
        ({"cold": 0.0}, "cold must be above 0 and at most hot, 0.5, got 0.0"),
    ],
)
def test_wrong_settings(change, message):
    with pytest.raises(ValueError, match=f"NeighbourhoodConfig.{message}"):
        NeighbourhoodConfig(**change)


def test_the_largest_prizes_do_not_overflow():
    """Prizes are raised to powers above one; those of 1e300 once were infinite."""
    instance = town(4)
    huge = instance.replace(prizes=instance.prizes * (1e300 / instance.prizes.max()))
    assert solve(huge, "lns", MaxSteps(2000), seed=3).prize > huge.prizes.max()


@pytest.mark.parametrize("scale", [1e-13, 1e-200, 1e200])
def test_prizes_may_be_tiny_or_huge(scale):
    """Without the evolution, so that it is the neighbourhood search that must see the difference."""
    instance = town(size=12)
    usual = solve(instance, "lns", MaxSteps(500), start_share=0.0)
    scaled = solve(instance.replace(prizes=instance.prizes * scale), "lns", MaxSteps(500), start_share=0.0)
    assert scaled.prize == pytest.approx(usual.prize * scale, rel=0.05)
