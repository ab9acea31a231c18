"""Pictures: what they show, for every kind of problem; and the map of problems without coordinates."""

import itertools
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from instances import FAMILIES, small_instance
from orienteer import InfeasibleTour, Instance, MaxSteps, MissingExtra, Route, check_plan, solve
from orienteer.data.files import read
from orienteer.model.distances import great_circle, pairwise
from orienteer.model.instance import distances
from orienteer.model.show import ROUTES
from orienteer.plot import check_picture, draw, layout, save_picture

SQUARE = Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 1, 2, 4], 3.5)
ROUTE = [0, 1, 2, 0]


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_same_picture_same_bytes(tmp_path: Path, suffix: str, magic: bytes) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    save_picture(SQUARE, first, ROUTE)
    save_picture(SQUARE, second, ROUTE)
    assert first.read_bytes().startswith(magic)
    assert first.read_bytes() == second.read_bytes()


def test_title_tells_prize_and_cost() -> None:
    axes = draw(SQUARE, ROUTE, "a square").axes[0]
    assert axes.get_title(loc="left") == "a square\nprize 3 of 7, cost 3.41421 of 3.5"
    assert draw(SQUARE).axes[0].get_title(loc="left") == "4 places, total prize 7, limit 3.5"
    unplaced = draw(SQUARE.replace(coords=None)).axes[0].get_title(loc="left")
    assert unplaced.endswith("no coordinates: the map is drawn from the costs")


def test_visited_and_skipped_are_told_apart() -> None:
    groups = {group.get_label(): group for group in draw(SQUARE, ROUTE).axes[0].collections}
    assert {label: len(group.get_offsets()) for label, group in groups.items()} == {
        "skipped": 1,
        "visited": 2,
        "start and end": 1,
    }
    assert not np.array_equal(groups["skipped"].get_facecolor(), groups["visited"].get_facecolor())
    low, high = groups["visited"].get_sizes()
    assert high == pytest.approx(2 * low)  # area by prize
    open_path = SQUARE.replace(end=2)
    labels = [group.get_label() for group in draw(open_path, [0, 1, 2]).axes[0].collections]
    assert labels == ["skipped", "visited", "start", "end"]


def test_arrows_point_along_the_route() -> None:
    heads = [line.get_marker()[2] for line in draw(SQUARE, ROUTE).axes[0].lines if line.get_marker() != "None"]
    assert heads == pytest.approx([-90, 0, -225])  # marker angles: 0 points up; east, north, south-west


def test_names_stand_beside_the_stops_and_their_order_inside() -> None:
    named = SQUARE.replace(names=("home", "mill", "pond", "barn"))
    texts = [text.get_text() for text in draw(named, ROUTE).axes[0].texts]
    assert sorted(texts) == ["1", "2", "home", "mill", "pond"]


def test_order_numbers_stand_beside_small_stops() -> None:
    many = Instance.from_coords([[0, 0], [1, 0], *([9, y / 500] for y in range(500))], [0, 1, *[0.001] * 500], 3)
    texts = {text.get_text() for text in draw(many, [0, 1, 0]).axes[0].texts}
    assert "1" in texts
    assert len(draw(many.replace(limit=40), [*range(200), 0]).axes[0].texts) <= 62


CITY = read(Path(__file__).parents[2] / "examples" / "city.csv")


