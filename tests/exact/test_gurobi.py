"""The exact model solved by Gurobi; only the test of the message about a missing package needs no gurobipy."""

import sys

import pytest

from instances import all_families, small_instance
from oracle import best_prize
from orienteer import MissingExtra, OrienteerError, solve
from orienteer.data.generate import generate
from orienteer.exact.gurobi import TOO_LARGE


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(MissingExtra, match=r"gurobi needs an optional package: pip install 'orienteer\[gurobi\]'"):
        solve(small_instance("euclidean"), "gurobi")


def test_equal_to_the_oracle() -> None:
    pytest.importorskip("gurobipy")
    for instance in all_families(count=8):
        result = solve(instance, "gurobi", warm=0.0)
        assert result.status == "optimal"
        assert result.prize == pytest.approx(best_prize(instance), rel=1e-9)


def test_equal_to_exact_at_the_size_of_the_paper() -> None:
    pytest.importorskip("gurobipy")
    for costs in ("euclidean", "road"):
        instance = generate(n=20, costs=costs, count=1, seed=3)[0]
        result = solve(instance, "gurobi")
        assert result.status == "optimal"
        assert result.prize == pytest.approx(solve(instance, "exact").prize)


def test_a_model_beyond_the_licence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever licence there is here, the error is the one that the small licence gives."""
    api = pytest.importorskip("gurobipy")

    def refuse(*given: object) -> None:
        raise api.GurobiError(TOO_LARGE, "Model too large for size-limited license")

    monkeypatch.setattr(api.Model, "optimize", refuse)
    with pytest.raises(OrienteerError, match="the licence does not cover 31 nodes and 465 links"):
        solve(generate(n=30, count=1, seed=3)[0], "gurobi", warm=0.0)
