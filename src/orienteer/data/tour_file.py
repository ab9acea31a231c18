"""Routes and plans in files: JSON, for maps, tables, node numbers, a TSPLIB tour, or a route of a batch's results."""

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orienteer.data.excel import check_extra
from orienteer.data.excel_plan import named_routes_of_excel, routes_of_excel, save_plan_excel
from orienteer.data.geojson import routes_of_geojson, save_plan_geojson
from orienteer.data.gpx import routes_of_gpx, save_plan_gpx
from orienteer.data.json_file import parse_json
from orienteer.data.legs import positions
from orienteer.data.npz import load_results
from orienteer.data.result_parts import load_one
from orienteer.data.text import FilePath, read_lines, shown, whole, write_lines
from orienteer.data.timetable import TITLES, routes_of_csv, save_plan_csv
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.tour import Tour

TSPLIB_SUFFIXES = (".tour", ".sol")

MAP_SUFFIXES = (".geojson", ".gpx")

KINDS = {
    ".json": "everything",
    ".geojson": "for maps",
    ".gpx": "for maps and devices",
    ".csv": "a row a stop",
    ".xlsx": "a sheet a route",
    ".tour": "TSPLIB",
    ".sol": "TSPLIB",
    ".txt": "node numbers",
}
"""What the files with a suffix hold, for messages."""


def load_tour(path: FilePath, instance: Instance | None = None, index: int = 0) -> list[int]:
    """The nodes of a route, counted from 0; the kind of file is told by its content, not by its suffix but for .npz.

    TSPLIB tours leave out the return to the start: it is added if `instance` is a round trip. `index` picks the route
    of a batch's results.
    """
    if Path(path).suffix.lower() == ".npz" or Path(path).is_dir():
        return _from_results(path, index)
    _, first = _first_line(path)
    if first.startswith(("{", "[")):
        return _from_json(path)
    if (routes := _tables(path, first, instance)) is not None:
        return _only(path, routes)
    if re.match(r"[A-Z]", first):
        nodes = _from_tsplib(path)
        round_trip = instance is not None and instance.start == instance.end
        return [*nodes, nodes[0]] if round_trip and (len(nodes) == 1 or nodes[0] != nodes[-1]) else nodes
    return _from_numbers(path)


def load_plan(path: FilePath, instance: Instance | None = None, index: int = 0) -> list[list[int]]:
    """The nodes of each route of a plan; of a file with one route, of that.

    Several routes are the `routes` of a JSON result, each a list of nodes or an object with `nodes`, a JSON list of
    such lists, or, where the `instance` has several routes, the lines of a text.
    """
    if Path(path).suffix.lower() == ".npz" or Path(path).is_dir():
        return _plan_from_results(path, index)
    _, first = _first_line(path)
    if first.startswith(("{", "[")):
        return _plan_from_json(path)
    if (routes := _tables(path, first, instance)) is not None:
        return routes
    if instance is not None and len(instance.each_route) > 1 and not re.match(r"[A-Z]", first):
        return _lines_of_numbers(path)
    return [load_tour(path, instance, index)]


def load_old_plan(path: FilePath, instance: Instance) -> list[list[int]]:
    """As `load_plan`, of a plan for a problem that may have had other routes.

    Where the plan has more routes or fewer than the `instance`, and both have names, routes go by their names, and a
    warning says so: routes of people who are away are left out, and those of people who are new are idle.
    """
    known = {route.name for route in instance.each_route}
    found = _named(path, instance) if len(known) == len(instance.each_route) else {}
    if len(found) == len(known) or not known & found.keys():
        return load_plan(path, instance)
    left = sorted(shown(name) for name in found.keys() - known)
    words = f"its {len(found)} routes go by their names, since the problem has {len(known)}"
    also = f"; left out: {', '.join(left)}" if left else ""
    logging.getLogger("orienteer").warning("%s", f"{path}: {words}{also}")
    return [
        found.get(route.name, [route.start] if route.end is None else [route.start, route.end])
        for route in instance.each_route
    ]


