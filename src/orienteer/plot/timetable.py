"""A plan as a timetable (Gantt chart): a line a stop, opening hours as light bars, visits, waits and legs on them."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orienteer.model.clock import PER_HOUR, day_length
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.show import place_name, route_name
from orienteer.model.tour import Visit
from orienteer.plot import style
from orienteer.plot.figure import check_picture, new_figure, save_figure
from orienteer.plot.labels import text_size
from orienteer.plot.map import shortened
from orienteer.plot.picture import Routes, checked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, HIGHEST = 17.0, 2600.0
"""The height of a line, and of all lines together, in points of 1/72 inch: where there are many, they are lower."""
WIDE = 8.6
"""The width of the times' axis, in inches; names stand beside it."""
TALL, SLIM = 0.34, 0.2
"""Half the height of a bar of opening hours, and of a visit, in lines."""
HOURS = (1 / 60, 1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 2, 3, 6, 12, 24)
"""Steps between the times on the axis."""
TICKS = 11
"""The most times on the axis."""


@dataclass(frozen=True)
class _Line:
    """A stop, at its height in the chart."""

    height: float
    route: int
    visit: Visit


def save_timetable(instance: Instance, path: str | Path, nodes: Routes, title: str | None = None) -> None:
    """Writes the timetable of a plan as PNG, SVG or PDF, by the file's suffix; `nodes` as for `draw_timetable`."""
    check_picture(path)
    save_figure(draw_timetable(instance, nodes, title), path)


def draw_timetable(instance: Instance, nodes: Routes, title: str | None = None) -> "Figure":
    """A matplotlib figure of a plan's timetable; `nodes` is a route or a plan, which is checked first.

    Times are times of day where those of the problem are. Routes of different days then stand below each other, each at
    the hours of its own day.
    """
    plan = checked(instance, nodes)
    timetables = plan.stops(instance)
    names = [shortened(place_name(instance, visit.node)) for visits in timetables for visit in visits]
    room = max((text_size(name, style.LABEL)[0] for name in names), default=0.0) / 72
    lines = _lines(timetables)
    height = lines[-1].height + 1.0
    row = min(ROW, HIGHEST / height)
    figure = new_figure(WIDE + room + 0.5, height * row / 72 + 1.5)
    axes = figure.add_subplot()
    shifts = _day_shifts(instance)
    low, high = _span(instance, timetables, shifts)
    axes.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
    axes.set_ylim(height, -0.6)
    style.set_axes(axes, _title(instance, plan, title), _axis_label(instance))
    _set_times(axes, instance, low, high)
    _name_lines(axes, instance, lines, row)
    for number in range(len(timetables)):
        mine = [line for line in lines if line.route == number]
        _draw_head(axes, instance, plan, number, mine[0].height - 1, len(timetables) > 1)
        _draw_hours(axes, instance, number, mine, shifts[number])
        _draw_route(axes, instance, mine, shifts[number], number)
    _add_legend(axes, timetables)
    return figure


def _lines(timetables: Sequence[Sequence[Visit]]) -> list[_Line]:
    """The stops from top to bottom, with a line for the head of each of several routes and some room between routes."""
    lines, height = list[_Line](), 0.0
    for number, visits in enumerate(timetables):
        if len(timetables) > 1:
            height += 1.0 if number == 0 else 1.5
        for visit in visits:
            lines.append(_Line(height, number, visit))
            height += 1.0
    return lines


def _day_shifts(instance: Instance) -> list[float]:
    """What is taken from the times of each route: the beginning of the day on which it opens, where times have days."""
    if instance.clock is None:
        return [0.0] * len(instance.each_route)
    day = day_length(instance.clock)
    return [math.floor(route.opens / day) * day for route in instance.each_route]


