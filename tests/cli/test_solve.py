"""`orienteer solve`: the table, the JSON object, the files."""

import json
import logging
from pathlib import Path

import pytest

from command_line import TOWN, Cli, Script
from orienteer import Instance, Result, check_tour
from orienteer.data.files import read_tour, write, write_set
from orienteer.search.run import Run


def test_table_by_hand(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "route.txt").write_text("0 1 2 0\n")
    status, out, err = cli("solve", town, "--solver", "random", "--steps", "0", "--initial", tmp_path / "route.txt")
    assert (status, err) == (0, "")
    table, _, rest = out.partition("\n\n")
    assert table.splitlines() == [
        "stop  place  prize  leg  cost  slack",
        "   0  home     0.0    0     0     13",
        "   1  mill     1.5    3     3     10",
        "   2  pond     2.0    4     7      6",
        "   3  home     0.0    5    12      1",
    ]
    totals, origin = rest.splitlines()
    assert totals == "prize 3.5 of 57.5, cost 12 of 13, slack 1, 2 of 4 places"
    assert origin.startswith("random: best found in ")
    assert origin.endswith(" s, 0 steps, seed 0")


def test_prizes_within_reach_are_no_bound(cli: Cli, town: Path, tmp_path: Path) -> None:
    """The prizes within reach, 7.5, are no bound worth printing: a route with 6 may be best. All 7.5 are a proof."""
    route, steps = tmp_path / "route.txt", ("--solver", "random", "--steps", "0", "--initial", tmp_path / "route.txt")
    route.write_text("0 2 3 0\n")
    said = cli("solve", town, *steps, "--out", tmp_path / "it.json").out
    assert "gap" not in said
    assert "random: best found in" in said
    assert json.loads((tmp_path / "it.json").read_text())["bound"] is None
    route.write_text("0 1 2 3 0\n")
    said = cli("solve", town, "--limit", "14", *steps, "--out", tmp_path / "it.json").out
    assert "random: proven optimal in" in said
    assert json.loads((tmp_path / "it.json").read_text())["bound"] == 7.5


def test_a_proof_is_said(cli: Cli, town: Path) -> None:
    out = cli("solve", town, "--solver", "enumerate").out
    assert "prize 6 of 57.5, cost 12 of 13, slack 1, 2 of 4 places" in out
    assert "enumerate: proven optimal in " in out


def test_the_end_of_an_open_route_counts(cli: Cli, town: Path) -> None:
    _, out, _ = cli("solve", town, "--solver", "enumerate", "--end", "mill", "--limit", "3")
    assert out.splitlines()[1:3] == ["   0  home     0.0    0     0      3", "   1  mill     1.5    3     3      0"]
    assert "prize 1.5 of 57.5" in out


def test_json_is_all_that_is_printed(cli: Cli, town: Path) -> None:
    status, out, err = cli("solve", town, "--solver", "tsili", "--seed", "3", "--json")
    assert (status, err) == (0, "")
    data = json.loads(out)
    result = Result.from_dict(data)
    assert check_tour(TOWN, result.tour.nodes) == result.tour
    assert (result.solver, result.seed) == ("tsili", 3)
    assert TOWN.names is not None
    assert data["names"] == [TOWN.names[node] for node in result.tour.nodes]


def test_no_names_no_names_in_json(cli: Cli, tmp_path: Path) -> None:
    write(TOWN.replace(names=None), tmp_path / "town.json")
    assert "names" not in json.loads(cli("solve", tmp_path / "town.json", "--solver", "tsili", "--json").out)


