"""A film of a search: the route gets better, what is new in it shines, and the prizes of all improvements grow."""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.plot import style
from orienteer.plot.figure import new_figure
from orienteer.plot.film import check_animation, chosen_frames, write_film
from orienteer.plot.map import Leg, Page, draw_map, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDE = 430.0
"""The map's longer side, in points of 1/72 inch."""
STRIP = 1.25
"""The height of the chart of prizes, in inches."""
MOST_TICKS = 10


class Moment(Protocol):
    """What a listener of a search, `on_progress`, is called with: an `orienteer.Progress`."""

    @property
    def steps(self) -> int: ...

    @property
    def plan(self) -> Plan | None: ...


def animate(instance: Instance, moments: Iterable[Moment], path: str | Path, title: str | None = None) -> None:
    """Writes how the plan of a search improves, as GIF or MP4 by the file's suffix.

    `moments` are what the search told its listener: ``moments = []; solve(instance, on_progress=moments.append)``. A
    frame shows an improvement with its step, prize and cost; no clock, so that a search of the same steps and seed
    makes the same file.
    """
    check_animation(path)
    better = improvements(moments)
    frames = chosen_frames(len(better))
    shown = [better[frame] for frame in frames]
    page = Page(layout(instance), SIDE)
    figure = new_figure(page.wide / 72 + 0.9, page.high / 72 + STRIP + 1.75)  # with room for texts around both
    above, below = figure.subplots(2, 1, height_ratios=(page.high / 72, STRIP))

    def draw(number: int) -> None:
        steps, plan = shown[number]
        before = frozenset[Leg]() if number == 0 else _legs(shown[number - 1][1])
        new = _legs(plan) - before if number else ()
        above.clear()
        heading = f"step {steps:,}" if title is None else f"{title}, step {steps:,}"
        draw_map(above, page, instance, plan, heading, new)
        _draw_prizes(below, shown, number)

    write_film(figure, draw, range(len(shown)), path)


def improvements(moments: Iterable[Moment]) -> list[tuple[int, Plan]]:
    """The step and the plan of each moment at which the plan was another than before."""
    better = list[tuple[int, Plan]]()
    for moment in moments:
        if moment.plan is not None and (not better or moment.plan != better[-1][1]):
            better.append((moment.steps, moment.plan))
    return better


def _legs(plan: Plan) -> frozenset[Leg]:
    """The legs of all routes, in either direction."""
    pairs = (pair for tour in plan.routes for pair in itertools.pairwise(tour.nodes))
    return frozenset((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])


def _draw_prizes(axes: "Axes", shown: Sequence[tuple[int, Plan]], number: int) -> None:
    """A bar for each improvement: those that have been, the one that is shown, and the room for those to come."""
    axes.clear()
    prizes = [plan.prize for _, plan in shown]
    style.set_axes(axes, across="step of the search", up="prize")
    axes.bar(range(number), prizes[:number], color=style.VISITED, alpha=0.45, width=0.8)
    axes.bar([number], [prizes[number]], color=style.INK, width=0.8)
    axes.set_xlim(-0.6, len(shown) - 0.4)
    axes.set_ylim(0, 1.22 * (max(prizes) or 1.0))
    look = {"ha": "center", "va": "bottom", "fontsize": style.LABEL, "color": style.INK}
    axes.text(number, prizes[number], f"{prizes[number]:.6g}", **look)
    every = -(-len(shown) // MOST_TICKS)
    ticks = range(0, len(shown), every)
    axes.set_xticks(ticks, [f"{shown[tick][0]:,}" for tick in ticks])
    axes.grid(False, axis="x")
