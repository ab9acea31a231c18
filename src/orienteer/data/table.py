"""A problem in tables: settings, points, perhaps a matrix and routes, as a CSV file or a spreadsheet has them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from orienteer.data.cells import Cell
from orienteer.data.columns import BUDGET
from orienteer.data.fields import Fields, RouteFields
from orienteer.data.legs import NOTHING, Given, Matrix, legs, unit_of
from orienteer.data.points import Header, Row, read_points, routes_of_table
from orienteer.data.text import FilePath, amount, real, shown
from orienteer.data.times import Times, as_unit
from orienteer.model.clock import Unit
from orienteer.model.errors import BadFile
from orienteer.model.spelling import did_you_mean

SETTINGS = ("limit", "start", "end", "free_end", "metric", "matrix", "speed", "unit", "clock", "routes")
"""The settings that may stand in the lines above the table, besides the limits of budgets, `budget:NAME`."""


@dataclass(frozen=True)
class Setting:
    """The text of a setting and its line."""

    text: str
    line: int


@dataclass(frozen=True)
class Table:
    """The settings above a table, its header and its rows."""

    path: FilePath
    settings: Mapping[str, Setting]
    header: Header
    rows: Iterable[Row]


class Beside(Protocol):
    """Finds what a setting names: a file of the same folder, or a sheet of the same workbook."""

    def matrix(self, setting: Setting) -> Matrix: ...

    def routes(self, setting: Setting) -> Table: ...


def note(path: FilePath, settings: dict[str, Setting], line: str, number: int) -> None:
    """Takes a setting from a comment line such as ``# limit = 12.5``; one without '=' is only a comment."""
    # Spreadsheets pad lines with empty cells.
    pair = re.fullmatch(r"#\s*(\w+|budget\s*:[^=]+?)\s*=\s*(.*?)[\s,;]*", line, re.IGNORECASE)
    if pair is None:
        return
    key, colon, budget = pair[1].partition(":")
    key = f"{BUDGET}{budget.strip()}" if colon else key.lower()
    if key not in SETTINGS and not key.startswith(BUDGET):
        known = f"known are {', '.join(SETTINGS)}, {BUDGET}NAME{did_you_mean(key, SETTINGS)}"
        raise BadFile(path, f"unknown setting {shown(pair[1])}; {known}", number)
    if key in settings:
        raise BadFile(path, f"{key} is set twice, first on line {settings[key].line}", number)
    settings[key] = Setting(pair[2], number)


def fields_of_table(
    table: Table,
    beside: Beside,
    given: Given = NOTHING,
) -> Fields:
    """The problem in a table; what is given overrides the settings."""
    path, settings = table.path, table.settings
    matrix, metric, speed = given.matrix, given.metric, given.speed
    if matrix is None and "matrix" in settings:
        matrix = beside.matrix(settings["matrix"])
    if metric is None and "metric" in settings:
        metric = settings["metric"].text
    if speed is None and "speed" in settings:
        speed = real(path, settings["speed"].text, "speed", settings["speed"].line)
    unit, shows = _unit(table, given.unit)
    times = Times(path, unit_of(matrix, speed, unit))
    most = _limits(table) | given.budgets
    points = read_points(path, table.header, table.rows, times, most)
    spots = (points.coords, points.on_earth, points.names)
    costs, in_metres = legs(path, len(points.prizes), *spots, matrix, metric, speed, unit)
    limit, free = settings.get("limit"), settings.get("free_end")
    fields = Fields(
        costs=costs,
        prizes=np.array(points.prizes),
        limit=None if limit is None else times.duration(limit.text, "limit", limit.line),
        start=settings["start"].text if "start" in settings else points.start,
        end=settings["end"].text if "end" in settings else points.end,
        coords=points.coords,
        names=points.names,
        free_end=free is not None and Cell(path, free.text, "free_end", free.line).yes(),
        in_metres=in_metres,
        on_earth=points.on_earth,
        clock=times.unit if shows else None,
        **points.rules,
    )
    fields = in_unit(fields, times)
    if "routes" not in settings:
        return fields
    setting = settings["routes"]
    if re.fullmatch(r"\d{1,9}", setting.text, re.ASCII):
        return replace(fields, routes=int(setting.text))
    return with_routes_of(fields, beside.routes(setting), unit)


def with_routes_of(fields: Fields, table: Table, unit: str | None = None) -> Fields:
    """The fields with the routes in a table of their own."""
    if unit is None and "unit" not in table.settings:
        unit = fields.clock or fields.unit
    given, _ = _unit(table, unit)
    times = Times(table.path, given or "minutes")
    routes: list[RouteFields] = routes_of_table(table.path, table.header, list(table.rows), times)
    return in_unit(replace(fields, routes=routes), times)


def in_unit(fields: Fields, times: Times) -> Fields:
    """The fields, which know from now on whether times are times of day."""
    if fields.in_metres:
        times.refuse_metres()
    if times.of_day and fields.clock not in (None, times.unit):
        raise BadFile(times.path, f"its times are in {times.unit}, those of the points in {fields.clock}")
    of_day, dotted = fields.of_day or times.of_day, fields.dotted or times.dotted
    if of_day and dotted is not None:
        raise dotted.refused
    if times.dotted is not None and times.all_dotted and not of_day and fields.clock is None:
        times.dotted.warn()
    return replace(
        fields, unit=times.unit, clock=times.unit if times.of_day else fields.clock, of_day=of_day, dotted=dotted
    )


def _unit(table: Table, unit: str | None) -> tuple[Unit | None, bool]:
    """The unit of costs, if the caller or a setting names one, and whether times are shown as times of day anyway."""
    clock = table.settings.get("clock")
    if unit is not None:
        return as_unit(table.path, unit), clock is not None
    given: Any = table.settings.get("unit", clock)
    return (None if given is None else as_unit(table.path, given.text, given.line)), clock is not None


def _limits(table: Table) -> dict[str, float]:
    """The limits of budgets, by name."""
    return {
        key.removeprefix(BUDGET): amount(table.path, setting.text, key, setting.line)
        for key, setting in table.settings.items()
        if key.startswith(BUDGET)
    }
