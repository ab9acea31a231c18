"""The exact solver: equal to enumeration, honest when stopped, and clear when its package is missing."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings

from instances import FAMILIES, all_families, small_instance, small_instances
from oracle import best_prize
from orienteer import Instance, MaxSeconds, MaxSteps, MissingExtra, Progress, Result, check_tour, solve
from orienteer.data.generate import generate
from orienteer.exact.model import offer_trivial, reduce
from orienteer.exact.root import Root
from orienteer.exact.separate.subtour import Components
from orienteer.exact.solve import Exact, make_separators
from orienteer.exact.tree import Tree
from orienteer.search.run import Run


def assert_proven(instance: Instance, result: Result, truth: float) -> None:
    assert result.status == "optimal"
    assert check_tour(instance, result.tour.nodes) == result.tour
    assert result.prize == pytest.approx(truth, rel=1e-9)
    assert result.bound >= truth * (1 - 1e-12)


def symmetric(instance: Instance) -> Instance:
    return instance.replace(costs=np.minimum(instance.costs, instance.costs.T))


def test_equal_to_the_oracle() -> None:
    for instance in all_families(count=30):
        assert_proven(instance, solve(instance, "exact", warm=0.0), best_prize(instance))


def test_equal_to_the_oracle_without_a_triangle_inequality() -> None:
    for family in ("nonmetric", "holes", "ties"):
        for seed in range(30):
            instance = symmetric(small_instance(family, 4 + seed % 4, seed, round_trip=seed % 2 == 0))
            assert_proven(instance, solve(instance, "exact", warm=0.0), best_prize(instance))


def test_equal_to_enumeration_on_eight_and_nine_nodes() -> None:
    for family in FAMILIES:
        for seed in range(8):
            instance = small_instance(family, 8 + seed % 2, seed, round_trip=seed // 2 % 2 == 0)
            assert_proven(instance, solve(instance, "exact", seed=seed), solve(instance, "enumerate").prize)


@given(small_instances(max_size=6))
@settings(max_examples=60)
def test_equal_to_the_oracle_on_any_instance(instance: Instance) -> None:
    assert_proven(instance, solve(instance, "exact", MaxSeconds(60)), best_prize(instance))


def bare_tree(instance: Instance, lazy: bool) -> Run:
    """A run of the tree alone: no warm start, no cuts of a root, nothing ruled out."""
    run = Run(instance, MaxSeconds(60))
    offer_trivial(run)
    model = reduce(instance)
    nothing = np.zeros(model.size, dtype=bool)
    links = np.arange(len(model.tail))
    root = Root(float("inf"), [], links, nothing, nothing, links, np.zeros(len(links)), float("inf"))
    separators = [] if lazy else make_separators(model)
    assert Tree(model, root, separators, run).solve()
    return run


@pytest.mark.parametrize("lazy", [False, True])
def test_the_tree_alone_is_exact(lazy: bool) -> None:
    for instance in [*all_families(count=6), *(symmetric(one) for one in all_families(count=3))]:
        assert bare_tree(instance, lazy).best.prize == pytest.approx(best_prize(instance), rel=1e-9)


def test_the_tree_without_separators_enforces_what_it_must() -> None:
    instance = generate(n=16, count=1, seed=2)[0]
    assert bare_tree(instance, lazy=True).best.prize == pytest.approx(solve(instance, "exact").prize)


@pytest.mark.parametrize("costs", ["euclidean", "road", "tmat", "xasy", "manhattan"])
@pytest.mark.parametrize("separate_end", [False, True])
def test_cold_and_warm_agree(costs: str, separate_end: bool) -> None:
    instance = generate(n=20, costs=costs, count=1, seed=7, separate_end=separate_end)[0]
    cold, warm = solve(instance, "exact", warm=0.0), solve(instance, "exact")
    assert cold.status == warm.status == "optimal"
    assert cold.prize == pytest.approx(warm.prize, rel=1e-12)


def test_a_route_at_the_limit_is_found_and_one_above_is_not() -> None:
    """The program's tolerance is a thousand times wider than `check_tour`'s: it must not decide."""
    rng = np.random.default_rng(1)
    for seed in range(30):
        points = rng.random((6, 2))
        costs = Instance.from_coords(points, np.ones(6), 99).costs
        loose = Instance(costs, rng.integers(1, 9, 6), 1e6, 0, 0 if seed % 2 else 5)
        path = [0, *rng.permutation(np.arange(1, 5)).tolist(), loose.end]
        if loose.end == 0:
            path.insert(1, 5)
        total = check_tour(loose, path).cost
        for limit in (total, total * (1 - 0.9e-9), total * (1 - 3e-9), total * (1 - 1e-7), total * (1 - 9e-7)):
            instance = loose.replace(limit=limit)
            assert_proven(instance, solve(instance, "exact", warm=0.0), best_prize(instance))


def test_prizes_of_any_kind() -> None:
    rng = np.random.default_rng(4)
    for seed, family in enumerate(FAMILIES * 3):
        instance = small_instance(family, 6, seed)
        for prizes in (rng.random(6), rng.random(6) * 1e12, rng.random(6) * 1e-12, rng.integers(0, 2**40, 6)):
            changed = instance.replace(prizes=prizes)
            assert_proven(changed, solve(changed, "exact", warm=0.0), best_prize(changed))


def test_a_prize_too_small_to_see_is_not_called_collected() -> None:
    """Beside prizes of no common unit, 1e-12 is below what a linear program tells apart."""
    points = [[0, 0], [1, 0], [0, 1], [5, 5]]
    far = Instance.from_coords(points, [0, np.pi, 1e-12, 1.0], 3.3)
    result = solve(far, "exact")
    assert result.bound >= best_prize(far)
    beyond = Instance.from_coords(points, [0, np.pi, 0, 1e-12], 14)
    assert solve(beyond, "exact").bound >= best_prize(beyond)


def test_stopped_runs_are_honest() -> None:
    instance = generate(n=30, count=1, seed=5)[0]
    truth = solve(instance, "exact")
    assert truth.status == "optimal"
    for steps in (0, 1, 5, 60, 300):
        for warm in (0.0, 0.2):
            result = solve(instance, "exact", MaxSteps(steps), warm=warm)
            assert result.steps <= steps
            assert result.prize <= truth.prize <= result.bound * (1 + 1e-12)
            assert result.status == "stopped" or result.prize == pytest.approx(truth.prize)


def test_a_stop_inside_the_tree_ends_it() -> None:
    """As Ctrl-C does: the criterion turns true while SCIP works."""
    instance = generate(n=30, prizes="distance", count=1, seed=3)[0]
    full = solve(instance, "exact", warm=0.0)
    calls = 0

    def stop(now: Progress) -> bool:
        nonlocal calls
        calls += 1
        return now.steps >= full.steps - 2

    result = solve(instance, "exact", stop, warm=0.0)
    assert calls
    assert result.prize <= full.prize <= result.bound


def test_an_error_inside_scip_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(Tree, "pulse", fail)
    with pytest.raises(KeyError, match="lost"):
        bare_tree(generate(n=12, count=1, seed=1)[0], lazy=False)


def test_a_large_problem_stays_within_its_time() -> None:
    """A step is bounded work, so a few steps end soon; the bound then still holds."""
    instance = generate(n=1000, limit=4, count=1, seed=1)[0]
    result = solve(instance, "exact", MaxSteps(40))
    assert result.prize <= result.bound <= instance.prizes[instance.reachable].sum()


def test_time_limits_reach_the_separators() -> None:
    instance = generate(n=200, count=1, seed=1)[0]
    result = solve(instance, "exact", MaxSeconds(0.3))
    assert result.status == "stopped"
    assert result.prize < result.bound


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingExtra, match=r"exact needs an optional package: pip install 'orienteer\[exact\]'"):
        solve(small_instance("euclidean"), "exact")


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match=r"ExactConfig.warm must be from 0 to 1, got 2"):
        solve(small_instance("euclidean"), "exact", warm=2)


def test_separators_count_what_they_do() -> None:
    instance = generate(n=30, count=1, seed=1)[0]
    model = reduce(instance)
    separators = make_separators(model)
    assert {one.family for one in separators} >= {"components", "logical", "subtour"}
    assert isinstance(separators[0], Components)


class SparseFirst(Exact):
    """Begins with few columns, and always searches the tree on the root's own columns first."""

    few_links, nearest = 0, 1


class Treeless(Exact):
    """Finds every tree too large."""

    most_links = 0


def test_a_search_on_few_links_first_changes_no_answer() -> None:
    """Where many links are left, a tree on the root's columns comes first; its end must not pass for a proof."""
    for instance in all_families(count=8):
        assert_proven(instance, solve(instance, SparseFirst, warm=0.0), best_prize(instance))
    for costs in ("euclidean", "tmat"):
        instance = generate(n=20, costs=costs, count=1, seed=3)[0]
        assert solve(instance, SparseFirst, warm=0.0).prize == pytest.approx(solve(instance, "exact").prize)


def test_too_many_links_for_a_tree_leave_the_root_s_bound(caplog: pytest.LogCaptureFixture) -> None:
    instance = generate(n=30, prizes="distance", count=1, seed=3)[0]
    truth = solve(instance, "exact").prize
    result = solve(instance, Treeless, warm=0.0)
    assert result.prize <= truth <= result.bound
    assert result.status == "stopped"
    assert "too many for a tree" in caplog.text
