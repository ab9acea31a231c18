"""Charts of an experiment; matplotlib is imported only here, and only when one is drawn."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABSENT = "no chart: it needs matplotlib, pip install 'orienteer[plot]'"

FLOOR = 0.7
"""Points below this share of the best prize stand on the chart's lower edge, so that the others can be told apart."""


NAME = 8.0
"""Height of a method's name, in points."""


@dataclass(frozen=True)
class Panel:
    """Methods with their seconds and prizes."""

    title: str
    points: list[tuple[str, float, float]]


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

    figure = Figure(figsize=(6.4 * len(drawn), 5), layout="constrained")
    for place, panel in enumerate(drawn, start=1):
        _scatter(figure.add_subplot(1, len(drawn), place), panel)
    figure.savefig(path, dpi=130)
    return path


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
        for curve in curves:
            axes.plot(curve.steps, curve.mean, marker="o", markersize=3, label=curve.label)
            low = [mean - error for mean, error in zip(curve.mean, curve.error, strict=True)]
            high = [mean + error for mean, error in zip(curve.mean, curve.error, strict=True)]
            axes.fill_between(curve.steps, low, high, alpha=0.2)
        axes.set(title=title, xlabel=unit, ylabel="mean prize")
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4))  # long numbers would run into each other
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    return path


def _scatter(axes: "Axes", panel: Panel) -> None:
    from matplotlib import colormaps

    shades = colormaps["tab20"]
    best = max(prize for _, _, prize in panel.points)
    floor = FLOOR * best
    axes.set_xscale("log")
    axes.set(title=panel.title, xlabel="seconds an instance", ylabel="mean prize")
    spots = [(max(seconds, 1e-6), max(prize, floor)) for _, seconds, prize in panel.points]
    first, last = min(x for x, _ in spots), max(x for x, _ in spots)
    axes.set_xlim(first / 2, last * 6)  # room for names to the right
    if best > 0:
        axes.set_ylim(floor - 0.03 * best, best + 0.04 * best)
    axes.grid(alpha=0.3)
    texts = [f"{label} {prize:.2f}" if prize < floor else label for label, _, prize in panel.points]
    beside = _beside([axes.transData.transform(spot) * 72 / axes.figure.dpi for spot in spots], texts)
    for place, ((_, _, prize), spot, text) in enumerate(zip(panel.points, spots, texts, strict=True)):
        colour = shades(2 * place % 20 + place // 10 % 2)  # ten strong ones, then ten pale ones
        axes.scatter(*spot, s=24, marker="v" if prize < floor else "o", color=colour, zorder=3)
        axes.annotate(text, spot, beside[place], textcoords="offset points", fontsize=NAME, color=colour)


def _beside(spots: Sequence[Sequence[float]], texts: Sequence[str]) -> list[tuple[float, float]]:
    """How far from its spot each text begins, in points, chosen one after the other where it covers least."""
    discs = [(x - 4, y - 4, x + 4, y + 4) for x, y in spots]
    taken: list[tuple[float, float, float, float]] = []
    chosen = []
    for (x, y), text in zip(spots, texts, strict=True):
        wide = 0.6 * NAME * len(text)
        places = [(dx, dy) for dy in (-3.0, 6.0, -13.0, 15.0, -22.0, 24.0, -31.0) for dx in (6.0, -6.0 - wide)]
        boxes = [(x + dx, y + dy, x + dx + wide, y + dy + NAME) for dx, dy in places]
        clash = [sum(_shared(box, other) for other in [*taken, *discs]) for box in boxes]
        best = clash.index(min(clash))
        taken.append(boxes[best])
        chosen.append(places[best])
    return chosen


def _shared(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    """The area that two boxes (left, low, right, high) share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)
