"""Timetables: bars, waits, legs and names where the plan has them."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from orienteer import InfeasibleTour, Instance, Route, check_plan
from orienteer.plot import draw_timetable, save_timetable

COSTS = 10.0 * (1 - np.eye(4))
DAY = Instance(
    COSTS,
    [0, 1, 2, 3],
    200,
    service=[0, 30, 0, 20],
    windows={1: (600, 700), 3: [(540, 545), (640, 660)]},
    routes=[Route(0, 0, 540, 200)],
    names=["home", "mill", "pond", "barn"],
    clock="minutes",
)
"""Opens at 9:00. At 9:10 the mill is closed and visited from 10:00 to 10:30; the barn from 10:40 to 11:00."""
ROUTE = [0, 1, 3, 0]


def bars(axes: Axes, label: str) -> list[tuple[float, float]]:
    """Left and right of all bars with this label."""
    found = []
    for group in axes.containers:
        if group.get_label() == label:
            found += [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in group]
    return found


def test_bars_stand_where_the_plan_says() -> None:
    axes = draw_timetable(DAY, ROUTE).axes[0]
    assert bars(axes, "wait") == [(550, 600)]
    assert bars(axes, "visit") == [(600, 630), (640, 660)]
    assert bars(axes, "may begin") == [(600, 700), (540, 545), (640, 660)]
    legs = [tuple(line.get_xdata()) for line in axes.lines if line.get_label() == "leg"]
    assert legs == [(540, 550), (630, 640), (660, 670)]


def test_names_and_clock_times_are_written() -> None:
    axes = draw_timetable(DAY, ROUTE, "Sunday").axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["home", "mill", "barn", "home"]
    assert [text.get_text() for text in axes.texts] == ["09:00", "10:00 - 10:30", "10:40 - 11:00", "11:10"]
    assert "10:00" in [tick.get_text() for tick in axes.get_xticklabels()]
    assert axes.get_title(loc="left") == "Sunday\nprize 4 of 6, cost 130 of 200"
    legend = [text.get_text() for text in axes.legend_.get_texts()]
    assert legend == ["may begin", "wait", "visit", "leg", "earliest start, latest end", "start and end"]


def test_waits_and_visits_differ_without_colour() -> None:
    axes = draw_timetable(DAY, ROUTE).axes[0]
    hatches = {group.get_label(): {bar.get_hatch() for bar in group} for group in axes.containers}
    assert hatches["visit"] == hatches["may begin"] == {None}
    assert hatches["wait"] != {None}


def test_days_stand_below_each_other_at_their_hours() -> None:
    days = DAY.replace(windows=None, routes=[Route(0, 0, 540, 300, "Sat"), Route(0, 0, 1440 + 540, 300, "Sun")])
    axes = draw_timetable(days, [[0, 1, 0], [0, 3, 0]]).axes[0]
    assert bars(axes, "visit") == [(550, 580), (550, 570)]
    heads = [text.get_text() for text in axes.texts if "prize" in text.get_text()]
    assert heads == ["Route 1 (Sat): prize 1, cost 50 of 300", "Route 2 (Sun): prize 3, cost 40 of 300"]


def test_a_plan_without_windows_and_times() -> None:
    plain = Instance(COSTS, [0, 1, 2, 3], 40)
    axes = draw_timetable(plain, [0, 2, 1, 0]).axes[0]
    assert axes.containers == []
    assert axes.get_xlabel() == "cost so far"
    assert [text.get_text() for text in axes.texts] == ["0", "10", "20", "30"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", "2", "1", "0"]


@pytest.mark.parametrize("end", [0, None])
def test_empty_routes(end: int | None, tmp_path: Path) -> None:
    team = Instance(COSTS, [0, 1, 2, 3], 40, end=end, routes=2)
    empty = [[0, 0], [0, 0]] if end == 0 else [[0], [0]]
    save_timetable(team, tmp_path / "a.png", check_plan(team, empty))
    stars = [group for group in draw_timetable(team, empty).axes[0].collections if "start" in group.get_label()]
    assert len(stars) == (4 if end == 0 else 2)


def test_hostile_names(tmp_path: Path) -> None:
    names = ["home", "$\\frac{_}^$ 5 $", "a" * 3000, "\u6771\u4eac\n\x1b[31m_"]
    hostile = Instance(COSTS, [0, 1, 2, 3], 40, names=names, routes=[Route(0, 0, 0, 40, "$\\x$" + "b" * 500), Route()])
    figure = draw_timetable(hostile, [[0, 1, 2, 3, 0], [0, 0]], "100 $ or $\\nothing$")
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels[1] == names[1]
    assert max(map(len, labels)) <= 36
    assert labels[3] == "\u6771\u4eac??[31m_"
    save_timetable(hostile, tmp_path / "a.png", [[0, 1, 2, 3, 0], [0, 0]], "100 $ or $\\nothing$")
    assert figure.get_size_inches()[0] < 15


def test_long_routes_stay_within_a_page() -> None:
    many = Instance(np.ones((400, 400)), np.ones(400), 500)
    figure = draw_timetable(many, [*range(400), 0])
    assert figure.get_size_inches()[1] < 40
    assert len(figure.axes[0].get_yticklabels()) < 300


def test_a_wrong_plan_or_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleTour, match="closes at 11:00"):
        draw_timetable(DAY.replace(windows={3: (540, 660)}, service=[0, 200, 0, 0]), ROUTE)
    with pytest.raises(ValueError, match="a picture must be one of"):
        save_timetable(DAY, tmp_path / "a.gif", ROUTE)
