"""CSV of points: x, y or lat, lon, with name and prize; the costs may come from a second CSV, a matrix.

The settings that are not in the table (limit, start, end, metric, matrix and others) stand in lines such as
``# limit = 12.5`` above it.
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.data.columns import BUDGET
from orienteer.data.engine_table import engine_table, square_table
from orienteer.data.fields import Fields
from orienteer.data.json_file import parse_json_text
from orienteer.data.legs import NOTHING, Given, Matrix, great_circle_speed, positions
from orienteer.data.points import Header, Row
from orienteer.data.table import Setting, Table, fields_of_table, note, with_routes_of
from orienteer.data.text import MAX_WHOLE, FilePath, costs_of, csv_line, read_text, shown, write_lines
from orienteer.model.distances import euclidean, manhattan, measured_by
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.rules import Route, Window

Line = tuple[int, list[str]]
"""A line's number and its cells."""

WORDS = ("name", "group", "start", "end")
"""Columns whose cells are texts even where they look like numbers."""


def load_csv(path: FilePath, given: Given = NOTHING) -> Fields:
    """The problem in a CSV file; what is given overrides the settings in the file."""
    return fields_of_table(csv_table(path), _Folder(path), given)


def load_matrix(path: FilePath) -> Matrix:
    """The costs in a CSV, or in the JSON of a routing engine, whatever the suffix."""
    text = read_text(path)
    if text.lstrip()[:1] not in ("{", "["):
        rows = _split(path, text)[1]
        return lambda size, names: costs_of_rows(path, rows, size, names)
    data = parse_json_text(path, text)
    if isinstance(data, dict):
        return engine_table(path, data)
    return lambda size, _: square_table(path, "the matrix", data, size)


def with_routes(fields: Fields, path: FilePath, unit: str | None = None) -> Fields:
    """The fields with the routes in a CSV of their own."""
    return with_routes_of(fields, csv_table(path), unit)


def csv_table(path: FilePath) -> Table:
    """The table in a CSV file."""
    text = read_text(path)
    settings, rows = _split(path, text, words=True)
    line, titles = next(rows, (1, []))
    return Table(path, settings, Header(titles, line), (Row(cells, number) for number, cells in rows))


def save_csv(instance: Instance, path: FilePath) -> None:
    """Writes the points; if need be also NAME.matrix.csv with the costs and NAME.routes.csv with the routes."""
    tables = problem_tables(instance, path)
    for sheet in ("matrix", "routes"):
        if sheet in tables:
            other = Path(path).with_suffix(f".{sheet}.csv")
            tables["places"].insert(0, [f"# {sheet} = {other.name}"])
            _write(other, tables[sheet])
    _write(path, tables["places"])


def problem_tables(instance: Instance, path: FilePath) -> dict[str, list[Sequence[Any]]]:
    """The rows of the tables places, and matrix and routes where the problem needs them."""
    settings = _settings(instance, path)
    tables: dict[str, list[Sequence[Any]]] = {}
    if instance.on_earth:
        positions(instance, path)
    speed = great_circle_speed(instance)
    metrics = () if instance.on_earth else (euclidean, manhattan)
    metric = next((metric for metric in metrics if measured_by(instance.costs, instance.coords, metric)), None)
    if metric is not None:
        settings["metric"] = metric.__name__
    elif speed is None:
        tables["matrix"] = [["inf" if cost == np.inf else cost for cost in row] for row in instance.costs.tolist()]
    elif speed != 1:
        settings["speed"] = repr(speed)
    if instance.routes is not None:
        tables["routes"] = [["name", "start", "end", "opens", "limit", "free_end"], *map(_route, instance.routes)]
    columns = _columns(instance)
    lines = [[f"# {key} = {value}"] for key, value in settings.items()]
    return {"places": [*lines, list(columns), *zip(*columns.values(), strict=True)], **tables}


def _settings(instance: Instance, path: FilePath) -> dict[str, str]:
    settings = {"limit": repr(instance.limit), "start": str(instance.start)}
    settings |= {"free_end": "yes"} if instance.end is None else {"end": str(instance.end)}
    if instance.clock is not None:
        settings["clock"] = instance.clock
    names = [budget.name for budget in instance.budgets]
    for name in names:
        if (
            not re.fullmatch(r"\w([\w .:()/+-]*[\w.:()/+-])?", name)
            or [n.lower() for n in names].count(name.lower()) > 1
        ):
            raise BadFile(path, f"cannot be written: a column cannot be called by the budget {shown(name)}; write JSON")
    return settings | {f"{BUDGET}{budget.name}": repr(budget.most) for budget in instance.budgets}


def _route(route: Route) -> list[Any]:
    end, free = ("", "yes") if route.end is None else (route.end, "")
    return [route.name, route.start, end, route.opens, route.limit, free]


