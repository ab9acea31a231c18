"""Problems and results as HTML, for notebooks: a small table, and a sketch of the map where there are coordinates.

The sketch is SVG made by hand: it needs no package, and nothing is drawn that nobody looks at. `orienteer.plot` makes
the pictures that are worth keeping.
"""

import base64
import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orienteer.model.instance import Instance
    from orienteer.model.result import Result

SIDE, MARGIN = 300.0, 10.0
"""The sketch's longer side and the room around it, in pixels."""
MOST_DOTS = 3000
"""The most places that a sketch shows, evenly chosen, besides the whole route."""
MOST_STOPS = 40
"""The most stops that the table of a route shows; of a longer route it leaves the middle out."""

ROUTE, VISITED, SKIPPED, START, END = "#33415c", "#2a9d8f", "#c9d0d8", "#e63946", "#f4a261"


def place_name(instance: "Instance", node: int) -> str:
    """A node's name on one line, or its number where nodes have no names."""
    if instance.names is None:
        return str(node)
    return "".join(char if char.isprintable() else "?" for char in instance.names[node])


def instance_html(instance: "Instance") -> str:
    """A problem as a table beside a sketch."""
    rows = [
        ("places", f"{instance.size:,}"),
        ("prizes in all", f"{instance.prizes.sum():.6g}"),
        ("limit", f"{instance.limit:.6g}"),
        ("start", place_name(instance, instance.start)),
        ("end", place_name(instance, instance.end)),
        ("costs", "the same both ways" if instance.symmetric else "differ by direction"),
    ]
    return _side_by_side([_table("Instance", rows), _sketch(instance)])


def result_html(result: "Result") -> str:
    """A result as a table; beside it, where the result holds its problem, a table of the route and a sketch."""
    instance, limit = result.instance, "" if result.limit is None else f" of {result.limit:.6g}"
    rows = [
        ("prize", f"{result.prize:.6g}" + ("" if instance is None else f" of {instance.prizes.sum():.6g}")),
        ("cost", f"{result.cost:.6g}{limit}"),
        ("stops", str(len(result.tour))),
        ("status", "proven optimal" if result.status == "optimal" else "best found"),
        ("found by", f"{result.solver} in {result.seconds:.3g} s"),
    ]
    if math.isfinite(result.bound):
        rows.insert(2, ("bound", f"{result.bound:.6g}"))
    if instance is None:
        rows.append(("route", " ".join(_shortened([str(node) for node in result.tour.nodes], "…"))))
        return _side_by_side([_table("Result", rows)])
    return _side_by_side([_table("Result", rows), _stops(result, instance), _sketch(instance, result.tour.nodes)])


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>" for key, text in rows)
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def _stops(result: "Result", instance: "Instance") -> str:
    """The route as a table; the middle of a long route is left out."""
    lines = [
        f"<tr><td>{stop.place}</td><td>{html.escape(place_name(instance, stop.node))}</td>"
        f"<td>{stop.prize:.6g}</td><td>{stop.cost:.6g}</td></tr>"
        for stop in result.stops(instance)
    ]
    head = "".join(f"<th>{title}</th>" for title in ("stop", "place", "prize", "cost"))
    return f"<table><tr>{head}</tr>{''.join(_shortened(lines, '<tr><td>…</td></tr>'))}</table>"


def _shortened(texts: Sequence[str], ellipsis: str) -> Sequence[str]:
    half = MOST_STOPS // 2
    return texts if len(texts) <= MOST_STOPS else [*texts[:half], ellipsis, *texts[-half:]]


def _side_by_side(parts: Iterable[str]) -> str:
    cells = "".join(f"<div>{part}</div>" for part in parts if part)
    return f"<div style='display: flex; gap: 1.5em; align-items: flex-start'>{cells}</div>"


def _sketch(instance: "Instance", nodes: Sequence[int] = ()) -> str:
    """An image of the places and of a route; empty where there are no coordinates."""
    if instance.coords is None:
        return ""
    low, extent = instance.coords.min(0), np.ptp(instance.coords, axis=0)
    scale = SIDE / (float(extent.max()) or 1.0)
    wide, high = extent * scale + 2 * MARGIN
    spots = (instance.coords - low) * scale + MARGIN
    spots[:, 1] = high - spots[:, 1]  # north is up
    drawn = np.unique(np.linspace(0, instance.size - 1, MOST_DOTS).astype(int))
    areas = instance.prizes / (float(instance.prizes.max()) or 1.0)
    visited = set(nodes)
    parts = [_dot(spots[node], 1.5 + 4.5 * math.sqrt(areas[node]), SKIPPED) for node in drawn if node not in visited]
    if len(nodes):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots[list(nodes)])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{ROUTE}" stroke-width="1.5"/>')
    parts += [_dot(spots[node], 1.5 + 4.5 * math.sqrt(areas[node]), VISITED) for node in nodes]
    parts += [_dot(spots[instance.end], 5, END), _dot(spots[instance.start], 5, START)]
    size = f'width="{wide:.0f}" height="{high:.0f}"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
    coded = base64.b64encode(picture.encode()).decode()
    return f"<img alt='a sketch of the map' src='data:image/svg+xml;base64,{coded}'>"


def _dot(spot: Sequence[float], radius: float, colour: str) -> str:
    return f'<circle cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="{radius:.1f}" fill="{colour}"/>'
