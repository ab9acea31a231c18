"""The map of a problem, with routes, names and a scale, drawn on axes of matplotlib."""

import itertools
import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from orienteer.model.clock import Unit
from orienteer.model.distances import EARTH_RADIUS, Metric, euclidean, great_circle, manhattan, measured_by, scale_of
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.show import printable, route_name
from orienteer.plot import style
from orienteer.plot.labels import Clutter, Label, place_far, place_labels, text_size
from orienteer.plot.style import FAINT, GRID, INK, LABEL, NUMBER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

Array = npt.NDArray[np.float64]
Leg: TypeAlias = tuple[int, int]
"""Two nodes that follow each other on a route."""

MOST_LABELS = 60
"""Stops of a route that get a label; of a longer one every second, third, ... does."""
FEW = 30
"""Stops that all get their label, at the end of a line where there is no room beside them."""
LONGEST_NAME = 36
"""Letters of a name that are shown."""

LANDMARKS = 400
"""The most nodes that span the map of a problem without coordinates; other nodes are placed between them."""

LONGEST, MARGIN = 520.0, 22.0
"""The map's longer side, and the room around it, in points of 1/72 inch."""

SCALE_BAR, SCALE_INSET = 110.0, 10.0
"""The longest scale bar, and its distance from the corner, in points."""

SHORT: dict[Unit, str] = {"seconds": "s", "minutes": "min", "hours": "h"}
"""Units of time as the scale bar writes them."""

STAR_AREA = 380.0
STARS = ("start and end", "start", "end")


def layout(instance: Instance) -> Array:
    """(n, 2) where to draw the nodes: their coordinates, or a map by classical scaling (MDS) of the costs.

    Longitudes are multiplied by the cosine of the middle latitude. The map takes the mean of both directions as the
    distance. At most `LANDMARKS` nodes span it; the others are placed by their distances to these (de Silva and
    Tenenbaum 2004), so that thousands of nodes need no large eigenvalue problem.
    """
    if instance.coords is not None:
        return _flattened(instance.coords) if _on_earth(instance) else instance.coords
    marks = np.unique(np.linspace(0, instance.size - 1, LANDMARKS).round().astype(int))
    square = _drawable(instance.costs[marks], instance.costs[:, marks].T) ** 2  # (mark, node)
    square[np.arange(len(marks)), marks] = 0
    between = square[:, marks]
    centre = np.eye(len(marks)) - 1 / len(marks)
    values, vectors = np.linalg.eigh(-0.5 * centre @ between @ centre)
    points = np.zeros((instance.size, 2))
    for axis in range(min(2, len(values))):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        if value > 1e-12 * values[-1]:  # a smaller eigenvalue is a rounding error: the map is a line
            points[:, axis] = -0.5 * vector @ (square - between.mean(1, keepdims=True)) / np.sqrt(value)
    return points


def draw_map(
    axes: "Axes",
    page: "Page",
    instance: Instance,
    plan: Plan | None,
    title: str | None = None,
    new: Collection[Leg] = (),
) -> None:
    """Draws the places and the routes of a plan; the legs in `new` lie on a wide bright line."""
    set_frame(axes, page)
    areas = marker_areas(instance)
    clutter = Clutter((0.0, 0.0, page.wide, page.high))
    clutter.add_discs(page.spots, np.sqrt(areas) / 2)
    _draw_nodes(axes, instance, page, areas, plan)
    routes = [] if plan is None else [tour.nodes for tour in plan.routes]
    for number, nodes in enumerate(routes):
        draw_route(axes, page, nodes, number)
        clutter.add_path(page.spots[list(nodes)])
    _draw_new(axes, page, new)
    _draw_scale(axes, page, instance, clutter)
    _draw_labels(axes, page, areas, clutter, routes, instance)
    draw_ends(axes, instance, page)
    heading = axes.set_title(
        _title(instance, plan, title), fontsize=style.TITLE, loc="left", color=INK, linespacing=1.5
    )
    heading.set_parse_math(False)
    add_legend(axes)


