"""GPX 1.1: places as waypoints, whose extensions may hold the columns of CSV; and plans as routes."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from orienteer.data.fields import Fields
from orienteer.data.json_file import problem_fields
from orienteer.data.legs import NOTHING, Given, positions
from orienteer.data.places import Places
from orienteer.data.text import MAX_NODES, FilePath, check_size, read_bytes, real, shown, whole, write_lines
from orienteer.model.clock import written_time
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.rules import MOST_ROUTES
from orienteer.model.show import route_name

GPX, OURS = "http://www.topografix.com/GPX/1/1", "urn:orienteer:gpx:1"
"""The namespaces of GPX and of our extensions; elements of other namespaces count by their local names."""

DEEPEST = 30
"""How deep elements may lie in each other."""

NEAR = 1e-7
"""How far, in degrees, a point without a name may be from the place that it stands for: a centimetre."""


def load_gpx(path: FilePath, given: Given = NOTHING) -> Fields:
    """The problem whose places are the waypoints of a GPX file."""
    problem, layout = gpx_problem(path, read_bytes(path))
    return problem_fields(path, problem, layout, given)


def gpx_problem(path: FilePath, data: bytes) -> tuple[dict[str, Any], Places]:
    """The waypoints of a GPX file in the form that lists places, and how messages call these."""
    points = _parse(path, data).waypoints
    if not points:
        raise BadFile(path, "there are no waypoints (wpt) in it")
    if all("node" in point.columns for point in points):  # as `plan_gpx` writes it
        words = "holds a plan, so only the names, positions, prizes and visit times of its places are read"
        logging.getLogger("orienteer").warning("%s: %s", path, words)
    layout = Places("{column}", False, lines=[point.line for point in points])
    return {"places": [{**point.columns, "lat": point.lat, "lon": point.lon} for point in points]}, layout


def routes_of_gpx(path: FilePath, instance: Instance | None) -> list[list[int]]:
    """The nodes of each route (rte) of a GPX file.

    A point is the node that our extension tells; elsewhere the place of that name, or at that position.
    """
    routes = _parse(path, read_bytes(path)).routes
    if not routes:
        raise BadFile(path, "there are no routes (rte) in it")
    return [[_node(path, point, instance) for point in points] for points in routes]


def plan_gpx(instance: Instance, plan: Plan, path: FilePath = "plan") -> str:
    """A plan as GPX: a waypoint for each place, a route with its stops for each route.

    `path` is what an error names, where places have no longitude and latitude.
    """
    spots = positions(instance, path)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<gpx version="1.1" creator="orienteer" xmlns="{GPX}" xmlns:o="{OURS}">')
    for node, spot in enumerate(spots):
        about = {"node": str(node), "prize": repr(float(instance.prizes[node]))}
        if instance.service is not None:
            about["service"] = repr(float(instance.service[node]))
        kind = "<type>stop</type>" if node in plan.visited else "<type>left out</type>"
        lines.append(_waypoint("wpt", spot, _name(instance, node), kind, about))
    for number, visits in enumerate(plan.stops(instance)):
        tour, title = plan.routes[number], route_name(instance, number)
        lines += ["<rte>", f"<name>{_text(title)}</name>", f"<desc>prize {tour.prize:g}, cost {tour.cost:.6g}</desc>"]
        lines.append(f"<number>{number + 1}</number>")
        for visit in visits:
            times = [written_time(instance, time) for time in (visit.arrive, visit.leave)]
            about = {"node": str(visit.node), "arrive": repr(visit.arrive), "leave": repr(visit.leave)}
            words = f"<desc>arrive {times[0]}, leave {times[1]}</desc>"
            lines.append(_waypoint("rtept", spots[visit.node], _name(instance, visit.node), words, about))
        lines.append("</rte>")
    return "\n".join([*lines, "</gpx>"])


def save_plan_gpx(instance: Instance, plan: Plan, path: FilePath) -> None:
    """Writes a plan as GPX."""
    write_lines(path, [plan_gpx(instance, plan, path)])


@dataclass
class _Point:
    """A waypoint or a point of a route: its position, and the texts of its name and of its extensions."""

    lat: float
    lon: float
    line: int
    columns: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Gathers the points of a GPX file while it is parsed."""

    def __init__(self, path: FilePath):
        self.path = path
        self.waypoints: list[_Point] = []
        self.routes: list[list[_Point]] = []
        self._open: list[str] = []
        self._point: _Point | None = None
        self._words: list[str] | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _refuse(self, *_: Any) -> None:
        raise BadFile(self.path, "a document type or an entity is declared, which is not read", self._line)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if not self._open and local != "gpx":
            raise BadFile(self.path, f"must be a GPX document, got the element {shown(local)}", self._line)
        if len(self._open) >= DEEPEST:
            raise BadFile(self.path, f"elements lie more than {DEEPEST} deep in each other", self._line)
        self._open.append(local)
        if self._open[1:] == ["rte"]:
            self.routes.append([])
            if len(self.routes) > MOST_ROUTES:
                raise BadFile(self.path, f"more than {MOST_ROUTES} routes", self._line)
        elif self._open[1:] in (["wpt"], ["rte", "rtept"]):
            points = self.waypoints if local == "wpt" else self.routes[-1]
            self._point = _Point(self._axis(attributes, "lat", 90), self._axis(attributes, "lon", 180), self._line)
            points.append(self._point)
            if len(points) > MAX_NODES:
                check_size(self.path, len(points), self._line)
        self._words = [] if self._point is not None else None

    def _axis(self, attributes: Mapping[str, str], axis: str, most: float) -> float:
        value = real(self.path, attributes.get(axis, ""), axis, self._line)
        if abs(value) > most:
            raise BadFile(self.path, f"{axis} must be from -{most} to {most} degrees, got {value:g}", self._line)
        return value

    def _characters(self, text: str) -> None:
        if self._words is not None:
            self._words.append(text)

    def _end(self, name: str) -> None:
        local = self._open.pop()
        if self._open[1:] in ([], ["rte"]):
            self._point = None
        if self._point is not None and self._words is not None:
            inside = self._open[3 if self._open[1:2] == ["rte"] else 2 :]
            if "extensions" in inside or (not inside and local == "name"):
                self._point.columns.setdefault(local, "".join(self._words))
        self._words = None  # what follows the first inner element is no leaf's text