@pytest.mark.parametrize("case", ["city", "crowd", "pile"])
def test_texts_cover_nothing(case: str) -> None:
    """As drawn: no two texts overlap, and none but the numbers lies on a place or on a leg."""
    if case == "city":
        instance, nodes = CITY, solve(CITY, "lns", MaxSteps(5000)).tour.nodes
    elif case == "crowd":
        points = np.random.default_rng(4).random((150, 2))
        names = [f"Number {node}" for node in range(150)]
        instance = Instance.from_coords(points, np.ones(150), 7, names=names)
        nodes = solve(instance, "lns", MaxSteps(3000)).tour.nodes
    else:  # three places on one spot
        instance = Instance.from_coords([[0, 0], [5, 5], [5, 5], [5, 5]], [0, 9, 9, 9], 30, names=list("abcd"))
        nodes = (0, 1, 2, 3, 0)
    figure = draw(instance, nodes)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[0]
    boxes = {text: text.get_window_extent() for text in axes.texts if text.get_text()}
    for one, other in itertools.combinations(boxes.values(), 2):
        assert not (one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1)
    outside = [box for text, box in boxes.items() if text.get_color() != "white"]
    assert len(outside) >= {"city": 24, "crowd": 30, "pile": 3}[case]
    route = np.array([axes.transData.transform(point) for point in axes.lines[0].get_xydata()])
    along = np.concatenate([a + np.linspace(0, 1, 200)[:, None] * (b - a) for a, b in itertools.pairwise(route)])
    spots = np.concatenate([axes.transData.transform(group.get_offsets()) for group in axes.collections])
    for box in outside:
        for x, y in np.concatenate((along, spots)):
            assert not (box.x0 < x < box.x1 and box.y0 < y < box.y1)


def test_a_bar_shows_the_scale() -> None:
    def bar(instance: Instance) -> list[str]:
        return [text.get_text() for text in draw(instance).axes[0].texts]

    assert bar(CITY) == ["500"]
    coords = np.array([[10.0, 60.0], [10.2, 60.0], [10.0, 60.1]])
    on_earth = Instance(pairwise(coords, great_circle), np.ones(3), 1e6, coords=coords)
    assert bar(on_earth) == ["2 km"]
    assert draw(on_earth).axes[0].get_title(loc="left").endswith("limit 1e+06 m")
    assert draw(on_earth.replace(costs=on_earth.costs / 75)).axes[0].get_title(loc="left").endswith("limit 1e+06")
    assert bar(on_earth.replace(costs=on_earth.costs / 100)) == ["2 km"], "distances, whatever costs are"
    walks = Instance(np.ones((3, 3)), np.ones(3), 9, coords=coords, on_earth=True)
    assert bar(walks) == ["2 km"], "also where costs are no distances"
    assert bar(CITY.replace(costs=CITY.costs / 75, clock="minutes")) == ["5 min"]
    assert bar(CITY.replace(costs=CITY.costs * 10)) == ["5000"]
    assert bar(CITY.replace(costs=CITY.costs**2)) == []
    assert bar(SQUARE.replace(coords=None)) == []


def test_every_stop_of_a_short_route_has_its_label() -> None:
    """Of places that lie close together some had no name."""
    coords = np.random.default_rng(3).random((20, 2)) ** 3
    names = [f"the place called {node}" for node in range(20)]
    town = Instance.from_coords(coords, np.ones(20), 1e3, names=names)
    texts = {text.get_text() for text in draw(town, [*range(20), 0]).axes[0].texts}
    assert {name for name in names if not any(text.endswith(name) for text in texts)} == set()


def test_a_barred_place_changes_no_scale() -> None:
    costs = CITY.costs.copy()
    costs[1], costs[:, 1] = np.inf, np.inf
    assert [text.get_text() for text in draw(CITY.replace(costs=costs)).axes[0].texts] == ["500"]


