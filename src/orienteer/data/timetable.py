"""Plans as tables, a row for each stop: for CSV and for spreadsheets."""

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from orienteer.data.text import FilePath, csv_line, read_text, whole, write_lines
from orienteer.model.clock import written_time
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.rules import MOST_ROUTES

AsWritten = Callable[[Instance, float], Any]
"""Makes of a time what a cell holds."""

TIMES = ("arrive", "begin", "leave")

TITLES = ("route", "stop", "node", "name", "prize", "leg", "cost", "arrive", "wait", "begin", "leave")
"""The columns of a plan: `route` and `stop` are counted from 1 and from 0, as in printed tables."""


def plan_rows(instance: Instance, plan: Plan, at: AsWritten = written_time) -> list[list[list[Any]]]:
    """For each route the values of `TITLES` of its stops; times are written by `at` if they are times of day."""
    return [
        [_row(instance, route, visit._asdict(), at) for visit in visits]
        for route, visits in enumerate(plan.stops(instance), start=1)
    ]


def save_plan_csv(instance: Instance, plan: Plan, path: FilePath) -> None:
    """Writes a plan as CSV with a row for each stop of all routes."""
    write_lines(path, plan_csv(instance, plan))


def plan_csv(instance: Instance, plan: Plan) -> list[str]:
    """The lines of a plan as CSV."""
    return [csv_line(row) for row in (TITLES, *itertools.chain(*plan_rows(instance, plan)))]


def is_plan(header: Sequence[Any]) -> bool:
    """Whether a header is that of a plan."""
    return tuple(header[:3]) == TITLES[:3]


def routes_of_csv(path: FilePath, instance: Instance | None = None) -> list[list[int]]:
    """The nodes of each route of a plan that `save_plan_csv` wrote."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = next(reader, [])
        if not is_plan(header):
            raise BadFile(path, f"a plan must have the columns {', '.join(TITLES)}")
        return routes_of_rows(path, ((reader.line_num, row) for row in reader if row), instance)
    except csv.Error as error:
        raise BadFile(path, f"not CSV: {error}", reader.line_num) from error


def routes_of_rows(
    path: FilePath, rows: Iterable[tuple[int, Sequence[str]]], instance: Instance | None = None
) -> list[list[int]]:
    """The nodes of each route in rows that begin with route, stop and node; names must be those of the `instance`."""
    routes: list[list[int]] = []
    for line, row in rows:
        if len(row) < 3:
            raise BadFile(path, f"a row must have {len(TITLES)} cells, got {len(row)}", line)
        route, stop, node = _numbers(path, row, line)
        if route == len(routes) + 1 and stop == 0 and route <= MOST_ROUTES:
            routes.append([])
        if route != len(routes) or stop != len(routes[-1]):
            wish = f"routes are counted from 1 and stops from 0, in order, got route {route}, stop {stop}"
            raise BadFile(path, wish, line)
        if node < 0:
            raise BadFile(path, f"nodes are counted from 0, got {node}", line)
        check_name(path, row[3].strip() if len(row) > 3 else "", line, node, instance)
        routes[-1].append(node)
    if not routes:
        raise BadFile(path, "there is no route in it")
    return routes


def check_name(path: FilePath, name: str, line: int, node: int, instance: Instance | None) -> None:
    """Raises `BadFile` if a row's name is another node's: somebody has changed one of both by hand."""
    if instance is None or instance.names is None or node >= instance.size:
        return
    own = instance.names[node]
    if name and name != own.strip():
        raise BadFile(path, f"node {node} is called {own!r}, but the row's name is {name!r}: change both or none", line)


def _numbers(path: FilePath, row: Sequence[str], line: int) -> Iterator[int]:
    return (whole(path, cell.strip(), what, line) for cell, what in zip(row, TITLES[:3], strict=False))


def _row(instance: Instance, route: int, visit: dict[str, Any], at: AsWritten) -> list[Any]:
    values = visit | {"route": route, "stop": visit["place"], "name": visit["name"] or ""}
    if instance.clock is not None:
        values |= {key: at(instance, values[key]) for key in TIMES}
    return [values[title] for title in TITLES]
