"""What the optimum cannot depend on, and how it must move; judged with the enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import shuffled, small_instances
from oracle import best_prize
from orienteer import Instance, solve


def optimum(instance: Instance) -> float:
    result = solve(instance, "enumerate")
    assert result.status == "optimal"
    return result.prize


@given(small_instances(max_size=6))
def test_enumeration_agrees_with_the_oracle(instance: Instance) -> None:
    assert optimum(instance) == pytest.approx(best_prize(instance))


@given(small_instances(max_size=7), st.integers(0, 99))
def test_numbering_does_not_matter(instance: Instance, seed: int) -> None:
    assert optimum(shuffled(instance, seed)) == pytest.approx(optimum(instance))


@given(small_instances(max_size=7), st.floats(1, 3))
def test_a_higher_limit_never_hurts(instance: Instance, factor: float) -> None:
    assert optimum(instance.replace(limit=instance.limit * factor)) >= optimum(instance) - 1e-12


@given(small_instances(max_size=7))
def test_going_backwards_is_worth_the_same(instance: Instance) -> None:
    back = instance.replace(costs=instance.costs.T, start=instance.end, end=instance.start)
    assert optimum(back) == pytest.approx(optimum(instance))


@settings(max_examples=50)
@given(small_instances(max_size=7), st.integers(0, 6))
def test_a_higher_prize_never_hurts(instance: Instance, node: int) -> None:
    prizes = instance.prizes.copy()
    prizes[node % instance.size] += 1
    richer = optimum(instance.replace(prizes=prizes))
    assert optimum(instance) - 1e-12 <= richer <= optimum(instance) + 1 + 1e-12


@settings(max_examples=50)
@given(small_instances(max_size=6))
def test_units_do_not_matter(instance: Instance) -> None:
    """Powers of two scale without rounding."""
    scaled = instance.replace(costs=instance.costs * 8, limit=instance.limit * 8, prizes=instance.prizes / 4)
    assert optimum(scaled) == pytest.approx(optimum(instance) / 4)


def test_a_node_of_no_use_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    points, prizes = rng.random((6, 2)), rng.random(6)
    alone = optimum(Instance.from_coords(points, prizes, 2))
    beside = optimum(Instance.from_coords([*points, [9, 9]], [*prizes, 5], 2))
    assert beside == alone
