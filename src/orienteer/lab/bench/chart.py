"""Charts of an experiment; matplotlib is imported only here, and only when one is drawn."""

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.plot import style
from orienteer.plot.figure import new_figure, save_figure
from orienteer.plot.labels import Box, Clutter, Label, place_labels, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABSENT = "no chart: it needs matplotlib, pip install 'orienteer[plot]'"

FLOOR = 0.7
"""Points below this share of the best prize stand on the chart's lower edge, so that the others can be told apart."""

NAME, TICK, DOT = style.LABEL, style.NUMBER, 3.0
"""Height of a method's name, height of an inset's tick labels and radius of a method's dot, in points of 1/72 inch."""

NEAR, FEW = 22.0, 3
"""Two dots belong together if they are closer than the first number, in points. An inset shows the dots that belong to
the best one, if there are at least as many of them as the second number."""

INSET = (0.45, 0.34)
"""Width and height of an inset, as shares of its panel."""

CORNERS = ((0.52, 0.09), (0.3, 0.09), (0.08, 0.09), (0.52, 0.3), (0.08, 0.56), (0.3, 0.3))
"""Where an inset may begin, as shares of its panel, the best place first."""

Point = tuple[str, float, float]
"""A method's name, its seconds and its prize."""

Colour = tuple[float, float, float]

WORST_GAP, LEAST_GAP = 1.0, 1e-5
"""The range of gaps that a chart shows at most, as shares of the optimum."""
LINES = ("solid", (0, (6, 1.5)), (0, (2, 1)), (0, (7, 1.5, 1.5, 1.5)))


class Look(NamedTuple):
    """How a method is drawn."""

    colour: Colour
    marker: str


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


@dataclass(frozen=True)
class GapCurve:
    """A method's mean gap to the optimum, as a share, at rising times."""

    label: str
    seconds: list[float]
    gap: list[float]


def try_prize_against_time(path: Path, panels: Sequence[Panel], notes: list[str]) -> Path | None:
    """The path of the chart, or None with a note where matplotlib is absent or there is nothing to draw."""
    if importlib.util.find_spec("matplotlib") is None:
        notes.append(ABSENT)
        return None
    drawn = [panel for panel in panels if panel.points]
    if not drawn:
        return None
    looks = looks_of([name for panel in drawn for name, _, _ in panel.points])
    figure = new_figure(6.4 * len(drawn), 5)
    panes = [figure.add_subplot(1, len(drawn), place) for place in range(1, len(drawn) + 1)]
    for axes, panel in zip(panes, drawn, strict=True):
        _set_up(axes, panel)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on every dot stays where it is
    for axes, panel in zip(panes, drawn, strict=True):
        _fill(axes, panel, looks)
    save_figure(figure, path)
    return path


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """A colour and a marker for each name, no two alike."""
    colours = colours_of(names)
    return {
        name: Look(colour, style.SIGNS[place % len(style.SIGNS)])
        for place, (name, colour) in enumerate(colours.items())
    }


def colours_of(names: Sequence[str]) -> dict[str, Colour]:
    """A colour for each name, no two the same."""
    from matplotlib.colors import hsv_to_rgb, to_rgb

    different = list(dict.fromkeys(names))
    more = len(different) - len(style.SERIES)
    # The golden ratio spreads any number of hues evenly.
    others = [tuple(hsv_to_rgb((0.05 + 0.618034 * place % 0.9, 0.9, 0.45))) for place in range(more)]
    return dict(zip(different, [*map(to_rgb, style.SERIES), *others], strict=False))


def try_curves(path: Path, panels: Sequence[tuple[str, str, Sequence[Curve]]], notes: list[str]) -> Path | None:
    """A panel with curves for each title and label of the x-axis; None with a note where matplotlib is absent."""
    if importlib.util.find_spec("matplotlib") is None:
        notes.append(ABSENT)
        return None
    drawn = [panel for panel in panels if panel[2]]
    if not drawn:
        return None
    figure = new_figure(5 * len(drawn), 4)
    for place, (title, unit, curves) in enumerate(drawn, start=1):
        axes = figure.add_subplot(1, len(drawn), place)
        looks = looks_of([curve.label for curve in curves])
        style.set_axes(axes, title, unit, "mean prize")
        for curve in curves:
            colour, marker = looks[curve.label]
            axes.plot(curve.steps, curve.mean, marker=marker, markersize=4, label=curve.label, color=colour)
            low = [mean - error for mean, error in zip(curve.mean, curve.error, strict=True)]
            high = [mean + error for mean, error in zip(curve.mean, curve.error, strict=True)]
            axes.fill_between(curve.steps, low, high, alpha=0.2, color=colour)
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4))  # long numbers would run into each other
        axes.legend(frameon=False, fontsize=style.LABEL, labelcolor=style.INK)
    save_figure(figure, path)
    return path


def try_gap_against_time(path: Path, panels: Sequence[tuple[str, Sequence[GapCurve]]], notes: list[str]) -> Path | None:
    """The path of a chart with a panel for each title: gaps over time, and the optimum as a line; None as above."""
    if importlib.util.find_spec("matplotlib") is None:
        notes.append(ABSENT)
        return None
    drawn = [(title, curves) for title, curves in panels if curves]
    if not drawn:
        return None
    figure = new_figure(6.4 * len(drawn) + 2.0, 5.2)
    looks = looks_of([curve.label for _, curves in drawn for curve in curves])
    for place, (title, curves) in enumerate(drawn, start=1):
        _draw_gaps(figure.add_subplot(1, len(drawn), place), title, curves, looks)
    save_figure(figure, path)
    return path


