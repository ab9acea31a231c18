"""Prizes in units: what is whole, what a bound means, what beats a prize."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.exact.units import in_units


@pytest.mark.parametrize(
    ("prizes", "unit"),
    [
        ([0.01, 0.02, 0.57, 1.0], 0.01),
        ([3.0, 6.0, 0.0, 9.0], 3.0),
        ([1e9, 2e9, 3e9], 1e9),
        ([1e-9, 2e-9, 0.0], 1e-9),
        ([0.25, 0.75], 0.25),
        ([0.0, 0.0], 1.0),
        ([5.0], 5.0),
    ],
)
def test_unit_by_hand(prizes: list[float], unit: float) -> None:
    units = in_units(np.array(prizes))
    assert units.whole
    assert units.unit == pytest.approx(unit, rel=1e-12)
    assert np.allclose(units.prizes * units.unit, prizes, rtol=1e-12, atol=0)


def test_prizes_without_a_unit_are_shares_of_the_largest() -> None:
    units = in_units(np.array([np.pi, np.e, 1e-12]))
    assert not units.whole
    assert units.prizes.tolist() == [1.0, np.e / np.pi, 0.0]
    assert units.hidden == 1e-12


@given(
    st.lists(st.integers(0, 100_000), min_size=1, max_size=30), st.sampled_from([1.0, 10.0, 100.0, 1000.0]), st.data()
)
def test_bounds_and_what_beats_them(numbers: list[int], scale: float, data: st.DataObject) -> None:
    """A bound of k units is worth at least any route of k units; a route beats a prize exactly if it has more."""
    prizes = np.array(numbers) / scale
    units = in_units(prizes)
    assert units.whole
    chosen = np.array([data.draw(st.booleans()) for _ in numbers])
    prize, count = float(prizes[chosen].sum()), float(units.prizes[chosen].sum())
    assert units.bound(count) >= prize
    assert units.bound(count + 0.9) == pytest.approx(prize, rel=1e-9, abs=1e-9)
    assert units.beats(prize) == pytest.approx(count + 1, abs=1e-9)