def add_legend(axes: "Axes", columns: int = 4) -> None:
    """The meaning of colours and markers, below the map."""
    shown = axes.get_legend_handles_labels()[0]
    legend = axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=min(columns, max(1, len(shown))),
        frameon=False,
        fontsize=style.TEXT,
        labelcolor=INK,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([200 if handle.get_label() in STARS else 80])


class Page:
    """Positions on the page: `spots` in points of 1/72 inch, the map fitted into `wide` by `high`."""

    def __init__(self, points: Array, side: float = LONGEST):
        """`side` is the length of the map's longer side."""
        low, extent = points.min(0), np.ptp(points, axis=0)
        longest = float(extent.max()) or 1.0
        # A map that is nearly a line is still a third as high as it is wide, or as wide as it is high.
        self.wide, self.high = (float(length) for length in side * np.maximum(extent / longest, 1 / 3) + 2 * MARGIN)
        centre = np.array([self.wide, self.high]) / 2
        self.points_per_unit = side / longest
        self.spots: Array = centre + (points - low - extent / 2) * self.points_per_unit


def _scale(instance: Instance) -> tuple[Metric, float] | None:
    """The metric by which costs are distances of the coordinates, times a factor; None where they are not."""
    coords = instance.coords
    if coords is None:
        return None
    fits = bool((np.abs(coords) <= [180, 90]).all())
    if fits and measured_by(instance.costs, coords, great_circle):
        return great_circle, 1.0
    for metric in (euclidean, manhattan, *([great_circle] if fits else [])):
        if (factor := scale_of(instance.costs, coords, metric)) is not None:
            return metric, factor
    return None


def _on_earth(instance: Instance) -> bool:
    """Whether coordinates are longitude and latitude: the problem says so, or costs are great circles between them."""
    if instance.on_earth:
        return True
    scale = _scale(instance)
    return scale is not None and scale[0] is great_circle


def _flattened(coords: Array) -> Array:
    middle = np.radians(coords[:, 1].min() + coords[:, 1].max()) / 2
    return coords * [np.cos(middle), 1.0]


def _drawable(there: Array, back: Array) -> Array:
    """Distances for a map: the mean of both directions, or of the one that has a leg; far where neither has."""
    one_way = np.isinf(there) | np.isinf(back)
    distance = np.where(one_way, np.minimum(there, back), there / 2 + back / 2)
    finite = distance[np.isfinite(distance)]
    distance[np.isinf(distance)] = 1.5 * finite.max() if finite.size else 1.0
    return distance


def set_frame(axes: "Axes", page: Page) -> None:
    axes.set_xlim(0, page.wide)
    axes.set_ylim(0, page.high)
    axes.set_aspect("equal", anchor="N")  # the legend below has what room is left
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color(GRID)


def marker_areas(instance: Instance) -> Array:
    """(n,) marker areas in square points, in proportion to the prize; the more nodes there are, the smaller all are.

    Start and end are stars of one size.
    """
    largest = np.clip(14000 / instance.size, 30, 320)
    areas = np.maximum(largest * instance.prizes / (instance.prizes.max() or 1.0), 3.0)
    areas[list(instance.ends)] = STAR_AREA
    return areas


def _draw_nodes(axes: "Axes", instance: Instance, page: Page, areas: Array, plan: Plan | None) -> None:
    """All places but starts and ends; the stops of several routes have the routes' colours and markers."""
    visited = frozenset[int]() if plan is None else plan.visited
    skipped = [node for node in range(instance.size) if node not in visited | instance.ends]
    draw_places(axes, page, areas, skipped, "place" if plan is None else "skipped")
    tours = () if plan is None else plan.routes
    for number, tour in enumerate(tours):
        stops = [node for node in tour.nodes if node not in instance.ends]
        if not stops:
            continue
        label, colour = route_name(instance, number), style.route_colour(number)
        if len(tours) == 1:
            label, colour = "visited", style.VISITED
        x, y = page.spots[stops].T
        look = {"marker": style.route_marker(number), "edgecolors": "white", "linewidths": 0.7, "zorder": 4}
        axes.scatter(x, y, s=areas[stops] * style.marker_share(number), c=colour, label=shortened(label), **look)


