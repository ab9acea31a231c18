"""OPLib files, and TSPLIB's with scores and a limit added (Reinelt 1991; Kobeaga, Merino and Lozano 2018)."""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from orienteer.data.fields import Fields
from orienteer.data.text import FilePath, amount, check_size, costs_of, read_lines, real, shown, whole, write_lines
from orienteer.model.distances import TSPLIB_METRICS, geo_degrees, measured_by, pairwise
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array

FORMATS = {
    "FULL_MATRIX": ("full", True),
    "UPPER_ROW": ("upper", False),
    "LOWER_ROW": ("lower", False),
    "UPPER_DIAG_ROW": ("upper", True),
    "LOWER_DIAG_ROW": ("lower", True),
    "UPPER_COL": ("lower", False),  # the columns of one triangle are the rows of the other
    "LOWER_COL": ("upper", False),
    "UPPER_DIAG_COL": ("lower", True),
    "LOWER_DIAG_COL": ("upper", True),
}
"""The layouts of an explicit matrix: which part of it the rows fill, and whether they hold the diagonal."""


def load_oplib(path: FilePath) -> Fields:
    """The problem in an OPLib file."""
    found = _Sections(path).read()
    prizes = _scores(found)
    start, end = _depots(found)
    limit = found.optional("COST_LIMIT")
    coords, display = _points(found, "NODE_COORD_SECTION"), _points(found, "DISPLAY_DATA_SECTION")
    costs = _costs(found, coords)  # last, since they alone take memory for n * n numbers
    if coords is not None and found.value("EDGE_WEIGHT_TYPE") == "GEO":
        coords = geo_degrees(coords)[:, ::-1]  # longitude to the right, latitude upwards
    return Fields(
        costs=costs,
        prizes=prizes,
        limit=None if limit is None else real(path, limit, "COST_LIMIT", found.line("COST_LIMIT")),
        start=start,
        end=end,
        coords=coords if display is None else display,
    )


def save_oplib(instance: Instance, path: FilePath) -> None:
    """Writes a problem: as coordinates where its costs are TSPLIB's integer distances, else as a full matrix."""
    if instance.names is not None:
        raise BadFile(path, "cannot be written: this format holds no names")
    kind = next((name for name in _PLANAR if measured_by(instance.costs, instance.coords, TSPLIB_METRICS[name])), None)
    write_lines(path, _lines(instance, kind))


_PLANAR = ("EUC_2D", "CEIL_2D", "ATT", "MAN_2D", "MAX_2D")
_KEYWORD = re.compile(r"([A-Z][A-Z_0-9]*)\s*(:.*)?")
_USED = ("DIMENSION", "COST_LIMIT", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "TYPE")
"""The keys that are read, each at most once; others are not kept, however many there are."""
_WIDTHS = {
    "NODE_COORD_SECTION": 3,
    "DISPLAY_DATA_SECTION": 3,
    "NODE_SCORE_SECTION": 2,
    "DEPOT_SECTION": 1,
    "EDGE_WEIGHT_SECTION": 0,
}
"""The sections that are read, and how many values a line of each holds; 0 stands for any number."""