@pytest.mark.parametrize("name", ["route.json", "route.tour", "route.sol", "route.txt", "route"])
def test_out_can_be_read_again(cli: Cli, town: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    data = json.loads(cli("solve", town, "--solver", "enumerate", "--json", "--out", out).out)
    assert read_tour(out, TOWN) == data["tour"]
    assert cli("check", town, out).status == 0
    if name in ("route.json", "route"):
        assert json.loads(out.read_text()) == data


def test_results_know_their_limit_start_and_end(cli: Cli, town: Path, tmp_path: Path) -> None:
    """Limit, start and end had to be repeated for `check` and `plot`, which else took those of the problem's file."""
    out, picture = tmp_path / "route.json", tmp_path / "route.png"
    cli("solve", town, "--solver", "enumerate", "--limit", "7", "--start", "mill", "--end", "pond", "--out", out)
    data = json.loads(out.read_text())
    assert (data["limit"], data["start"], data["end"]) == (7, 1, 2)
    said = cli("check", town, out)
    assert said.out.startswith("feasible: prize 3.5 of 57.5, cost 4 of 7")
    assert said.err.splitlines() == [
        f"orienteer: judged by the limit 7 of {out}, not by 13 of {town}",
        f"orienteer: judged by the start 1 of {out}, not by 0 of {town}",
        f"orienteer: judged by the end 2 of {out}, not by 0 of {town}",
    ]
    assert cli("plot", town, out, "--out", picture).status == 0
    assert "cost 4 of 5" in cli("check", town, out, "--limit", "5").out
    assert "stops at node 2 (pond), not at the end 0 (home)" in cli("check", town, out, "--start", "mill").out


def test_results_of_old_files_are_judged_by_the_problem(cli: Cli, town: Path, tmp_path: Path) -> None:
    out = tmp_path / "route.json"
    cli("solve", town, "--solver", "enumerate", "--out", out)
    data = json.loads(out.read_text())
    out.write_text(json.dumps({key: data[key] for key in data if key not in ("limit", "start", "end")}))
    assert cli("check", town, out) == (0, "feasible: prize 6 of 57.5, cost 12 of 13, slack 1, 2 of 4 places\n", "")
    assert Result.from_dict(json.loads(out.read_text())).limit is None


def test_plot_writes_a_picture(cli: Cli, town: Path, tmp_path: Path) -> None:
    assert cli("solve", town, "--solver", "tsili", "--plot", tmp_path / "a.png").status == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_middle_of_a_long_route_is_left_out(cli: Cli, tmp_path: Path) -> None:
    """A route through 100,000 points printed a table of tens of thousands of lines."""
    circle = [[i / 100, 0] for i in range(500)]
    write(Instance.from_coords(circle, [1.0] * 500, 20), tmp_path / "long.json")
    lines = cli("solve", tmp_path / "long.json", "--steps", "1").out.splitlines()
    assert lines[11].strip() == "... 486 more stops, which --out writes to a file"
    assert lines[12].split()[0] == "496"
    assert len(lines) == 1 + 10 + 1 + 5 + 3


def test_steps_make_a_run_repeatable(cli: Cli, town: Path) -> None:
    one, two = (
        json.loads(cli("solve", town, "--solver", "random", "--steps", "20", "--seed", "5", "--json").out) for _ in "ab"
    )
    assert one["tour"] == two["tour"]
    assert one["steps"] == two["steps"] <= 20


def test_settings_reach_the_solver(cli: Cli, town: Path) -> None:
    out = cli("solve", town, "--solver", "tsili", "--set", "tries=5", "--set", "power=2.5", "--json").out
    assert json.loads(out)["settings"] == {"tries": 5, "power": 2.5, "best": 4}
    assert json.loads(out)["steps"] == 5


@pytest.mark.parametrize("solver", ["auto", "lns"])
def test_threads_reach_the_solver(cli: Cli, town: Path, solver: str) -> None:
    out = cli("solve", town, "--solver", solver, "--steps", "20", "--threads", "2", "--json").out
    assert json.loads(out)["settings"]["threads"] == 2


def test_beam_searches_take_their_settings(cli: Cli, town: Path) -> None:
    words = ("solve", town, "--solver", "cs-p", "--beam", "7", "--tau", "0.5", "--device", "cpu", "--json")
    settings = json.loads(cli(*words, "--set", "branch=3", "--set", "score=child").out)["settings"]
    assert settings["score"] == "child"
    assert (settings["beam"], settings["tau"], settings["device"], settings["branch"]) == (7, 0.5, "cpu", 3)
    assert json.loads(cli(*words, "--set", "branch=none").out)["settings"]["branch"] is None


def test_initial_is_where_the_search_begins(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "best.txt").write_text("0 2 3 0\n")
    out = cli("solve", town, "--solver", "random", "--steps", "0", "--initial", tmp_path / "best.txt", "--json").out
    assert json.loads(out)["tour"] == [0, 2, 3, 0]


def test_an_instance_of_a_set(cli: Cli, tmp_path: Path) -> None:
    write_set([TOWN, TOWN.replace(limit=9)], tmp_path / "set.npz")
    data = json.loads(cli("solve", tmp_path / "set.npz", "--index", "1", "--solver", "enumerate", "--json").out)
    assert data["cost"] <= 9


def test_names_cannot_break_the_table(cli: Cli, tmp_path: Path) -> None:
    """Names come from files: no line breaks or terminal codes reach the screen, and wide letters stay aligned."""
    odd = Instance([[0.0, 1], [1, 0]], [0, 1], 2, names=["a\n\x1b[31m", "\u6771\u4eac"])
    write(odd, tmp_path / "odd.json")
    out = cli("solve", tmp_path / "odd.json", "--solver", "enumerate").out
    lines = out.partition("\n\n")[0].splitlines()
    assert lines[1] == "   0  a??[31m      0    0     0      2"
    assert lines[2] == "   1  \u6771\u4eac         1    1     1      1"


def test_library_warnings_reach_standard_error_as_plain_lines(cli: Cli, town: Path, scripted: Script) -> None:
    scripted(lambda run: logging.getLogger("orienteer.lns").warning("compiling, once") if not run.steps else None)
    status, out, err = cli("solve", town, "--solver", "scripted", "--steps", "3", "--json")
    assert status == 0
    assert json.loads(out)["steps"] == 3
    assert err == "orienteer: compiling, once\n"
    assert logging.getLogger("orienteer").handlers == []


def test_a_failing_search_shows_where(cli: Cli, town: Path, scripted: Script) -> None:
    """Our own mistakes are not dressed up as the user's."""

    def fail(run: Run) -> None:
        raise KeyError("lost")

    scripted(fail)
    with pytest.raises(KeyError):
        cli("solve", town, "--solver", "scripted")
