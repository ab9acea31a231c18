"""What a plan is worth with a place that it leaves out."""

import math

import numpy as np
import pytest

from orienteer import Instance, MaxSteps, Result, check_plan, solve
from orienteer.search.explain import worth_with

LINE = np.abs(np.subtract.outer(np.arange(-2.0, 3.0), np.arange(-2.0, 3.0)))  # nodes at -2, -1, 0, 1, 2


def test_the_loss_by_a_required_place() -> None:
    """A round trip of 4 from the middle goes to one side, or to one place on each: 6, or 3 with node 0."""
    instance = Instance(LINE, [2.0, 1.0, 0.0, 2.0, 4.0], 4.0, start=2, end=2)
    result = solve(instance, stop=MaxSteps(500))
    assert result.prize == 6.0
    worth = worth_with(instance, result.found, 0, MaxSteps(500))
    assert worth.plan is not None
    assert (worth.change, worth.plan.visited) == (-3.0, {0, 1, 2})
    assert result.explain(0).reason == "limit"


def test_a_plan_that_is_not_the_best_gains() -> None:
    instance = Instance(LINE, [2.0, 1.0, 0.0, 2.0, 4.0], 4.0, start=2, end=2)
    assert worth_with(instance, check_plan(instance, [[2, 1, 2]]), 4, MaxSteps(500)).change == 5.0


def test_a_place_out_of_reach() -> None:
    instance = Instance(LINE, [2.0, 1.0, 0.0, 2.0, 4.0], 3.0, start=2, end=2)
    worth = worth_with(instance, check_plan(instance, [[2, 3, 2]]), 0)
    assert (worth.plan, worth.change) == (None, -math.inf)
    assert "node 0" in worth.why


def test_a_result_from_a_file_needs_its_problem() -> None:
    instance = Instance(LINE, [2.0, 1.0, 0.0, 2.0, 4.0], 4.0, start=2, end=2)
    result = Result.from_json(solve(instance, stop=MaxSteps(500)).to_json())
    assert result.explain(0, instance).node == 0
    with pytest.raises(ValueError, match="explain must be given the instance"):
        result.explain(0)
