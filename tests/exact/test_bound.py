"""A bound beside any solver's answer."""

import itertools
import math
import sys

import pytest

from instances import all_families, small_instance
from oracle import best_prize
from orienteer import MaxSteps, MissingExtra, Progress, check_tour, solve
from orienteer.data.generate import generate


@pytest.mark.parametrize("solver", ["random", "tsili", "lns"])
def test_bounds_hold_and_routes_stay(solver: str) -> None:
    for instance in all_families(count=5):
        plain = solve(instance, solver, MaxSteps(8), seed=3)
        result = solve(instance, solver, MaxSteps(8), seed=3, bound=True)
        assert result.tour == plain.tour
        assert best_prize(instance) * (1 - 1e-12) <= result.bound <= instance.prizes[instance.reachable].sum()
        assert plain.bound == (plain.prize if plain.status == "optimal" else math.inf)
        assert result.status == "stopped" or result.prize == pytest.approx(best_prize(instance))


def test_proofs_come_to_the_end() -> None:
    for instance in all_families(count=5):
        result = solve(instance, "random", seed=3, prove=True, tries=1)
        assert result.status == "optimal"
        assert result.prize == pytest.approx(best_prize(instance), rel=1e-9)
        assert check_tour(instance, result.tour.nodes) == result.tour
        assert result.trace[-1].prize == result.prize
        for before, after in itertools.pairwise(result.trace):
            assert (before.seconds, before.steps) <= (after.seconds, after.steps)
            assert before.prize < after.prize


def test_the_bound_of_the_root_is_close() -> None:
    instance = generate(n=50, count=1, seed=2)[0]
    result = solve(instance, "lns", MaxSteps(3000), bound=True)
    assert result.solver == "lns"
    assert 0 <= result.gap < 0.05
    assert result.bound < instance.prizes.sum() / 1.2


def test_the_exact_solver_needs_no_second_bound() -> None:
    instance = small_instance("euclidean", 7, seed=8)
    assert solve(instance, "exact", bound=True).status == "optimal"
    assert solve(instance, "enumerate", prove=True).solver == "enumerate"


def test_progress_goes_on_from_the_search() -> None:
    heard: list[Progress] = []
    instance = generate(n=20, count=1, seed=2)[0]
    result = solve(instance, "tsili", prove=True, on_progress=heard.append)
    for before, after in itertools.pairwise(heard):
        assert before.seconds <= after.seconds
        assert before.steps <= after.steps
        assert before.prize <= after.prize
        assert before.bound >= after.bound
    assert heard[-1].steps <= result.steps


def test_a_missing_package_is_told_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[exact\]'"):
        solve(small_instance("euclidean"), "tsili", bound=True)
