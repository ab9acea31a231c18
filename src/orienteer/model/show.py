"""Problems and results as HTML, for notebooks: a small table, and a sketch of the map where there are coordinates.

The sketch is SVG made by hand: it needs no package, and nothing is drawn that nobody looks at. `orienteer.plot` makes
the pictures that are worth keeping.
"""

import base64
import html
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from orienteer.model.clock import written_time

if TYPE_CHECKING:
    from orienteer.model.instance import Instance
    from orienteer.model.result import Result
    from orienteer.model.tour import Visit

SIDE, MARGIN = 300.0, 10.0
"""The sketch's longer side and the room around it, in pixels."""
MOST_DOTS = 3000
"""The most places that a sketch shows, evenly chosen, besides the whole route."""
MOST_STOPS = 40
"""The most stops that the table of a route shows; of a longer route it leaves the middle out."""

ROUTES = ("#1d2b45", "#d9660d", "#0a6fb5", "#4a5d00", "#62bdea", "#d9c21a")
"""The colours of routes, again from the first where there are more: apart in grey, and for colour-blind people."""
VISITED, SKIPPED, START, END = "#2a9d8f", "#c9d0d8", "#e63946", "#f4a261"

STATUS = {
    "optimal": "proven optimal",
    "stopped": "best found",
    "none found": "no plan found",
    "infeasible": "proven to have no plan",
}


def place_name(instance: "Instance", node: int) -> str:
    """A node's name on one line, or its number where nodes have no names."""
    if instance.names is None:
        return str(node)
    return printable(instance.names[node])


def printable(text: str) -> str:
    """A text on one line."""
    return "".join(char if char.isprintable() else "?" for char in text)


def route_name(instance: "Instance", number: int) -> str:
    """What people read for one of several routes, counted from 1: "Route 2", or "Route 2 (Anna)"."""
    return numbered_route(number, instance.each_route[number].name)


def numbered_route(number: int, name: str) -> str:
    """As `route_name`, for a route with this number, counted from 0, and this name."""
    return f"Route {number + 1} ({printable(name)})" if name else f"Route {number + 1}"


def instance_html(instance: "Instance") -> str:
    """A problem as a table beside a sketch."""
    rows = [
        ("places", f"{instance.size:,}"),
        ("prizes in all", f"{instance.prizes.sum():.6g}"),
        *_routes(instance),
        ("costs", "the same both ways" if instance.symmetric else "differ by direction"),
        *_rules(instance),
    ]
    return _side_by_side([_table("Instance", rows), _sketch(instance)])


def result_html(result: "Result") -> str:
    """A result as a table; beside it, where the result holds its problem, a table of each route and a sketch."""
    instance = result.instance
    by = ("found by" if result.plan else "sought by", f"{result.solver} in {result.seconds:.3g} s")
    if result.plan is None:
        return _side_by_side([_table("Result", [("status", STATUS[result.status]), by])])
    several = len(result.routes) > 1
    limit = "" if result.limit is None or several else f" of {result.limit:.6g}"
    rows = [
        ("prize", f"{result.prize:.6g}" + ("" if instance is None else f" of {instance.prizes.sum():.6g}")),
        ("cost", f"{result.cost:.6g}{limit}"),
        ("stops", ", ".join(str(len(tour)) for tour in result.routes)),
        ("status", STATUS[result.status]),
        by,
    ]
    if math.isfinite(result.bound):
        rows.insert(2, ("bound", f"{result.bound:.6g}"))
    if instance is None:
        for number, tour in enumerate(result.routes):
            title = f"route {number + 1}" if several else "route"
            rows.append((title, " ".join(_shortened([str(node) for node in tour.nodes], "…"))))
        return _side_by_side([_table("Result", rows)])
    stops = [_stops(visits, instance, number) for number, visits in enumerate(result.found.stops(instance))]
    return _side_by_side([_table("Result", rows), *stops, _sketch(instance, [tour.nodes for tour in result.routes])])


def _routes(instance: "Instance") -> list[tuple[str, str]]:
    """Limits, starts and ends, each once."""
    routes = instance.each_route
    ends = ["anywhere" if route.end is None else place_name(instance, route.end) for route in routes]
    rows = [
        ("limit", _once(f"{route.limit:.6g}" for route in routes)),
        ("start", _once(place_name(instance, route.start) for route in routes)),
        ("end", _once(ends)),
    ]
    if any(route.opens for route in routes):
        rows.append(("opens", _once(written_time(instance, route.opens) for route in routes)))
    return [("routes", str(len(routes))), *rows] if len(routes) > 1 else rows