def draw_places(axes: "Axes", page: Page, areas: Array, nodes: Sequence[int], label: str) -> None:
    """Draws places that no route visits."""
    if len(nodes):
        x, y = page.spots[nodes].T
        look = {"edgecolors": FAINT, "linewidths": 0.7, "zorder": 2}
        axes.scatter(x, y, s=areas[nodes], c=style.SKIPPED, label=label, **look)


def draw_route(axes: "Axes", page: Page, nodes: Sequence[int], number: int) -> None:
    """Draws the legs of a route, with an arrow-head in the middle of each leg that is long enough for it."""
    along, colour = page.spots[list(nodes)], style.route_colour(number)
    width, head = (style.THIN, 5.0) if len(nodes) > 80 else (style.LEG, 8.0)
    look = {"linestyle": style.route_line(number), "linewidth": width, "solid_joinstyle": "round"}
    axes.plot(along[:, 0], along[:, 1], color=colour, zorder=3, **look)
    for here, there in itertools.pairwise(along):
        step = there - here
        if np.hypot(step[0], step[1]) >= 2 * head:
            x, y = here + step / 2
            turn = float(np.degrees(np.arctan2(step[1], step[0]))) - 90
            axes.plot(x, y, marker=(3, 0, turn), color=colour, markersize=head, linestyle="", zorder=3.5)


def _draw_new(axes: "Axes", page: Page, legs: Collection[Leg]) -> None:
    """Wide bright lines below legs that were not there before."""
    for place, leg in enumerate(sorted(legs)):
        along = page.spots[list(leg)]
        look = {"linewidth": 6.0, "solid_capstyle": "round", "zorder": 1}
        axes.plot(along[:, 0], along[:, 1], color=style.ACCENT, label="" if place else "new", **look)


def draw_ends(axes: "Axes", instance: Instance, page: Page) -> None:
    """Draws the stars."""
    starts = {route.start for route in instance.each_route}
    ends = {route.end for route in instance.each_route if route.end is not None}
    kinds = (
        (starts & ends, STARS[0], style.START),
        (starts - ends, STARS[1], style.START),
        (ends - starts, STARS[2], style.END),
    )
    for nodes, label, colour in kinds:
        if not nodes:
            continue
        x, y = page.spots[sorted(nodes)].T
        axes.scatter(x, y, s=STAR_AREA, marker="*", c=colour, edgecolors="white", linewidths=1, label=label, zorder=6)


def _draw_scale(axes: "Axes", page: Page, instance: Instance, clutter: Clutter) -> None:
    """A bar that shows how long a distance is on the map, or else a cost, in a corner with room."""
    unit = _map_unit(instance)
    if unit is None:
        return
    per_point = unit[0] / page.points_per_unit
    length = _round_below(SCALE_BAR * per_point)
    wide, text = length / per_point, _with_unit(length, unit[1])
    size = max(wide, text_size(text, LABEL)[0]), LABEL + 7
    for x, y in itertools.product(
        (SCALE_INSET, page.wide - SCALE_INSET - size[0]), (SCALE_INSET, page.high - SCALE_INSET - size[1])
    ):
        if clutter.is_free((x, y, x + size[0], y + size[1])):
            clutter.add_box((x, y, x + size[0], y + size[1]))
            axes.plot([x, x, x + wide, x + wide], [y + 4, y, y, y + 4], color=FAINT, linewidth=1.2, zorder=2)
            _write(axes, (x, y + 4 + LABEL / 2), text, LABEL, FAINT)
            return


def _map_unit(instance: Instance) -> tuple[float, str] | None:
    """How much a step of 1 on the map is, and the unit's name if it has one: metres on earth, elsewhere costs.

    None where the map shows neither.
    """
    if instance.coords is not None and _on_earth(instance):
        return math.radians(EARTH_RADIUS), "m"
    scale = _scale(instance)
    return None if scale is None else (scale[1], "" if instance.clock is None else SHORT[instance.clock])


def _in_metres(instance: Instance) -> bool:
    """Whether costs are metres on earth."""
    return _scale(instance) == (great_circle, 1.0)


