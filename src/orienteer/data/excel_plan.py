"""Plans as spreadsheets: a sheet with a timetable for each route, and one of the places that are left out."""

import datetime
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from orienteer.data.excel import Book, Shown, sheet_name, text_in, write_book
from orienteer.data.text import FilePath, shown, whole
from orienteer.data.timetable import TIMES, TITLES, check_name, plan_rows
from orienteer.model.clock import DECIMALS, PER_HOUR, day_length, written_time
from orienteer.model.errors import BadFile, InSheet
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.rules import Window
from orienteer.model.show import numbered_route, route_name
from orienteer.model.spelling import did_you_mean

SPANS = ("leg", "cost", "wait")
"""Columns of a plan that are alike: their numbers have the same number of decimals."""

LAST_DAY = 2_958_465
"""The last day that a spreadsheet knows, 31 December 9999, counted from its first."""

AS_PLACES = ("node", "name", "prize")
"""Columns of a plan that the sheet of places that are left out has too."""

TOP_ROWS = 10
"""The header of a plan is one of the first so many rows that are not empty: a title may stand above it."""

NARROWEST, WIDEST = 7, 50
"""Widths of columns, in characters."""


def save_plan_excel(instance: Instance, plan: Plan, path: FilePath) -> None:
    """Writes a plan: a sheet with a timetable for each route, and a sheet of the places that are left out."""
    sheets: dict[str, list[Sequence[Any]]] = {}
    for number, rows in enumerate(plan_rows(instance, plan, _time)):
        sheets[sheet_name(route_name(instance, number), sheets)] = [TITLES, *_formatted(instance, TITLES, rows)]
    sheets[sheet_name("left out", sheets)] = _left_out(instance, plan)
    write_book(path, sheets, {title: _widths(rows) for title, rows in sheets.items()})


def routes_of_excel(path: FilePath, instance: Instance | None = None) -> list[list[int]]:
    """The nodes of each route of a plan that `save_plan_excel` wrote, though somebody may have moved rows and sheets.

    The stops of a route are the rows of its sheet from top to bottom; the column `stop` does not count. A sheet is the
    route of its first row. Where one sheet holds all routes, each row is of the route that it names. A row without a
    node is the place of the `instance` that has its name.
    """
    routes, _ = _numbered_routes(path, instance)
    numbers = sorted(routes)
    for place, number in enumerate(numbers, start=1):
        if number != place:
            known = () if instance is None else instance.each_route
            name = known[place - 1].name if place <= len(known) else ""
            wish = "they are counted from 1, and an idle one is its start and its end"
            raise BadFile(path, f"there is a route {number}, but none is {numbered_route(place - 1, name)}: {wish}")
    if not routes:
        raise BadFile(path, "there is no route in it")
    return [routes[number] for number in numbers]


def named_routes_of_excel(path: FilePath, instance: Instance) -> dict[str, list[int]]:
    """As `routes_of_excel`, by the name of the route of the `instance` that a sheet's title has, else by the title.

    Empty where one sheet holds all routes, which then have no names.
    """
    routes, titles = _numbered_routes(path, instance)
    found = {}
    for number, title in sorted(titles.items()):
        known = {sheet_name(numbered_route(number - 1, route.name), ()): route.name for route in instance.each_route}
        found[known.get(title, title)] = routes[number]
    return found


def _numbered_routes(path: FilePath, instance: Instance | None) -> tuple[dict[int, list[int]], dict[int, str]]:
    """The nodes of each route, by the number that a plan gives it, and, where each has a sheet, the titles of these."""
    sheets = _plan_sheets(path)
    routes: dict[int, list[int]] = {}
    titles: dict[int, str] = {}
    for where, stops in sheets:
        own = _route(where, stops[0])
        if own in routes:
            raise BadFile(where, f"its first row says route {own}, and so does another sheet", stops[0].line)
        for stop in stops:
            route = own if len(sheets) > 1 else _route(where, stop)
            routes.setdefault(route, []).append(_node(where, stop, instance))
        if len(sheets) > 1:
            titles[own] = where.sheet
    return routes, titles


class _Stop(NamedTuple):
    """A row of a plan: its number, and the texts of the cells that are read."""

    line: int
    route: str
    node: str
    name: str


def _plan_sheets(path: FilePath) -> list[tuple[InSheet, list[_Stop]]]:
    """The sheets of a plan that have stops; a row without node and name, such as of sums, is none."""
    book, found = Book(path), []
    for sheet in book.sheets.values():
        where, lines = InSheet(path, sheet.title), book.rows(sheet)
        columns = _columns(where, lines)
        if columns:
            stops = (_stop(where, number, cells, columns) for number, cells in lines)
            found.append((where, [stop for stop in stops if stop.node or stop.name]))
    return [(where, stops) for where, stops in found if stops]


def _columns(where: InSheet, lines: Iterator[tuple[int, list[Any]]]) -> dict[str, int]:
    """Where a plan's columns are in a row, by title; empty for a sheet that is none of a plan."""
    for number, cells in islice(lines, TOP_ROWS):
        titles = [cell.strip().lower() if isinstance(cell, str) else "" for cell in cells]
        missing = [title for title in ("route", "node") if title not in titles]
        if not missing:
            return {title: titles.index(title) for title in ("route", "node", "name") if title in titles}
        if len({title for title in titles if title in TITLES and title not in AS_PLACES}) > 2:
            raise BadFile(
                where, f"the header of a plan must have the columns route and node, {missing[0]} is missing", number
            )
    return {}


def _stop(where: InSheet, number: int, cells: Sequence[Any], columns: Mapping[str, int]) -> _Stop:
    texts = {title: text_in(where, cells[at], number).strip() for title, at in columns.items() if at < len(cells)}
    return _Stop(number, texts.get("route", ""), texts.get("node", ""), texts.get("name", ""))