def _span(instance: Instance, timetables: Sequence[Sequence[Visit]], shifts: Sequence[float]) -> tuple[float, float]:
    """From the first opening of a route to the last end of one; a limit that is far off is not shown."""
    opens = [route.opens - shift for route, shift in zip(instance.each_route, shifts, strict=True)]
    leave = [visits[-1].leave - shift for visits, shift in zip(timetables, shifts, strict=True)]
    limits = [start + route.limit for start, route in zip(opens, instance.each_route, strict=True)]
    low, used = min(opens), max(leave)
    high = max((limit for limit in limits if limit - low <= 1.6 * (used - low)), default=used)
    high = max(high, used)
    return (low, high) if high > low else (low, low + max(1.0, abs(low) * 1e-6))


def _set_times(axes: "Axes", instance: Instance, low: float, high: float) -> None:
    """The times on the axis, as times of day where the problem has such."""
    if instance.clock is None:
        return
    hour = PER_HOUR[instance.clock]
    step = hour * next((step for step in HOURS if (high - low) / (step * hour) <= TICKS), 24 * math.ceil(
        (high - low) / hour / 24 / TICKS
    ))  # fmt: skip
    ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
    axes.set_xticks(ticks, [_clock(tick / hour * 60) for tick in ticks.tolist()])


def _axis_label(instance: Instance) -> str:
    """What the times are; times of day need no word."""
    return "" if instance.clock else "time" if instance.windows else "cost so far"


def _clock(minutes: float) -> str:
    """A time of day, whatever the day."""
    rest = round(minutes) % (24 * 60)
    return f"{rest // 60:02d}:{rest % 60:02d}"


def _name_lines(axes: "Axes", instance: Instance, lines: Sequence[_Line], row: float) -> None:
    """The places' names, at every line, or at every second, third, ... where lines are low."""
    every = max(1, math.ceil((style.LABEL + 1.5) / row))
    shown = lines[::every]
    labels = axes.set_yticks(
        [line.height for line in shown], [shortened(place_name(instance, line.visit.node)) for line in shown]
    )
    for tick in labels:
        tick.label1.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _draw_head(axes: "Axes", instance: Instance, plan: Plan, number: int, height: float, several: bool) -> None:
    """What a route of several is called, collects and costs."""
    if not several:
        return
    tour, route = plan.routes[number], instance.each_route[number]
    text = f"{route_name(instance, number)}: prize {tour.prize:.6g}, cost {tour.cost:.6g} of {route.limit:.6g}"
    low, high = axes.get_xlim()
    axes.text(
        low + 0.006 * (high - low),
        height,
        shortened(text) if len(text) > 90 else text,
        fontsize=style.LABEL + 1,
        fontweight="bold",
        color=style.INK,
        va="center",
        parse_math=False,
    )


def _draw_hours(axes: "Axes", instance: Instance, number: int, lines: Sequence[_Line], shift: float) -> None:
    """Light bars for the hours in which a visit may begin, and lines where the route opens and must be back."""
    low, high = axes.get_xlim()
    for line in lines:
        windows = None if instance.windows is None else instance.windows[line.visit.node]
        for opens, closes in windows or ():
            left, right = max(opens - shift, low), min(closes - shift, high)
            if right >= left:
                wide = max(right - left, 0.002 * (high - low))
                look = {"color": style.OPEN, "edgecolor": style.FAINT, "linewidth": 0.4, "zorder": 1}
                axes.barh(line.height, wide, 2 * TALL, left, label="may begin", **look)
    route, ends = instance.each_route[number], (lines[0].height - 0.5, lines[-1].height + 0.5)
    for time in (route.opens - shift, route.opens + route.limit - shift):
        if low <= time <= high:
            look = {"color": style.INK, "linestyle": (0, (4, 2)), "linewidth": style.THIN, "zorder": 2}
            axes.plot((time, time), ends, label="earliest start, latest end", **look)


