"""The command line with several routes, times, rules, and problems without a plan."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import TOWN, Cli, Script
from orienteer import Instance, Route
from orienteer.cli.solvers import solvers
from orienteer.data.files import write
from orienteer.search.registry import REGISTRY, handled_by
from orienteer.search.run import Run

DAY = Instance.from_coords(
    [[0, 0], [30, 0], [30, 40], [0, 40]],
    [0, 5, 3, 4],
    limit=300,
    names=["hotel", "museum", "castle", "lake"],
    service=[0, 60, 0, 15],
    windows={"museum": (600, 720), "lake": (660, 1080)},
    routes=[Route(0, 0, 540, 300, "Anna"), Route(0, 0, 570, 200)],
    clock="minutes",
)
"""Anna is at the museum at 09:30, waits until 10:00, leaves at 11:00 and is at the lake at 11:50; back at 12:45."""


@pytest.fixture
def day(tmp_path: Path) -> Path:
    write(DAY, tmp_path / "day.json")
    return tmp_path / "day.json"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plan.txt").write_text("0 1 3 0\n0 2 0\n")
    return tmp_path / "plan.txt"


AS_IT_IS = ("--solver", "lns", "--steps", "0", "--initial")


def test_a_table_for_each_route_with_times_of_day(cli: Cli, day: Path, plan: Path) -> None:
    status, out, _ = cli("solve", day, *AS_IT_IS, plan)
    assert status == 0
    first, second, rest = out.split("\n\n")
    assert first.splitlines() == [
        "Route 1 (Anna): prize 9, cost 225 of 300, 2 stops",
        "stop  place   prize  leg  arrive  wait  begin  leave",
        "   0  hotel       0    0   09:00     0  09:00  09:00",
        "   1  museum      5   30   09:30    30  10:00  11:00",
        "   2  lake        4   50   11:50     0  11:50  12:05",
        "   3  hotel       0   40   12:45     0  12:45  12:45",
    ]
    assert second.splitlines()[0] == "Route 2: prize 3, cost 100 of 200, 1 stop"
    assert rest.splitlines()[0] == "prize 12 of 12, cost 325, 2 routes, 3 of 3 places"


def test_json_has_routes_with_stops(cli: Cli, day: Path, plan: Path) -> None:
    data = json.loads(cli("solve", day, *AS_IT_IS, plan, "--json").out)
    assert (data["prize"], data["cost"]) == (12, 325)
    assert "tour" not in data
    anna, other = data["routes"]
    assert (anna["nodes"], anna["names"], anna["name"]) == ([0, 1, 3, 0], ["hotel", "museum", "lake", "hotel"], "Anna")
    assert (anna["prize"], anna["cost"]) == (9, 225)
    clock = {"arrive": "09:30", "begin": "10:00", "leave": "11:00"}
    assert anna["stops"][1] == {"node": 1, "arrive": 570, "wait": 30, "begin": 600, "leave": 660, "clock": clock}
    assert other["nodes"] == [0, 2, 0]


def test_numbers_where_times_are_no_times_of_day(cli: Cli, tmp_path: Path, plan: Path) -> None:
    write(DAY.replace(clock=None), tmp_path / "day.json")
    data = cli("solve", tmp_path / "day.json", *AS_IT_IS, plan)
    assert "   1  museum      5   30     570    30    600    660" in data.out.splitlines()


@pytest.mark.parametrize("name", ["plan.json", "plan", "again.txt"])
def test_check_judges_what_solve_wrote(cli: Cli, day: Path, plan: Path, tmp_path: Path, name: str) -> None:
    cli("solve", day, *AS_IT_IS, plan, "--out", tmp_path / name)
    said = cli("check", day, tmp_path / name)
    assert said == (0, "feasible: prize 12 of 12, cost 325, 2 routes, 3 of 3 places\n", "")


def test_a_hint_that_breaks_a_rule_is_left_aside(cli: Cli, day: Path, plan: Path) -> None:
    """An old plan cannot have a place that is required since: people had to search without it."""
    begin = ("solve", day, "--solver", "lns", "--steps", "0")
    assert "prize 12 of 12" in cli(*begin, "--hint", plan).out
    (plan.parent / "old.txt").write_text("0 1 0\n0 2 0\n")
    status, out, err = cli(*begin, "--require", "lake", "--hint", plan.parent / "old.txt")
    rule = "it breaks a rule of this problem: required node 3 (lake) is not visited\n"
    assert err == f"orienteer: {plan.parent / 'old.txt'} is left aside, {rule}"
    assert status == 1
    assert out.startswith("no plan was found")
    refused = cli(*begin, "--require", "lake", "--initial", plan.parent / "old.txt")
    assert "required node 3 (lake) is not visited; --hint would leave it aside" in refused.err
    assert "give one of them" in cli(*begin, "--initial", plan, "--hint", plan).err


@pytest.mark.parametrize("suffix", [".json", ".xlsx"])
def test_a_hint_goes_by_names_where_somebody_is_away(cli: Cli, tmp_path: Path, suffix: str) -> None:
    """The plan had one route more than the problem: it was left aside, and all was planned anew."""
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    old, now, later = tmp_path / f"old{suffix}", tmp_path / "now.json", tmp_path / "later.json"
    anna, bo, cem = (Route(0, 0, 540, 300, name) for name in ("Anna", "Bo/B", "Cem/C"))
    write(DAY.replace(routes=[anna, bo, cem]), now)
    (tmp_path / "plan").write_text("0 1 0\n0 3 0\n0 2 0\n")
    cli("solve", now, *AS_IT_IS, tmp_path / "plan", "--out", old)
    begin = ("solve", later, "--solver", "lns", "--steps", "0", "--json", "--hint", old)
    for routes, nodes, left in (
        ([anna, cem], [[0, 1, 0], [0, 2, 0]], "; left out: "),
        ([cem], [[0, 2, 0]], "; left out: "),
        ([cem, anna, bo, Route(0, None, 540, 300, "Dan")], [[0, 2, 0], [0, 1, 0], [0, 3, 0], [0]], ""),
    ):
        write(DAY.replace(routes=routes), later)
        status, out, err = cli(*begin)
        assert status == 0
        assert [route["nodes"] for route in json.loads(out)["routes"]] == nodes
        words = f"orienteer: {old}: its 3 routes go by their names, since the problem has {len(routes)}{left}"
        assert err.startswith(words)
    write(DAY.replace(routes=[Route(0, 0, 540, 300, "Eva")]), later)
    assert "left aside, it breaks a rule of this problem: the plan has 3 routes, the problem 1" in cli(*begin).err


@pytest.mark.parametrize(
    ("routes", "options", "reason"),
    [
        (
            [[0, 1, 3, 0], [0, 3, 0]],
            (),
            "Route 2, stop 1: node 3 (lake) is visited twice; first at Route 1 (Anna), stop 2",
        ),
        (
            [[0, 3, 2, 1, 0], [0, 0]],
            (),
            "Route 1 (Anna), stop 3: node 1 (museum) closes at 12:00, the route arrives at 12:25, 25 too late",
        ),
        ([[0, 1, 3, 0]], (), "the plan has 1 route, the problem 2: list an idle route with its start and end only"),
        ([[0, 1, 0], [0, 0]], ("--require", "lake"), "required node 3 (lake) is not visited"),
        ([[0, 1, 0], [0, 0]], ("--limit", "100"), "Route 1 (Anna): the route costs 150, more than the limit 100"),
    ],
)
def test_check_names_the_rule(
    cli: Cli, day: Path, tmp_path: Path, routes: Any, options: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(routes))
    status, out, _ = cli("check", day, tmp_path / "bad.json", *options)
    assert status == 1
    assert out.startswith(f"infeasible: {reason}")


def test_a_tsplib_tour_holds_one_route(cli: Cli, day: Path, plan: Path, tmp_path: Path) -> None:
    """That is told before the search, which would be lost."""
    status, _, err = cli("solve", day, *AS_IT_IS, plan, "--out", tmp_path / "a.tour")
    assert status == 2
    assert "cannot be written: .tour holds one route, not 2" in err


def test_options_say_what_must_be_in_and_what_must_not(cli: Cli, town: Path) -> None:
    """Without options home, pond, barn, home is the best."""

    def visited(*options: str) -> set[str]:
        data = json.loads(cli("solve", town, "--solver", "lns", "--steps", "2000", "--json", *options).out)
        return {name for route in data["routes"] for name in route["names"]}

    assert visited() == {"home", "pond", "barn"}
    assert visited("--require", "mill") == {"home", "mill", "barn"}
    assert visited("--avoid", "barn", "--avoid", "2") == {"home", "mill"}
    assert visited("--free-end") == {"home", "pond", "hill"}
    assert visited("--routes", "2") == {"home", "mill", "pond", "barn"}


def test_a_result_knows_its_number_of_routes_and_its_free_end(cli: Cli, town: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    for options in (["--routes", "2"], ["--free-end"]):
        cli("solve", town, "--solver", "lns", "--steps", "500", "--out", out, *options)
        status, said, err = cli("check", town, out)
        assert (status, said[:9]) == (0, "feasible:")
        assert ("judged by the 2 routes of" in err) == ("--routes" in options)


def test_no_plan_is_said_in_plain_words(cli: Cli, town: Path, tmp_path: Path, scripted: Script) -> None:
    """Two routes without a plan: the scripted solver finds nothing, or proves that there is nothing."""
    write(TOWN.replace(routes=2), tmp_path / "two.json")
    for infeasible, status, words in (
        (False, "none found", "a longer search may find one, and --prove may show that there is none"),
        (True, "infeasible", "no plan keeps all rules of this problem: that is proven"),
    ):

        def act(run: Run, infeasible: bool = infeasible) -> None:
            run.infeasible = infeasible

        scripted(act)
        command = ("solve", tmp_path / "two.json", "--solver", "scripted", "--steps", "3")
        said = cli(*command, "--plot", tmp_path / "a.png", "--out", tmp_path / "a.txt")
        assert said.status == 1
        assert words in said.out.splitlines()[0]
        assert "a.txt was not written: there is no plan" in said.err
        assert not (tmp_path / "a.txt").exists()
        said = cli(*command, "--json")
        data = json.loads(said.out)
        assert (said.status, data["status"], data["routes"], data["prize"]) == (1, status, None, None)
        (tmp_path / "none.json").write_text(said.out)
        assert "there is no plan in it: " in cli("check", tmp_path / "two.json", tmp_path / "none.json").err


def test_pictures_of_plans(cli: Cli, day: Path, plan: Path, tmp_path: Path) -> None:
    assert cli("plot", day, plan, "--out", tmp_path / "a.svg").status == 0
    drawing = (tmp_path / "a.svg").read_text()
    assert "<!-- Route 1 (Anna) -->" in drawing
    assert "<!-- Route 2 -->" in drawing


def test_solvers_say_what_they_handle(cli: Cli) -> None:
    lines = {line.split()[0]: line for line in cli(solvers.name).out.splitlines()}
    assert "handles" in lines["solver"]
    assert "everything" in lines["lns"]
    for name in REGISTRY:
        if handled_by(name) == {"service", "free end"}:
            assert "service, free end" in lines[name]


def test_contradictions_are_errors(cli: Cli, day: Path) -> None:
    status, _, err = cli("solve", day, "--require", "museum", "--limit", "50")
    assert status == 2
    assert "required node 1 (museum) cannot be visited" in err
    assert (
        cli("solve", day, "--avoid", "hotel").err
        == f"orienteer: {day}: avoid must not name a start or an end, got 'hotel'\n"
    )
    assert (
        cli("solve", day, "--avoid", "museum", "--require", "1").err
        == f"orienteer: {day}: avoid must not name a place that is required, got 'museum'\n"
    )


def test_a_day_goes_on_from_a_place_that_takes_time(cli: Cli, tmp_path: Path) -> None:
    """A file with visit times could not be solved from where somebody is now: the place's visit time was refused."""
    (tmp_path / "day.csv").write_text(TRIP)
    (tmp_path / "now.csv").write_text("start,end,opens,closes\nMuseum,Hotel,13:00,18:00\n")
    done = cli("solve", tmp_path / "day.csv", "--routes", tmp_path / "now.csv", "--steps", "10", "--json")
    (route,) = json.loads(done.out)["routes"]
    assert [(stop["node"], stop["leave"]) for stop in route["stops"][:2]] == [(1, 780), (2, 780 + 20 + 75)]
    assert cli("solve", tmp_path / "day.csv", "--start", "Museum", "--end", "Hotel", "--steps", "10").status == 0


