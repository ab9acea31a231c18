"""Films of searches: frames, what they show, and files that Pillow can read."""

import functools
import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter
from PIL import Image

from orienteer import Instance, MaxSteps, OrienteerError, Progress, Result, Unsupported, check_plan, solve
from orienteer.data.files import read
from orienteer.model.levels import Reading
from orienteer.plot import animate, animate_levels, check_animation, filling, improving
from orienteer.plot.film import HELD, MOST_FRAMES, chosen_frames, durations
from orienteer.plot.improving import improvements
from orienteer.search.registry import make_solver

CITY = read(Path(__file__).parents[2] / "examples" / "city.csv")
SQUARE = Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 1, 2, 4], 4)


def moment(steps: int, nodes: list[int]) -> Progress:
    plan = check_plan(SQUARE, [nodes])
    return Progress(0.0, steps, 0, plan.prize, plan=plan)


MOMENTS = [
    Progress(0.0, 0, 0, 0.0),
    moment(0, [0, 0]),
    moment(3, [0, 1, 0]),
    moment(5, [0, 1, 0]),
    moment(1200, [0, 1, 2, 3, 0]),
]
"""A moment without a plan, three plans, and one that is the same as before."""


@functools.cache
def levels_of_city(beam: int = 5, tau: float = 400.0) -> tuple[list[Reading], Result]:
    solver, readings = make_solver("cs-p", beam=beam, tau=tau), []
    solver.on_reading = readings.append  # type: ignore[attr-defined]
    return readings, solve(CITY, solver)


def frames_of(path: Path) -> list[Image.Image]:
    with Image.open(path) as film:
        assert film.format == "GIF"
        found = []
        for number in range(film.n_frames):
            film.seek(number)
            found.append(film.convert("RGB"))
        return found


def test_only_other_plans_are_improvements() -> None:
    assert [(steps, plan.prize) for steps, plan in improvements(MOMENTS)] == [(0, 0), (3, 1), (1200, 7)]


def test_a_frame_for_each_improvement(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    animate(SQUARE, MOMENTS, path)
    frames = frames_of(path)
    assert len(frames) == 3
    assert np.asarray(frames[0]).tolist() != np.asarray(frames[-1]).tolist()
    with Image.open(path) as film:
        film.seek(2)
        assert film.info["duration"] == 1000 * HELD  # the last frame is held
        assert film.info["loop"] == 0


def test_a_frame_tells_step_prize_cost_and_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, int, list[str]]] = []

    def keep(figure, draw, frames, path):  # type: ignore[no-untyped-def]
        for frame in frames:
            draw(frame)
            above, below = figure.axes
            new = [line for line in above.lines if line.get_linewidth() == 6]
            shown.append((above.get_title(loc="left"), len(new), [text.get_text() for text in below.texts]))

    monkeypatch.setattr(improving, "write_film", keep)
    animate(SQUARE, MOMENTS, tmp_path / "a.gif", "square")
    assert shown == [
        ("square, step 0\nprize 0 of 7, cost 0 of 4", 0, ["0"]),
        ("square, step 3\nprize 1 of 7, cost 2 of 4", 1, ["1"]),
        ("square, step 1,200\nprize 7 of 7, cost 4 of 4", 3, ["7"]),  # the leg from 0 to 1 was there before
    ]


def test_the_same_steps_and_seed_make_the_same_small_film(tmp_path: Path) -> None:
    for name in ("a.gif", "b.gif"):
        moments: list[Progress] = []
        result = solve(CITY, "lns", MaxSteps(2000), seed=3, on_progress=moments.append)
        animate(CITY, moments, tmp_path / name)
        assert improvements(moments)[-1][1] == result.plan
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    assert (tmp_path / "a.gif").stat().st_size < 500_000


def test_readings_are_those_of_the_search() -> None:
    """Queues are read from cheap to dear, hold at most K paths, and looking on changes no result."""
    readings, result = levels_of_city()
    assert result.plan == solve(CITY, "cs-p", beam=5, tau=400.0).plan
    read_levels = [reading.level for reading in readings]
    assert read_levels == sorted(read_levels)
    for reading in readings:
        assert all(len(queue) <= 5 for queue in reading.waiting)
        assert 0 < len(reading.paths) == len(reading.prizes) <= 5
        assert not any(reading.waiting[: reading.level])
        for path, prize in zip(reading.paths, reading.prizes, strict=True):
            assert prize == CITY.prizes[sorted({*path, CITY.end})].sum()
            cost = sum(CITY.costs[here, there] for here, there in itertools.pairwise(path))
            assert (reading.level - 1) * 400 < cost <= reading.level * 400
    assert not any(readings[-1].waiting)
    prizes = [check_plan(CITY, [reading.route]).prize for reading in readings if reading.route]
    assert prizes == sorted(prizes)
    assert prizes[-1] <= result.prize