def _parse(path: FilePath, data: bytes) -> _Reader:
    reader = _Reader(path)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadFile(path, f"not XML: {expat.errors.messages.get(error.code, error)}", error.lineno) from error
    except (LookupError, UnicodeError, ValueError) as error:  # of an encoding that Python does not know
        if isinstance(error, BadFile):
            raise
        raise BadFile(path, f"not XML: {error}") from error
    return reader


def _node(path: FilePath, point: _Point, instance: Instance | None) -> int:
    told = point.columns.get("node")
    if told is not None:
        node = whole(path, told.strip(), "node", point.line)
        if node < 0:
            raise BadFile(path, f"nodes are counted from 0, got {node}", point.line)
        return node
    name = point.columns.get("name")
    if instance is not None and instance.names is not None and name in instance.names:
        return instance.names.index(name)
    if instance is not None and instance.coords is not None and instance.on_earth:
        apart = np.abs(instance.coords - [point.lon, point.lat]).max(axis=1)
        if apart.min() <= NEAR:
            return int(apart.argmin())
    raise BadFile(path, f"this point, named {shown(name)}, is no place of the problem", point.line)


def _name(instance: Instance, node: int) -> str:
    return str(node) if instance.names is None else instance.names[node]


def _waypoint(element: str, spot: Sequence[float], name: str, inside: str, about: Mapping[str, str]) -> str:
    lon, lat = (_decimal(value) for value in (spot[0] if spot[0] < 180 else -180.0, spot[1]))  # 180 is not valid
    more = "".join(f"<o:{key}>{value}</o:{key}>" for key, value in about.items())
    words = f"<name>{_text(name)}</name>{inside}<extensions>{more}</extensions>"
    return f'<{element} lat="{lat}" lon="{lon}">{words}</{element}>'


def _decimal(value: float) -> str:
    """The shortest text that reads back the same, without an exponent, which GPX does not allow."""
    return format(Decimal(repr(value)), "f")


def _text(text: str) -> str:
    """A text within XML, which cannot hold most control characters: these are shown as the replacement character."""
    kept = "".join(char if char in "\t\n\r" or (char >= " " and char not in _NONE) else "\ufffd" for char in text)
    return escape(kept, {"\r": "&#13;"})


_NONE = "\ufffe\uffff" + "".join(map(chr, range(0xD800, 0xE000)))
"""Characters from the blank on that XML does not hold."""
