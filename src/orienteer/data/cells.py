"""A value of a table or of a JSON object, read as what its column says, with errors that name the field or the line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from orienteer.data.text import FilePath, real, shown
from orienteer.data.times import Daily, Times
from orienteer.model.errors import BadFile
from orienteer.model.numbers import EXACT_INTEGERS
from orienteer.model.rules import Window

NO_VALUE = object()
"""The value of a cell with a formula for which the spreadsheet keeps no value; to read it is an error."""

WITHOUT_VALUE = "holds a formula without a value: open the file in a spreadsheet program and save it"
"""How the error goes on that names such a cell."""

YES, NO = ("yes", "y", "true", "1", "x"), ("no", "n", "false", "0", "")
"""What a text may say where a column asks yes or no."""


@dataclass(slots=True)  # not frozen: a table makes many, and these are made twice as fast
class Cell:
    """A text, number, truth value, list or None, and what messages call it."""

    path: FilePath
    value: Any
    what: str
    line: int | None = None

    @property
    def text(self) -> str:
        """The value as a text without blanks around it; empty for None."""
        value = self.value
        if value is NO_VALUE:
            raise self.wrong("must have a value")
        if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_INTEGERS:
            value = int(value)  # a spreadsheet's 1 is 1.0
        return "" if value is None else str(value).strip()

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return self.value is None or (isinstance(self.value, str) and not self.value.strip())

    def wrong(self, wish: str) -> BadFile:
        """The error that names the field, the wish and the value."""
        if self.value is NO_VALUE:
            return BadFile(self.path, f"{self.what} {WITHOUT_VALUE}", self.line)
        if self.empty and self.line is not None:
            return BadFile(self.path, f"{self.what} {wish}, but the cell is empty", self.line)
        return BadFile(self.path, f"{self.what} {wish}, got {shown(self.value)}", self.line)

    def number(self, texts: bool = True) -> float:
        """A finite number; with `texts` it may be spelt as a text."""
        if is_number(self.value):
            return float(self.value)
        if not isinstance(self.value, str) or not texts or (self.empty and self.line is not None):
            raise self.wrong(f"must be a number{_reason(self.value)}")
        return real(self.path, self.text, self.what, self.line)

    def amount(self) -> float:
        """A finite number, not below zero."""
        return self._not_negative(self.number())

    def degrees(self, most: float) -> float:
        """A number from -most to most."""
        value = self.number()
        if abs(value) > most:
            wish = f"{self.what} must be from -{most} to {most} degrees"
            raise BadFile(self.path, f"{wish}, got {value:g}", self.line)
        return value

    def yes(self) -> bool:
        """Whether it says yes."""
        if not self.is_yes_or_no:
            raise self.wrong("must be yes or no")
        return self.text.lower() in YES

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it says yes or no, in one of the ways to say so."""
        return not isinstance(self.value, (list, dict)) and self.text.lower() in YES + NO

    def moment(self, times: Times) -> float:
        """A time."""
        return times.moment(self.value, self.what, self.line) if isinstance(self.value, str) else self.number()

    def duration(self, times: Times) -> float:
        """How long something takes, not below zero."""
        if isinstance(self.value, str):
            return self._not_negative(times.duration(self.value, self.what, self.line))
        return self.amount()

    def span(self, times: Times) -> float:
        """A number, or hours and minutes such as "8:00"; no other text."""
        timed = isinstance(self.value, str) and ":" in self.value
        return self.duration(times) if timed else self.number(texts=False)

    def windows(self, times: Times) -> Sequence[Window | Daily] | None:
        """The windows of a text, of a pair [opens, closes] or of a list of pairs; None where there are none."""
        if self.empty:
            return None
        if isinstance(self.value, str):
            return self.named(times, times.windows, self.value) or None
        if not isinstance(self.value, list) or not self.value:
            raise self.wrong("must be a pair [opens, closes], a list of pairs, or a text")
        pairs = self.value if isinstance(self.value[0], list) else [self.value]
        return [self._pair(pair, times) for pair in pairs]

    def named(self, times: Times, read: Any, *texts: str) -> Any:
        """What `read` of the times makes of texts; errors of JSON name the field, those of a table have the line."""
        noted = times.dotted
        try:
            found = read(*texts, self.line)
        except BadFile as error:
            if not self._prefix:
                raise
            raise BadFile(self.path, f"{self._prefix}{error.message}") from error
        if times.dotted is not None and noted is None:
            times.dotted = replace(times.dotted, what=f"{self._prefix}{times.dotted.what}")
        return found

    @property
    def _prefix(self) -> str:
        """What begins a message that does not name the field, where there is no line."""
        return f"{self.what}: " if self.line is None and self.what else ""

    def _pair(self, pair: Any, times: Times) -> Window | Daily:
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadFile(self.path, f"{self.what} must have pairs [opens, closes], got {shown(pair)}", self.line)
        if any(isinstance(time, str) for time in pair) and all(time is None or isinstance(time, str) for time in pair):
            found: list[Window | Daily] = self.named(times, times.window, pair[0] or "", pair[1] or "")
            if not found:
                raise BadFile(self.path, f"{self.what} must have a time in each pair, got {shown(pair)}", self.line)
            return found[0]
        opens, closes = (None if time is None else Cell(self.path, time, self.what).moment(times) for time in pair)
        return -math.inf if opens is None else opens, math.inf if closes is None else closes

    def _not_negative(self, value: float) -> float:
        if value < 0:
            raise self.wrong("must not be negative")
        return value


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float holds."""
    return type(value) is float or (type(value) is int and abs(value) <= EXACT_INTEGERS)


def _reason(value: Any) -> str:
    return " of at most 2**53" if type(value) is int else ""
