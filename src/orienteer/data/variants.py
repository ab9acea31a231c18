"""Text formats of team orienteering: plain (TOP), with time windows (TOPTW), with budgets too (MCTOPMTW).

Nodes are the rows of a file, counted from 0.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.data.fields import Fields, RouteFields
from orienteer.data.text import MAX_NODES, FilePath, amount, check_size, read_lines, real, whole
from orienteer.model.distances import euclidean, pairwise, truncated
from orienteer.model.errors import BadFile
from orienteer.model.rules import MOST_ROUTES, Budget, Window

Row = tuple[int, list[str]]
"""A line's number and its words."""

TYPES = 10
"""How many types of places an MCTOPMTW file limits."""


def load_top(path: FilePath, routes: int | None = None) -> Fields:
    """Team orienteering: "n N", "m M", "tmax T", then "x y score"; row 0 starts, the last row ends every route."""
    lines = _lines(path)
    size = whole(path, *_named(path, lines, "n"))
    count = whole(path, *_named(path, lines, "m"))
    limit = real(path, *_named(path, lines, "tmax"))
    rows = _rows(path, lines, size, least=3, most=3, wish="'x y score'")
    points = [_point(path, row, words) for row, words in rows]
    coords = np.array(points)
    return Fields(
        costs=pairwise(coords, euclidean),
        prizes=np.array([amount(path, words[2], "score", row) for row, words in rows]),
        limit=limit,
        start=0,
        end=size - 1,
        coords=coords,
        routes=_count(path, count if routes is None else routes),
    )


def load_toptw(path: FilePath, routes: int | None = None) -> Fields:
    """With time windows: two header lines, then "i x y duration score ... opens closes"; row 0 starts and ends.

    The file leaves the number of routes open: one unless `routes` says otherwise. The closing time of row 0 is the
    limit. Distances are cut off after one decimal, in Cordeau's files (pr*) after two.
    """
    lines = _lines(path)
    row, header = next(lines, (1, []))
    if len(header) < 3:
        raise BadFile(path, f"the first line must have the number of nodes as its third value, got {len(header)}", row)
    size = whole(path, header[2], "the number of nodes", row) + 1
    next(lines, None)
    rows = _rows(path, lines, size, least=8, wish="'i x y duration score ... opens closes'")
    windows = [_window(path, words[-2], words[-1], row) for row, words in rows]
    return Fields(
        limit=windows[0][1],
        windows=[None, *([window] for window in windows[1:])],
        routes=_count(path, 1 if routes is None else routes),
        **_places(path, rows, 2 if Path(path).stem.startswith("pr") else 1),
    )


def load_mctopmtw(path: FilePath, routes: int | None = None) -> Fields:
    """With several windows and budgets: "M N B E1 .. E10", the depot "0 x y 0 0 O C", then a node a line.

    A node is "i x y duration score O1 O2 O3 O4 C4 E b e1 .. e10". Its windows depend on the route, so routes are days
    on one clock: route k opens at k times `_day`, which is longer than any route.
    """
    lines = _lines(path)
    row, header = next(lines, (1, []))
    if len(header) != 3 + TYPES:
        raise BadFile(path, f"the first line must be 'M N B E1 .. E{TYPES}', got {len(header)} values", row)
    count = _count(path, whole(path, header[0], "M", row) if routes is None else routes)
    size = whole(path, header[1], "N", row) + 1
    most = [amount(path, word, "a budget", row) for word in header[2:]]
    depot = _rows(path, lines, 1, least=7, most=7, wish="'0 x y 0 0 O C'", more=True)
    rows = _rows(path, lines, size - 1, least=12 + TYPES, most=12 + TYPES, wish="of 22 values")
    limit = real(path, depot[0][1][6], "C", depot[0][0])
    windows = [_four_windows(path, words, row) for row, words in rows]
    day = _day(limit, windows)
    names = ["fee", *(f"type {number}" for number in range(1, TYPES + 1))]
    weights = [[0.0] * len(names)]
    weights += [[amount(path, word, "a weight", row) for word in words[11:]] for row, words in rows]
    return Fields(
        limit=limit,
        windows=[None, *(_on_days(odd, even, count, day) for odd, even in windows)],
        routes=[RouteFields(opens=number * day) for number in range(count)],
        budgets=[Budget(*budget) for budget in zip(names, np.array(weights).T, most, strict=True)],
        **_places(path, depot + rows, 2 if "pr" in Path(path).stem else 1),
    )


