"""`orienteer explain`: why a place is not in a plan."""

import json
from pathlib import Path

import pytest

from command_line import Cli

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
