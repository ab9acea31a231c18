"""Times of day: costs in seconds, minutes or hours after midnight of the first day, written as people write them."""

import math
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from orienteer.model.instance import Instance

Unit = Literal["seconds", "minutes", "hours"]
"""What costs are counted in where times are times of day."""

UNITS: tuple[Unit, ...] = get_args(Unit)

PER_HOUR: dict[Unit, float] = {"seconds": 3600.0, "minutes": 60.0, "hours": 1.0}

DECIMALS: dict[Unit, int] = {"seconds": 0, "minutes": 1, "hours": 2}
"""How many decimals legs and waits have at most beside times of day, which are shown to the minute."""


def day_length(unit: Unit) -> float:
    """How much of the unit a day has."""
    return 24 * PER_HOUR[unit]


def time_of_day(value: float, unit: Unit) -> str:
    """A time such as "09:05", to the nearest minute; from the second day on "day 2 09:05"."""
    minutes = round(value / PER_HOUR[unit] * 60)
    day, rest = divmod(minutes, 24 * 60)
    text = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"day {day + 1} {text}" if day else text


def written_time(instance: "Instance", value: float) -> str:
    """A time as the problem's times were written: as a time of day, or as a number of at most six digits."""
    if instance.clock is None or math.isinf(value):
        return f"{value:.6g}"
    return time_of_day(value, instance.clock)
