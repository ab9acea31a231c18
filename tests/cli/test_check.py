"""`orienteer check` and `orienteer plot`: the judge and the picture of a given route."""

from pathlib import Path

import pytest

from command_line import TOWN, Cli
from orienteer.data.files import read_plan, write_set


@pytest.mark.parametrize("text", ["0 2 3 0", "[0, 2, 3, 0]", '{"tour": [0, 2, 3, 0]}', "0\n2\n3\n0\n"])
def test_a_good_route(cli: Cli, town: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "route").write_text(text)
    said = cli("check", town, tmp_path / "route")
    assert said == (0, "feasible: prize 6 of 57.5, cost 12 of 13, slack 1, 2 of 4 places\n", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 1 2 3 0", "the route costs 14, more than the limit 13, by 1"),
        ("0 1 2", "the route stops at node 2 (pond), not at the end 0 (home)"),
        ("0 7 0", "stop 1: there is no node 7 among 5"),
        ("0", "a route needs its start and its end, got 1 node(s)"),
    ],
)
def test_a_bad_route_is_status_one(cli: Cli, town: Path, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "route").write_text(text)
    assert cli("check", town, tmp_path / "route") == (1, f"infeasible: {reason}\n", "")


def test_options_change_the_problem(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "route").write_text("0 1 2 3 0")
    assert cli("check", town, tmp_path / "route", "--limit", "14").status == 0
    (tmp_path / "route").write_text("1 2")
    assert cli("check", town, tmp_path / "route", "--start", "mill", "--end", "pond").status == 0


@pytest.mark.parametrize("name", ["new.json", "new", "new.csv", "new.txt", "new.tour"])
def test_a_good_route_is_written_anew(cli: Cli, town: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "route").write_text("0 2 3 0")
    first = cli("check", town, tmp_path / "route", "--out", tmp_path / name)
    assert first == (0, "feasible: prize 6 of 57.5, cost 12 of 13, slack 1, 2 of 4 places\n", "")
    assert read_plan(tmp_path / name, TOWN) == [[0, 2, 3, 0]]
    assert cli("check", town, tmp_path / name) == first


def test_only_a_good_route_is_written_and_over_no_input(cli: Cli, town: Path, tmp_path: Path) -> None:
    route = tmp_path / "route"
    route.write_text("0 1 2 3 0")
    new = tmp_path / "new.json"
    said = cli("check", town, route, "--out", new)
    assert said.err == f"orienteer: {new} was not written: the plan breaks a rule\n"
    assert (said.status, new.exists()) == (1, False)
    for path in (town, route):
        before = path.read_text()
        status, out, err = cli("check", town, route, "--limit", 14, "--out", path)
        assert (status, out, path.read_text()) == (2, "", before)
        assert "it is also read or written by this command" in err or "routes are not written as" in err
    assert "routes are not written as .png" in cli("check", town, route, "--out", tmp_path / "a.png").err


def test_results_of_a_batch(cli: Cli, tmp_path: Path) -> None:
    write_set([TOWN, TOWN.replace(limit=9)], tmp_path / "set.npz")
    cli("batch", tmp_path / "set.npz", "--solver", "enumerate", "--out", tmp_path / "result.npz")
    assert "of 13" in cli("check", tmp_path / "set.npz", tmp_path / "result.npz", "--index", "0").out
    assert "of 9" in cli("check", tmp_path / "set.npz", tmp_path / "result.npz", "--index", "1").out


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot_with_and_without_a_route(cli: Cli, town: Path, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "route").write_text("0 2 3 0")
    bare, drawn = tmp_path / f"bare.{suffix}", tmp_path / f"drawn.{suffix}"
    assert cli("plot", town, "--out", bare) == (0, "", "")
    assert cli("plot", town, tmp_path / "route", "--out", drawn, "--title", "Sunday") == (0, "", "")
    assert bare.read_bytes() != drawn.read_bytes()


def test_plot_timetable_and_map_together(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "route").write_text("0 2 3 0")
    both = "--out", tmp_path / "a.svg", "--timetable", tmp_path / "b.svg"
    assert cli("plot", town, tmp_path / "route", *both) == (0, "", "")
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()
    clash = "--out", tmp_path / "a.svg", "--timetable", tmp_path / "a.svg"
    assert "also read or written by this command" in cli("plot", town, tmp_path / "route", *clash).err


@pytest.mark.parametrize("how", [["--solver", "tsili", "--steps", "50"], ["--levels", "--beam", "2"]])
def test_plot_a_film(cli: Cli, town: Path, tmp_path: Path, how: list[str]) -> None:
    films = [tmp_path / "a.gif", tmp_path / "b.gif"]
    for film in films:
        assert cli("plot", town, "--animate", film, *how, "--title", "Sunday") == (0, "", "")
    assert films[0].read_bytes().startswith(b"GIF8")
    assert films[0].read_bytes() == films[1].read_bytes()


def test_a_tour_through_all_places_needs_no_limit(cli: Cli, tmp_path: Path) -> None:
    square = tmp_path / "square.tsp"
    square.write_text(
        "NAME: square\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        "1 0 0\n2 0 10\n3 10 10\n4 10 0\nEOF\n"
    )
    tour, part = tmp_path / "all.json", tmp_path / "part.json"
    tour.write_text("[0, 2, 1, 3, 0]")
    part.write_text("[0, 2, 1, 0]")
    assert cli("check", square, tour).out == "feasible: a tour of 4 places, cost 48\n"
    assert cli("check", square, part)[:2] == (1, "infeasible: the tour leaves out 1 of 4 places\n")
    part.write_text("[3, 0, 1, 2, 3]")
    assert cli("check", square, part).out == "feasible: a tour of 4 places, cost 40\n"
    assert cli("check", square, part, "--start", "0").status == 1
    assert "--end does not go with a tour" in cli("check", square, part, "--end", "1").err
