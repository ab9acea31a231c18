"""Charts of an experiment; matplotlib is imported only here, and only when one is drawn."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orienteer.plot.labels import Box, Clutter, Label, place_labels, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABSENT = "no chart: it needs matplotlib, pip install 'orienteer[plot]'"

FLOOR = 0.7
"""Points below this share of the best prize stand on the chart's lower edge, so that the others can be told apart."""

NAME, TICK, DOT = 8.0, 6.5, 3.0
"""Height of a method's name, height of an inset's tick labels and radius of a method's dot, in points of 1/72 inch."""

NEAR, FEW = 22.0, 3
"""Two dots belong together if they are closer than the first number, in points. An inset shows the dots that belong to
the best one, if there are at least as many of them as the second number."""

INSET = (0.45, 0.34)
"""Width and height of an inset, as shares of its panel."""

CORNERS = ((0.52, 0.09), (0.3, 0.09), (0.08, 0.09), (0.52, 0.3), (0.08, 0.56), (0.3, 0.3))
"""Where an inset may begin, as shares of its panel, the best place first."""

COLOURS = (
    *("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf", "#7f7f7f", "#a5a614"),
    *("#0b3c5d", "#7f0000", "#00441b", "#54278f", "#b15928", "#000000", "#c2185b", "#00695c", "#5c6bc0", "#827717"),
)
"""Colours that can be told apart and read on white."""

Point = tuple[str, float, float]
"""A method's name, its seconds and its prize."""


@dataclass(frozen=True)
class Panel:
    """Methods with their seconds and prizes."""

    title: str
    points: list[Point]


@dataclass(frozen=True)
class Curve:
    """A mean over steps, with its standard error."""

    label: str
    steps: list[float]
    mean: list[float]
    error: list[float]


def try_prize_against_time(path: Path, panels: Sequence[Panel], notes: list[str]) -> Path | None:
    """The path of the chart, or None with a note where matplotlib is absent or there is nothing to draw."""
    if importlib.util.find_spec("matplotlib") is None:
        notes.append(ABSENT)
        return None
    drawn = [panel for panel in panels if panel.points]
    if not drawn:
        return None
    from matplotlib.figure import Figure

    colours = colours_of([name for panel in drawn for name, _, _ in panel.points])
    figure = Figure(figsize=(6.4 * len(drawn), 5), layout="constrained")
    panes = [figure.add_subplot(1, len(drawn), place) for place in range(1, len(drawn) + 1)]
    for axes, panel in zip(panes, drawn, strict=True):
        _set_up(axes, panel)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on every dot stays where it is
    for axes, panel in zip(panes, drawn, strict=True):
        _fill(axes, panel, colours)
    figure.savefig(path, dpi=130)
    return path


def colours_of(names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """A colour for each name, no two the same."""
    from matplotlib.colors import hsv_to_rgb, to_rgb

    different = list(dict.fromkeys(names))
    more = len(different) - len(COLOURS)
    # The golden ratio spreads any number of hues evenly.
    others = [tuple(hsv_to_rgb((0.05 + 0.618034 * place % 0.9, 0.9, 0.45))) for place in range(more)]
    return dict(zip(different, [*map(to_rgb, COLOURS), *others], strict=False))


def try_curves(path: Path, panels: Sequence[tuple[str, str, Sequence[Curve]]], notes: list[str]) -> Path | None:
    """A panel with curves for each title and label of the x-axis; None with a note where matplotlib is absent."""
    if importlib.util.find_spec("matplotlib") is None:
        notes.append(ABSENT)
        return None
    drawn = [panel for panel in panels if panel[2]]
    if not drawn:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(drawn), 4), layout="constrained")
    for place, (title, unit, curves) in enumerate(drawn, start=1):
        axes = figure.add_subplot(1, len(drawn), place)
        colours = colours_of([curve.label for curve in curves])
        for curve in curves:
            colour = colours[curve.label]
            axes.plot(curve.steps, curve.mean, marker="o", markersize=3, label=curve.label, color=colour)
            low = [mean - error for mean, error in zip(curve.mean, curve.error, strict=True)]
            high = [mean + error for mean, error in zip(curve.mean, curve.error, strict=True)]
            axes.fill_between(curve.steps, low, high, alpha=0.2, color=colour)
        axes.set(title=title, xlabel=unit, ylabel="mean prize")
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4))  # long numbers would run into each other
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    return path


def _set_up(axes: "Axes", panel: Panel) -> None:
    """The axes with their limits."""
    best = max(prize for _, _, prize in panel.points)
    axes.set_xscale("log")
    axes.set(title=panel.title, xlabel="seconds an instance", ylabel="mean prize")
    times = [_seconds(point) for point in panel.points]
    axes.set_xlim(min(times) / 2, max(times) * 6)  # room for names to the right
    if best > 0:
        axes.set_ylim((FLOOR - 0.03) * best, 1.04 * best)
    axes.grid(alpha=0.3)


def _fill(axes: "Axes", panel: Panel, colours: dict[str, tuple[float, float, float]]) -> None:
    """Dots and names, with an inset for the best ones where their dots are close together."""
    floor = FLOOR * max(prize for _, _, prize in panel.points)
    shown = [(name, seconds, max(prize, floor)) for name, seconds, prize in panel.points]
    spots = _on_page(axes, shown)
    close = _cluster(spots, max(range(len(shown)), key=lambda place: shown[place][2]))
    clutter = _clutter(axes, spots)
    if len(close) >= FEW:
        _draw_inset(axes, [panel.points[place] for place in close], spots, close, clutter, colours)
    else:
        close = set()
    texts = {
        place: f"{name} {prize:.2f}" if prize < floor else name
        for place, (name, _, prize) in enumerate(panel.points)
        if place not in close
    }
    for place, (name, _, prize) in enumerate(panel.points):
        x, y = _seconds(shown[place]), shown[place][2]
        axes.scatter(x, y, s=24, marker="v" if prize < floor else "o", color=colours[name], zorder=3)
    _write(axes, [(spots[place], text, colours[panel.points[place][0]]) for place, text in texts.items()], clutter)


