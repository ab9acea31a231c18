"""Times in files: what is written as a time of day is read as that time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer import BadFile
from orienteer.data.times import Daily, Times, on_days
from orienteer.model.clock import UNITS, Unit, time_of_day

PER_MINUTE = {"seconds": 60.0, "minutes": 1.0, "hours": 1 / 60}


@given(minutes=st.integers(0, 10**5), unit=st.sampled_from(UNITS))
def test_a_time_of_day_is_read_as_it_was_written(minutes: int, unit: Unit) -> None:
    value = minutes * PER_MINUTE[unit]
    times = Times("file", unit)
    assert times.moment(time_of_day(value, unit), "opens") == pytest.approx(value, rel=1e-12)
    assert times.of_day


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("9:30", 570),
        ("09:30:30", 570.5),
        ("9:30 am", 570),
        ("12:00 AM", 0),
        ("12:15pm", 735),
        ("11:59 PM", 1439),
        ("26:00", 1560),
        ("day 3 00:30", 2910),
        (" 540.5 ", 540.5),
        ("-20", -20),
    ],
)
def test_times(text: str, minutes: float) -> None:
    times = Times("file")
    assert times.moment(text, "opens") == minutes
    assert times.of_day == (":" in text)


@pytest.mark.parametrize("text", ["9:3", "9:60", "24:00:61", "13:00 pm", "0:30 am", "noon", "", "day 0 09:00", "1:2:3"])
def test_no_times(text: str) -> None:
    with pytest.raises(BadFile):
        Times("file").moment(text, "opens")


def test_durations_are_no_times_of_day() -> None:
    times = Times("file")
    assert times.duration("1:30", "service") == 90
    assert (times.of_day, times.in_unit) == (False, True)


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("09:00-12:00", [(540, 720), (1980, 2160)]),
        ("9:00 am to 12:00 pm; day 2 14:00-15:00", [(540, 720), (1980, 2160), (2280, 2340)]),
        ("-09:00", [(0, 540), (1440, 1980)]),
        ("17:00-", [(1020, 1440), (2460, 2880)]),
        ("540-720", [(540, 720)]),
        ("-5--1 | 3-4.5", [(-5, -1), (3, 4.5)]),
        ("", []),
    ],
)
def test_windows_of_two_days(text: str, windows: list[tuple[float, float]]) -> None:
    """Windows in times of day hold on both days, the others once."""
    times = Times("file")
    found = times.windows(text)
    assert on_days(found, [0, 1], times.unit) == windows
    assert any(isinstance(window, Daily) for window in found) == (":" in text)
