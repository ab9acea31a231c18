"""The contract of solvers for problems with rules: every registered solver, on every set of the features it handles.

The oracle tries all plans of a tiny problem. Runs are bounded by steps, so that they are the same on every machine.
"""

import pickle

import numpy as np
import pytest

from orienteer import (
    REGISTRY,
    InfeasibleTour,
    Instance,
    InvalidInstance,
    MaxSteps,
    MissingExtra,
    Result,
    Unsupported,
    check_plan,
    solve,
    solve_batch,
)
from orienteer.model.rules import FEATURES, Feature
from orienteer.search.registry import make_solver, solvers_for
from plan_oracle import Problem, best_plan, random_instance, slow_check, subsets

CASES = 520
"""Random problems for each solver, shared by all sets of the features that it handles; at least two a set."""
FEW = 20
ENOUGH = MaxSteps(60)


@pytest.fixture(params=sorted(REGISTRY))
def name(request: pytest.FixtureRequest) -> str:
    """Each registered solver in turn, but for those whose optional package is not installed."""
    try:
        make_solver(request.param)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    return str(request.param)


@pytest.fixture
def handled(name: str) -> list[Feature]:
    """The features that the solver handles."""
    return [feature for feature in FEATURES if feature in make_solver(name).handles]


@pytest.fixture
def patience(name: str) -> float:
    """A factor on the number of cases: the laboratory's solvers, networks in torch and tours, are slow."""
    return 0.0 if ".lab." in REGISTRY[name].target else 1.0


