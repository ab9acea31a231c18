"""Charts of an experiment; matplotlib is imported only here, and only when one is drawn."""

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABSENT = "no chart: it needs matplotlib, pip install 'orienteer[plot]'"

FLOOR = 0.7
"""Points below this share of the best prize stand on the chart's lower edge, so that the others can be told apart."""


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
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    return path


def _scatter(axes: "Axes", panel: Panel) -> None:
    best = max(prize for _, _, prize in panel.points)
    floor = FLOOR * best
    for place, (label, seconds, prize) in enumerate(sorted(panel.points, key=lambda point: point[1])):
        low = prize < floor
        x, y = max(seconds, 1e-6), max(prize, floor)
        colour = f"C{place % 10}"
        axes.scatter(x, y, s=24, marker="v" if low else "o", color=colour, zorder=3)
        text = f"{label} {prize:.2f}" if low else label
        # Neighbours in time are told apart by standing above and below in turn.
        beside = (3, 6 if place % 2 else -10)
        axes.annotate(text, (x, y), beside, textcoords="offset points", fontsize=8, color=colour)
    axes.set_xscale("log")
    axes.set(title=panel.title, xlabel="seconds an instance", ylabel="mean prize")
    if best > 0:
        axes.set_ylim(floor - 0.02 * best, best + 0.04 * best)
    axes.set_xlim(right=axes.get_xlim()[1] * math.e)
    axes.grid(alpha=0.3)
