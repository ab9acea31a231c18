"""Pictures of problems and routes, as in the paper: stars for start and end, node area by prize, arrows."""

import functools
import importlib.util
import io
import itertools
import logging
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from orienteer.model.distances import EARTH_RADIUS, Metric, euclidean, great_circle, manhattan, measured_by, scale_of
from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.show import ROUTES, route_name
from orienteer.plot.labels import Clutter, Label, place_labels, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

SUFFIXES = (".png", ".svg", ".pdf")
"""The kinds of file that `save_picture` writes."""

MOST_LABELS = 60
"""Stops of a route that get a label; of a longer one every second, third, ... does."""

LANDMARKS = 400
"""The most nodes that span the map of a problem without coordinates; other nodes are placed between them."""

LONGEST, MARGIN, LABEL, NUMBER = 520.0, 22.0, 8.0, 6.5
"""The map's longer side, the room around it, and the heights of names and of numbers, in points of 1/72 inch."""

SCALE_BAR, SCALE_INSET = 110.0, 10.0
"""The longest scale bar, and its distance from the corner, in points."""

NOTEBOOK_DPI = 80
"""Dots an inch of a figure in a notebook, which has little room."""

VISITED, SKIPPED, RIM, STAR, END_STAR = "#2a9d8f", "#d7dce2", "#8d99a6", "#e63946", "#f4a261"

STAR_AREA = 380.0
STARS = ("start and end", "start", "end")

Routes: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | Plan
"""The nodes of a route, or of each route of a plan."""


def save_picture(
    instance: Instance,
    path: str | Path,
    nodes: Routes | None = None,
    title: str | None = None,
) -> None:
    """Writes a picture of a problem as PNG, SVG or PDF, by the file's suffix; `nodes` as for `draw`."""
    check_picture(path)
    _save(draw(instance, nodes, title), path)


def save_routes(pictures: Sequence[tuple[Instance, Sequence[tuple[str, Sequence[int]]]]], path: str | Path) -> None:
    """Writes several routes side by side: a row for each instance, in it a picture for each title and route."""
    check_picture(path)
    across = max((len(routes) for _, routes in pictures), default=0)
    if not across:
        raise ValueError("pictures must hold at least one route")
    pages = [_Page(layout(instance)) for instance, _ in pictures]
    wide = max(page.wide for page in pages) / 72 + 0.3
    high = max(page.high for page in pages) / 72 + 1.1
    figure = _new_figure(across * wide, len(pictures) * high)
    for row, (page, (instance, routes)) in enumerate(zip(pages, pictures, strict=True)):
        for column, (title, nodes) in enumerate(routes):
            axes = figure.add_subplot(len(pictures), across, row * across + column + 1)
            _draw_on(axes, page, instance, check_plan(instance, [nodes]), title)
    _save(figure, path)


def check_picture(path: str | Path) -> None:
    """Raises an error if no picture can be written to this file: its suffix is unknown, or matplotlib is missing."""
    if _kind(path) not in SUFFIXES:
        raise ValueError(f"a picture must be one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("a picture", "plot")


def draw(instance: Instance, nodes: Routes | None = None, title: str | None = None) -> "Figure":
    """A matplotlib figure of the problem; `nodes` is a route or a plan to draw in it, which is checked first.

    Several routes, given as a list of lists of nodes or as a `Plan`, have a colour each. As the value of a notebook's
    cell the figure is shown, once.
    """
    plan = None if nodes is None else check_plan(instance, _as_routes(nodes))
    page = _Page(layout(instance))
    figure = _new_figure(page.wide / 72 + 0.3, page.high / 72 + 1.1)
    _draw_on(figure.add_subplot(), page, instance, plan, title)
    return figure


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


def _as_routes(nodes: Any) -> list[Sequence[int]]:
    """The nodes of each route."""
    if isinstance(nodes, Plan):
        return [tour.nodes for tour in nodes.routes]
    several = len(nodes) > 0 and np.ndim(nodes[0]) > 0
    return list(nodes) if several else [nodes]


def _new_figure(wide: float, high: float) -> "Figure":
    """An empty figure, `wide` by `high` inches, or `MissingExtra`."""
    try:
        return _figure_class()(figsize=(wide, high), layout="constrained", facecolor="white")
    except ImportError as error:
        raise MissingExtra("a picture", "plot") from error


@functools.cache
def _figure_class() -> "type[Figure]":
    """The class of figures that show themselves in a notebook; pyplot, which would show them again, is not used."""
    from matplotlib.figure import Figure

    class Picture(Figure):  # type: ignore[misc]  # the hints of matplotlib are not read
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=NOTEBOOK_DPI)
            return picture.getvalue()

    return Picture


