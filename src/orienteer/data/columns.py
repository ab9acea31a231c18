"""The columns of a table of points: which are read under which names, and a warning about columns that are not read."""

import logging
import re
from collections.abc import Container, Sequence
from typing import Any

from orienteer.data.text import FilePath, shown
from orienteer.model.errors import BadFile
from orienteer.model.spelling import nearest_name

COLUMNS = {
    "name": "name",
    "prize": "prize",
    "score": "prize",
    "profit": "prize",
    "x": "x",
    "y": "y",
    "lat": "lat",
    "latitude": "lat",
    "lon": "lon",
    "lng": "lon",
    "longitude": "lon",
    "service": "service",
    "duration": "service",
    "required": "required",
    "opens": "opens",
    "closes": "closes",
    "windows": "windows",
    "group": "group",
    "avoid": "avoid",
    "start": "start",
    "end": "end",
}
"""The column that each accepted title stands for; capitals do not matter."""

NAMES_ELSEWHERE = ("title", "job", "place", "task", "site", "sight", "customer", "label")
"""Titles that others give to the column of names; they are not read as such, but told where there are no names."""

FLAGS = ("start", "end")
"""Columns that are read only where all cells say yes or no: other tables have times of these names."""

BUDGET = "budget:"
"""How titles of columns of budgets begin."""

MOST_SHOWN = 10
"""How many columns that are not read a warning names."""

ACCEPTED = (
    "name; prize, score or profit; x and y; or lat or latitude and lon, lng or longitude; "
    f"service or duration; required; avoid; start; end; opens, closes, windows; group; {BUDGET}NAME"
)
"""All accepted titles, for messages."""

IDENTIFIERS = ("", "id", "no", "nr", "number", "index", "key")
"""Columns with these names tell rows apart and say nothing about the problem."""


def find_columns(
    path: FilePath, header: Sequence[str], line: int | None, flags: Container[str] = FLAGS, priced: bool = True
) -> dict[str, int]:
    """The place in a row of each column that is read, of `FLAGS` only `flags`; if `priced`, there must be a prize."""
    places: dict[str, int] = {}
    for place, title in enumerate(header):
        column = COLUMNS.get(title.strip().lower())
        if column is None or (column in FLAGS and column not in flags):
            continue
        if column in places:
            raise BadFile(path, f"the header names {column} twice", line)
        places[column] = place
    if priced and "prize" not in places:
        raise BadFile(path, f"{_no_prize(header)}; columns are {ACCEPTED}{_typos(header, places)}", line)
    for pair in ("x", "y"), ("lat", "lon"):
        if len(places.keys() & set(pair)) == 1:
            wish = f"the header needs both {pair[0]} and {pair[1]}; columns are {ACCEPTED}{_typos(header, places)}"
            raise BadFile(path, wish, line)
    if {"x", "lat"} <= places.keys():
        raise BadFile(path, "the header must have x, y or lat, lon, not both", line)
    return places


def warn_of_unused(
    path: FilePath,
    header: Sequence[str],
    places: Container[str],
    rows: Sequence[Sequence[Any]],
    budgets: Container[str] = (),
) -> None:
    """Warns of columns that are not read although they seem to matter; `places` holds the columns that are read.

    `budgets` are the names, in small letters, of columns that are read as budgets.

    A user whose table has opening hours may think that routes respect them. Notes, addresses and row numbers need no
    warning.
    """
    unused = [
        title.strip()
        for place, title in enumerate(header)
        if COLUMNS.get(title.strip().lower()) not in places
        and not title.strip().lower().startswith(BUDGET)
        and title.strip().lower() not in budgets
        and _matters(title.strip(), places, [_text(row[place]) for row in rows])
    ]
    if unused:
        titles = ", ".join([shown(title) for title in unused[:MOST_SHOWN]] + ["..."] * (len(unused) > MOST_SHOWN))
        word = "columns are" if len(unused) > 1 else "column is"
        hint = _typos(unused[:MOST_SHOWN], places)
        message = f"{path}: {len(unused)} {word} not used: {titles}; those that are: {ACCEPTED}{hint}"
        logging.getLogger("orienteer").warning("%s", message)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _no_prize(header: Sequence[str]) -> str:
    if all(_VALUE.fullmatch(title.strip()) for title in header):
        return f"the first row must name the columns, got {shown(', '.join(header))}"
    return f"the header has no column prize, only {shown(', '.join(header))}"


def _typos(titles: Sequence[str], places: Container[str]) -> str:
    """Suggestions for titles that look like misspelt or other titles of columns that the table lacks."""
    near = {title.strip(): _misspelt(title, places) for title in titles}
    found = [f"{name!r} by {title!r}" for title, name in near.items() if name is not None]
    return f"; did you mean {', '.join(found)}?" if found else ""


def _misspelt(title: str, places: Container[str]) -> str | None:
    """The accepted title that a title is like or stands for, of the columns that the table lacks; None if none is."""
    if title.strip().lower() in COLUMNS:
        return None
    if title.strip().lower() in NAMES_ELSEWHERE and "name" not in places:
        return "name"
    return nearest_name(title, [name for name, column in COLUMNS.items() if column not in places])


def _matters(title: str, places: Container[str], cells: Sequence[str]) -> bool:
    """Whether a column says something about the points: it holds numbers, times, yes or no, or has a misspelt title."""
    if title.lower() in IDENTIFIERS or any(
        list(cells) == [str(first + row) for row in range(len(cells))] for first in (0, 1)
    ):
        return False  # names or numbers of the rows, as spreadsheets and data frames write them
    values = [cell for cell in cells if cell]
    if values and _misspelt(title, places) is not None:
        return True
    return bool(values) and all(_VALUE.fullmatch(value) for value in values)


_VALUE = re.compile(
    r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*(%|min|h|s|m|km)?"  # a number, perhaps with its unit
    r"|\d{1,2}:\d{2}(:\d{2})?([ -]+\d{1,2}:\d{2})?(\s*[ap]m)?"  # a time of day, or from one to another
    r"|\d{4}-\d{2}-\d{2}([T ]\S*)?"  # a date
    r"|yes|no|true|false|x",
    re.IGNORECASE | re.ASCII,
)
