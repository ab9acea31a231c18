"""Reads and writes problems, sets, routes and results, in the format that the file's suffix or the caller names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from orienteer.data.chao import load_chao, save_chao
from orienteer.data.csv_file import load_csv, load_matrix, save_csv, with_routes
from orienteer.data.excel import load_excel, save_excel
from orienteer.data.fields import Fields, Node, RouteFields
from orienteer.data.geojson import load_geojson, save_geojson
from orienteer.data.gpx import load_gpx
from orienteer.data.instance_set import InstanceSet
from orienteer.data.json_file import load_json, load_result, save_json
from orienteer.data.legs import Given
from orienteer.data.npz import BatchResult, load_results, load_set, save_results, save_set
from orienteer.data.oplib import load_oplib, save_oplib
from orienteer.data.result_parts import load_folder
from orienteer.data.rules_json import rules_of
from orienteer.data.stored_set import is_stored_set, open_set
from orienteer.data.text import FilePath
from orienteer.data.tour_file import load_plan, load_tour, save_tour
from orienteer.data.variants import load_mctopmtw, load_top, load_toptw
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.rules import Route
from orienteer.model.spelling import did_you_mean
from orienteer.model.tour import Tour

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "WRITTEN",
    "BatchResult",
    "InstanceSet",
    "format_of",
    "read",
    "read_fields",
    "read_plan",
    "read_result",
    "read_results",
    "read_set",
    "read_tour",
    "write",
    "write_results",
    "write_set",
    "write_tour",
]

WRITTEN = ("json", "npz", "oplib", "chao", "csv", "geojson", "excel")
"""The formats that problems are written in."""

FORMATS = (*WRITTEN, "gpx", "top", "toptw", "mctopmtw")
"""The formats of problems, by name."""

SUFFIXES = {
    ".json": "json",
    ".npz": "npz",
    ".oplib": "oplib",
    ".op": "oplib",
    ".tsp": "oplib",
    ".atsp": "oplib",
    ".txt": "chao",
    ".csv": "csv",
    ".geojson": "geojson",
    ".gpx": "gpx",
    ".xlsx": "excel",
}
"""The format that a suffix stands for."""


def read(
    path: FilePath,
    format: str | None = None,
    *,
    limit: float | str | None = None,
    start: Node | None = None,
    end: Node | None = None,
    index: int | None = None,
    matrix: FilePath | None = None,
    metric: str | None = None,
    speed: float | None = None,
    unit: str | None = None,
    budgets: Mapping[str, float] | None = None,
    routes: int | Sequence[Route] | FilePath | None = None,
    free_end: bool = False,
    require: Sequence[Node] = (),
    avoid: Sequence[Node] = (),
) -> Instance:
    """The problem in a file, or `BadFile`.

    Parameters
    ----------
    format
        One of `FORMATS`; by default the suffix tells.
    limit, start, end
        Override those of the file and of all its routes, or supply those that the file lacks. Nodes by number, from 0,
        or by name. Where costs are times, the limit may be a text such as "4:00", hours and minutes.
    index
        Which instance of an NPZ set, from 0; may be left out for a set of one instance.
    matrix, metric
        For points: the path of a CSV with the costs, or of the JSON of a routing engine; or the name of the metric of
        distances between points.
    speed, unit
        For points: how far one gets at a cost of 1, so that distances become times; and what costs are counted in where
        the table has times of day: "minutes" by default, "seconds" or "hours".
    budgets
        Limits of budgets by name, in place of those of the file; in a table they make budgets of the columns so named.
    routes
        Several routes, in place of those of the file: their number, a list of `Route`, or the path of a table of them.
    free_end
        Whether routes may stop anywhere.
    require, avoid
        Nodes that must be visited, besides those of the file, and nodes that must not.
    """
    csv: dict[str, Any] = {"matrix": matrix, "metric": metric, "speed": speed, "unit": unit}
    found = read_fields(path, format, index=index, budgets=budgets, routes=routes, **csv)
    try:
        return found.wishing(path, free_end, require, avoid).build(path, limit, start, end)
    except MemoryError as error:
        raise BadFile(path, "needs more memory than there is") from error


def read_fields(
    path: FilePath,
    format: str | None = None,
    *,
    index: int | None = None,
    matrix: FilePath | None = None,
    metric: str | None = None,
    speed: float | None = None,
    unit: str | None = None,
    budgets: Mapping[str, float] | None = None,
    routes: int | Sequence[Route] | FilePath | None = None,
) -> Fields:
    """The fields of a problem in a file, before they are checked together; the parameters are those of `read`."""
    kind = format_of(path, format)
    if index is not None and kind != "npz":
        raise ValueError(f"index picks from an NPZ set, but {path} is read as {kind}")
    if any(value is not None for value in (matrix, metric, speed, unit)) and kind not in _POINTS:
        raise ValueError(f"matrix, metric, speed and unit go with {', '.join(_POINTS)}, but {path} is read as {kind}")
    try:
        if kind in _POINTS:
            costs = None if matrix is None else load_matrix(matrix)
            found = _POINTS[kind](path, Given(costs, metric, speed, unit, dict(budgets or {}), routes is not None))
        elif kind in _VARIANTS:
            found = _VARIANTS[kind](path, routes if isinstance(routes, int) else None)
        else:
            found = _pick(path, index) if kind == "npz" else _READERS[kind](path)
        if budgets and kind not in _POINTS:
            found = found.with_budgets(path, budgets)
        if routes is None or (kind in _VARIANTS and isinstance(routes, int)):
            return found
        return _with_routes(found, routes, unit)
    except InvalidInstance as error:
        raise BadFile(path, str(error)) from error
    except MemoryError as error:
        raise BadFile(path, "needs more memory than there is") from error


def write(instance: Instance, path: FilePath, format: str | None = None) -> None:
    """Writes a problem so that `read` returns an equal problem, or raises `BadFile` if the format cannot hold it."""
    kind = format_of(path, format)
    if kind not in WRITTEN:
        raise BadFile(path, f"cannot be written: {kind} is read only; write JSON instead")
    if kind in ("oplib", "chao") and rules_of(instance):
        raise BadFile(path, f"cannot be written: {kind} does not hold {', '.join(rules_of(instance))}; write JSON")
    if kind == "npz":
        save_set([instance], path)
    else:
        _SAVERS[kind](instance, path)


def read_set(path: FilePath, format: str | None = None) -> Sequence[Instance]:
    """The instances of an NPZ set, each made when it is asked for; of a file in another format, its one instance.

    All is held in memory, also of a set in several files; `open_set` is for sets that are too large for that.
    """
    if is_stored_set(path):
        return list(chain.from_iterable(open_set(path).pieces()))
    if format_of(path, format) == "npz":
        return load_set(path)
    return [read(path, format)]


def write_set(instances: Sequence[Instance], path: FilePath) -> None:
    """Writes instances of one size as an NPZ set."""
    save_set(instances, path)


def read_tour(path: FilePath, instance: Instance | None = None, index: int = 0) -> list[int]:
    """The nodes of a route, counted from 0, start and end included: JSON, plain numbers, TSPLIB or RESULT.npz.

    TSPLIB tours leave out the return to the start: it is added if `instance` is a round trip. `index` picks the route
    of a RESULT.npz. Nothing is judged here: `check_tour` does that.
    """
    return load_tour(path, instance, index)


def read_plan(path: FilePath, instance: Instance | None = None, index: int = 0) -> list[list[int]]:
    """The nodes of each route of a plan, for `check_plan`; of a file with one route, of that.

    Several routes are the `routes` of a JSON result, a JSON list of lists, or, where the `instance` has several routes,
    the lines of a text. The parameters are those of `read_tour`.
    """
    return load_plan(path, instance, index)


def write_tour(tour: Sequence[int] | Tour | Result, path: FilePath) -> None:
    """Writes a route: .json (a result whole), .tour or .sol (TSPLIB), .txt or no suffix (one node number a line).

    A result of `solve` is written for maps and as a table too: .geojson, .gpx, .csv or .xlsx.
    """
    save_tour(tour, path)


def read_result(path: FilePath) -> Result:
    """The result in a JSON file."""
    return load_result(path)


def read_results(path: FilePath) -> BatchResult:
    """The results of a batch in an NPZ file, or in a folder of such files."""
    return load_folder(path) if Path(path).is_dir() else load_results(path)


def write_results(results: Iterable[Result], path: FilePath) -> None:
    """Writes the results of a batch as NPZ: prize, cost, seconds (b,) and tour (b, stops) padded with -1."""
    save_results(results, path)


def format_of(path: FilePath, format: str | None = None) -> str:
    """The `format` if it is named, else the format that the suffix of `path` stands for; a folder is an NPZ set."""
    if format is not None:
        if format not in FORMATS:
            raise ValueError(
                f"format must be one of {', '.join(FORMATS)}, got {format!r}{did_you_mean(format, FORMATS)}"
            )
        return format
    if is_stored_set(path):
        return "npz"
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        suffixes = {name: " ".join(s for s, f in SUFFIXES.items() if f == name) for name in FORMATS}
        known = ", ".join(f"{name} ({ends})" if ends else name for name, ends in suffixes.items())
        raise BadFile(path, f"the suffix {suffix!r} stands for no format; name one of {known}")
    return SUFFIXES[suffix]


_VARIANTS = {"top": load_top, "toptw": load_toptw, "mctopmtw": load_mctopmtw}
"""Readers that are told the number of routes."""

_POINTS = {"csv": load_csv, "json": load_json, "geojson": load_geojson, "gpx": load_gpx, "excel": load_excel}
"""Readers of points, which are told the matrix, metric, speed, unit and budgets that the caller gives."""

_READERS = {"oplib": load_oplib, "chao": load_chao}

_SAVERS = {
    "json": save_json,
    "oplib": save_oplib,
    "chao": save_chao,
    "csv": save_csv,
    "geojson": save_geojson,
    "excel": save_excel,
}


def _with_routes(found: Fields, routes: int | Sequence[Route] | FilePath, unit: str | None) -> Fields:
    if isinstance(routes, (str, Path)):
        return with_routes(found, routes, unit)
    return replace(found, routes=routes if isinstance(routes, int) else [RouteFields.of(route) for route in routes])


def _pick(path: FilePath, index: int | None) -> Fields:
    found = open_set(path)
    if index is None and len(found) > 1:
        raise BadFile(path, f"a set of {len(found)} instances; an index must say which")
    at = index or 0
    if not 0 <= at < len(found):
        raise BadFile(path, f"there is no instance {at} among {len(found)}")
    return found.at(at).fields(0)