@dataclass
class _Sections:
    """The keys and sections of a file, gathered line by line; no section grows beyond what DIMENSION allows."""

    path: FilePath
    keys: dict[str, tuple[str, int]] = field(default_factory=dict)
    rows: dict[str, list[tuple[int, list[str]]]] = field(default_factory=dict)
    weights: "array[float]" = field(default_factory=lambda: array("d"))
    opened: dict[str, int] = field(default_factory=dict)
    size: int = 0
    expected: int = 0

    def read(self) -> "_Sections":
        section = ""
        for number, line in read_lines(self.path):
            if keyword := _KEYWORD.fullmatch(line):
                if keyword[1] == "EOF":
                    break
                section = self._open(keyword[1], keyword[2], number)
            elif not section:
                raise BadFile(self.path, f"expected 'KEY : value' or a section, got {shown(line)}", number)
            elif section == "EDGE_WEIGHT_SECTION":
                self._add_weights(line, number)
            else:
                self._add_row(section, line.split(), number)
        if not self.size:
            raise BadFile(self.path, "DIMENSION is missing")
        return self

    def value(self, key: str) -> str:
        if key not in self.keys:
            raise BadFile(self.path, f"{key} is missing")
        return self.keys[key][0]

    def optional(self, key: str) -> str | None:
        return self.keys[key][0] if key in self.keys else None

    def line(self, key: str) -> int:
        return self.keys[key][1]

    def numbered(self, section: str) -> Iterator[tuple[int, int, list[str]]]:
        """Line number, node counted from 0 and values of each row; every node must have one row."""
        rows = self.rows[section]
        seen: dict[int, int] = {}
        for number, row in rows:
            node = whole(self.path, row[0], "a node", number)
            if not 1 <= node <= self.size:
                raise BadFile(self.path, f"{section}: node must be from 1 to {self.size}, got {node}", number)
            if node in seen:
                raise BadFile(self.path, f"{section}: node {node} appears again, first on line {seen[node]}", number)
            seen[node] = number
            yield number, node - 1, row[1:]
        if len(seen) < self.size:
            missing = next(node for node in range(1, self.size + 1) if node not in seen)
            raise BadFile(self.path, f"{section} lacks node {missing}", self.opened[section])

    def _open(self, key: str, rest: str | None, number: int) -> str:
        """Notes a key or the beginning of a section; returns the section that the next lines belong to, or ""."""
        if key.endswith("_SECTION"):
            if key not in _WIDTHS:
                raise BadFile(self.path, f"{key} is not supported", number)
            if key in self.opened:
                raise BadFile(self.path, f"{key} appears twice, first on line {self.opened[key]}", number)
            if not self.size:
                raise BadFile(self.path, f"DIMENSION must come before {key}", number)
            self.opened[key] = number
            self.rows[key] = []
            if key == "EDGE_WEIGHT_SECTION":
                self.expected = self._expected_weights()
            return key
        if rest is None:
            raise BadFile(self.path, f"{shown(key)} is neither 'KEY : value' nor a section", number)
        if key not in _USED:
            return ""
        if key in self.keys:
            raise BadFile(self.path, f"{key} appears twice, first on line {self.line(key)}", number)
        self.keys[key] = rest[1:].strip(), number
        if key == "DIMENSION":
            self.size = whole(self.path, self.value(key), key, number)
            check_size(self.path, self.size, number)
        if key == "TYPE" and self.value(key).split(" ")[0] not in ("OP", "TSP", "ATSP"):
            raise BadFile(self.path, f"TYPE must be OP, TSP or ATSP, got {shown(self.value(key))}", number)
        return ""

    def _expected_weights(self) -> int:
        layout = self.value("EDGE_WEIGHT_FORMAT")
        if layout not in FORMATS:
            wish = ", ".join(FORMATS)
            raise BadFile(
                self.path,
                f"EDGE_WEIGHT_FORMAT must be one of {wish}, got {shown(layout)}",
                self.line("EDGE_WEIGHT_FORMAT"),
            )
        check_size(self.path, self.size, self.line("DIMENSION"), table=True)
        part, diagonal = FORMATS[layout]
        if part == "full":
            return self.size * self.size
        return self.size * (self.size - 1) // 2 + (self.size if diagonal else 0)

    def _add_weights(self, line: str, number: int) -> None:
        tokens = line.split()
        if len(self.weights) + len(tokens) > self.expected:
            raise BadFile(
                self.path, f"EDGE_WEIGHT_SECTION holds more than the {self.expected} weights expected", number
            )
        self.weights.extend(costs_of(self.path, tokens, "a weight", number))

    def _add_row(self, section: str, row: list[str], number: int) -> None:
        if len(row) != _WIDTHS[section]:
            raise BadFile(self.path, f"{section}: a line must hold {_WIDTHS[section]} value(s), got {len(row)}", number)
        if len(self.rows[section]) > self.size:
            raise BadFile(self.path, f"{section} holds more than {self.size} lines", number)
        self.rows[section].append((number, row))


