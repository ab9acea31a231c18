"""Every example runs, from another directory, and says something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Cli
from orienteer.data.files import read

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "prize" in done.stdout
    assert os.listdir(tmp_path) == []


def test_the_town_is_a_problem() -> None:
    town = read(EXAMPLES / "city.csv")
    assert town.names is not None
    assert town.names[town.start] == town.names[town.end] == "Station"
    assert town.reachable.all()
    assert town.size >= 40


PLANS = {
    "day_in_town": {"service", "windows", "groups", "budgets"},
    "technicians": {"service", "windows", "required", "routes"},
    "four_days": {"service", "windows", "required", "groups", "budgets", "routes"},
}
"""Files with rules, and the rules that they show."""


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_solved(cli: Cli, name: str, tmp_path: Path) -> None:
    file, out = EXAMPLES / f"{name}.csv", tmp_path / "plan.json"
    assert read(file).features == PLANS[name]
    assert cli("solve", file, "--steps", 2000, "--out", out).status == 0
    said = cli("check", file, out)
    assert (said.status, said.out.split(":")[0]) == (0, "feasible"), said.out


@pytest.mark.parametrize("suffix", [".geojson", ".gpx", ".csv"])
def test_the_town_on_the_map(cli: Cli, suffix: str, tmp_path: Path) -> None:
    file, out = EXAMPLES / "town.geojson", tmp_path / f"route{suffix}"
    assert read(file).features == {"service", "windows", "required", "groups", "budgets"}
    assert cli("solve", file, "--steps", 2000, "--out", out).status == 0
    assert cli("check", file, out).out.startswith("feasible: prize")


def test_the_day_has_one_lunch(cli: Cli) -> None:
    said = cli("solve", EXAMPLES / "day_in_town.csv", "--steps", 2000, "--json")
    stops = json.loads(said.out)["names"]
    inns = {"Golden Goose", "Harbour kitchen", "Castle tavern", "Noodle bar"}
    assert len(inns & set(stops)) == 1


def test_days_begin_where_the_last_ended() -> None:
    days = read(EXAMPLES / "four_days.csv").each_route
    assert len(days) == 4
    assert [day.end for day in days[:-1]] == [day.start for day in days[1:]]