def _columns(instance: Instance) -> dict[str, list[Any]]:
    """The columns of the places."""
    columns: dict[str, list[Any]] = {}
    if instance.names is not None:
        columns["name"] = list(instance.names)
    if instance.coords is not None:
        axes = ("lon", "lat") if instance.on_earth else ("x", "y")
        columns |= {axis: instance.coords[:, place].tolist() for place, axis in enumerate(axes)}
    columns["prize"] = instance.prizes.tolist()
    if instance.service is not None:
        columns["service"] = instance.service.tolist()
    nodes = range(instance.size)
    if instance.required:
        columns["required"] = ["yes" if node in instance.required else "" for node in nodes]
    if instance.windows is not None:
        columns["windows"] = [";".join(map(_window, entry or ())) for entry in instance.windows]
    if instance.groups:
        columns["group"] = [
            ";".join(str(number) for number, group in enumerate(instance.groups) if node in group) for node in nodes
        ]
    return columns | {f"{BUDGET}{budget.name}": budget.weights.tolist() for budget in instance.budgets}


def _window(window: Window) -> str:
    opens, closes = ("" if math.isinf(time) else repr(time) for time in window)
    return f"{opens}-{closes}"


def costs_of_rows(path: FilePath, rows: Iterator[Line], size: int, names: Sequence[str] | None) -> Array:
    """The costs in rows of a matrix, with or without a row and a column of names; an empty cell or inf is no leg."""
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


class _Folder:
    """The files beside a CSV."""

    def __init__(self, path: FilePath):
        self.path = path

    def matrix(self, setting: Setting) -> Matrix:
        """The matrix in the file that the setting names."""
        return load_matrix(self._named(setting))

    def routes(self, setting: Setting) -> Table:
        """The routes in the file that the setting names."""
        return csv_table(self._named(setting))

    def _named(self, setting: Setting) -> Path:
        """The file must be in the folder of the CSV, so that no file points elsewhere."""
        if not setting.text or setting.text != Path(setting.text).name or "\0" in setting.text:
            wish = f"a setting must name a file of the same folder, got {shown(setting.text)}"
            raise BadFile(self.path, wish, setting.line)
        return Path(self.path).parent / setting.text


def _split(path: FilePath, text: str, words: bool = False) -> tuple[dict[str, Setting], Iterator[Line]]:
    """The settings above the table, and the rows of the table with their line numbers.

    With `words` the first row names the columns, and those of `WORDS` are left as they are.
    """
    lines = io.StringIO(text, newline="")
    settings: dict[str, Setting] = {}
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if line.startswith("#"):
            note(path, settings, line, number)
        elif line:
            separator = _separator(line)
            rows = _rows(path, itertools.chain([raw], lines), number, separator)
            if separator != "," and _COMMAS.search(text) and not _POINTS.search(text):
                settings = {key: Setting(_with_point(each.text), each.line) for key, each in settings.items()}
                rows = _with_points(rows, words)
            return settings, rows
    raise BadFile(path, "there is no table in it")


def _rows(path: FilePath, lines: Iterator[str], first: int, separator: str) -> Iterator[Line]:
    """Line number and cells of each row that is not empty."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield first - 1 + reader.line_num, row
    except csv.Error as error:
        raise BadFile(path, f"not CSV: {error}", first - 1 + reader.line_num) from error


def _separator(line: str) -> str:
    """The most frequent of comma, semicolon and tab in the first row; commas of decimals do not count."""
    for separator in ";\t":
        cells = [_with_point(cell).strip() for cell in line.split(separator)]
        if len(cells) > 1 and all(re.fullmatch(r"[+-]?\d*\.?\d*", cell, re.ASCII) for cell in cells):
            return separator
    return max(",;\t", key=line.count)


_NUMBER = r"(?:^|[;\t=])[ \"]*[+-]?\d*{}\d+(?:[eE][+-]?\d+)?[ \"]*(?=[;\t\r\n]|$)"
_COMMAS = re.compile(_NUMBER.format(","), re.ASCII | re.MULTILINE)
_POINTS = re.compile(_NUMBER.format(r"\."), re.ASCII | re.MULTILINE)
"""Cells or settings that are numbers with a decimal comma, and with a decimal point."""


def _with_points(rows: Iterator[Line], words: bool) -> Iterator[Line]:
    """The rows with decimal points in place of decimal commas, but for columns of words."""
    titles: list[str] | None = None
    for number, row in rows:
        if titles is None and words:
            titles = [title.strip().lower() for title in row]
            yield number, row
            continue
        texts = titles or []
        yield (
            number,
            [
                cell if place < len(texts) and texts[place] in WORDS else _with_point(cell)
                for place, cell in enumerate(row)
            ],
        )


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if re.fullmatch(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", cell, re.ASCII) else cell


def _without_names(
    path: FilePath, rows: Iterator[Line], line: int, header: list[str], names: Sequence[str] | None
) -> Iterator[Line]:
    """The rows without the names at their beginnings, which must be the points' names in the points' order."""
    if names is not None and header != list(names):
        raise BadFile(path, "the first row of the matrix must hold the points' names in their order", line)
    for place, (number, row) in enumerate(rows):
        if place < len(header) and row[0] != header[place]:
            raise BadFile(path, f"this row of the matrix must begin with its name {shown(header[place])}", number)
        yield number, row[1:]


def _write(path: FilePath, rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows of numbers and texts; settings, which are alone in their rows, are not quoted."""
    lines = [str(row[0]) if str(row[0]).startswith("# ") and len(row) == 1 else csv_line(row) for row in rows]
    if sum(map(len, lines)) + len(lines) > MAX_WHOLE:
        raise BadFile(path, f"cannot be written: more than {MAX_WHOLE} bytes of CSV; write NPZ instead")
    write_lines(path, lines)
