"""Alternatives: good, valid, sorted, and different from one another."""

import itertools

import numpy as np
import pytest

from instances import FAMILIES, all_families, small_instance
from orienteer import (
    InfeasibleTour,
    Instance,
    MaxSteps,
    NoImprovement,
    Plan,
    Result,
    check_plan,
    solve,
    solve_batch,
)
from orienteer.data.generate import generate
from orienteer.search.alternatives import STEPS, _repriced, apart


@pytest.mark.parametrize("costs", ["euclidean", "xasy", "tmat"])
@pytest.mark.parametrize("separate_end", [False, True])
def test_alternatives_are_routes_that_differ_in_a_quarter_of_their_stops(costs: str, separate_end: bool) -> None:
    for instance in generate(25, "uniform", costs, count=2, seed=3, separate_end=separate_end):
        result = solve(instance, "lns", MaxSteps(20_000), alternatives=4)
        routes = [result.plan, *result.alternatives]
        assert 3 <= len(routes) <= 4
        for tour in routes:
            assert check_plan(instance, [tour.nodes]) == tour
        prizes = [tour.prize for tour in routes]
        assert prizes == sorted(prizes, reverse=True)
        ends = {instance.start, instance.end}
        for one, other in itertools.permutations(routes, 2):
            nodes = set(one.nodes) - ends
            assert len(nodes - set(other.nodes)) >= len(nodes) / 4


def test_small_ones_are_nearly_the_best_there_are() -> None:
    """Against full enumeration: of all routes apart from the answer, the one with the most prize."""
    found, truth = 0.0, 0.0
    for instance in all_families(count=2, sizes=(6, 7)):
        result = solve(instance, "enumerate", alternatives=2)
        others = [tour for tour in _all_tours(instance) if apart(instance, tour, result.plan)]
        most = max((tour.prize for tour in others), default=None)
        if most is None:
            assert result.alternatives == ()
            continue
        truth += most
        for tour in result.alternatives:
            assert tour.prize <= most
            found += tour.prize
    assert found >= 0.98 * truth > 0


def _all_tours(instance: Instance) -> list[Plan]:
    inner = [node for node in range(instance.size) if node not in (instance.start, instance.end)]
    tours = []
    for count in range(len(inner) + 1):
        for order in itertools.permutations(inner, count):
            try:
                tours.append(check_plan(instance, [[instance.start, *order, instance.end]]))
            except InfeasibleTour:
                continue
    return tours


@pytest.mark.parametrize(
    ("costs", "shares"), [("euclidean", (0.93, 0.88)), ("tmat", (0.85, 0.8)), ("xasy", (0.9, 0.85))]
)
def test_they_are_good_ones(costs: str, shares: tuple[float, float]) -> None:
    """The longest paths of a beam with other stops had 0.55 of the best prize, fillings of a part of the best 0.85."""
    problems = generate(50, "uniform", costs, count=3, seed=5)
    results = [solve(one, stop=MaxSteps(60_000), alternatives=3) for one in problems]
    for number, share in enumerate(shares):
        assert np.mean([one.alternatives[number].prize / one.prize for one in results]) >= share


@pytest.mark.parametrize("solver", ["lns", "auto", "cs-p", "compass"])
def test_same_seed_and_steps_same_routes(solver: str) -> None:
    instance = generate(25, seed=2)[0]
    one, two = (solve(instance, solver, MaxSteps(6000), seed=4, alternatives=3) for _ in "ab")
    assert one.alternatives == two.alternatives != ()
    assert one.steps == two.steps <= 6000


def test_the_stop_criterion_is_for_all_of_it() -> None:
    instance = generate(25, seed=2)[0]
    half = solve(instance, "lns", MaxSteps(2000), seed=4)
    both = solve(instance, "lns", MaxSteps(4000), seed=4, alternatives=2)
    assert (both.tour, both.steps) == (half.tour, 4000)
    nothing = solve(instance, "lns", MaxSteps(0), alternatives=3)
    assert (nothing.steps, nothing.alternatives) == (0, ())
    unknown = solve(instance, "lns", NoImprovement(500), seed=4, alternatives=2)
    assert unknown.tour == solve(instance, "lns", NoImprovement(500), seed=4).tour
    assert unknown.alternatives


def test_a_cancelled_search_looks_no_further() -> None:
    instance, heard = generate(25, seed=2)[0], list[int]()
    result = solve(
        instance,
        "cs-p",
        alternatives=4,
        on_progress=lambda now: heard.append(now.steps),
        cancelled=lambda: len(heard) > 0 and heard[-1] >= STEPS,
    )
    assert STEPS <= result.steps < 2 * STEPS


def test_the_best_is_the_same_with_and_without_alternatives() -> None:
    instances = list(generate(15, count=3, seed=1))
    plain, several = (solve_batch(instances, "cs-p", alternatives=count) for count in (1, 3))
    assert [one.tour for one in plain] == [one.tour for one in several]
    assert all(one.alternatives == () for one in plain)
    for one, instance in zip(several, instances, strict=True):
        assert one.alternatives == solve(instance, "cs-p", seed=one.seed, alternatives=3).alternatives != ()


def test_results_carry_them_to_json_and_back() -> None:
    result = solve(generate(20, seed=1)[0], "cs-p", alternatives=3)
    assert Result.from_json(result.to_json()) == result
    assert len(result.to_dict()["alternatives"]) == len(result.alternatives) > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_other_prizes_change_nothing_else(family: str) -> None:
    """The shortcut gives what a fresh instance gives, also where searches read it."""
    for round_trip in (True, False):
        instance = small_instance(family, 7, seed=3, round_trip=round_trip)
        prizes = np.arange(7.0)
        quick, fresh = _repriced(instance, prizes), instance.replace(prizes=prizes)
        assert quick == fresh
        for one, other in zip(quick.view, fresh.view, strict=True):
            np.testing.assert_array_equal(one, other)
        assert solve(quick, "lns", MaxSteps(200)).tour == solve(fresh, "lns", MaxSteps(200)).tour


def test_none_collects_more_than_the_answer_of_a_weak_solver() -> None:
    for instance in generate(25, count=3, seed=2):
        result = solve(instance, "tsili", alternatives=3)
        assert result.tour == solve(instance, "tsili").tour
        assert 1 <= len(result.alternatives) <= 2
        assert all(tour.prize <= result.prize for tour in result.alternatives)


def test_nowhere_else_to_go() -> None:
    assert solve(Instance([[0, 1], [1, 0]], [0, 1], 2), "enumerate", alternatives=3).alternatives == ()
    assert solve(Instance([[0.0]], [1], 2), "enumerate", alternatives=3).alternatives == ()


def test_wrong_wishes() -> None:
    instance = generate(5)[0]
    with pytest.raises(ValueError, match="alternatives must be at least 1, got 0"):
        solve(instance, "cs-p", alternatives=0)
    with pytest.raises(ValueError, match="tsp-greedy visits every node, so no two of its routes differ in their stops"):
        solve(instance, "tsp-greedy", alternatives=2)