def _draw_inset(
    axes: "Axes",
    points: list[Point],
    spots: npt.NDArray[np.float64],
    close: set[int],
    clutter: Clutter,
    colours: dict[str, tuple[float, float, float]],
) -> None:
    """The dots of a cluster once more, larger, in a corner of the panel with few dots."""
    from matplotlib.ticker import LogLocator, NullFormatter

    left, low, right, high = clutter.page
    wide, tall = right - left, high - low

    def box(corner: tuple[float, float]) -> Box:
        x, y = left + corner[0] * wide, low + corner[1] * tall
        return x, y, x + INSET[0] * wide, y + INSET[1] * tall

    corner = min(CORNERS, key=lambda corner: _inside(spots, box(corner)))
    frame = box(corner)
    inset = axes.inset_axes((*corner, *INSET), zorder=4)
    inset.set_xscale("log")
    inset.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    inset.xaxis.set_major_formatter("{x:g}")
    inset.xaxis.set_minor_formatter(NullFormatter())
    inset.tick_params(labelsize=TICK)
    inset.grid(alpha=0.3)
    times, prizes = [_seconds(point) for point in points], [prize for _, _, prize in points]
    spread = (max(prizes) - min(prizes)) or 0.01 * max(prizes) or 1.0
    inset.set_xlim(min(times) / 2.5, max(times) * 4)
    inset.set_ylim(min(prizes) - 0.4 * spread, max(prizes) + 0.4 * spread)
    for name, seconds, prize in points:
        inset.scatter(_seconds((name, seconds, prize)), prize, s=24, color=colours[name], zorder=3)
    axes.figure.draw_without_rendering()  # gives the inset its place
    dots = _on_page(inset, points)
    _write(
        inset, [(dot, one[0], colours[one[0]]) for dot, one in zip(dots, points, strict=True)], _clutter(inset, dots)
    )
    _join(axes, spots[sorted(close)], frame, clutter)


def _join(axes: "Axes", dots: npt.NDArray[np.float64], frame: Box, clutter: Clutter) -> None:
    """A frame around a cluster's dots and a line from it to the inset; names keep clear of these and of the inset."""
    (left, low), (right, high) = dots.min(0) - 2 * DOT, dots.max(0) + 2 * DOT
    ring = np.array([[left, low], [right, low], [right, high], [left, high], [left, low]])
    line = np.array([[(left + right) / 2, low], [min(max((left + right) / 2, frame[0]), frame[2]), frame[3]]])
    if frame[1] > high:  # an inset above its cluster
        line = np.array([[(left + right) / 2, high], [line[1, 0], frame[1]]])
    to_data = axes.transData.inverted()
    for path in (ring, line):
        clutter.add_path(path)
        axes.plot(*to_data.transform(path * axes.figure.dpi / 72).T, color="#888888", linewidth=0.8, zorder=2)
    clutter.add_box((left, low, right, high))
    clutter.add_box((frame[0] - 4 * TICK, frame[1] - 2.5 * TICK, frame[2] + DOT, frame[3] + DOT))


def _write(
    axes: "Axes", names: Sequence[tuple[npt.NDArray[np.float64], str, tuple[float, float, float]]], clutter: Clutter
) -> None:
    """The names beside their dots; those without room go into a legend."""
    labels = [Label(spot, DOT + 1, text_size(text, NAME)) for spot, text, _ in names]
    to_data = axes.transData.inverted()
    for (_, text, colour), box in zip(names, place_labels(labels, clutter), strict=True):
        if box is None:
            axes.scatter([], [], s=24, color=colour, label=text)
        else:
            x, y = to_data.transform(np.array([box[0], (box[1] + box[3]) / 2]) * axes.figure.dpi / 72)
            axes.text(x, y, text, va="center_baseline", fontsize=NAME, color=colour, zorder=5)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=NAME, loc="lower left")


def _clutter(axes: "Axes", spots: npt.NDArray[np.float64]) -> Clutter:
    """What names must not cover: the dots."""
    box = axes.get_window_extent()
    clutter = Clutter(tuple(float(side) * 72 / axes.figure.dpi for side in (box.x0, box.y0, box.x1, box.y1)))
    clutter.add_discs(spots, np.full(len(spots), DOT))
    return clutter


def _on_page(axes: "Axes", points: Sequence[Point]) -> npt.NDArray[np.float64]:
    """(n, 2) where the dots are on the page, in points of 1/72 inch."""
    data = np.array([(_seconds(point), point[2]) for point in points])
    return np.asarray(axes.transData.transform(data)) * 72 / axes.figure.dpi


def _seconds(point: Point) -> float:
    return max(point[1], 1e-6)


def _cluster(spots: npt.NDArray[np.float64], first: int) -> set[int]:
    """The dots that can be reached from the first one by steps of at most `NEAR`."""
    found, waiting = {first}, [first]
    while waiting:
        here = spots[waiting.pop()]
        near = {int(place) for place in np.flatnonzero(np.hypot(*(spots - here).T) <= NEAR)} - found
        found |= near
        waiting += near
    return found


def _inside(spots: npt.NDArray[np.float64], box: Box) -> int:
    """How many dots lie in a box or close to it, where their names would be."""
    left, low, right, high = box
    x, y = spots.T
    return int(((x > left - 6 * NAME) & (x < right + NAME) & (y > low - 3 * NAME) & (y < high + NAME)).sum())
