"""What a CSV says beyond the plain problem: columns of the table of points, and the table of routes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from orienteer.data.csv_columns import BUDGET
from orienteer.data.fields import Node, RouteFields
from orienteer.data.text import FilePath, amount, shown
from orienteer.data.times import Daily, Times, are_windows
from orienteer.model.errors import BadFile
from orienteer.model.rules import MOST_ROUTES, Budget, Window
from orienteer.model.spelling import did_you_mean

Row = tuple[int, list[str]]
"""A line's number and its cells."""

YES, NO = ("yes", "y", "true", "1", "x"), ("no", "n", "false", "0", "")
"""What cells may say where a column asks yes or no."""

ROUTE_COLUMNS = ("name", "start", "end", "opens", "limit", "closes", "free_end")


def rules_of_points(path: FilePath, places: Mapping[str, int], rows: Sequence[Row], times: Times) -> dict[str, Any]:
    """The `Fields` beyond the plain problem that the columns of a table of points hold, but for the budgets."""

    def cells(column: str) -> list[tuple[int, str]]:
        """Line and text of each cell of a column."""
        return [(line, row[places[column]].strip()) for line, row in rows]

    found: dict[str, Any] = {}
    if "service" in places:
        found["service"] = np.array([_duration(times, text, line) for line, text in cells("service")])
    if "required" in places:
        asked = [yes(path, text, "required", line) for line, text in cells("required")]
        found["required"] = [node for node, wanted in enumerate(asked) if wanted]
    if {"opens", "closes", "windows"} & places.keys():
        found["windows"] = [_windows(path, places, row, times, line) for line, row in rows]
    if "group" in places:
        found["groups"] = _groups([text for _, text in cells("group")])
    return found


def budgets_of_points(
    path: FilePath, header: Sequence[str], rows: Sequence[Row], most: Mapping[str, float]
) -> list[Budget]:
    """The budgets of a table of points: a column `budget:NAME`, or any column that a budget in `most` names."""
    titles = {title.strip().lower(): place for place, title in enumerate(header)}
    columns = {title.removeprefix(BUDGET).strip(): place for title, place in titles.items() if title.startswith(BUDGET)}
    limits = {name.lower(): (name, limit) for name, limit in most.items()}
    for name in columns.keys() - limits.keys():
        wish = f"a line '# {BUDGET}{name} = 20' above the table, or the option --budget {name}=20, must say it"
        raise BadFile(path, f"the budget {shown(name)} has no limit; {wish}")
    budgets = []
    for key, (name, limit) in limits.items():
        place = columns.get(key, titles.get(key))
        if place is None:
            raise BadFile(path, f"the budget {shown(name)} needs a column of this name{did_you_mean(name, titles)}")
        weights = [_weight(path, row[place].strip(), name, line) for line, row in rows]
        budgets.append(Budget(name, np.array(weights), limit))
    return budgets


def routes_of_table(path: FilePath, rows: Sequence[Row], times: Times) -> list[RouteFields]:
    """The routes in a table with some of the columns `ROUTE_COLUMNS`; an empty cell leaves the problem's value."""
    if not rows:
        raise BadFile(path, "there is no table in it")
    line, header = rows[0]
    titles = [title.strip().lower().replace(" ", "_") for title in header]
    for title in titles:
        if title not in ROUTE_COLUMNS:
            known = f"columns are {', '.join(ROUTE_COLUMNS)}{did_you_mean(title, ROUTE_COLUMNS)}"
            raise BadFile(path, f"a table of routes has no column {shown(title)}; {known}", line)
        if titles.count(title) > 1:
            raise BadFile(path, f"the header names {title} twice", line)
    if len(rows) == 1:
        raise BadFile(path, "the table has no route")
    if len(rows) - 1 > MOST_ROUTES:
        raise BadFile(path, f"more than {MOST_ROUTES} routes")
    return [_route(path, titles, row, times, line) for line, row in rows[1:]]


def yes(path: FilePath, text: str, what: str, line: int) -> bool:
    """Whether a cell says yes."""
    if text.lower() not in YES + NO:
        raise BadFile(path, f"{what} must be yes or no, got {shown(text)}", line)
    return text.lower() in YES


def _duration(times: Times, text: str, line: int) -> float:
    value = times.duration(text, "service", line) if text else 0.0
    if value < 0:
        raise BadFile(times.path, f"service must not be negative, got {shown(text)}", line)
    return value


def _windows(
    path: FilePath, places: Mapping[str, int], row: Sequence[str], times: Times, line: int
) -> list[Window | Daily] | None:
    """The windows of a row, in one column as 09:00-12:00;14:00-18:00 or in two as a time each; None where empty."""
    titles = ("windows", "opens", "closes")
    whole, opens, closes = (row[places[title]].strip() if title in places else "" for title in titles)
    if are_windows(opens) and not whole:
        whole, opens = opens, ""
    if whole and (opens or closes):
        raise BadFile(path, "a row must have its windows in one column, or in opens and closes, not in both", line)
    return (times.windows(whole, line) if whole else times.window(opens, closes, line)) or None


def _groups(cells: Sequence[str]) -> list[list[Node]]:
    """The rows of each group that cells name; a cell may name several, with semicolons between them."""
    groups: dict[str, list[Node]] = {}
    for node, text in enumerate(cells):
        for name in dict.fromkeys(part.strip() for part in text.split(";")):
            if name:
                groups.setdefault(name, []).append(node)
    return list(groups.values())


def _weight(path: FilePath, text: str, name: str, line: int) -> float:
    if text.lower() in ("", "no", "n", "false"):
        return 0.0
    return 1.0 if text.lower() in ("yes", "y", "true", "x") else amount(path, text, f"budget {name}", line)


def _route(path: FilePath, titles: Sequence[str], row: Sequence[str], times: Times, line: int) -> RouteFields:
    if len(row) != len(titles):
        raise BadFile(path, f"a row must have {len(titles)} cells like the header, got {len(row)}", line)
    cells = {title: cell.strip() for title, cell in zip(titles, row, strict=True) if cell.strip()}
    readers: dict[str, Callable[[str, str, int], float]] = {
        "opens": times.moment,
        "limit": times.duration,
        "closes": times.moment,
    }
    given: dict[str, Any] = {
        title: readers[title](cell, title, line) if title in readers else cell for title, cell in cells.items()
    }
    if "free_end" in given:
        given["free_end"] = yes(path, given["free_end"], "free_end", line)
    return RouteFields(**given)