def _round_below(value: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... and of their tenths, that is not above the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= value)


def _with_unit(cost: float, unit: str) -> str:
    if unit == "m" and cost >= 1000:
        return f"{cost / 1000:g} km"
    return f"{cost:g} {unit}".rstrip()


def _draw_labels(
    axes: "Axes", page: Page, areas: Array, clutter: Clutter, routes: Sequence[Sequence[int]], instance: Instance
) -> None:
    """The stops' places in the order and their names, as far as there is room; all of them where there are few.

    A number stands in its marker, or before the name where the marker is small. The ends are stars without numbers.
    """
    radii, names = np.sqrt(areas) / 2, instance.names
    ends = {node for nodes in routes for node in nodes if node in instance.ends}
    every = math.ceil(sum(map(len, routes)) / MOST_LABELS)
    order = {
        node: place for nodes in routes for place, node in enumerate(nodes) if node not in ends and place % every == 0
    }
    fills = [style.VISITED] if len(routes) == 1 else [style.route_colour(number) for number in range(len(routes))]
    colours = {node: style.readable_on(fill) for nodes, fill in zip(routes, fills, strict=True) for node in nodes}
    texts: dict[int, str] = {}
    inside = Clutter(clutter.page)  # places may lie on top of each other, their numbers may not
    for node in sorted({*ends, *order}, key=lambda node: (node not in ends, -areas[node])):  # the largest first
        number, (x, y) = str(order.get(node, "")), page.spots[node]
        wide, tall = text_size(number, NUMBER)
        box = x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2
        if number and math.hypot(wide, tall) <= 2.2 * radii[node] and inside.is_free(box):
            inside.add_box(box)
            _write(axes, (x, y), number, NUMBER, colours[node], ha="center")
            number = ""
        texts[node] = " ".join(word for word in (number, shortened(names[node]) if names is not None else "") if word)
    labels = [Label(page.spots[node], radii[node], text_size(text, LABEL)) for node, text in texts.items()]
    for text, label, found in zip(texts.values(), labels, place_labels(labels, clutter), strict=True):
        if text and found is not None:
            _write(axes, (found[0], (found[1] + found[3]) / 2), text, LABEL, INK)
        elif text and len(texts) <= FEW:
            _write_far(axes, text, label, clutter)


def _write_far(axes: "Axes", text: str, label: Label, clutter: Clutter) -> None:
    """Writes a label away from its spot, with a thin line between them."""
    from matplotlib.patheffects import withStroke

    found = place_far(label, clutter)
    if found is None:
        return
    box, line = found
    axes.plot(*line.T, color=FAINT, linewidth=style.THIN / 2, zorder=3.2)
    written = _write(axes, (box[0], (box[1] + box[3]) / 2), text, LABEL, INK)
    written.set_path_effects([withStroke(linewidth=2, foreground="white")])


def _write(axes: "Axes", spot: Sequence[float], text: str, height: float, colour: str, ha: str = "left") -> "Text":
    style = {"va": "center_baseline", "ha": ha, "fontsize": height, "color": colour, "zorder": 7}
    written = axes.text(*spot, text, **style)
    written.set_parse_math(False)  # a dollar in a name is a dollar
    written.set_in_layout(False)
    return written


def shortened(name: str) -> str:
    """A name on one line, cut where it is long."""
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _title(instance: Instance, plan: Plan | None, title: str | None) -> str:
    lines = [] if title is None else [title]
    total, unit = instance.prizes.sum(), " m" if _in_metres(instance) else ""
    if plan is None:
        lines.append(f"{instance.size} places, total prize {total:.6g}, limit {instance.limit:.6g}{unit}")
    elif len(plan.routes) > 1:
        many = f"{len(plan.routes)} routes"
        lines.append(f"prize {plan.prize:.6g} of {total:.6g}, cost {plan.cost:.6g}{unit}, {many}")
    else:
        lines.append(f"prize {plan.prize:.6g} of {total:.6g}, cost {plan.cost:.6g} of {instance.limit:.6g}{unit}")
    if instance.coords is None:
        lines.append("no coordinates: the map is drawn from the costs")
    return "\n".join(lines)