def _route(path: FilePath, stop: _Stop) -> int:
    return whole(path, stop.route, "route", stop.line)


def _node(path: FilePath, stop: _Stop, instance: Instance | None) -> int:
    if not stop.node:
        return _node_by_name(path, stop, instance)
    node = whole(path, stop.node, "node", stop.line)
    if node < 0:
        raise BadFile(path, f"nodes are counted from 0, got {node}", stop.line)
    check_name(path, stop.name, stop.line, node, instance)
    return node


def _node_by_name(path: FilePath, stop: _Stop, instance: Instance | None) -> int:
    """The only node with the name in a row, whose cell of the node is empty."""
    if instance is None or instance.names is None:
        raise BadFile(path, f"the row {shown(stop.name)} has no node", stop.line)
    names = [name.strip() for name in instance.names]
    if names.count(stop.name) > 1:
        raise BadFile(path, f"several places are called {shown(stop.name)}: the row needs a node", stop.line)
    if stop.name not in names:
        wish = "; a stop needs a node or the name of a place, and a row of sums must have neither"
        hint = did_you_mean(stop.name, names) or wish
        raise BadFile(path, f"no place is called {shown(stop.name)}{hint}", stop.line)
    return names.index(stop.name)


def _left_out(instance: Instance, plan: Plan) -> list[Sequence[Any]]:
    """The places that no route visits, with their visit times and hours where the problem has such."""
    rest = [node for node in range(instance.size) if node not in plan.visited]
    names = [""] * instance.size if instance.names is None else instance.names
    columns: dict[str, list[Any]] = {"node": rest, "name": [names[node] for node in rest]}
    columns["prize"] = [float(instance.prizes[node]) for node in rest]
    if instance.service is not None:
        columns["service"] = [float(instance.service[node]) for node in rest]
    if instance.windows is not None:
        hours = [_hours(instance, instance.windows[node] or ()) for node in rest]
        columns |= {"opens": [opens for opens, _ in hours], "closes": [closes for _, closes in hours]}
    titles = tuple(columns)
    return [titles, *_formatted(instance, titles, list(zip(*columns.values(), strict=True)))]


def _hours(instance: Instance, windows: Sequence[Window]) -> tuple[Any, Any]:
    """What stands under `opens` and `closes`; several windows are one text, as tables of places have them."""
    windows = _every_day(instance, windows)
    if len(windows) > 1:
        return ";".join("-".join(written_time(instance, time) for time in window) for window in windows), ""
    if not windows:
        return "", ""
    opens, closes = windows[0]
    return _time(instance, opens), "" if math.isinf(closes) else _time(instance, closes)


def _every_day(instance: Instance, windows: Sequence[Window]) -> Sequence[Window]:
    """The windows of one day, if there are routes on several days and the windows are the same on all of them."""
    if instance.clock is None:
        return windows
    length = day_length(instance.clock)
    by_day: dict[int, list[Window]] = {int(route.opens // length): [] for route in instance.each_route}
    for opens, closes in windows:
        day = int(opens // length)
        by_day.setdefault(day, []).append((opens - day * length, closes - day * length))
    first, *others = by_day.values()
    return first if others and all(other == first for other in others) else windows


def _time(instance: Instance, value: float) -> Any:
    """A cell for a time: a real time of the spreadsheet, to the minute, if the problem has times of day."""
    if instance.clock is None:
        return value
    if not 0 <= value < LAST_DAY * day_length(instance.clock):
        return written_time(instance, value)
    day, minutes = divmod(round(value / PER_HOUR[instance.clock] * 60), 24 * 60)
    if day:
        return Shown(datetime.timedelta(days=day, minutes=minutes), f'"day {day + 1}" hh:mm')
    return Shown(datetime.time(minutes // 60, minutes % 60), "hh:mm")


def _formatted(instance: Instance, titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The rows with a number format for each number that is not whole; the numbers keep all their digits.

    Cells hold fifteen digits of a number.
    """
    most = 5 if instance.clock is None else DECIMALS[instance.clock]
    alike = [place for place, title in enumerate(titles) if title in (SPANS if instance.clock else (*SPANS, *TIMES))]
    formats = [_format([row[place] for row in rows], 5) for place in range(len(titles))]
    shared = _format([row[place] for row in rows for place in alike], most)
    formats = [shared if place in alike else own for place, own in enumerate(formats)]
    return [[_number(value, how) for value, how in zip(row, formats, strict=True)] for row in rows]


def _number(value: Any, how: str) -> Any:
    return Shown(float(f"{value:.15g}"), how) if isinstance(value, float) else value


def _format(values: Iterable[Any], most: int) -> str:
    """Shows numbers with the fewest decimals that are exact, at most `most`, and five digits of the largest."""
    numbers = [value for value in values if isinstance(value, float)]
    allowed = max(0, min(most, 5 - len(str(int(max(map(abs, numbers), default=0))))))
    enough = (count for count in range(allowed) if all(round(value, count) == value for value in numbers))
    decimals = next(enough, allowed)
    return f"0.{'0' * decimals}" if decimals else "0"


def _widths(rows: Sequence[Sequence[Any]]) -> list[float]:
    """For each column the characters of its longest cell, and some room."""
    return [min(WIDEST, max(NARROWEST, 2 + max(map(_length, column)))) for column in zip(*rows, strict=True)]


def _length(value: Any) -> int:
    """How many characters a cell shows."""
    if not isinstance(value, Shown):
        return len(str(value))
    if isinstance(value.value, float):
        return len(f"{value.value:.{len(value.format.partition('.')[2])}f}")
    return len(value.format)
