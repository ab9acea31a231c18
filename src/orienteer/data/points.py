"""Places in rows: of a CSV or a spreadsheet, or one JSON object each; and the table of routes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.data.cells import Cell
from orienteer.data.columns import BUDGET, COLUMNS, FLAGS, find_columns, warn_of_unused
from orienteer.data.fields import Node, RouteFields
from orienteer.data.text import MAX_NODES, FilePath, check_size, shown
from orienteer.data.times import Daily, Times, are_windows
from orienteer.model.errors import BadFile, InSheet
from orienteer.model.numbers import Array
from orienteer.model.rules import MOST_ROUTES, Budget, Window
from orienteer.model.spelling import did_you_mean

ROUTE_COLUMNS = ("name", "start", "end", "opens", "limit", "closes", "free_end")

WEIGHTS = "weights"
"""The key of a place of JSON whose value is an object: what a visit takes of each budget."""


@dataclass(frozen=True)
class Row:
    """The cells of a place or a route in the order of the header, and where it stands: a line, or a path of keys."""

    cells: Sequence[Any]
    line: int | None = None
    field: str = ""
    """What stands before a column's name in messages, such as ``places[3].``."""


@dataclass(frozen=True)
class Header:
    """The titles of a table of points, and how strictly the table is read."""

    titles: Sequence[str]
    line: int | None = None
    prize: float | None = None
    """The prize of a place without one; None where every row must have one."""
    warns: bool = True
    """Whether columns that are not read, although they seem to matter, are named in a warning."""


@dataclass(frozen=True)
class Points:
    """What a table of points says."""

    prizes: list[float]
    coords: Array | None
    names: list[str] | None
    on_earth: bool
    rules: dict[str, Any]
    """`Fields` beyond the plain problem."""
    start: Node | None
    end: Node | None


def read_points(
    path: FilePath, header: Header, given: Iterable[Row], times: Times, most: Mapping[str, float]
) -> Points:
    """The points of a table; `most` are the limits of budgets, by name."""
    rows: list[Row] = []
    for row in given:
        if len(row.cells) != len(header.titles):
            wish = f"a row must have {len(header.titles)} cells like the header"
            raise BadFile(path, f"{wish}, got {len(row.cells)}{_no_header(path, header)}", row.line)
        rows.append(row)
        if len(rows) > MAX_NODES:
            check_size(path, len(rows), row.line)
    places = find_columns(path, header.titles, header.line, _flags(path, header, rows), header.prize is None)
    table = _Table(path, places, rows, header.titles)
    check_size(path, len(rows))
    prizes = [cell.amount() if header.prize is None or not cell.empty else header.prize for cell in table["prize"]]
    if header.warns:
        cells = [row.cells for row in rows]
        warn_of_unused(path, header.titles, places, cells, [name.lower() for name in most])
    rules = _rules(table, times)
    rules["budgets"] = _budgets(table, header.titles, most)
    names = None
    if "name" in places:
        names = [cell.value if isinstance(cell.value, str) else cell.text for cell in table["name"]]
        _check_names(table, names)
    on_earth = "lat" in places
    axes = ("lon", "lat") if on_earth else ("x", "y")
    coords = None
    if axes[0] in places:
        coords = np.array(
            [[_axis(cell, axis) for axis, cell in zip(axes, pair, strict=True)] for pair in table.of(axes)]
        )
    return Points(
        prizes,
        coords,
        names,
        on_earth,
        rules,
        _flagged(table, "start"),
        _flagged(table, "end"),
    )


def routes_of_table(path: FilePath, header: Header, rows: Sequence[Row], times: Times) -> list[RouteFields]:
    """The routes in a table with some of the columns `ROUTE_COLUMNS`; an empty cell leaves the problem's value."""
    titles = _route_titles(header.titles)
    for title in titles:
        if title not in ROUTE_COLUMNS:
            known = f"columns are {', '.join(ROUTE_COLUMNS)}{did_you_mean(title, ROUTE_COLUMNS)}"
            raise BadFile(path, f"a table of routes has no column {shown(title)}; {known}", header.line)
        if titles.count(title) > 1:
            raise BadFile(path, f"the header names {title} twice", header.line)
    if not rows:
        raise BadFile(path, "the table has no route")
    if len(rows) > MOST_ROUTES:
        raise BadFile(path, f"more than {MOST_ROUTES} routes")
    return [_route(path, titles, row, times) for row in rows]


def lists_routes(titles: Sequence[str]) -> bool:
    """Whether titles are surely those of a table of routes: some of its columns, and none that only places have."""
    found = set(_route_titles(titles))
    return len(found & set(ROUTE_COLUMNS) - {"name"}) > 1 and not found & (COLUMNS.keys() - set(ROUTE_COLUMNS))