def test_never_better_than_the_oracle(name: str, handled: list[Feature], patience: float) -> None:
    sets = subsets(handled)[1:]
    for features in sets:
        rng = np.random.default_rng([11, *map(len, features)])
        for seed in range(max(1, int(patience * max(2, CASES // len(sets))))):
            instance = random_instance(rng, features)
            assert_honest(instance, solve(instance, name, ENOUGH, seed=seed))


@pytest.mark.parametrize("name", ["enumerate", "exact", "gurobi"], indirect=True)
def test_proofs_come_to_an_end(name: str, handled: list[Feature]) -> None:
    """Without a stop criterion the best plan is proven, or that there is none."""
    sets = subsets(handled)[1:]
    for features in sets:
        rng = np.random.default_rng([18, *map(len, features)])
        for _ in range(max(2, CASES // 4 // len(sets))):
            instance = random_instance(rng, features)
            result = solve(instance, name)
            assert_honest(instance, result)
            assert result.status in ("optimal", "infeasible"), Problem.of(instance)


def test_larger_problems(name: str, handled: list[Feature], patience: float) -> None:
    """Of more nodes than the oracle can judge: the twin of the judge does. The enumeration is for tiny problems."""
    rng = np.random.default_rng(17)
    sets = subsets(handled)[1:]
    for features in sets[:: 1 + len(sets) // FEW] if patience and name != "enumerate" else ():
        instance = random_instance(rng, features, size=25)
        result = solve(instance, name, ENOUGH, seed=3)
        for plan in [result.plan] if result.plan else []:
            verdict = slow_check(instance, [tour.nodes for tour in plan.routes])
            assert not verdict.broken, (Problem.of(instance), plan)
            assert plan.prize == pytest.approx(verdict.prize)


def test_other_rules_are_refused_by_name(name: str, handled: list[Feature]) -> None:
    rng = np.random.default_rng(12)
    for feature in set(FEATURES).difference(handled):
        instance = random_instance(rng, [feature])
        able = solvers_for(frozenset([feature]))
        assert able
        assert name not in able
        for run in (lambda one: solve(one, name, ENOUGH), lambda one: solve_batch([one], name, ENOUGH)):
            with pytest.raises(Unsupported) as caught:
                run(instance)
            assert str(caught.value) == f"{name} has no {feature}; {', '.join(able)} have"


def test_same_seed_same_answer(name: str, handled: list[Feature], patience: float) -> None:
    """No more steps than allowed, too; the problem is left alone, and the result survives JSON."""
    rng = np.random.default_rng(13)
    for seed in range(1 + int(FEW * patience)):
        instance = random_instance(rng, handled)
        before = pickle.loads(pickle.dumps(instance))
        one, two = (solve(instance, name, ENOUGH, seed=seed) for _ in range(2))
        assert (one.plan, one.status, one.steps, one.bound) == (two.plan, two.status, two.steps, two.bound)
        assert one.steps <= ENOUGH.steps
        assert instance == before
        assert Result.from_json(one.to_json()) == one
        prizes = [moment.prize for moment in one.trace]
        assert prizes == sorted(set(prizes))
        assert one.plan is None or prizes[-1] == one.prize
        none = solve(instance, name, MaxSteps(0), seed=seed)
        assert none.steps == 0
        assert_honest(instance, none)


def test_a_plan_to_begin_with_is_never_made_worse(name: str, handled: list[Feature], patience: float) -> None:
    rng = np.random.default_rng(14)
    begun = 0
    for seed in range(1 + int(FEW * patience)):
        instance = random_instance(rng, [feature for feature in handled if feature not in ("groups", "budgets")])
        found = solve(instance, name, ENOUGH, seed=seed)
        if found.plan is None:
            continue
        begun += 1
        routes = [list(tour.nodes) for tour in found.routes]
        for steps, initial in ((0, found), (0, routes), (5, found.plan)):
            again = solve(instance, name, MaxSteps(steps), seed=seed + 1, initial=initial)
            assert again.prize >= found.prize
            assert_honest(instance, again)
        with pytest.raises(InfeasibleTour, match=r"the plan has \d routes, the problem \d"):
            solve(instance, name, ENOUGH, initial=[*routes, routes[0]])
    assert begun


def test_batches_hold_any_problems(name: str, handled: list[Feature], patience: float) -> None:
    rng = np.random.default_rng(15)
    sets = subsets(handled)
    instances = [random_instance(rng, features) for features in sets[:: 1 + len(sets) // FEW]]
    if not patience:
        instances = instances[:2]
    for seed, (instance, result) in enumerate(zip(instances, solve_batch(instances, name, ENOUGH), strict=True)):
        assert_honest(instance, result)
        assert (result.solver, result.seed) == (name, seed)


def test_alternatives_are_plans_too(name: str, handled: list[Feature], patience: float) -> None:
    rng = np.random.default_rng(16)
    if make_solver(name).shortest:
        with pytest.raises(ValueError, match="visits every node"):
            solve(random_instance(rng, handled), name, alternatives=2)
        return
    sets = subsets(handled)
    for features in sets[:: 1 + len(sets) // FEW] if patience else sets[-1:]:
        instance = random_instance(rng, features)
        result = solve(instance, name, ENOUGH, alternatives=3)
        assert_honest(instance, result)
        for other in result.alternatives:
            assert not slow_check(instance, [tour.nodes for tour in other.routes]).broken
            assert other.prize <= result.prize
            assert other != result.plan


def test_contradictions_never_reach_a_search(name: str) -> None:
    """A limit given to `solve` is checked with the rules of the problem."""
    instance = Instance(np.ones((4, 4)), np.ones(4), 4, end=3, service=[0, 1, 1, 0])
    assert solve(instance, name, ENOUGH).prize == 3
    with pytest.raises(InvalidInstance, match=r"limit 0\.5 is below 1, the cheapest way from start 0 to end 3"):
        solve(instance, name, ENOUGH, limit=0.5)


def assert_honest(instance: Instance, result: Result) -> None:
    """The plan is feasible and truly told; no better than the truth; statuses claim no more than is true."""
    problem = Problem.of(instance)
    truth = best_plan(problem)
    slack = 1e-9 * max(1.0, truth or 0.0)
    if result.plan is None:
        assert result.status in ("none found", "infeasible"), problem
        assert result.status == "none found" or truth is None, problem
        return
    routes = [tour.nodes for tour in result.routes]
    verdict = slow_check(problem, routes)
    assert truth is not None, (problem, routes)
    assert not verdict.broken, (problem, routes)
    assert (result.prize, result.cost) == pytest.approx((verdict.prize, sum(verdict.costs)))
    assert result.plan == check_plan(instance, routes)
    assert result.status in ("optimal", "stopped")
    assert result.prize <= truth + slack, (problem, routes)
    assert result.bound >= truth - slack, (problem, routes, result.bound)
    assert result.status == "stopped" or result.prize >= truth - slack, (problem, routes)
