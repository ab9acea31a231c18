"""A film of a cost-level beam search: queues fill from cheap to dear, beside the map with the paths that are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orienteer.model.instance import Instance
from orienteer.model.levels import Reading
from orienteer.model.plan import Plan, check_plan
from orienteer.plot import style
from orienteer.plot.figure import new_figure
from orienteer.plot.film import check_animation, chosen_frames, write_film
from orienteer.plot.map import (
    Page,
    add_legend,
    draw_ends,
    draw_places,
    draw_route,
    layout,
    marker_areas,
    set_frame,
)
from orienteer.plot.picture import Routes, checked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]

SIDE = 330.0
"""The map's longer side, in points of 1/72 inch."""
CHART = 4.6
"""The width of the chart of queues, in inches."""


def animate_levels(
    instance: Instance,
    readings: Sequence[Reading],
    path: str | Path,
    nodes: Routes | None = None,
    title: str | None = None,
) -> None:
    """Writes how the queues of a cost-level beam search fill, as GIF or MP4 by the file's suffix.

    `readings` are what a solver such as `cs-p` told its `on_reading`. `nodes`, the route that came out at last, is
    shown in the last frame: the search joins paths after all queues are empty.
    """
    check_animation(path)
    if not readings:
        raise ValueError("readings must hold at least one reading of a queue")
    result = None if nodes is None else checked(instance, nodes)
    queues = _Queues(readings)
    frames: list[int] = chosen_frames(len(readings))
    if result is not None:
        frames.append(len(readings))  # one more, after the search
    page = Page(layout(instance), SIDE)
    areas = marker_areas(instance) * 0.5
    figure = new_figure(page.wide / 72 + CHART, page.high / 72 + 1.2)
    left, right = figure.subplots(1, 2, width_ratios=(page.wide / 72, CHART - 0.3))
    colours = queues.add_colour_bar(right)

    def draw(number: int) -> None:
        left.clear()
        right.clear()
        reading = readings[min(number, len(readings) - 1)]
        over = number == len(readings)
        plan = result if over else _closed(instance, reading.route)
        said = "queues empty, paths joined" if over else f"level {reading.level} of {queues.levels - 1}"
        _draw_town(left, page, areas, instance, () if over else reading.paths, plan)
        _say(left, title, said, plan)
        queues.draw(right, number, colours)

    write_film(figure, draw, frames, path)


