"""Times in files: numbers, or times of day such as 09:30 and windows such as 09:00-12:00;14:00-18:00."""

import logging
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from orienteer.data.text import FilePath, comma_hint, is_real, real, shown
from orienteer.model.clock import PER_HOUR, UNITS, Unit
from orienteer.model.errors import BadFile
from orienteer.model.rules import Window
from orienteer.model.spelling import did_you_mean

LAST_SMALL_NUMBER = 1906
"""Spreadsheets count days from 1900: numbers such as 1230, shown as dates, lie before the end of this year."""

DURATION = "hours and minutes such as 1:30"
"""What a duration may be besides a number, for messages."""


@dataclass(frozen=True)
class Daily:
    """A window that holds on every day, in seconds after midnight."""

    opens: int
    closes: int


@dataclass(frozen=True)
class Dotted:
    """A number that looks like a time with a dot, such as 11.30."""

    path: FilePath
    what: str
    text: str
    line: int | None

    @property
    def refused(self) -> BadFile:
        """The error for such a number among times of day."""
        wish = f"{self.what} must be a number or a time such as 09:30, got {shown(self.text)}"
        return BadFile(self.path, f"{wish}: {self._advice}", self.line)

    def warn(self) -> None:
        """Tells in a warning that the number is read as one."""
        logger = logging.getLogger("orienteer")
        logger.warning("%s: %s %s is read as a number: %s", self.path, self.what, shown(self.text), self._advice)

    @property
    def _advice(self) -> str:
        return f"times have a colon, as in {self.text.replace('.', ':')}"


@dataclass
class Times:
    """Reads times, and notes whether one of them was a time of day; these become numbers of the `unit`."""

    path: FilePath
    unit: Unit = "minutes"
    of_day: bool = field(default=False, init=False)
    """Whether a time of day was read."""
    in_unit: bool = field(default=False, init=False)
    """Whether a time of day, or a duration in hours and minutes, was read: then costs must be in the unit."""
    dotted: "Dotted | None" = field(default=None, init=False)
    """The first number that looks like a time with a dot."""
    all_dotted: bool = field(default=True, init=False)
    """Whether all numbers that were read as moments look like times with a dot."""

    def moment(self, text: str, what: str, line: int | None = None) -> float:
        """A time: a number, 09:30 of the first day, or "day 2 09:30"."""
        found = _CLOCK.fullmatch(text.strip())
        if found is None:
            value = self._number(text, what, line, "a time such as 09:30")
            self._note_dot(text.strip(), what, line)
            return value
        self.of_day = True
        return _in_unit(self._seconds(found, what, line) + 86400 * (int(found["day"] or 1) - 1), self.unit)

    def duration(self, text: str, what: str, line: int | None = None) -> float:
        """How long something takes: a number, or hours and minutes such as 1:30."""
        found = _CLOCK.fullmatch(text.strip())
        if found is None or found["day"]:
            return self._number(text, what, line, DURATION)
        return _in_unit(self._seconds(found, what, line, DURATION), self.unit)

    def windows(self, text: str, line: int | None = None) -> list[Window | Daily]:
        """All windows of a text; those in times of day hold every day unless the text says which."""
        return [self._window(part, line) for part in _SEPARATOR.split(text) if part.strip()]

    def window(self, opens: str, closes: str, line: int | None = None) -> list[Window | Daily]:
        """The one window of two texts, of which one may be empty."""
        ends = [_CLOCK.fullmatch(text.strip()) for text in (opens, closes) if text.strip()]
        if not ends:
            return []
        if all(found is not None and not found["day"] for found in ends):
            self.of_day = True
            first, last = opens.strip() or "00:00", closes.strip() or "24:00"
            daily = Daily(self._clock(first, "opens", line), self._clock(last, "closes", line))
            self._check_order(daily.opens, daily.closes, first, last, line)
            return [daily]
        first_time = self.moment(opens, "opens", line) if opens.strip() else -math.inf
        last_time = self.moment(closes, "closes", line) if closes.strip() else math.inf
        self._check_order(first_time, last_time, opens, closes, line)
        return [(first_time, last_time)]

    def refuse_metres(self) -> None:
        """Nothing, or where a time was read an error that tells how costs become times; for costs that are metres."""
        if not self.in_unit:
            return
        walk = f"{4500 / PER_HOUR[self.unit]:g}"
        raise BadFile(
            self.path,
            f"times of day need costs in {self.unit}, but lat and lon give metres: give a speed in metres a "
            f"{self.unit.removesuffix('s')}, as --speed {walk}, as speed={walk} in Python, or in the file, as a line "
            f'`# speed = {walk}` above the header of a table or as "speed": {walk} in JSON; or give a matrix',
        )

    def _window(self, text: str, line: int | None) -> Window | Daily:
        pair = _WINDOW.fullmatch(text.strip())
        if pair is None or not (pair["opens"] or pair["closes"]):
            raise BadFile(self.path, f"a window must be like 09:00-12:00 or 540-720, got {shown(text)}", line)
        opens, closes = (f"{pair['day'] or ''}{pair[end]}" if pair[end] else "" for end in ("opens", "closes"))
        return self.window(opens, closes, line)[0]

    def _clock(self, text: str, what: str, line: int | None) -> int:
        found = _CLOCK.fullmatch(text)
        if found is None:
            raise BadFile(self.path, f"{what} must be a time of day, got {shown(text)}", line)
        return self._seconds(found, what, line)

    def _check_order(self, opens: float, closes: float, first: str, last: str, line: int | None) -> None:
        if closes < opens:
            hint = "; past midnight hours go on, such as 26:00" if ":" in first + last else ""
            if hint and ":" not in last:
                hint = f"; times have a colon, as in {_with_colon(last.strip())}"
            raise BadFile(
                self.path, f"a window closes at {last.strip()}, before it opens at {first.strip()}{hint}", line
            )

    def _seconds(self, found: re.Match[str], what: str, line: int | None, wish: str = "a time of day") -> int:
        minutes, seconds = int(found["minutes"]), int(found["seconds"] or 0)
        if minutes > 59 or seconds > 59:
            raise BadFile(self.path, f"{what} must be {wish}, got {shown(found[0])}", line)
        self.in_unit = True
        hours = int(found["hours"])
        if found["half"]:
            if not 1 <= hours <= 12:
                raise BadFile(self.path, f"{what} must be {wish}, got {shown(found[0])}", line)
            hours = hours % 12 + (12 if found["half"] in "pP" else 0)
        return hours * 3600 + minutes * 60 + seconds

    def _number(self, text: str, what: str, line: int | None, other: str) -> float:
        """A number; `other` is what else may stand here, for messages."""
        if not is_real(text.strip()):
            wish = f"{what} must be a number or {other}, got {shown(text)}"
            raise BadFile(self.path, f"{wish}{_date_hint(text)}{comma_hint(self.path, text)}", line)
        return real(self.path, text.strip(), what, line)

    def _note_dot(self, text: str, what: str, line: int | None) -> None:
        dotted = _DOTTED.fullmatch(text)
        self.all_dotted &= dotted is not None
        if dotted is not None and self.dotted is None:
            self.dotted = Dotted(self.path, what, text, line)


