"""Labels: where there is room, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.plot.labels import Clutter, Label, _cross, place_far, place_labels

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


def test_a_line_leads_to_a_label_that_has_no_room_beside_its_spot() -> None:
    clutter = Clutter(PAGE)
    clutter.add_discs(np.array([[50.0, 50], [30, 50]]), np.array([4.0, 4]))
    for y in range(30, 71, 5):
        clutter.add_path(np.array([[0.0, y], [100, y]]))
    label = Label((50, 50), 4, (30, 8))
    assert place_labels([label], clutter) == [None]
    found = place_far(label, clutter)
    assert found is not None
    box, line = found
    assert line[0].tolist() == [50, 50]
    assert box[1] > 70 or box[3] < 30, "above or below the lines"
    assert not clutter.is_free(box), "put down"


def test_a_label_covers_lines_rather_than_being_left_out() -> None:
    clutter = Clutter(PAGE)
    for place in range(0, 101, 5):
        clutter.add_path(np.array([[0.0, place], [100, place]]))
    assert place_labels([Label((50, 50), 4, (20, 8))], clutter) == [None]
    found = place_far(Label((50, 50), 4, (20, 8)), clutter)
    assert found is not None
    assert found[0] == pytest.approx((55.2, 46, 75.2, 54))
    assert place_far(Label((50, 50), 4, (200, 8)), clutter) is None, "wider than the page"


def test_a_line_to_a_label_keeps_off_other_discs_and_labels() -> None:
    clutter = Clutter(PAGE)
    clutter.add_discs(np.array([[10.0, 10], [50, 10]]), np.array([4.0, 4]))
    assert not clutter.is_clear(np.array([[10.0, 10], [90, 10]]))
    assert clutter.is_clear(np.array([[10.0, 10], [90, 30]]))
    clutter.add_box((60, 20, 70, 40))
    assert not clutter.is_clear(np.array([[10.0, 10], [90, 30]]))


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