def _lines(path: FilePath) -> Iterator[Row]:
    return ((number, line.split()) for number, line in read_lines(path))


def _named(path: FilePath, lines: Iterator[Row], key: str) -> tuple[str, str, int]:
    """The value of a header line, its name and the line's number."""
    row, words = next(lines, (1, []))
    if len(words) != 2 or words[0] != key:
        raise BadFile(path, f"this line must be '{key}' and its value, got {' '.join(words)[:40]!r}", row)
    return words[1], key, row


def _rows(
    path: FilePath, lines: Iterator[Row], count: int, least: int, wish: str, most: int | None = None, more: bool = False
) -> list[Row]:
    """The next `count` lines, each of at least `least` and at most `most` words; the last ones unless `more` follow."""
    check_size(path, count)
    rows = list[Row]()
    for row, words in lines:
        if len(words) < least or (most is not None and len(words) > most):
            raise BadFile(path, f"a node must be {wish}, got {len(words)} values", row)
        rows.append((row, words))
        if len(rows) > MAX_NODES or (more and len(rows) == count):
            break
    if len(rows) != count:
        raise BadFile(path, f"the header announces {count} rows of nodes, got {len(rows)}")
    return rows


def _point(path: FilePath, row: int, words: Sequence[str]) -> list[float]:
    return [real(path, word, what, row) for word, what in zip(words, "xy", strict=False)]


def _places(path: FilePath, rows: Sequence[Row], decimals: int) -> dict[str, Any]:
    """Coordinates, costs, prizes and visit times of rows "i x y duration score ..."; routes start and end at row 0."""
    coords = np.array([_point(path, row, words[1:3]) for row, words in rows])
    service = np.array([amount(path, words[3], "duration", row) for row, words in rows])
    service[0] = 0.0  # nobody visits the depot
    return {
        "costs": pairwise(coords, partial(truncated, decimals=decimals)),
        "prizes": np.array([amount(path, words[4], "score", row) for row, words in rows]),
        "service": service,
        "coords": coords,
        "start": 0,
        "end": 0,
    }


def _window(path: FilePath, opens: str, closes: str, row: int) -> Window:
    return real(path, opens, "opens", row), real(path, closes, "closes", row)


def _four_windows(path: FilePath, words: Sequence[str], row: int) -> tuple[list[Window], list[Window]]:
    """The windows of a node for the first, third, ... route and for the others."""
    bounds = [real(path, word, "a time", row) for word in words[5:10]]
    four = list(itertools.pairwise(bounds))
    return (four[0::2], four[1::2]) if real(path, words[10], "E", row) == 1 else (four[1::2], four[0::2])


def _day(limit: float, windows: Sequence[tuple[Sequence[Window], Sequence[Window]]]) -> float:
    """How far apart routes open: a power of ten, at least twice as long as a route and as any window's closing time."""
    last = max((closes for both in windows for part in both for _, closes in part), default=0.0)
    return 10.0 ** math.ceil(math.log10(max(2 * limit, 2 * last, 1.0)))


def _on_days(odd: Sequence[Window], even: Sequence[Window], count: int, day: float) -> list[Window]:
    return [
        (number * day + opens, number * day + closes)
        for number in range(count)
        for opens, closes in (even if number % 2 else odd)
    ]


def _count(path: FilePath, routes: int) -> int:
    if not 1 <= routes <= MOST_ROUTES:
        raise BadFile(path, f"routes must be from 1 to {MOST_ROUTES}, got {routes}")
    return routes