def _route_titles(titles: Sequence[str]) -> list[str]:
    """Titles as `ROUTE_COLUMNS` spells them."""
    return [title.strip().lower().replace(" ", "_") for title in titles]


def _no_header(path: FilePath, header: Header) -> str:
    """What a message says besides, where the row that was taken for the header has no title of a column."""
    if header.line is None or any(title.strip().lower() in COLUMNS for title in header.titles):
        return ""
    row = "row" if isinstance(path, InSheet) else "line"
    return f"; {row} {header.line} was taken for the header: above the header only lines that begin with # may stand"


class _Table:
    """The cells of rows, by column."""

    def __init__(self, path: FilePath, places: Mapping[str, int], rows: Sequence[Row], titles: Sequence[str]):
        self.path, self.places, self.rows = path, places, rows
        self.called = {column: titles[place].strip().lower() for column, place in places.items()}
        """What the file calls each column, for messages."""

    def __contains__(self, column: str) -> bool:
        return column in self.places

    def __getitem__(self, column: str) -> list[Cell]:
        """The cells of a column; those of a column that is not there are empty."""
        return [self.cell(row, column) for row in self.rows]

    def of(self, columns: Sequence[str]) -> list[list[Cell]]:
        """The cells of some columns, row by row."""
        return [[self.cell(row, column) for column in columns] for row in self.rows]

    def cell(self, row: Row, column: str) -> Cell:
        """A cell of a row."""
        place = self.places.get(column)
        called = column if row.line is None else self.called.get(column, column)
        return Cell(self.path, None if place is None else row.cells[place], f"{row.field}{called}", row.line)


def _flags(path: FilePath, header: Header, rows: Sequence[Row]) -> list[str]:
    """Which of the columns `FLAGS` hold nothing but yes and no."""
    places = {title.strip().lower(): place for place, title in enumerate(header.titles)}
    return [
        flag
        for flag in FLAGS
        if not header.warns
        or (flag in places and all(Cell(path, row.cells[places[flag]], flag).is_yes_or_no for row in rows))
    ]


def _flagged(table: _Table, column: str) -> Node | None:
    """The row whose cell of a column says yes; None where none does."""
    found = [(node, cell) for node, cell in enumerate(table[column]) if column in table and cell.yes()]
    if len(found) > 1:
        raise BadFile(table.path, f"{found[1][1].what} is the second {column}; there is one", found[1][1].line)
    return found[0][0] if found else None


def _check_names(table: _Table, names: Sequence[str]) -> None:
    """Raises `BadFile` with both lines where a name repeats; of places without lines `Instance` tells."""
    first: dict[str, int] = {}
    for name, row in zip(names, table.rows, strict=True):
        if row.line is None:
            return
        if name in first:
            place = "in row" if isinstance(table.path, InSheet) else "on line"
            wish = f"the name {shown(name)} appears again, first {place} {first[name]}"
            raise BadFile(table.path, f"{wish}: all names must differ", row.line)
        first[name] = row.line


def _axis(cell: Cell, axis: str) -> float:
    most = {"lat": 90, "lon": 180}.get(axis)
    return cell.number() if most is None else cell.degrees(most)


def _rules(table: _Table, times: Times) -> dict[str, Any]:
    """The `Fields` beyond the plain problem, but for the budgets."""
    found: dict[str, Any] = {}
    if "service" in table:
        found["service"] = np.array([0.0 if cell.empty else cell.duration(times) for cell in table["service"]])
    for column, field in (("required", "required"), ("avoid", "avoided")):
        if column in table:
            found[field] = [node for node, cell in enumerate(table[column]) if cell.yes()]
    columns = ("windows", "opens", "closes")
    if any(column in table for column in columns):
        found["windows"] = [_windows(cells, times) for cells in table.of(columns)]
    if "group" in table:
        groups = _groups(table["group"])
        found |= {"groups": list(groups.values()), "group_names": list(groups)}
    return found


def _windows(cells: Sequence[Cell], times: Times) -> Sequence[Window | Daily] | None:
    """The windows of a row, in one column as 09:00-12:00;14:00-18:00 or in two as a time each; None where empty."""
    whole, opens, closes = cells
    if whole.empty and isinstance(opens.value, str) and are_windows(opens.text):
        whole, opens = Cell(opens.path, opens.value, opens.what, opens.line), Cell(opens.path, None, opens.what)
    if whole.empty:
        return _one_window(opens, closes, times)
    if not (opens.empty and closes.empty):
        wish = "a row must have its windows in one column, or in opens and closes, not in both"
        raise BadFile(whole.path, wish if whole.line is not None else f"{whole.what}: {wish}", whole.line)
    return whole.windows(times)


