"""Charts of experiments: every method is named once, in a colour of its own, and no name covers another."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from orienteer.lab.bench import chart
from orienteer.lab.bench.chart import (
    Curve,
    GapCurve,
    Panel,
    colours_of,
    try_curves,
    try_gap_against_time,
    try_prize_against_time,
)

POINTS = [
    ("exact", 1.15, 33.62),
    ("lns", 1.0, 33.60),
    ("auto", 1.0, 33.61),
    ("cs-l", 1.3, 33.52),
    ("cs-paper", 2.6, 33.1),
    ("compass", 0.05, 33.3),
    ("cs-p", 0.14, 31.9),
    ("tsili-beam", 0.019, 30.9),
    ("an-at-beam", 0.45, 30.9),
    ("an-dqn", 0.09, 30.5),
    ("tsili", 0.0015, 25.4),
    ("random", 0.0005, 4.9),
]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    saved: list[Figure] = []

    def keep(figure: Figure, path: Path, **how: object) -> None:
        FigureCanvasAgg(figure).draw()
        saved.append(figure)

    monkeypatch.setattr(Figure, "savefig", keep)
    return saved


def texts(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [text.get_text() for text in axes.texts] + [
        text.get_text() for text in (legend.get_texts() if legend is not None else [])
    ]


def test_every_method_is_named_once_and_the_best_in_an_inset(drawn: list[Figure]) -> None:
    notes: list[str] = []
    assert try_prize_against_time(Path("chart.png"), [Panel("uniform", POINTS), Panel("bare", [])], notes)
    (axes,) = drawn[0].axes
    (inset,) = axes.child_axes
    assert set(texts(inset)) == {"exact", "lns", "auto", "cs-l"}
    assert sorted([*texts(axes), *texts(inset)]) == sorted([*(name for name, _, _ in POINTS[:-1]), "random 4.90"])
    assert notes == []


def test_no_inset_where_the_best_stand_apart(drawn: list[Figure]) -> None:
    try_prize_against_time(Path("chart.png"), [Panel("few", POINTS[4:])], [])
    assert drawn[0].axes[0].child_axes == []


def test_names_cover_neither_names_nor_dots(drawn: list[Figure]) -> None:
    rng = np.random.default_rng(3)
    crowd = [(f"method-{place}", 10 ** rng.uniform(-2, 1), rng.uniform(28, 33)) for place in range(25)]
    try_prize_against_time(Path("chart.png"), [Panel("uniform", POINTS), Panel("crowd", crowd)], [])
    for axes in (pane for whole in drawn[0].axes for pane in (whole, *whole.child_axes)):
        boxes = [text.get_window_extent() for text in axes.texts]
        for one, other in itertools.combinations(boxes, 2):
            assert not (one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1)
        dots = [axes.transData.transform(group.get_offsets()) for group in axes.collections if len(group.get_offsets())]
        for (x, y), box in itertools.product(np.concatenate(dots), boxes):
            assert not (box.x0 < x < box.x1 and box.y0 < y < box.y1)


@pytest.mark.parametrize("count", [3, 20, 60])
def test_colours_do_not_repeat(count: int) -> None:
    names = [f"method-{place}" for place in range(count)]
    colours = colours_of([*names, *names])
    assert list(colours) == names
    assert len(set(colours.values())) == count


def test_a_method_has_one_look_in_all_panels(drawn: list[Figure]) -> None:
    try_prize_against_time(Path("chart.png"), [Panel("one", POINTS[4:]), Panel("two", POINTS[:3:-1])], [])
    looks = [
        {(*group.get_facecolor()[0], group.get_paths()[0].vertices.tobytes()) for group in axes.collections}
        for axes in drawn[0].axes
    ]
    assert looks[0] == looks[1]
    assert len(looks[0]) == len(POINTS) - 4


def test_gaps_end_at_the_optimum(drawn: list[Figure]) -> None:
    curves = [GapCurve("lns", [0.01, 0.1, 1], [0.2, 0.02, 0.0]), GapCurve("tsili", [0.001, 0.002], [0.3, 0.25])]
    try_gap_against_time(Path("chart.png"), [("uniform", curves), ("bare", [])], [])
    (axes,) = drawn[0].axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    optimum = next(line for line in axes.lines if len(set(line.get_ydata())) == 1 and line.get_xdata() == [0, 1])
    floor = optimum.get_ydata()[0]
    (best,) = (line for line in axes.lines if list(line.get_xdata()) == [0.01, 0.1, 1])
    assert list(best.get_ydata()) == [0.2, 0.02, floor]
    assert floor < 0.02
    assert texts(axes) == ["proven optimum", "tsili, 25 %", "lns, 0 %"]


def test_curves_have_colours_of_their_own(drawn: list[Figure]) -> None:
    curves = [Curve(f"curve {place}", [1, 2], [1, place], [0, 0.1]) for place in range(12)]
    try_curves(Path("chart.png"), [("title", "steps", curves)], [])
    assert len({line.get_color() for line in drawn[0].axes[0].lines}) == 12


def test_equal_prizes_and_times_can_be_drawn(tmp_path: Path) -> None:
    same = [(name, 0.0, 0.0) for name in "abcd"]
    path = tmp_path / "chart.png"
    assert try_prize_against_time(path, [Panel("nothing", same), Panel("one", [("a", 1, 1)])], []) == path
    assert path.read_bytes().startswith(b"\x89PNG")
    assert chart.try_prize_against_time(path, [], []) is None