def _save(figure: "Figure", path: str | Path) -> None:
    import matplotlib

    # Without date and random identifiers, so that equal pictures are equal files.
    dateless: dict[str, Any] = (
        {} if _kind(path) == ".png" else {"Date" if _kind(path) == ".svg" else "CreationDate": None}
    )
    with matplotlib.rc_context({"svg.hashsalt": "orienteer"}), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(path, dpi=150, metadata=dateless)
    for warning in caught:
        if "Glyph" not in str(warning.message):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if any("Glyph" in str(warning.message) for warning in caught):
        logging.getLogger("orienteer").warning("%s: the font has no sign for some letters of the names", path)


def _draw_on(axes: "Axes", page: "_Page", instance: Instance, plan: Plan | None, title: str | None) -> None:
    _set_frame(axes, page)
    areas = _areas(instance)
    clutter = Clutter((0.0, 0.0, page.wide, page.high))
    clutter.add_discs(page.spots, np.sqrt(areas) / 2)
    _draw_nodes(axes, instance, page, areas, plan)
    routes = [] if plan is None else [tour.nodes for tour in plan.routes]
    for nodes, colour in zip(routes, _line_colours(len(routes)), strict=True):
        _draw_route(axes, page, nodes, colour)
        clutter.add_path(page.spots[list(nodes)])
    _draw_scale(axes, page, instance, clutter)
    _draw_labels(axes, page, areas, clutter, routes, instance)
    _draw_ends(axes, instance, page)
    heading = axes.set_title(_title(instance, plan, title), fontsize=12, loc="left", color=ROUTES[0], linespacing=1.5)
    heading.set_parse_math(False)
    legend = axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, frameon=False, fontsize=10)
    for handle in legend.legend_handles:
        handle.set_sizes([200 if handle.get_label() in STARS else 80])


class _Page:
    """Positions on the page: `spots` in points of 1/72 inch, the map fitted into `wide` by `high`."""

    def __init__(self, points: Array):
        low, extent = points.min(0), np.ptp(points, axis=0)
        longest = float(extent.max()) or 1.0
        # A map that is nearly a line is still a third as high as it is wide, or as wide as it is high.
        self.wide, self.high = (float(side) for side in LONGEST * np.maximum(extent / longest, 1 / 3) + 2 * MARGIN)
        centre = np.array([self.wide, self.high]) / 2
        self.points_per_unit = LONGEST / longest
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
    """Whether the costs go by great circles between the coordinates, read as longitude and latitude."""
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


def _set_frame(axes: "Axes", page: _Page) -> None:
    axes.set_xlim(0, page.wide)
    axes.set_ylim(0, page.high)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color(SKIPPED)


def _areas(instance: Instance) -> Array:
    """(n,) marker areas in square points, in proportion to the prize; the more nodes there are, the smaller all are.

    Start and end are stars of one size.
    """
    largest = np.clip(14000 / instance.size, 30, 320)
    areas = np.maximum(largest * instance.prizes / (instance.prizes.max() or 1.0), 3.0)
    areas[list(instance.ends)] = STAR_AREA
    return areas


def _draw_nodes(axes: "Axes", instance: Instance, page: _Page, areas: Array, plan: Plan | None) -> None:
    """All places but starts and ends; the stops of several routes have the routes' colours."""
    visited = frozenset[int]() if plan is None else plan.visited
    skipped = [node for node in range(instance.size) if node not in visited | instance.ends]
    kinds = [(skipped, "place" if plan is None else "skipped", SKIPPED, RIM, 2)]
    tours = () if plan is None else plan.routes
    for number, tour in enumerate(tours):
        stops = [node for node in tour.nodes if node not in instance.ends]
        label, colour = route_name(instance, number), _line_colours(len(tours))[number]
        if len(tours) == 1:
            label, colour = "visited", VISITED
        kinds.append((stops, label, colour, "white", 4))
    for chosen, label, fill, rim, order in kinds:
        if chosen:
            x, y = page.spots[chosen].T
            style = {"edgecolors": rim, "linewidths": 0.7, "zorder": order}
            axes.scatter(x, y, s=areas[chosen], c=fill, label=label, **style)


def _line_colours(count: int) -> list[str]:
    """A colour for each route."""
    return [ROUTES[number % len(ROUTES)] for number in range(count)]