class _Queues:
    """The prizes in the queues after every reading, as a table of levels and places."""

    def __init__(self, readings: Sequence[Reading]):
        self.readings = readings
        self.tau, self.beam = readings[0].tau, readings[0].beam
        self.levels = len(readings[0].waiting)
        self.tables = []
        read: list[list[float]] = [[] for _ in range(self.levels)]
        for reading in readings:
            read[reading.level] = sorted([*read[reading.level], *reading.prizes], reverse=True)
            self.tables.append([[*done, *waiting] for done, waiting in zip(read, reading.waiting, strict=True)])
        self.tables.append([list(done) for done in read])
        self.places = max(len(queue) for table in self.tables for queue in table)
        self.most = max((prize for queue in self.tables[-1] for prize in queue), default=1.0) or 1.0

    def add_colour_bar(self, axes: "Axes") -> tuple[object, object]:
        """The colour map and the scale of prizes, explained beside the chart."""
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        scale = Normalize(0, self.most)
        colours = colormaps[style.LEVELS]
        bar = axes.figure.colorbar(ScalarMappable(scale, colours), ax=axes, location="right", fraction=0.04, pad=0.01)
        bar.set_label("prize of the path", fontsize=style.TEXT, color=style.INK)
        bar.ax.tick_params(labelsize=style.LABEL, color=style.FAINT, labelcolor=style.INK)
        bar.outline.set_edgecolor(style.GRID)
        return colours, scale

    def draw(self, axes: "Axes", number: int, colours: tuple[object, object]) -> None:
        """The queues after a reading: a column a level, a cell a path, the best path at the bottom."""
        over = number == len(self.readings)
        table = np.full((self.places, self.levels), np.nan)
        for level, queue in enumerate(self.tables[number]):
            table[: len(queue), level] = queue
        style.set_axes(
            axes, across=f"cost so far, in levels of {self.tau:g}", up="paths in the queue, best at the bottom"
        )
        axes.grid(False)
        edges = (np.arange(self.levels + 1) - 1.0) * self.tau, np.arange(self.places + 1.0)
        look = {"cmap": colours[0], "norm": colours[1], "edgecolors": "white", "linewidth": 0.4}
        axes.pcolormesh(*edges, np.ma.masked_invalid(table), **look)
        axes.set_xlim(-self.tau, (self.levels - 1) * self.tau)
        axes.set_ylim(0, self.places + 1.6)
        if self.beam is not None:
            axes.axhline(self.beam, color=style.INK, linewidth=style.THIN, linestyle=(0, (4, 2)))
            axes.text(-0.6 * self.tau, self.beam + 0.1, f"at most {self.beam}", **_small("left"))
        if not over:
            self._mark(axes, self.readings[number].level)

    def _mark(self, axes: "Axes", level: int) -> None:
        """A frame around the queue that is read, and what the queues on either side of it are."""
        from matplotlib.patches import Rectangle

        left, top = (level - 1) * self.tau, self.places + 0.3
        axes.add_patch(
            Rectangle((left, 0), self.tau, top, fill=False, edgecolor=style.START, linewidth=style.BOLD, zorder=5)
        )
        axes.text(left - 0.5 * self.tau, top, "read", **_small("right"))
        axes.text(left + 1.5 * self.tau, top, "waiting", **_small("left"))


def _small(ha: str) -> dict[str, object]:
    return {"ha": ha, "va": "bottom", "fontsize": style.LABEL, "color": style.INK, "zorder": 6, "clip_on": True}


def _closed(instance: Instance, route: Sequence[int]) -> Plan | None:
    """The best route so far as a plan; the node that stands for a free end is no node of the instance."""
    nodes = [node for node in route if node < instance.size]
    return check_plan(instance, [nodes]) if nodes else None


def _draw_town(
    axes: "Axes", page: Page, areas: Array, instance: Instance, paths: Sequence[Sequence[int]], plan: Plan | None
) -> None:
    """The places, the paths that are read now, and the best route so far."""
    set_frame(axes, page)
    visited = frozenset[int]() if plan is None else plan.visited
    rest = [node for node in range(instance.size) if node not in visited | instance.ends]
    stops = sorted(visited - instance.ends)
    draw_places(axes, page, areas, rest, "place")
    if stops:
        x, y = page.spots[stops].T
        axes.scatter(x, y, s=areas[stops], c=style.VISITED, edgecolors="white", linewidths=0.7, zorder=4)
    for place, nodes in enumerate(paths):
        along = page.spots[list(nodes)]
        look = {"linewidth": 4.0, "alpha": 0.5, "solid_joinstyle": "round", "zorder": 1.5}
        axes.plot(along[:, 0], along[:, 1], color=style.ACCENT, label="" if place else "paths read now", **look)
        axes.plot(*along[-1], marker="o", markersize=5, color=style.START, markeredgecolor="white", zorder=5)
    if plan is not None:
        draw_route(axes, page, plan.nodes, 0)
        axes.plot(
            [], [], color=style.route_colour(0), linewidth=style.LEG, label="best route so far" if paths else "route"
        )
    draw_ends(axes, instance, page)
    add_legend(axes, 2)


def _say(axes: "Axes", title: str | None, said: str, plan: Plan | None) -> None:
    lines = [said if title is None else f"{title}, {said}"]
    lines.append("no route yet" if plan is None else f"prize {plan.prize:.6g}, cost {plan.cost:.6g}")
    heading = axes.set_title("\n".join(lines), fontsize=style.TITLE, loc="left", color=style.INK, linespacing=1.5)
    heading.set_parse_math(False)
