"""Legs computed from points beside the tables of `model/distances.py`, and the nearest points of a tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer.kernel import kernel
from orienteer.kernel.legs import Costs, Points, leg, point_leg
from orienteer.kernel.tree import nearest_points
from orienteer.kernel.types import Floats
from orienteer.lns.large.ground import KINDS, _placed
from orienteer.model.distances import METRICS, TSPLIB_METRICS, Distances, pairwise

ALL = {metric.__name__: metric for metric in (*METRICS.values(), *TSPLIB_METRICS.values())}


@kernel
def _table(costs: Costs, size: int) -> Floats:
    table = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            table[i, j] = leg(costs, i, j)
    return table


def _points(name: str, coords: Floats, divisor: float = 1.0) -> Points:
    x, y, _ = _placed(Distances(coords, ALL[name]), np.arange(len(coords)))
    return Points(x, y, KINDS[name], divisor)


@pytest.mark.parametrize("name", ALL)
def test_computed_legs_are_those_of_the_table(name: str) -> None:
    coords = np.random.default_rng(1).uniform(-60, 60, (40, 2))
    table = pairwise(coords, ALL[name])
    points = _points(name, coords)
    np.testing.assert_allclose(_table(points, 40), table, rtol=1e-12, atol=1e-6 if name == "great_circle" else 0)
    np.testing.assert_array_equal(_table(table, 40), table)
    assert point_leg(points, 3, 7) == pytest.approx(table[3, 7])


def test_a_divisor_divides_all_legs() -> None:
    coords = np.random.default_rng(2).random((6, 2))
    np.testing.assert_allclose(_table(_points("euclidean", coords, 4.0), 6), pairwise(coords, ALL["euclidean"]) / 4)


def test_every_metric_has_a_kind() -> None:
    assert set(KINDS) == set(ALL)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(2, 3), st.integers(0, 5), st.booleans())
def test_a_tree_finds_what_a_table_finds(size: int, count: int, axes: int, seed: int, on_grid: bool) -> None:
    """On a grid many points are at equal distances, and some coincide."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, (size, axes)).astype(float) if on_grid else rng.random((size, axes))
    found = nearest_points(points, count)
    square = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(square, np.inf)
    expected = np.argsort(square, axis=1, kind="stable")[:, : min(count, size - 1)]
    np.testing.assert_allclose(
        np.take_along_axis(square, found, axis=1), np.take_along_axis(square, expected, axis=1), rtol=1e-12
    )
    assert all(len(set(row)) == len(row) for row in found.tolist())