def _one_window(opens: Cell, closes: Cell, times: Times) -> Sequence[Window | Daily] | None:
    if opens.empty and closes.empty:
        return None
    texts = [
        "" if cell.empty else cell.value if isinstance(cell.value, str) else repr(cell.number())
        for cell in (opens, closes)
    ]
    cell = opens if closes.empty else closes
    found: list[Window | Daily] = cell.named(times, times.window, *texts)
    return found or None


def _groups(cells: Sequence[Cell]) -> dict[str, list[Node]]:
    """The rows of each group, by the names in cells; a cell has several in a list or with semicolons between them."""
    groups: dict[str, list[Node]] = {}
    for node, cell in enumerate(cells):
        names = cell.value if isinstance(cell.value, list) else cell.text.split(";")
        if isinstance(cell.value, dict) or not all(isinstance(name, str) for name in names):
            raise cell.wrong("must be a text or a list of texts")
        for name in dict.fromkeys(name.strip() for name in names):
            if name:
                groups.setdefault(name, []).append(node)
    if all(re.fullmatch(r"\d{1,9}", name, re.ASCII) for name in groups):  # numbers keep their order
        return {name: groups[name] for name in sorted(groups, key=int)}
    return groups


def _budgets(table: _Table, header: Sequence[str], most: Mapping[str, float]) -> list[Budget]:
    """The budgets: a column `budget:NAME`, any column that a budget in `most` names, or the objects `weights`."""
    titles = {title.strip().lower(): place for place, title in enumerate(header)}
    columns = {title.removeprefix(BUDGET).strip(): place for title, place in titles.items() if title.startswith(BUDGET)}
    objects = _weights(table, titles)
    lower = [name.lower() for name in most]
    for name in [*(name for name in columns if name not in lower), *(name for name in objects if name not in most)]:
        wish = f"a line '# {BUDGET}{name} = 20' above the table, or the option --budget {name}=20, must say it"
        if objects:
            wish = f'"budgets": {{"{name}": 20}} must say it'
        raise BadFile(table.path, f"the budget {shown(name)} has no limit; {wish}")
    budgets = []
    for name, limit in most.items():
        place = columns.get(name.lower(), titles.get(name.lower()))
        if name not in objects and place is None:
            hint = did_you_mean(name, [*titles, *objects])
            raise BadFile(table.path, f"the budget {shown(name)} needs a column of this name{hint}")
        cells = objects.get(name)
        if cells is None:
            title = f"budget {name}"
            cells = [Cell(table.path, row.cells[place or 0], f"{row.field}{title}", row.line) for row in table.rows]
        budgets.append(Budget(name, np.array([_weight(cell) for cell in cells]), limit))
    return budgets


def _weights(table: _Table, titles: Mapping[str, int]) -> dict[str, list[Cell]]:
    """The cells of each budget that the objects `weights` of some rows name."""
    place = titles.get(WEIGHTS)
    if place is None or not any(isinstance(row.cells[place], dict) for row in table.rows):
        return {}
    objects = [row.cells[place] or {} for row in table.rows]
    for row, entry in zip(table.rows, objects, strict=True):
        if not isinstance(entry, dict):
            raise Cell(table.path, entry, f"{row.field}{WEIGHTS}", row.line).wrong("must be an object")
    names = dict.fromkeys(name for entry in objects for name in entry)
    return {
        name: [
            Cell(table.path, entry.get(name), f"{row.field}{WEIGHTS}.{name}", row.line)
            for row, entry in zip(table.rows, objects, strict=True)
        ]
        for name in names
    }


def _weight(cell: Cell) -> float:
    if cell.empty or (isinstance(cell.value, (str, bool)) and re.fullmatch("no?|false", cell.text.lower())):
        return 0.0
    if isinstance(cell.value, (str, bool)) and cell.text.lower() in ("yes", "y", "true", "x"):
        return 1.0
    return cell.amount()


def _route(path: FilePath, titles: Sequence[str], row: Row, times: Times) -> RouteFields:
    if len(row.cells) != len(titles):
        raise BadFile(path, f"a row must have {len(titles)} cells like the header, got {len(row.cells)}", row.line)
    cells = {title: Cell(path, value, title, row.line) for title, value in zip(titles, row.cells, strict=True)}
    given = {title: _route_value(cell, title, times) for title, cell in cells.items() if not cell.empty}
    return RouteFields(**given, source=(path, row.line))


def _route_value(cell: Cell, title: str, times: Times) -> Any:
    if title in ("opens", "closes"):
        return cell.moment(times)
    if title == "free_end":
        return cell.yes()
    if title == "name":
        return cell.value if isinstance(cell.value, str) else cell.text
    return cell.duration(times) if title == "limit" else cell.text
