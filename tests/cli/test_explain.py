"""`orienteer explain`: why a place is not in a plan."""

import json
from pathlib import Path

import pytest

from command_line import Cli
from orienteer import InfeasibleTour, Instance, InvalidInstance, check_plan

PLACES = """# limit = 6
name,x,y,prize,duration,closes
Home,0,0,0,,
Lake,2,0,5,,
Hill,-2,0,4,1,
Mill,1,0,2,,0.5
Moor,9,0,7,,
"""


@pytest.fixture
def places(tmp_path: Path) -> Path:
    (tmp_path / "places.csv").write_text(PLACES)
    (tmp_path / "route.txt").write_text("0 1 0")
    return tmp_path / "places.csv"


def test_the_closest(cli: Cli, places: Path) -> None:
    said = cli("explain", places, places.with_name("route.txt"))
    assert said == (
        0,
        "place  prize  detour  slack  stopped by  too much  closest\n"
        "Mill       2       0      2  window           0.5  between Home and Lake\n"
        "Hill       4       5      2  limit              3  between Home and Lake\n"
        "Moor       7      14      2  limit             12  between Home and Lake\n",
        "",
    )


def test_places_by_name_and_number(cli: Cli, places: Path) -> None:
    said = cli("explain", places, places.with_name("route.txt"), "Hill", 4, "--steps", 500)
    assert (said.status, said.out) == (
        0,
        "Hill, prize 4\n"
        "  closest between Home and Lake: detour 5, slack 2\n"
        "  stopped: the route costs 9, more than the limit 6, by 3\n"
        "  required: the best plan found collects 4, 1 less than this plan\n\n"
        "Moor, prize 7\n"
        "  closest between Home and Lake: detour 14, slack 2\n"
        "  stopped: the route costs 18, more than the limit 6, by 12\n"
        "  required: no plan (required node 4 (Moor) cannot be visited: every route would exceed its limit, "
        "by 12 at least)\n",
    )


def test_avoided_places(cli: Cli, places: Path) -> None:
    """They stood in the list with an infinite detour, stopped by `way`, before places that might come in."""
    route = places.with_name("route.txt")
    said = cli("explain", places, route, "--avoid", "Mill", "--avoid", "Moor")
    assert [line.split()[0] for line in said.out.splitlines()] == ["place", "Hill"]
    said = cli("explain", places, route, "Moor", "--avoid", "Moor")
    told = "orienteer: node 4 (Moor) is not in the plan since it is avoided, by the file or --avoid\n"
    assert said == (2, "", told)


def test_a_result_of_another_table_of_routes_is_told(cli: Cli, places: Path) -> None:
    """The day was changed by another table; `explain` without it said only that a route begins at another node."""
    for name, start in (("day", "Home"), ("rest", "Lake")):
        places.with_name(f"{name}.csv").write_text(f"name,start,end,limit\n{name},{start},Home,6\nnext,Home,Home,3\n")
    options = ("--routes", places.with_name("rest.csv"))
    cli("solve", places, *options, "--steps", 200, "--out", places.with_name("plan.json"))
    told = "judged by the routes day, next; those of"
    for command in ("explain", "check"):
        said = cli(command, places, places.with_name("plan.json"), "--routes", places.with_name("day.csv"))
        assert told in said.err
        assert "are called rest, next; --routes takes another table" in said.err
        assert "the route begins at node 1 (Lake), not at the start 0 (Home)" in said.out + said.err
        assert told not in cli(command, places, places.with_name("plan.json"), *options).err


def test_json(cli: Cli, places: Path) -> None:
    route = places.with_name("route.txt")
    (hill,) = json.loads(cli("explain", places, route, "Hill", "--limit", 9, "--steps", 500, "--json").out)
    assert (hill["name"], hill["reason"], hill["required"]["change"]) == ("Hill", "nothing", 4.0)
    assert [one["name"] for one in json.loads(cli("explain", places, route, "--json").out)] == ["Mill", "Hill", "Moor"]


@pytest.mark.parametrize(
    ("place", "message"),
    [("Hil", "did you mean 'Hill'?"), ("Lake", "node 1 (Lake) is in the plan"), ("9", "got 9")],
)
def test_what_cannot_be_explained(cli: Cli, places: Path, place: str, message: str) -> None:
    said = cli("explain", places, places.with_name("route.txt"), place)
    assert (said.status, said.out) == (2, "")
    assert message in said.err


def test_a_plan_that_breaks_a_rule(cli: Cli, places: Path) -> None:
    places.with_name("route.txt").write_text("0 4 0")
    said = cli("explain", places, places.with_name("route.txt"))
    assert (said.status, said.out) == (2, "")
    assert "more than the limit" in said.err


RULES = """# speed = 60
# budget:fee = 10
name,x,y,prize,opens,closes,group,fee
Home,0,0,0,09:00,10:00,,
Inn,60,0,9,,,lunch,
Cafe,0,60,3,,,lunch,
Lake,1860,0,2,,,,
Zoo,0,120,4,,,,18
"""


def test_what_there_is_too_much_of(cli: Cli, tmp_path: Path) -> None:
    """Minutes, money and counts stood in one column as mere numbers, and a group was called by its number."""
    (tmp_path / "day.csv").write_text(RULES)
    (tmp_path / "route.txt").write_text("0 1 0")
    said = cli("explain", tmp_path / "day.csv", tmp_path / "route.txt")
    assert (said.status, said.out) == (
        0,
        "place  prize  detour  slack  stopped by   too much  closest\n"
        "Lake       2      60     58  limit       2 minutes  between Home and Inn\n"
        "Cafe       3   1.414     58  group                  between Home and Inn\n"
        "Zoo        4   3.236     58  budget fee          8  between Home and Inn\n",
    )
    said = cli("explain", tmp_path / "day.csv", tmp_path / "route.txt", "Cafe", "--steps", 100)
    assert "stopped: at most one of Inn and Cafe may be visited, but node 1 (Inn) and node 2 (Cafe) are\n" in said.out


def test_a_message_names_few_places_of_a_large_group() -> None:
    names = ["Home", *(f"Inn {number}" for number in range(1, 9))]
    town = Instance.from_coords([[0, 0]] * 9, [1] * 9, 5, names=names, groups=[range(1, 9)])
    told = "at most one of Inn 1, Inn 2, Inn 3, Inn 4, Inn 5 and 3 others may be visited, but node 1"
    with pytest.raises(InfeasibleTour, match=told):
        check_plan(town, [[0, 1, 2, 0]])
    with pytest.raises(InvalidInstance, match=f"groups: {told}"):
        town.replace(required=[1, 2])