def _named(path: FilePath, instance: Instance) -> dict[str, list[int]]:
    """The routes of a plan in a spreadsheet or in JSON by name; empty where two are called the same, or one nothing."""
    if Path(path).suffix.lower() == ".xlsx":
        return named_routes_of_excel(path, instance)
    if not _first_line(path)[1].startswith("{"):
        return {}
    data = parse_json(path)
    routes = data.get("routes") if isinstance(data, dict) else None
    if not isinstance(routes, list):
        return {}
    given = [route.get("name") if isinstance(route, dict) else None for route in routes]
    names = [name for name in given if isinstance(name, str) and name]
    return dict(zip(names, _plan_from_json(path), strict=True)) if len(set(names)) == len(given) else {}


def _first_line(path: FilePath) -> tuple[int, str]:
    return (1, "") if Path(path).suffix.lower() == ".xlsx" else next(read_lines(path), (1, ""))


def _tables(path: FilePath, first: str, instance: Instance | None) -> list[list[int]] | None:
    """The routes of a file for maps or spreadsheets, which its `first` line or its suffix tells; of others None."""
    if Path(path).suffix.lower() == ".xlsx":
        return routes_of_excel(path, instance)
    if first.startswith("<"):
        return routes_of_gpx(path, instance)
    return routes_of_csv(path, instance) if first.startswith(",".join(TITLES[:3])) else None


def check_route_suffix(path: FilePath, count: int = 1, instance: Instance | None = None) -> None:
    """Raises `BadFile` if files with this suffix hold no routes, fewer routes than `count`, or none of this problem."""
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS and suffix:
        kinds = ", ".join(f"{known} ({what})" for known, what in KINDS.items())
        raise BadFile(path, f"routes are not written as {suffix}, only as {kinds}")
    if suffix in TSPLIB_SUFFIXES and count > 1:
        raise BadFile(path, f"cannot be written: {suffix} holds one route, not {count}")
    if suffix == ".xlsx":
        check_extra()
    if suffix in MAP_SUFFIXES and instance is not None:
        positions(instance, path)


def save_tour(tour: Sequence[int] | Tour | Result, path: FilePath) -> None:
    """Writes a route: as JSON (a result whole), as a TSPLIB tour (.tour, .sol), or one node number a line.

    The routes of a result that has several are a line each.
    """
    routes = tour.plan.routes if isinstance(tour, Result) and tour.plan is not None else ()
    check_route_suffix(path, len(routes))
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_lines(path, [json.dumps(_as_dict(tour))])
        return
    if suffix in _PLANS:
        if not isinstance(tour, Result) or tour.instance is None:
            raise BadFile(path, f"cannot be written: {suffix} takes a result of `solve`, which knows its problem")
        _PLANS[suffix](tour.instance, tour.found, path)
        return
    if len(routes) > 1:
        write_lines(path, (" ".join(map(str, route.nodes)) for route in routes))
        return
    nodes = _nodes(tour)
    if suffix in TSPLIB_SUFFIXES:
        # TSPLIB leaves out the return to the start.
        written = nodes[:-1] if len(nodes) > 1 and nodes[0] == nodes[-1] else nodes
        lines = [
            "TYPE : TOUR",
            f"DIMENSION : {len(written)}",
            "TOUR_SECTION",
            *(str(node + 1) for node in written),
            "-1",
            "EOF",
        ]
        write_lines(path, lines)
    else:
        write_lines(path, map(str, nodes))


_PLANS = {".geojson": save_plan_geojson, ".gpx": save_plan_gpx, ".csv": save_plan_csv, ".xlsx": save_plan_excel}
"""Writers of plans that need to know the problem."""

MAX_STOPS = 1_000_000
_SECTIONS = ("TOUR_SECTION", "NODE_SEQUENCE_SECTION")


def _nodes(tour: Sequence[int] | Tour | Result) -> list[int]:
    route = tour.tour if isinstance(tour, Result) else tour
    return [int(node) for node in (route.nodes if isinstance(route, Tour) else route)]


def _as_dict(tour: Sequence[int] | Tour | Result) -> dict[str, Any]:
    if isinstance(tour, Result):
        return tour.to_dict()
    if isinstance(tour, Tour):
        return {"tour": list(tour.nodes), "prize": tour.prize, "cost": tour.cost}
    return {"tour": _nodes(tour)}