def _draw_gaps(axes: "Axes", title: str, curves: Sequence[GapCurve], looks: dict[str, Look]) -> None:
    """Curves on two log axes; a gap of 0, which such an axis cannot hold, lies on the line of the optimum."""
    from matplotlib.ticker import FuncFormatter

    style.set_axes(axes, title, "seconds, single calls", "mean gap to the proven optimum")
    above = [gap for curve in curves for gap in curve.gap if gap > 0]
    least = max(LEAST_GAP, min(above, default=0.01))
    floor = 10.0 ** math.floor(math.log10(least) - 0.3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(floor / 1.4, 1.25 * WORST_GAP)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda gap, _: "" if gap < 1.5 * floor else f"{100 * gap:g} %"))
    axes.axhline(floor, color=style.INK, linewidth=style.BOLD, zorder=2)
    axes.annotate(
        "proven optimum",
        (0.01, floor),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        fontsize=style.LABEL,
        color=style.INK,
    )
    for place, curve in enumerate(sorted(curves, key=lambda curve: (-curve.gap[-1], curve.label))):
        look = looks[curve.label]
        gaps = [max(gap, floor) for gap in curve.gap]
        line = {"color": look.colour, "linestyle": LINES[place % len(LINES)], "linewidth": style.LEG}
        axes.plot(curve.seconds, gaps, drawstyle="steps-post", zorder=3, **line)
        end = {"marker": look.marker, "markersize": 7, "markeredgecolor": "white", "zorder": 4, "clip_on": False}
        axes.plot(curve.seconds[-1], gaps[-1], **end, color=look.colour, linestyle="")
        label = f"{curve.label}, {100 * curve.gap[-1]:.2g} %"
        axes.plot([], [], marker=look.marker, markersize=6, markeredgecolor="white", label=label, **line)
    axes.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=style.LABEL,
        labelcolor=style.INK,
        title="at the end",
        title_fontsize=style.LABEL,
        handlelength=3.2,
    )


def _set_up(axes: "Axes", panel: Panel) -> None:
    """The axes with their limits."""
    best = max(prize for _, _, prize in panel.points)
    axes.set_xscale("log")
    style.set_axes(axes, panel.title, "seconds an instance", "mean prize")
    times = [_seconds(point) for point in panel.points]
    axes.set_xlim(min(times) / 2, max(times) * 6)  # room for names to the right
    if best > 0:
        axes.set_ylim((FLOOR - 0.03) * best, 1.04 * best)


def _fill(axes: "Axes", panel: Panel, looks: dict[str, Look]) -> None:
    """Dots and names, with an inset for the best ones where their dots are close together."""
    floor = FLOOR * max(prize for _, _, prize in panel.points)
    shown = [(name, seconds, max(prize, floor)) for name, seconds, prize in panel.points]
    spots = _on_page(axes, shown)
    close = _cluster(spots, max(range(len(shown)), key=lambda place: shown[place][2]))
    clutter = _clutter(axes, spots)
    if len(close) >= FEW:
        _draw_inset(axes, [panel.points[place] for place in close], spots, close, clutter, looks)
    else:
        close = set()
    texts = {
        place: f"{name} {prize:.2f}" if prize < floor else name
        for place, (name, _, prize) in enumerate(panel.points)
        if place not in close
    }
    for place, (name, _, _) in enumerate(panel.points):
        x, y = _seconds(shown[place]), shown[place][2]
        axes.scatter(x, y, s=26, marker=looks[name].marker, color=looks[name].colour, zorder=3)
    _write(axes, [(spots[place], text, looks[panel.points[place][0]]) for place, text in texts.items()], clutter)


def _draw_inset(
    axes: "Axes",
    points: list[Point],
    spots: npt.NDArray[np.float64],
    close: set[int],
    clutter: Clutter,
    looks: dict[str, Look],
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
    style.set_axes(inset)
    inset.tick_params(labelsize=TICK)
    times, prizes = [_seconds(point) for point in points], [prize for _, _, prize in points]
    spread = (max(prizes) - min(prizes)) or 0.01 * max(prizes) or 1.0
    inset.set_xlim(min(times) / 2.5, max(times) * 4)
    inset.set_ylim(min(prizes) - 0.4 * spread, max(prizes) + 0.4 * spread)
    for name, seconds, prize in points:
        look = looks[name]
        inset.scatter(_seconds((name, seconds, prize)), prize, s=26, marker=look.marker, color=look.colour, zorder=3)
    axes.figure.draw_without_rendering()  # gives the inset its place
    dots = _on_page(inset, points)
    _write(inset, [(dot, one[0], looks[one[0]]) for dot, one in zip(dots, points, strict=True)], _clutter(inset, dots))
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
        axes.plot(*to_data.transform(path * axes.figure.dpi / 72).T, color=style.FAINT, linewidth=0.8, zorder=2)
    clutter.add_box((left, low, right, high))
    clutter.add_box((frame[0] - 4 * TICK, frame[1] - 2.5 * TICK, frame[2] + DOT, frame[3] + DOT))


def _write(axes: "Axes", names: Sequence[tuple[npt.NDArray[np.float64], str, Look]], clutter: Clutter) -> None:
    """The names beside their dots; those without room go into a legend."""
    labels = [Label(spot, DOT + 1, text_size(text, NAME)) for spot, text, _ in names]
    to_data = axes.transData.inverted()
    for (_, text, look), box in zip(names, place_labels(labels, clutter), strict=True):
        if box is None:
            axes.scatter([], [], s=26, marker=look.marker, color=look.colour, label=text)
        else:
            x, y = to_data.transform(np.array([box[0], (box[1] + box[3]) / 2]) * axes.figure.dpi / 72)
            axes.text(x, y, text, va="center_baseline", fontsize=NAME, color=style.INK, zorder=5)
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
