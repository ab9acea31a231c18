"""Labels: where there is room, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.plot.labels import Clutter, Label, _cross, place_labels

PAGE = (0.0, 0.0, 100.0, 100.0)


def test_the_right_side_is_the_best() -> None:
    assert place_labels([Label((50, 50), 4, (20, 8))], Clutter(PAGE)) == [pytest.approx((55.2, 46, 75.2, 54))]


def test_a_line_on_the_right_sends_a_label_to_the_left() -> None:
    clutter = Clutter(PAGE)
    clutter.add_path(np.array([[60.0, 0], [60, 100]]))
    (box,) = place_labels([Label((50, 50), 4, (20, 8))], clutter)
    assert box is not None
    assert box[2] < 50


def test_who_has_least_room_chooses_first() -> None:
    """The first label has all sides, the second, in the corner, only the place that the first would take."""
    clutter = Clutter((0, 0, 60, 12))
    boxes = place_labels([Label((5, 6), 2, (20, 8)), Label((34, 6), 2, (20, 8))], clutter)
    assert all(box is not None for box in boxes)


def test_no_room_no_label() -> None:
    clutter = Clutter(PAGE)
    clutter.add_discs(np.array([[50.0, 50]]), np.array([49.0]))
    assert place_labels([Label((50, 50), 4, (20, 8))], clutter) == [None]
    assert place_labels([Label((50, 50), 4, (200, 8))], Clutter(PAGE)) == [None]


points = st.tuples(st.floats(-10, 10), st.floats(-10, 10))


@given(points, points)
def test_lines_through_a_box(one: tuple[float, float], other: tuple[float, float]) -> None:
    """Against many points along the line."""
    box = (-2.0, -1.0, 3.0, 2.0)
    along = np.array(one) + np.linspace(0, 1, 501)[:, None] * (np.array(other) - np.array(one))
    inner = (along[:, 0] > -2) & (along[:, 0] < 3) & (along[:, 1] > -1) & (along[:, 1] < 2)
    crosses = bool(_cross(np.array([one]), np.array([other]), box)[0])
    assert crosses or not inner.any()
    wide = (along[:, 0] > -2.05) & (along[:, 0] < 3.05) & (along[:, 1] > -1.05) & (along[:, 1] < 2.05)
    assert wide.any() or not crosses