def _from_results(path: FilePath, index: int) -> list[int]:
    return _only(path, _plan_from_results(path, index))


def _plan_from_results(path: FilePath, index: int) -> list[list[int]]:
    if Path(path).is_dir():
        routes = load_one(path, index).routes(0)
    else:
        results = load_results(path)
        if not 0 <= index < len(results):
            raise BadFile(path, f"there is no route {index} among {len(results)}")
        routes = results.routes(index)
    if not routes:
        raise BadFile(path, f"there is no plan for instance {index} in it")
    return routes


def _only(path: FilePath, routes: list[list[int]]) -> list[int]:
    if len(routes) != 1:
        raise BadFile(path, f"expected one route, got {len(routes)}")
    return routes[0]


def _from_json(path: FilePath) -> list[int]:
    return _only(path, _plan_from_json(path))


def _plan_from_json(path: FilePath) -> list[list[int]]:
    data = parse_json(path)
    if isinstance(data, dict) and data.get("type") == "FeatureCollection":
        data = {"routes": routes_of_geojson(path, data)}
    routes = data.get("routes") if isinstance(data, dict) else data
    if isinstance(data, dict) and "tour" not in data and "routes" in data and routes is None:
        raise BadFile(path, f"there is no plan in it: {shown(data.get('status'))}")
    if isinstance(routes, list) and routes and all(isinstance(route, (list, dict)) for route in routes):
        plain = [route.get("nodes") if isinstance(route, dict) else route for route in routes]
        return [_json_nodes(path, nodes, f"route {number}, ") for number, nodes in enumerate(plain, start=1)]
    return [_json_nodes(path, data.get("tour") if isinstance(data, dict) else data, "")]


def _json_nodes(path: FilePath, nodes: Any, where: str) -> list[int]:
    if not isinstance(nodes, list) or not nodes:
        raise BadFile(path, f"expected a list of nodes, or an object with one as its tour, got {shown(nodes)}")
    for place, node in enumerate(nodes):
        if type(node) is not int or node < 0:
            raise BadFile(path, f"{where}stop {place} must be a node's number, got {shown(node)}")
    return nodes


def _from_tsplib(path: FilePath) -> list[int]:
    nodes: list[int] = []
    inside = False
    for number, line in read_lines(path):
        if not inside:
            inside = line.rstrip(": ") in _SECTIONS
            continue
        for token in line.split():
            if token in ("-1", "EOF"):
                return _not_empty(path, nodes)
            node = whole(path, token, "a node", number)
            if node < 1:
                raise BadFile(path, f"TSPLIB counts nodes from 1, got {node}", number)
            _add(path, nodes, node - 1, number)
    if not inside:
        raise BadFile(path, f"there is no {' or '.join(_SECTIONS)}")
    return _not_empty(path, nodes)


def _from_numbers(path: FilePath) -> list[int]:
    nodes: list[int] = []
    for number, line in read_lines(path):
        _add_numbers(path, nodes, line, number)
    return _not_empty(path, nodes)


def _lines_of_numbers(path: FilePath) -> list[list[int]]:
    routes: list[list[int]] = []
    for number, line in read_lines(path):
        nodes: list[int] = []
        _add_numbers(path, nodes, line, number)
        if nodes:
            routes.append(nodes)
    return routes


def _add_numbers(path: FilePath, nodes: list[int], line: str, number: int) -> None:
    text = line.partition("#")[0].replace("->", " ")
    for token in re.split(r"[\s,;]+", text):
        if token:
            node = whole(path, token, "a node", number)
            if node < 0:
                raise BadFile(path, f"nodes are counted from 0, got {node}", number)
            _add(path, nodes, node, number)


def _add(path: FilePath, nodes: list[int], node: int, line: int) -> None:
    if len(nodes) >= MAX_STOPS:
        raise BadFile(path, f"more than {MAX_STOPS} stops", line)
    nodes.append(node)


def _not_empty(path: FilePath, nodes: list[int]) -> list[int]:
    if not nodes:
        raise BadFile(path, "there are no nodes in it")
    return nodes