def test_routes_have_colours_and_names() -> None:
    team = SQUARE.replace(end=None, routes=[Route(0, 0, 0, 3.5, "Anna"), Route(0, None, 0, 3.5), Route(0, 0)])
    axes = draw(team, [[0, 1, 0], [0, 3, 2], [0, 0]]).axes[0]
    entries = zip(axes.legend_.get_texts(), axes.legend_.legend_handles, strict=True)
    shown = {text.get_text(): handle for text, handle in entries}
    assert set(shown) == {"Route 1 (Anna)", "Route 2", "start and end"}
    colours = [to_hex(shown[name].get_facecolor()[0]) for name in ("Route 1 (Anna)", "Route 2")]
    assert colours == list(ROUTES[:2])
    lines = {to_hex(line.get_color()) for line in axes.lines if len(line.get_xdata()) > 1 and line.get_zorder() == 3}
    assert lines >= set(colours)
    assert axes.get_title(loc="left") == "prize 7 of 7, cost 4, 3 routes"
    plan = check_plan(team, [[0, 1, 0], [0, 3, 2], [0, 0]])
    assert draw(team, plan).axes[0].get_title(loc="left") == axes.get_title(loc="left")
    with pytest.raises(InfeasibleTour, match="Route 2, stop 1: node 1 is visited twice"):
        draw(team, [[0, 1, 0], [0, 1], [0, 0]])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_problem_can_be_drawn(family: str, size: int) -> None:
    instance = small_instance(family, size, seed=1)
    figure = draw(instance, instance.cheapest_route())
    figure.draw_without_rendering()
    assert np.isfinite(layout(instance)).all()


def test_points_in_one_place_can_be_drawn() -> None:
    draw(Instance.from_coords(np.ones((4, 2)), np.zeros(4), 1), [0, 2, 0]).draw_without_rendering()


def test_a_wrong_route_is_not_drawn() -> None:
    with pytest.raises(InfeasibleTour):
        draw(SQUARE, [0, 1, 2, 3, 0])


@pytest.mark.parametrize("size", [2, 3, 30, 450])
def test_map_of_distances_keeps_them(size: int) -> None:
    """In the plane classical scaling is exact, also for nodes that are no landmarks (450 are more than 400)."""
    points = np.random.default_rng(size).random((size, 2))
    instance = Instance(distances(points), np.ones(size), 1)
    np.testing.assert_allclose(distances(layout(instance)), instance.costs, atol=1e-8)


def test_missing_ways_become_far_places() -> None:
    costs = np.full((4, 4), np.inf)
    for here, there in itertools.pairwise(range(4)):
        costs[here, there] = 1.0
    points = layout(Instance(costs, np.ones(4), 9, 0, 3))
    apart = distances(points)
    assert apart[0, 3] > apart[0, 1]
    assert np.isfinite(layout(Instance([[0, np.inf], [np.inf, 0]], [0, 1], 1))).all()


def test_longitudes_shrink_towards_the_poles() -> None:
    coords = np.array([[10.0, 60.0], [11.0, 60.0], [10.0, 60.5]])
    on_earth = Instance(pairwise(coords, great_circle), np.ones(3), 1e6, coords=coords)
    east, north = layout(on_earth)[1] - layout(on_earth)[0], layout(on_earth)[2] - layout(on_earth)[0]
    assert np.linalg.norm(east) / np.linalg.norm(north) == pytest.approx(
        on_earth.costs[0, 1] / on_earth.costs[0, 2], 0.01
    )


def test_unknown_suffix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a picture must be one of .png, .svg, .pdf, got 'route.gif'"):
        check_picture("route.gif")


def test_missing_matplotlib_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[plot\]'"):
        draw(SQUARE)
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[plot\]'"):
        check_picture("route.png")


def test_dollars_are_no_formulas(tmp_path: Path) -> None:
    named = SQUARE.replace(names=["$\\nothing$", "5 $", "c", "d"])
    save_picture(named, tmp_path / "a.png", ROUTE, "costs $\\nothing$")


def test_letters_that_the_font_lacks_are_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    town = Instance.from_coords([[0, 0], [1, 0], [0, 1]], [0, 1, 2], 9, names=["home", "\u6771\u4eac", "\u5927\u962a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_picture(town, tmp_path / "town.png", [0, 1, 2, 0])
    (said,) = caplog.messages
    assert "no sign for some letters" in said


def test_a_notebook_shows_a_figure_once() -> None:
    """The figure makes its own image, and pyplot, which would show it again at the end of the cell, has none."""
    import matplotlib.pyplot as plt

    figure = draw(SQUARE, ROUTE)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert figure._repr_html_() is None
    assert plt.get_fignums() == []