def _with_colon(text: str) -> str:
    """The time of day that a number such as 12, 12.3 or 12.30 may have meant, or else an example."""
    hours, _, minutes = text.partition(".")
    dotted = f"{hours}.{minutes.ljust(2, '0')}"
    return dotted.replace(".", ":") if _DOTTED.fullmatch(dotted) else "09:30"


def _date_hint(text: str) -> str:
    """What an error says besides about a date, as a spreadsheet holds it: dates are not read."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return ""
    if int(found["year"]) <= LAST_SMALL_NUMBER:
        return "; the cell holds a number that is shown as a date: enter a time such as 09:30"
    time = found["time"] or "09:30"
    return f"; dates are not read: enter the time alone, {time}, or with the number of its day, day 2 {time}"


def are_windows(text: str) -> bool:
    """Whether a text seems to hold windows, not one time."""
    alone = _TIME_ONLY.fullmatch(text) or _CLOCK.fullmatch(text)
    return alone is None and re.search(r"[-–;|]|\bto\b", text) is not None  # noqa: RUF001


def as_unit(path: FilePath, text: object, line: int | None = None, what: str = "the unit of times") -> Unit:
    """The unit of costs that a text names; `what` is the field, for messages."""
    for unit in UNITS:
        if text == unit:
            return unit
    hint = did_you_mean(text, UNITS) if isinstance(text, str) else ""
    raise BadFile(path, f"{what} must be one of {', '.join(UNITS)}, got {shown(text)}{hint}", line)


def on_days(windows: Iterable[Window | Daily], days: Sequence[int], unit: Unit) -> list[Window]:
    """The windows, those that hold every day on each of these days, counted from 0."""
    found = list[Window]()
    for window in windows:
        if isinstance(window, Daily):
            midnights = [86400 * number for number in days]
            found += [(_in_unit(at + window.opens, unit), _in_unit(at + window.closes, unit)) for at in midnights]
        else:
            found.append(window)
    return found


def _in_unit(seconds: int, unit: Unit) -> float:
    return seconds * PER_HOUR[unit] / 3600


_CLOCK = re.compile(
    r"(?:day\s*(?P<day>[1-9]\d{0,3})\s+)?(?P<hours>\d{1,2}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}))?"
    r"(?:\s*(?P<half>[ap])m)?",
    re.ASCII | re.IGNORECASE,
)
_DATE = re.compile(r"(?P<year>\d{4})-\d{2}-\d{2}(?:[T ](?P<time>\d{2}:\d{2})\S*)?", re.ASCII)
_DOTTED = re.compile(r"([01]?\d|2[0-3])\.[0-5]\d", re.ASCII)
_SEPARATOR = re.compile(r"[;,|]")
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?|[+-]?\d+\.?\d*(?:[eE][+-]?\d+)?"
_TIME_ONLY = re.compile(_TIME, re.ASCII | re.IGNORECASE)
_WINDOW = re.compile(
    rf"(?P<day>day\s*\d+\s+)?(?P<opens>{_TIME})?\s*(?:-|–|to)\s*(?P<closes>{_TIME})?",  # noqa: RUF001
    re.ASCII | re.IGNORECASE,
)
