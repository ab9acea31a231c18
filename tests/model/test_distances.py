"""Distances worked out by hand from the formulas' definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer import InvalidInstance
from orienteer.model.distances import EARTH_RADIUS, METRICS, TSPLIB_METRICS, measured_by, pairwise
from orienteer.model.instance import distances

HAND_CHECKED = [
    ("EUC_2D", (0, 0), (3, 4), 5),
    ("EUC_2D", (0, 0), (1, 1), 1),  # 1.414
    ("EUC_2D", (0, 0), (1, 2.4), 3),  # exactly 2.6
    ("EUC_2D", (0, 0), (2.5, 0), 3),  # halves go up, also from even numbers
    ("EUC_2D", (-1, 0), (0.4, 0), 1),
    ("CEIL_2D", (0, 0), (3, 4), 5),
    ("CEIL_2D", (0, 0), (1, 1), 2),
    ("CEIL_2D", (0, 0), (0.25, 0), 1),
    ("ATT", (0, 0), (3, 1), 1),  # sqrt(10 / 10)
    ("ATT", (0, 0), (10, 0), 4),  # sqrt(10) = 3.162: 3 would be below
    ("ATT", (0, 0), (20, 10), 8),  # sqrt(50) = 7.071
    ("ATT", (0, 0), (9, 8), 4),  # sqrt(14.5) = 3.808: 4 is not below
    ("MAN_2D", (0, 0), (1.2, -1.2), 2),
    ("MAX_2D", (0, 0), (1.2, -2.6), 3),
    ("GEO", (0.0, 0.0), (0.0, 90.0), 10020),  # a quarter of the equator: 10019.15, and one, cut
    ("GEO", (0.0, 0.0), (0.30, 0.0), 56),  # thirty minutes: 55.66
    ("GEO", (14.55, 0.0), (15.0, 0.0), 10),  # five minutes: 9.28; the nearest integer degree would make it 45
    ("GEO", (-0.30, 10.0), (0.30, 10.0), 112),  # a degree across the equator: 111.32
    ("GEO", (5.0, 5.0), (5.0, 5.0), 1),  # two nodes at one place
]


@pytest.mark.parametrize(("metric", "here", "there", "wish"), HAND_CHECKED)
def test_tsplib(metric: str, here: tuple[float, float], there: tuple[float, float], wish: int) -> None:
    table = pairwise(np.array([here, there], dtype=float), TSPLIB_METRICS[metric])
    assert table.tolist() == [[0, wish], [wish, 0]]


def test_great_circles() -> None:
    places = np.array([[0.0, 0.0], [1.0, 0.0], [180.0, 0.0], [77.0, 90.0], [-120.0, 90.0]])
    table = pairwise(places, METRICS["great_circle"])
    assert table[0, 1] == pytest.approx(math.pi * EARTH_RADIUS / 180)
    assert table[0, 2] == pytest.approx(math.pi * EARTH_RADIUS)
    assert table[0, 3] == pytest.approx(math.pi * EARTH_RADIUS / 2)
    assert table[3, 4] == pytest.approx(0, abs=1e-6)  # all meridians meet at the pole


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=5))
def test_blocks_agree_with_the_core(points: list[tuple[float, float]]) -> None:
    coords = np.array(points)
    for metric in ("euclidean", "manhattan"):
        table = pairwise(coords, METRICS[metric])
        assert np.array_equal(table, distances(coords, metric))
        assert measured_by(table, coords, METRICS[metric])


def test_many_blocks() -> None:
    coords = np.random.default_rng(1).random((1200, 2))  # several blocks
    table = pairwise(coords, METRICS["euclidean"])
    assert np.array_equal(table, distances(coords))
    assert measured_by(table, coords, METRICS["euclidean"])
    table[1100, 3] += 1
    assert not measured_by(table, coords, METRICS["euclidean"])


def test_overflow_is_an_error_and_no_missing_way() -> None:
    coords = np.array([[0.0, 0.0], [1e300, 1e300]])
    with pytest.raises(InvalidInstance, match="coords 0 and 1 are too far apart"):
        pairwise(coords, METRICS["euclidean"])
    assert not measured_by(np.full((2, 2), np.inf), coords, METRICS["euclidean"])
