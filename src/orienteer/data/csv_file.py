"""CSV of points: x, y or lat, lon, with name and prize; the costs may come from a second CSV, a matrix.

The settings that are not in the table (limit, start, end, metric, matrix and others) stand in lines such as
``# limit = 12.5`` above it.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from orienteer.data.distances import euclidean, manhattan, measured_by
from orienteer.data.engine_table import engine_table, square_table
from orienteer.data.fields import Fields
from orienteer.data.json_file import parse_json_text
from orienteer.data.legs import Matrix
from orienteer.data.points import Header, Row
from orienteer.data.table import Setting, Table, fields_of_table, note, with_routes_of
from orienteer.data.text import MAX_WHOLE, FilePath, costs_of, read_text, shown, write_lines
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array

Line = tuple[int, list[str]]
"""A line's number and its cells."""

WORDS = ("name", "group", "start", "end")
"""Columns whose cells are texts even where they look like numbers."""


def load_csv(
    path: FilePath,
    matrix: Matrix | None = None,
    metric: str | None = None,
    speed: float | None = None,
    unit: str | None = None,
    budgets: Mapping[str, float] | None = None,
) -> Fields:
    """The problem in a CSV file; what the caller gives, unless None, overrides the settings in the file."""
    return fields_of_table(csv_table(path), _Folder(path), matrix, metric, speed, unit, budgets)


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


def _write(path: FilePath, lines: list[str]) -> None:
    if sum(map(len, lines)) + len(lines) > MAX_WHOLE:
        raise BadFile(path, f"cannot be written: more than {MAX_WHOLE} bytes of CSV; write NPZ instead")
    write_lines(path, lines)