def _lines(instance: Instance, kind: str | None) -> Iterator[str]:
    """The lines of a file with the distances of `kind`, or with a full matrix."""
    yield from ("TYPE : OP", f"DIMENSION : {instance.size}", f"COST_LIMIT : {instance.limit!r}")
    yield f"EDGE_WEIGHT_TYPE : {kind or 'EXPLICIT'}"
    if kind is None:
        yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
        if instance.coords is not None:
            yield "DISPLAY_DATA_TYPE : TWOD_DISPLAY"
        yield "EDGE_WEIGHT_SECTION"
        yield from (" ".join(map(repr, row.tolist())) for row in instance.costs)
    if instance.coords is not None:
        yield "DISPLAY_DATA_SECTION" if kind is None else "NODE_COORD_SECTION"
        yield from (f"{node} {x!r} {y!r}" for node, (x, y) in enumerate(instance.coords.tolist(), start=1))
    yield "NODE_SCORE_SECTION"
    yield from (f"{node} {prize!r}" for node, prize in enumerate(instance.prizes.tolist(), start=1))
    yield "DEPOT_SECTION"
    yield str(instance.start + 1)
    if instance.end != instance.start:
        yield str(instance.end + 1)
    yield from ("-1", "EOF")


def _points(found: _Sections, section: str) -> Array | None:
    if section not in found.opened:
        return None
    points = np.empty((found.size, 2))
    for number, node, values in found.numbered(section):
        points[node] = [real(found.path, token, "a coordinate", number) for token in values]
    return points


def _scores(found: _Sections) -> Array:
    if "NODE_SCORE_SECTION" not in found.opened:
        if (found.optional("TYPE") or "").split(" ")[0] in ("TSP", "ATSP"):
            return np.ones(found.size)  # files of TSPLIB itself have no scores: every node is worth 1
        raise BadFile(found.path, "NODE_SCORE_SECTION is missing")
    scores = np.empty(found.size)
    for number, node, values in found.numbered("NODE_SCORE_SECTION"):
        scores[node] = amount(found.path, values[0], "a score", number)
    return scores


def _depots(found: _Sections) -> tuple[int | None, int | None]:
    """Start and end; a single depot is both; None, for the caller to supply, where the section is missing."""
    if "DEPOT_SECTION" not in found.opened:
        return None, None
    nodes: list[int] = []
    closed = False
    for number, row in found.rows["DEPOT_SECTION"]:
        node = whole(found.path, row[0], "a depot", number)
        if closed:
            raise BadFile(found.path, "DEPOT_SECTION goes on after -1", number)
        if node == -1:
            closed = True
        elif not 1 <= node <= found.size:
            raise BadFile(found.path, f"a depot must be from 1 to {found.size}, got {node}", number)
        else:
            nodes.append(node - 1)
    if not 1 <= len(nodes) <= 2:
        wish = "one depot, or a start and an end"
        raise BadFile(found.path, f"DEPOT_SECTION must name {wish}, got {len(nodes)}", found.opened["DEPOT_SECTION"])
    return nodes[0], nodes[-1]


def _costs(found: _Sections, coords: Array | None) -> Array:
    kind = found.value("EDGE_WEIGHT_TYPE")
    if kind == "EXPLICIT":
        return _matrix(found)
    if kind not in TSPLIB_METRICS:
        wish = ", ".join([*TSPLIB_METRICS, "EXPLICIT"])
        message = f"EDGE_WEIGHT_TYPE must be one of {wish}, got {shown(kind)}"
        raise BadFile(found.path, message, found.line("EDGE_WEIGHT_TYPE"))
    if coords is None:
        raise BadFile(found.path, f"NODE_COORD_SECTION is missing, which {kind} needs")
    return pairwise(coords, TSPLIB_METRICS[kind])


def _matrix(found: _Sections) -> Array:
    if "EDGE_WEIGHT_SECTION" not in found.opened:
        raise BadFile(found.path, "EDGE_WEIGHT_SECTION is missing, which EXPLICIT needs")
    if len(found.weights) != found.expected:
        message = f"EDGE_WEIGHT_SECTION must hold {found.expected} weights, got {len(found.weights)}"
        raise BadFile(found.path, message, found.opened["EDGE_WEIGHT_SECTION"])
    size, weights = found.size, np.frombuffer(found.weights) if found.weights else np.empty(0)
    part, diagonal = FORMATS[found.value("EDGE_WEIGHT_FORMAT")]
    if part == "full":
        return weights.reshape(size, size)
    costs = np.zeros((size, size))
    taken = 0
    for node in range(size):
        first, last = (node + (not diagonal), size) if part == "upper" else (0, node + diagonal)
        row = weights[taken : taken + last - first]
        costs[node, first:last] = row
        costs[first:last, node] = row
        taken += last - first
    return costs
