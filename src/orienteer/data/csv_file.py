"""CSV of points: x, y or lat, lon, with name and prize; the costs may come from a second CSV, a matrix.

The settings that are not in the table (limit, start, end, metric, matrix and others) stand in lines such as
``# limit = 12.5`` above it.
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.data.csv_columns import ACCEPTED, BUDGET, find_columns, warn_of_unused
from orienteer.data.csv_rules import Row, budgets_of_points, routes_of_table, rules_of_points, yes
from orienteer.data.distances import METRICS, euclidean, great_circle, manhattan, measured_by, pairwise
from orienteer.data.fields import Fields
from orienteer.data.text import MAX_WHOLE, FilePath, amount, check_size, costs_of, read_text, real, shown, write_lines
from orienteer.data.times import Times, as_unit
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.spelling import did_you_mean

SETTINGS = ("limit", "start", "end", "free_end", "metric", "matrix", "speed", "unit", "routes")
"""The settings that may stand in the lines above the table, besides the limits of budgets, `budget:NAME`."""


def load_csv(
    path: FilePath,
    matrix: FilePath | None = None,
    metric: str | None = None,
    speed: float | None = None,
    unit: str | None = None,
    budgets: Mapping[str, float] | None = None,
) -> Fields:
    """The problem in a CSV file; what the caller gives, unless None, overrides the settings in the file."""
    settings, table = _split(path)
    if matrix is None and "matrix" in settings:
        matrix = _beside(path, settings["matrix"])
    if metric is None and "metric" in settings:
        metric = settings["metric"].text
    if speed is None and "speed" in settings:
        speed = real(path, settings["speed"].text, "speed", settings["speed"].line)
    times = _times(path, settings, unit)
    most = _limits(path, settings) | dict(budgets or {})
    points = _points(path, table, times, most)
    limit = settings.get("limit")
    free = settings.get("free_end")
    fields = Fields(
        costs=_costs(path, points, matrix, metric, speed),
        prizes=np.array(points.prizes),
        limit=None if limit is None else times.duration(limit.text, "limit", limit.line),
        start=settings["start"].text if "start" in settings else None,
        end=settings["end"].text if "end" in settings else None,
        coords=points.coords,
        names=points.names,
        free_end=free is not None and yes(path, free.text, "free_end", free.line),
        in_metres=points.on_earth and matrix is None and speed is None,
        **points.rules,
    )
    fields = in_unit(fields, times)
    if "routes" in settings:
        text = settings["routes"].text
        number = re.fullmatch(r"\d{1,9}", text, re.ASCII)
        routes = int(text) if number else _beside(path, settings["routes"])
        return replace(fields, routes=routes) if isinstance(routes, int) else with_routes(fields, routes, times.unit)
    return fields


def with_routes(fields: Fields, path: FilePath, unit: str | None = None) -> Fields:
    """The fields with the routes in a table of their own."""
    settings, table = _split(path)
    if unit is None and "unit" not in settings:
        unit = fields.clock
    times = _times(path, settings, unit)
    return in_unit(replace(fields, routes=routes_of_table(path, list(table), times)), times)


def in_unit(fields: Fields, times: Times) -> Fields:
    """The fields, which know from now on whether times are times of day."""
    if times.in_unit and fields.in_metres:
        wish = "a speed, in metres for each of these, or a matrix must be given"
        raise BadFile(times.path, f"times of day need costs in {times.unit}, but lat and lon give metres: {wish}")
    if times.of_day and fields.clock not in (None, times.unit):
        raise BadFile(times.path, f"its times are in {times.unit}, those of the points in {fields.clock}")
    return replace(fields, clock=times.unit) if times.of_day else fields


def _times(path: FilePath, settings: dict[str, "_Setting"], unit: str | None) -> Times:
    if unit is not None:
        return Times(path, as_unit(path, unit))
    given = settings.get("unit")
    return Times(path) if given is None else Times(path, as_unit(path, given.text, given.line))


def _limits(path: FilePath, settings: dict[str, "_Setting"]) -> dict[str, float]:
    """The limits of budgets, by name."""
    return {
        key.removeprefix(BUDGET): amount(path, setting.text, key, setting.line)
        for key, setting in settings.items()
        if key.startswith(BUDGET)
    }


def save_csv(instance: Instance, path: FilePath) -> None:
    """Writes the points; if the costs are not the distances of the points, also NAME.matrix.csv with the costs."""
    settings = {"limit": repr(instance.limit), "start": str(instance.start), "end": str(instance.end)}
    metric = next((m for m in (euclidean, manhattan) if measured_by(instance.costs, instance.coords, m)), None)
    if metric is None:
        matrix = Path(path).with_suffix(".matrix.csv")
        _write(matrix, [",".join(map(repr, row)) for row in instance.costs.tolist()])
        settings["matrix"] = matrix.name
    else:
        settings["metric"] = metric.__name__
    columns: dict[str, list[str]] = {}
    if instance.names is not None:
        columns["name"] = ['"' + name.replace('"', '""') + '"' for name in instance.names]
    if instance.coords is not None:
        columns |= {axis: list(map(repr, instance.coords[:, i].tolist())) for i, axis in enumerate("xy")}
    columns["prize"] = list(map(repr, instance.prizes.tolist()))
    lines = [f"# {key} = {value}" for key, value in settings.items()]
    lines += [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    _write(path, lines)


@dataclass(frozen=True)
class _Setting:
    text: str
    line: int


@dataclass(frozen=True)
class _Points:
    prizes: list[float]
    coords: Array | None
    names: list[str] | None
    on_earth: bool
    rules: dict[str, Any]
    """The fields beyond the plain problem."""


def _split(path: FilePath) -> tuple[dict[str, _Setting], Iterator[Row]]:
    """The settings above the table, and the rows of the table with their line numbers."""
    lines = io.StringIO(read_text(path), newline="")
    settings: dict[str, _Setting] = {}
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if line.startswith("#"):
            _note(path, settings, line, number)
        elif line:
            return settings, _rows(path, itertools.chain([raw], lines), number)
    raise BadFile(path, "there is no table in it")


def _note(path: FilePath, settings: dict[str, _Setting], line: str, number: int) -> None:
    """Takes a setting from a comment line; a comment without '=' is only a comment."""
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
    settings[key] = _Setting(pair[2], number)


def _rows(path: FilePath, lines: Iterator[str], first: int) -> Iterator[Row]:
    """Line number and cells of each row that is not empty.

    The separator is that of comma, semicolon and tab which is most frequent in the first row.
    """
    opening = next(lines, "")
    separator = max(",;\t", key=opening.count)
    reader = csv.reader(itertools.chain([opening], lines), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield first - 1 + reader.line_num, row
    except csv.Error as error:
        raise BadFile(path, f"not CSV: {error}", first - 1 + reader.line_num) from error


def _points(path: FilePath, rows: Iterator[Row], times: Times, most: Mapping[str, float]) -> _Points:
    number, header = next(rows, (1, []))
    places = find_columns(path, header, number)
    axes = ("lon", "lat") if "lat" in places else ("x", "y")
    prizes: list[float] = []
    coords: list[list[float]] = []
    names: list[str] = []
    table: list[Row] = []
    for number, row in rows:
        if len(row) != len(header):
            raise BadFile(path, f"a row must have {len(header)} cells like the header, got {len(row)}", number)
        prizes.append(amount(path, row[places["prize"]].strip(), "prize", number))
        if axes[0] in places:
            coords.append([_axis(path, row[places[axis]].strip(), axis, number) for axis in axes])
        if "name" in places:
            names.append(row[places["name"]])
        table.append((number, row))
        check_size(path, len(prizes), number)
    check_size(path, len(prizes))
    warn_of_unused(path, header, places, [row for _, row in table], [name.lower() for name in most])
    rules = rules_of_points(path, places, table, times)
    rules["budgets"] = budgets_of_points(path, header, table, most)
    return _Points(prizes, np.array(coords) if coords else None, names or None, "lat" in places, rules)


def _axis(path: FilePath, cell: str, axis: str, line: int) -> float:
    value = real(path, cell, axis, line)
    most = {"lat": 90, "lon": 180}.get(axis, math.inf)
    if abs(value) > most:
        raise BadFile(path, f"{axis} must be from -{most} to {most} degrees, got {value:g}", line)
    return value


def _costs(path: FilePath, points: _Points, matrix: FilePath | None, metric: str | None, speed: float | None) -> Array:
    if speed is not None and not 0 < speed < math.inf:
        raise BadFile(path, f"speed must be above 0, got {speed:g}")
    if matrix is not None:
        for other, value in (("metric", metric), ("speed", speed)):
            if value is not None:
                raise BadFile(path, f"matrix and {other} exclude each other")
        return _matrix(matrix, len(points.prizes), points.names)
    if points.coords is None:
        raise BadFile(path, f"there are neither x, y nor lat, lon columns, nor a matrix; columns are {ACCEPTED}")
    if metric is None:
        metric = "great_circle" if points.on_earth else "euclidean"
    if metric not in METRICS:
        hint = did_you_mean(metric, METRICS)
        raise BadFile(path, f"metric must be one of {', '.join(METRICS)}, got {shown(metric)}{hint}")
    if (METRICS[metric] is great_circle) != points.on_earth:
        raise BadFile(path, "the metric great_circle goes with lat, lon, the others with x, y")
    distances = pairwise(points.coords, METRICS[metric])
    return distances if speed is None else distances / speed


def _beside(path: FilePath, setting: _Setting) -> Path:
    """The file that the setting names; it must be in the folder of `path`, so that no file points elsewhere."""
    if not setting.text or setting.text != Path(setting.text).name or "\0" in setting.text:
        raise BadFile(path, f"a setting must name a file of the same folder, got {shown(setting.text)}", setting.line)
    return Path(path).parent / setting.text


def _matrix(path: FilePath, size: int, names: list[str] | None) -> Array:
    """The costs in a matrix, with or without a row and a column of names; an empty cell or inf stands for no leg."""
    rows = _split(path)[1]
    number, first = next(rows, (1, []))
    if len(first) == size + 1:
        rows = _without_names(path, rows, number, first[1:], names)
    else:
        rows = itertools.chain([(number, first)], rows)
    table: list[Array] = []
    for number, row in rows:
        if len(row) != size:
            raise BadFile(path, f"a row of the matrix must have {size} numbers, got {len(row)}", number)
        if len(table) == size:
            raise BadFile(path, f"the matrix has more than {size} rows, one a point", number)
        table.append(np.array(costs_of(path, [cell.strip() or "inf" for cell in row], "a cost", number)))
    if len(table) < size:
        raise BadFile(path, f"the matrix must have {size} rows, one a point, got {len(table)}")
    return np.array(table)


def _without_names(
    path: FilePath, rows: Iterator[Row], line: int, header: list[str], names: list[str] | None
) -> Iterator[Row]:
    """The rows without the names at their beginnings, which must be the points' names in the points' order."""
    if names is not None and header != names:
        raise BadFile(path, "the first row of the matrix must hold the points' names in their order", line)
    for place, (number, row) in enumerate(rows):
        if place < len(header) and row[0] != header[place]:
            raise BadFile(path, f"this row of the matrix must begin with its name {shown(header[place])}", number)
        yield number, row[1:]


def _write(path: FilePath, lines: list[str]) -> None:
    if sum(map(len, lines)) + len(lines) > MAX_WHOLE:
        raise BadFile(path, f"cannot be written: more than {MAX_WHOLE} bytes of CSV; write NPZ instead")
    write_lines(path, lines)