def _rules(instance: "Instance") -> list[tuple[str, str]]:
    """What the problem has beyond the plain one."""

    def names(nodes: Sequence[int]) -> str:
        return ", ".join(_shortened([place_name(instance, node) for node in nodes], "…"))

    rows = []
    if instance.service is not None:
        rows.append(("all visits take", f"{instance.service.sum():.6g}"))
    if instance.windows is not None:
        rows.append(("places with windows", str(sum(entry is not None for entry in instance.windows))))
    if instance.required:
        rows.append(("required", names(instance.required)))
    rows += [("at most one of", names(group)) for group in instance.groups]
    return rows + [(f"budget {budget.name}", f"{budget.most:.6g}") for budget in instance.budgets]


def _once(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>" for key, text in rows)
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def _stops(visits: Sequence["Visit"], instance: "Instance", number: int) -> str:
    """A route as a table, with times where there are windows or a clock; the middle of a long route is left out."""
    timed = instance.windows is not None or instance.clock is not None
    lines = []
    for stop in visits:
        times = [written_time(instance, time) for time in (stop.begin, stop.leave)] if timed else []
        cells = [str(stop.place), place_name(instance, stop.node), f"{stop.prize:.6g}", f"{stop.cost:.6g}", *times]
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    titles = ("stop", "place", "prize", "cost", *(("begin", "leave") if timed else ()))
    head = "".join(f"<th>{title}</th>" for title in titles)
    name = html.escape(route_name(instance, number))
    caption = f"<caption>{name}</caption>" if len(instance.each_route) > 1 else ""
    return f"<table>{caption}<tr>{head}</tr>{''.join(_shortened(lines, '<tr><td>…</td></tr>'))}</table>"


def _shortened(texts: Sequence[str], ellipsis: str) -> Sequence[str]:
    half = MOST_STOPS // 2
    return texts if len(texts) <= MOST_STOPS else [*texts[:half], ellipsis, *texts[-half:]]


def _side_by_side(parts: Iterable[str]) -> str:
    cells = "".join(f"<div>{part}</div>" for part in parts if part)
    return f"<div style='display: flex; gap: 1.5em; align-items: flex-start'>{cells}</div>"


def _sketch(instance: "Instance", routes: Sequence[Sequence[int]] = ()) -> str:
    """An image of the places and of routes; empty where there are no coordinates."""
    if instance.coords is None:
        return ""
    low, extent = instance.coords.min(0), np.ptp(instance.coords, axis=0)
    scale = SIDE / (float(extent.max()) or 1.0)
    wide, high = extent * scale + 2 * MARGIN
    spots = (instance.coords - low) * scale + MARGIN
    spots[:, 1] = high - spots[:, 1]  # north is up
    drawn = np.unique(np.linspace(0, instance.size - 1, MOST_DOTS).astype(int))
    areas = instance.prizes / (float(instance.prizes.max()) or 1.0)
    visited = dict.fromkeys(node for nodes in routes for node in nodes)
    parts = [_dot(spots[node], 1.5 + 4.5 * math.sqrt(areas[node]), SKIPPED) for node in drawn if node not in visited]
    for nodes, colour in zip(routes, itertools.cycle(ROUTES), strict=False):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots[list(nodes)])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    parts += [_dot(spots[node], 1.5 + 4.5 * math.sqrt(areas[node]), VISITED) for node in visited]
    ends = dict.fromkeys(route.end for route in instance.each_route if route.end is not None)
    parts += [_dot(spots[node], 5, END) for node in ends]
    parts += [_dot(spots[node], 5, START) for node in dict.fromkeys(route.start for route in instance.each_route)]
    size = f'width="{wide:.0f}" height="{high:.0f}"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
    coded = base64.b64encode(picture.encode()).decode()
    return f"<img alt='a sketch of the map' src='data:image/svg+xml;base64,{coded}'>"


def _dot(spot: Sequence[float], radius: float, colour: str) -> str:
    return f'<circle cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="{radius:.1f}" fill="{colour}"/>'