def _draw_route(axes: "Axes", page: _Page, nodes: Sequence[int], colour: str) -> None:
    """Draws the legs, with an arrow-head in the middle of each leg that is long enough for it."""
    along = page.spots[list(nodes)]
    width, head = (1.0, 5.0) if len(nodes) > 80 else (1.5, 8.0)
    axes.plot(along[:, 0], along[:, 1], color=colour, linewidth=width, solid_joinstyle="round", zorder=3)
    for here, there in itertools.pairwise(along):
        step = there - here
        if np.hypot(step[0], step[1]) >= 2 * head:
            x, y = here + step / 2
            turn = float(np.degrees(np.arctan2(step[1], step[0]))) - 90
            axes.plot(x, y, marker=(3, 0, turn), color=colour, markersize=head, linestyle="", zorder=3.5)


def _draw_ends(axes: "Axes", instance: Instance, page: _Page) -> None:
    starts = {route.start for route in instance.each_route}
    ends = {route.end for route in instance.each_route if route.end is not None}
    kinds = (starts & ends, STARS[0], STAR), (starts - ends, STARS[1], STAR), (ends - starts, STARS[2], END_STAR)
    for nodes, label, colour in kinds:
        if not nodes:
            continue
        x, y = page.spots[sorted(nodes)].T
        axes.scatter(x, y, s=STAR_AREA, marker="*", c=colour, edgecolors="white", linewidths=1, label=label, zorder=6)


def _draw_scale(axes: "Axes", page: _Page, instance: Instance, clutter: Clutter) -> None:
    """A bar that shows how long a cost is on the map, in a corner with room, where the map shows costs at all."""
    unit = _cost_unit(instance)
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
            axes.plot([x, x, x + wide, x + wide], [y + 4, y, y, y + 4], color=RIM, linewidth=1.2, zorder=2)
            _write(axes, (x, y + 4 + LABEL / 2), text, LABEL, RIM)
            return


def _cost_unit(instance: Instance) -> tuple[float, str] | None:
    """What a step of 1 on the map costs, and the unit's name if it has one; None where the map does not show costs."""
    scale = _scale(instance)
    if scale is None:
        return None
    metric, factor = scale
    if metric is great_circle:
        return math.radians(EARTH_RADIUS) * factor, "m" if factor == 1 else ""
    return factor, ""


def _round_below(value: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... and of their tenths, that is not above the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= value)


def _with_unit(cost: float, unit: str) -> str:
    if unit == "m" and cost >= 1000:
        return f"{cost / 1000:g} km"
    return f"{cost:g} {unit}".rstrip()


def _draw_labels(
    axes: "Axes", page: _Page, areas: Array, clutter: Clutter, routes: Sequence[Sequence[int]], instance: Instance
) -> None:
    """The stops' places in the order and their names, as far as there is room.

    A number stands in its marker, or before the name where the marker is small. The ends are stars without numbers.
    """
    radii, names = np.sqrt(areas) / 2, instance.names
    ends = {node for nodes in routes for node in nodes if node in instance.ends}
    every = math.ceil(sum(map(len, routes)) / MOST_LABELS)
    order = {
        node: place for nodes in routes for place, node in enumerate(nodes) if node not in ends and place % every == 0
    }
    texts: dict[int, str] = {}
    inside = Clutter(clutter.page)  # places may lie on top of each other, their numbers may not
    for node in sorted({*ends, *order}, key=lambda node: (node not in ends, -areas[node])):  # the largest first
        number, (x, y) = str(order.get(node, "")), page.spots[node]
        wide, tall = text_size(number, NUMBER)
        box = x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2
        if number and math.hypot(wide, tall) <= 2.2 * radii[node] and inside.is_free(box):
            inside.add_box(box)
            _write(axes, (x, y), number, NUMBER, "white", ha="center")
            number = ""
        texts[node] = " ".join(word for word in (number, names[node] if names is not None else "") if word)
    labels = [Label(page.spots[node], radii[node], text_size(text, LABEL)) for node, text in texts.items()]
    for text, found in zip(texts.values(), place_labels(labels, clutter), strict=True):
        if text and found is not None:
            _write(axes, (found[0], (found[1] + found[3]) / 2), text, LABEL, ROUTES[0])


def _write(axes: "Axes", spot: Sequence[float], text: str, height: float, colour: str, ha: str = "left") -> None:
    style = {"va": "center_baseline", "ha": ha, "fontsize": height, "color": colour, "zorder": 7}
    written = axes.text(*spot, text, **style)
    written.set_parse_math(False)  # a dollar in a name is a dollar
    written.set_in_layout(False)


def _title(instance: Instance, plan: Plan | None, title: str | None) -> str:
    lines = [] if title is None else [title]
    total, unit = instance.prizes.sum(), " m" if (_cost_unit(instance) or (0, ""))[1] else ""
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


def _kind(path: str | Path) -> str:
    return Path(path).suffix.lower()
