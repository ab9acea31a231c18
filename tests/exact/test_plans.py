"""Proofs for problems with rules: equal to the enumeration of all plans, and silent where nothing is proven."""

import numpy as np
import pytest

from orienteer import Budget, Instance, MaxSteps, Result, check_plan, solve
from orienteer.data.generate import generate
from orienteer.exact.labels.single import OneRoute
from orienteer.exact.solve import FEW_LABELS
from orienteer.search.run import Run
from orienteer.search.stop import Never
from plan_oracle import best_plan, random_instance, subsets

CHOICES = ("service", "free end", "required", "groups", "budgets")


def assert_true(instance: Instance, result: Result, truth: float | None) -> None:
    """No plan above the truth, no bound below it, and no proof that does not hold."""
    if result.plan is not None:
        assert truth is not None
        assert check_plan(instance, [tour.nodes for tour in result.routes]) == result.plan
        assert result.prize <= truth * (1 + 1e-12)
    assert truth is None or result.bound >= truth * (1 - 1e-12)
    if result.status == "optimal":
        assert result.prize == pytest.approx(truth, rel=1e-9)
    assert result.status != "infeasible" or truth is None


@pytest.mark.parametrize("features", subsets(CHOICES)[1:])
def test_branch_and_cut_proves_the_truth(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(7)
    for count in range(20):
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        result = solve(instance, "exact", warm=0.2 * (count % 2))
        assert_true(instance, result, truth)
        assert result.status == ("infeasible" if truth is None else "optimal")


@pytest.mark.parametrize("features", [("windows", *more) for more in subsets(CHOICES)])
def test_labels_prove_the_truth(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        result = solve(instance, "exact", warm=0.0)
        assert_true(instance, result, truth)
        assert result.status == ("infeasible" if truth is None else "optimal")


@pytest.mark.parametrize("features", [("windows", *more) for more in subsets(CHOICES)])
def test_labels_prove_the_truth_at_any_prices(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(11)
    for count in range(12):
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        run = Run(instance, Never())
        labels = OneRoute(run, remembered=0)
        if count % 2:
            labels.price(FEW_LABELS)
        else:
            labels.prices[1:-1] = rng.uniform(0.0, 2.0, len(labels.prices) - 2) * labels.profits[1:-1]
        assert truth is None or run.bound >= truth * (1 - 1e-12)
        labels.prove(FEW_LABELS)
        assert run.infeasible == (truth is None)
        assert truth is None or run.prize == run.bound == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("features", [("routes", *more) for more in subsets(("windows", *CHOICES))])
def test_columns_prove_the_truth(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(9)
    for _ in range(8):
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        result = solve(instance, "exact", warm=0.0)
        assert_true(instance, result, truth)
        assert result.status == ("infeasible" if truth is None else "optimal")


@pytest.mark.parametrize("features", [("windows",), ("routes",), ("windows", "required", "routes", "budgets")])
def test_stopped_and_bounded_runs_are_honest(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(10)
    for steps in (0, 1, 2, 3, 5, 8):
        for _ in range(3):
            instance = random_instance(rng, features)
            truth = best_plan(instance)
            assert_true(instance, solve(instance, "exact", MaxSteps(steps), warm=0.0), truth)
            bounded = solve(instance, "lns", MaxSteps(30), bound=True)
            assert_true(instance, bounded, truth)
            assert_true(instance, solve(instance, "lns", MaxSteps(30), prove=True), truth)


@pytest.mark.parametrize(("costs", "n"), [("euclidean", 24), ("tmat", 14)])
def test_labels_agree_with_branch_and_cut(costs: str, n: int) -> None:
    """Windows that are always open change nothing but the method."""
    for seed in range(4):
        plain = generate(n=n, costs=costs, count=1, seed=seed)[0]
        rng = np.random.default_rng(seed)
        groups = [[1, 2, 3], [4, 5]]
        rules = plain.replace(groups=groups, budgets=[Budget("fees", rng.integers(0, 9, n + 1), 30)], required=[7])
        always = rules.replace(windows=dict.fromkeys(range(1, n + 1), (0, 1e6)))
        first, second = solve(rules, "exact"), solve(always, "exact", warm=0.0)
        assert (first.status, second.status) == ("optimal", "optimal")
        assert first.prize == pytest.approx(second.prize, rel=1e-9)


def test_labels_on_places_at_one_spot() -> None:
    """Going round them takes no time, and would collect without end."""
    points = [[0.0, 0.0]] + [[1.0, 0.0]] * 12
    instance = Instance.from_coords(points, np.arange(13), 2, windows=dict.fromkeys(range(1, 13), (0, 5)))
    result = solve(instance, "exact", warm=0.0)
    assert (result.status, result.prize) == ("optimal", sum(range(13)))


def test_a_proof_that_there_is_no_plan() -> None:
    """Each required place is within reach alone, and both together are not."""
    line = Instance.from_coords([[0, 0], [5, 0], [-5, 0]], [0, 1, 1], 12)
    result = solve(line.replace(required=[1, 2]), "exact")
    assert (result.status, result.plan) == ("infeasible", None)
    for asked, status in (("bound", "none found"), ("prove", "infeasible")):
        again = solve(line.replace(required=[1, 2]), "lns", MaxSteps(100), **{asked: True})
        assert (again.status, again.solver) == (status, "lns")


def test_a_budget_met_exactly_and_missed_by_little() -> None:
    """Ten fees of 0.1 are 1 but for rounding: the judge's tolerance decides, not the program's."""
    points = np.random.default_rng(3).random((11, 2))
    fees = np.array([0.0] + [0.1] * 10)
    for most, visits in ((1.0, 10), (1.0 - 1e-10, 10), (1.0 - 1e-8, 9), (0.9999999, 9)):
        instance = Instance.from_coords(points, np.ones(11), 99, budgets=[Budget("fees", fees, most)])
        result = solve(instance, "exact")
        assert (result.status, result.prize) == ("optimal", visits + 1)