def test_levels_fill(tmp_path: Path) -> None:
    readings, result = levels_of_city()
    animate_levels(CITY, readings, tmp_path / "a.gif", result.plan)
    frames = frames_of(tmp_path / "a.gif")
    assert len(frames) == min(len(readings), MOST_FRAMES) + 1
    assert np.asarray(frames[0]).tolist() != np.asarray(frames[-1]).tolist()
    assert (tmp_path / "a.gif").stat().st_size < 1_000_000


def test_a_cell_for_each_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings, result = levels_of_city()
    filled, titles = [], []

    def keep(figure, draw, frames, path):  # type: ignore[no-untyped-def]
        for frame in (0, len(readings) // 2, len(readings)):
            draw(frame)
            left, right = figure.axes[:2]
            filled.append(int(right.collections[0].get_array().count()))
            titles.append(left.get_title(loc="left"))

    monkeypatch.setattr(filling, "write_film", keep)
    animate_levels(CITY, readings, tmp_path / "a.gif", result.plan)
    half = readings[: len(readings) // 2 + 1]
    assert filled[1] == sum(len(reading.paths) for reading in half) + sum(map(len, half[-1].waiting))
    assert filled[2] == sum(len(reading.paths) for reading in readings)
    assert titles[0].startswith(f"level {readings[0].level} of ")
    assert titles[2] == f"queues empty, paths joined\nprize {result.prize:.6g}, cost {result.cost:.6g}"


def test_a_free_end_is_no_place_on_the_map(tmp_path: Path) -> None:
    free, readings = SQUARE.replace(end=None, limit=2.5), list[Reading]()
    solver = make_solver("cs-p", beam=2)
    solver.on_reading = readings.append  # type: ignore[attr-defined]
    result = solve(free, solver)
    animate_levels(free, readings, tmp_path / "a.gif", result.plan)
    assert len(frames_of(tmp_path / "a.gif")) == len(readings) + 1


def test_levels_of_opening_hours_are_refused() -> None:
    solver = make_solver("cs-p")
    solver.on_reading = print  # type: ignore[attr-defined]
    with pytest.raises(Unsupported, match="levels are shown of problems without opening hours"):
        solve(SQUARE.replace(windows={1: (0, 9)}), solver)


def test_the_number_of_frames_is_bounded() -> None:
    assert chosen_frames(1) == [0]
    assert chosen_frames(7) == list(range(7))
    many = chosen_frames(100_000)
    assert len(many) == len(set(many)) == MOST_FRAMES
    assert (many[0], many[-1]) == (0, 99_999)
    assert durations(1) == [HELD]
    assert sum(durations(MOST_FRAMES)) < 25


def test_an_empty_route_and_hostile_names(tmp_path: Path) -> None:
    names = ["$\\frac{_}$", "_" * 900, "\u6771\u4eac", "5 $"]
    animate(SQUARE.replace(names=names), [moment(0, [0, 0])], tmp_path / "a.gif", "100 $ or $\\nothing$")
    assert len(frames_of(tmp_path / "a.gif")) == 1


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"an animation must be one of .gif, .mp4, got 'a.png'"):
        check_animation("a.png")
    with pytest.raises(ValueError, match="needs at least one moment with a plan"):
        animate(SQUARE, MOMENTS[:1], "a.gif")
    with pytest.raises(ValueError, match="at least one reading"):
        animate_levels(SQUARE, [], "a.gif")
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(OrienteerError, match=r"an MP4 needs the program ffmpeg.*apt install ffmpeg.*or name a .gif"):
        check_animation("a.mp4")


@pytest.mark.skipif(not FFMpegWriter.isAvailable(), reason="ffmpeg is not installed")
def test_mp4(tmp_path: Path) -> None:
    animate(SQUARE, MOMENTS, tmp_path / "a.mp4")
    assert b"ftyp" in (tmp_path / "a.mp4").read_bytes()[:16]
