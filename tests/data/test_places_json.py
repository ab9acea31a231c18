"""What a reader found, as a list of places, reads back as the same problem."""

from pathlib import Path

import pytest
from hypothesis import assume, given

from data.any_problem import problems_with_rules
from orienteer import Instance
from orienteer.data.files import read, read_fields, write
from orienteer.data.json_file import problem_fields, problem_of
from orienteer.data.places_json import places_of

ROOT = Path(__file__).parents[2]

DAY = """# limit = 300
# speed = 75
# budget:fee = 20
name,lat,lon,prize,duration,required,opens,closes,group,fee
Hotel,48.1,11.5,0,,,09:00,18:00,,
Museum,48.11,11.51,5,90,yes,10:00-12:00;14:00-17:00,,,12
Inn,48.12,11.5,1,60,,11:30,13:30,lunch,
Cafe,48.1,11.52,1,45,,day 2 11:00,day 2 12:00,lunch,
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("places")


@given(instance=problems_with_rules())
def test_any_problem_reads_back(instance: Instance, folder: Path) -> None:
    budgets = [budget.name for budget in instance.budgets]
    assume(len(set(budgets)) == len(budgets))  # weights go by the names of budgets
    write(instance, folder / "a.json")
    found = problem_of(places_of("a.json", read_fields(folder / "a.json")))
    if instance.names is None:
        assert found.names == tuple(f"place {node}" for node in range(instance.size))
        instance = instance.replace(names=found.names)
    assert found == instance


@pytest.mark.parametrize("name", ["city.csv", "day_in_town.csv", "technicians.csv", "four_days.csv"])
def test_examples_read_back(name: str) -> None:
    path = ROOT / "examples" / name
    data = places_of(name, read_fields(path))
    assert "costs" not in data
    assert problem_of(data) == read(path)


def test_a_day_is_written_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "day.csv"
    path.write_text(DAY)
    assert places_of("day.csv", read_fields(path)) == {
        "places": [
            {"name": "Hotel", "lon": 11.5, "lat": 48.1, "prize": 0, "windows": "09:00-18:00"} | {"weights": {"fee": 0}},
            {
                "name": "Museum",
                "lon": 11.51,
                "lat": 48.11,
                "prize": 5,
                "service": 90,
                "windows": "10:00-12:00;14:00-17:00",
                "required": True,
                "weights": {"fee": 12},
            },
            {"name": "Inn", "lon": 11.5, "lat": 48.12, "prize": 1, "service": 60, "windows": "11:30-13:30"}
            | {"group": "lunch"},
            {"name": "Cafe", "lon": 11.52, "lat": 48.1, "prize": 1, "service": 45, "windows": "day 2 11:00-12:00"}
            | {"group": "lunch"},
        ],
        "limit": 300,
        "budgets": {"fee": 20},
        "clock": "minutes",
        "speed": 75,
    }


def test_groups_keep_their_names() -> None:
    groups = {1: "lunch; coffee", 2: ["lunch", "a;b"], 3: "coffee", 4: ["a;b", "a,b"], 5: "a,b"}
    data = {
        "limit": 9,
        "places": [{"name": f"p{node}", "x": node, "y": 0, "group": groups.get(node, "")} for node in range(7)],
        "groups": [["p5", "p6"]],
    }
    fields = problem_fields("problem", data)
    found = places_of("problem", fields)
    assert [place.get("group") for place in found["places"]] == [
        None,
        "lunch; coffee",
        "lunch; a,b",
        "coffee",
        "a,b; a,b 2",
        "a,b 2; group 5",
        "group 5",
    ]
    assert problem_of(found).groups == problem_of(data).groups