TRIP = """# speed = 75
name,x,y,prize,duration,opens,closes,fee
Hotel,0,0,0,,09:00,18:00,
Museum,900,0,5,90,10:00-12:00;14:00-17:00,,12
Castle,900,1500,4,1:15,,16:30,9
"""


def test_a_table_with_opening_hours(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text(TRIP)
    (tmp_path / "days.csv").write_text("name,opens,closes\nFriday,13:30,18:00\nSaturday,day 2 09:00,day 2 12:00\n")
    common = ("solve", tmp_path / "day.csv", "--solver", "lns", "--steps", "500")
    said = cli(*common, "--budget", "fee=20")
    assert said.status == 0
    assert "   1  Museum      5   12   09:12    48  10:00  11:30" in said.out.splitlines()
    assert "prize 5 of 9" in said.out
    two = cli(*common, "--routes", tmp_path / "days.csv", "--out", tmp_path / "plan.json")
    assert "Route 2 (Saturday): " in two.out
    assert "day 2 09:00" in two.out
    assert "prize 9 of 9" in two.out
    judged = cli("check", tmp_path / "day.csv", tmp_path / "plan.json", "--routes", tmp_path / "days.csv")
    assert judged.status == 0
    assert "judged by" not in judged.err


def test_a_budget_needs_a_number(cli: Cli, town: Path) -> None:
    assert (
        cli("solve", town, "--budget", "fee").err == "orienteer: --budget must be NAME=MOST with a number, got 'fee'\n"
    )
    assert "there is no budget 'fee'" in cli("solve", town, "--budget", "fee=3").err


def test_a_table_of_routes_is_not_overwritten(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "shifts").write_text("name\nAnna\n")
    said = cli("solve", town, "--routes", tmp_path / "shifts", "--out", tmp_path / "shifts")
    assert said.err.endswith("cannot be written: it is also read or written by this command\n")


def test_a_limit_in_hours_and_minutes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("# limit = 8:00\nname,x,y,prize\nhotel,0,0,0\nmuseum,100,0,5\n")
    said = cli("solve", tmp_path / "day.csv", "--limit", "4:00", "--out", tmp_path / "day.json")
    assert "cost 200 of 240" in said.out
    assert "judged by the limit 240 of" in cli("check", tmp_path / "day.csv", tmp_path / "day.json").err
    assert "cost 200 of 210" in cli("check", tmp_path / "day.csv", tmp_path / "day.json", "--limit", "3:30").out
