"""Times of day as texts."""

import pytest

from orienteer import Instance, InvalidInstance
from orienteer.model.clock import time_of_day, written_time

TWO = Instance([[0, 1], [1, 0]], [0, 1], 9)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "minutes", "00:00"),
        (545, "minutes", "09:05"),
        (545.4, "minutes", "09:05"),
        (545.6, "minutes", "09:06"),
        (1439.7, "minutes", "day 2 00:00"),
        (1440 + 600, "minutes", "day 2 10:00"),
        (9.5, "hours", "09:30"),
        (48, "hours", "day 3 00:00"),
        (3600 * 9 + 20, "seconds", "09:00"),
        (-30, "minutes", "day 0 23:30"),
    ],
)
def test_times_of_day(value: float, unit: str, text: str) -> None:
    assert time_of_day(value, unit) == text
    assert written_time(TWO.replace(clock=unit), value) == text
    assert written_time(TWO, value) == f"{value:g}"


def test_a_clock_has_a_unit_of_time() -> None:
    with pytest.raises(InvalidInstance, match="clock must be one of seconds, minutes, hours, or None, got 'days'"):
        TWO.replace(clock="days")