def _draw_route(axes: "Axes", instance: Instance, lines: Sequence[_Line], shift: float, number: int) -> None:
    """Visits as bars, waits as hatched bars, legs as lines from a stop to the next, and the times of visits."""
    colour = style.route_colour(number)
    stars = "start" if all(route.end is None for route in instance.each_route) else "start and end"
    for here, there in itertools.pairwise(lines):
        x = here.visit.leave - shift, there.visit.arrive - shift
        look = {"color": colour, "linewidth": style.LEG, "solid_capstyle": "round", "zorder": 3}
        axes.plot(x, (here.height, there.height), label="leg", **look)
    for place, line in enumerate(lines):
        visit = line.visit
        arrive, begin, leave = (time - shift for time in (visit.arrive, visit.begin, visit.leave))
        if visit.wait > 0:
            look = {"color": "white", "edgecolor": colour, "hatch": style.WAIT_HATCH, "linewidth": 0.8, "zorder": 4}
            axes.barh(line.height, visit.wait, 2 * SLIM, arrive, label="wait", **look)
        if place in (0, len(lines) - 1) and visit.node in instance.ends:
            look = {"marker": "*", "c": style.START, "edgecolors": "white", "linewidths": 0.6, "zorder": 6}
            axes.scatter([begin], [line.height], s=130, label=stars, **look)
        elif leave > begin:
            look = {"color": colour, "edgecolor": "white", "linewidth": 0.5, "zorder": 5}
            axes.barh(line.height, leave - begin, 2 * TALL * 0.8, begin, label="visit", **look)
        else:
            look = {"marker": "D", "c": colour, "edgecolors": "white", "linewidths": 0.5, "zorder": 5}
            axes.scatter([begin], [line.height], s=40, label="visit", **look)
        _write_times(axes, instance, line, begin, leave, shift)


def _write_times(axes: "Axes", instance: Instance, line: _Line, begin: float, leave: float, shift: float) -> None:
    """From when to when a visit lasts, beside its bar: on the right, or on the left where the chart ends."""
    low, high = axes.get_xlim()
    text = _time(instance, begin)
    if leave > begin:
        text += f" - {_time(instance, leave)}"
    wide = text_size(text, style.NUMBER)[0] / 72 / WIDE * (high - low)
    gap = 0.012 * (high - low)
    route = instance.each_route[line.route]
    latest = route.opens + route.limit - shift
    right = leave + gap + wide <= (high if latest > high else latest - gap / 3)
    axes.text(
        leave + gap if right else min(begin, line.visit.arrive - shift) - gap,
        line.height - (0.0 if leave > begin else 0.2),  # a leg to the next stop begins at once
        text,
        fontsize=style.NUMBER,
        color=style.INK,
        va="center_baseline",
        ha="left" if right else "right",
        zorder=7,
    )


def _time(instance: Instance, time: float) -> str:
    return f"{time:.4g}" if instance.clock is None else _clock(time / PER_HOUR[instance.clock] * 60)


def _title(instance: Instance, plan: Plan, title: str | None) -> str:
    total = f"prize {plan.prize:.6g} of {instance.prizes.sum():.6g}, cost {plan.cost:.6g}"
    if len(plan.routes) == 1:
        total += f" of {instance.each_route[0].limit:.6g}"
    else:
        total += f", {len(plan.routes)} routes"
    return total if title is None else f"{title}\n{total}"


def _add_legend(axes: "Axes", timetables: Sequence[Sequence[Visit]]) -> None:
    """What bars, lines and stars mean, each once."""
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, labels = axes.get_legend_handles_labels()
    grey = style.FAINT if len(timetables) > 1 else style.route_colour(0)
    kinds = {
        "may begin": Patch(facecolor=style.OPEN, edgecolor=style.FAINT, linewidth=0.4),
        "wait": Patch(facecolor="white", edgecolor=grey, hatch=style.WAIT_HATCH),
        "visit": Patch(facecolor=grey),
        "leg": Line2D([], [], color=grey, linewidth=style.LEG),
    }
    found = dict(zip(labels, handles, strict=True))
    order = [name for name in (*kinds, *found) if name in found]
    shown = {
        name: found[name] if isinstance(found[name], PathCollection) else kinds.get(name, found[name]) for name in order
    }
    axes.legend(
        shown.values(),
        shown.keys(),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.25 / axes.figure.get_size_inches()[1] - 0.02),
        ncols=6,
        frameon=False,
        fontsize=style.TEXT,
        labelcolor=style.INK,
    )
