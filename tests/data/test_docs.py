"""What docs/reference/files.md says is what the readers do."""

import json
import math
import re
import textwrap
from pathlib import Path

import pytest

from orienteer import Budget, Route
from orienteer.data import files, text
from orienteer.data.json_file import KEYS
from orienteer.data.places import KEYS as PLACE_KEYS
from orienteer.model.distances import METRICS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "files.md").read_text()
SCHEMA, EXAMPLE, PLACES, DAY = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))


def test_the_schema_has_the_keys_and_bounds_of_the_reader() -> None:
    assert set(SCHEMA["properties"]) == set(KEYS)
    assert SCHEMA["properties"]["metric"]["enum"] == list(METRICS)
    assert SCHEMA["properties"]["prizes"]["maxItems"] == text.MAX_NODES
    places = SCHEMA["properties"]["places"]
    assert set(places["items"]["properties"]) == set(PLACE_KEYS)
    assert places["maxItems"] == text.MAX_NODES


def test_the_json_example(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(EXAMPLE))
    instance = files.read(tmp_path / "a.json")
    assert instance.names == ("depot", "a", "b")
    assert instance.costs[0, 1] == 5


def test_the_json_example_with_places(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(PLACES))
    instance = files.read(tmp_path / "a.json")
    assert instance.names == ("depot", "a", "b")
    assert instance.prizes.tolist() == [0, 2.5, 1]
    assert instance.costs[0, 1] == 5
    assert instance.windows == (None, None, ((0, 5), (7, math.inf)))
    assert (instance.required, instance.budgets) == ((2,), (Budget("fee", [0, 7, 0], 10),))


def test_the_json_example_with_rules(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DAY))
    instance = files.read(tmp_path / "a.json")
    assert instance.routes == (Route(0, 0, 540, 540),)
    assert instance.windows == (None, ((600, 720), (840, 1020)), None, ((690, 810),), None)
    assert instance.service is not None
    assert instance.service.tolist() == [0, 90, 45, 60, 60]
    assert (instance.required, instance.groups, instance.clock) == ((1,), ((3, 4),), "minutes")
    assert instance.budgets == (Budget("fee", [0, 12, 9, 0, 0], 20),)


def test_the_csv_example(tmp_path: Path) -> None:
    block = re.search(r"((?: {4}.*\n)+)", PAGE[PAGE.index("## CSV") :])
    assert block is not None
    (tmp_path / "a.csv").write_text(textwrap.dedent(block[1]))
    instance = files.read(tmp_path / "a.csv")
    assert instance.names == ("Station", "Castle, old", "Lake")
    assert (instance.limit, instance.start, instance.end) == (12.5, 0, 0)


def test_the_csv_example_with_opening_hours(tmp_path: Path) -> None:
    part = PAGE[PAGE.index("### A day with opening hours") :]
    day, routes = (textwrap.dedent(block) for block in re.findall(r"\n\n((?: {4}\S.*\n)+)", part)[:2])
    (tmp_path / "a.csv").write_text(day)
    (tmp_path / "routes.csv").write_text(routes)
    instance = files.read(tmp_path / "a.csv")
    assert instance.routes == (Route(0, 0, 540, 540),)
    assert instance.costs[0, 4] == pytest.approx(math.hypot(450, 300) / 75)
    assert instance.groups == ((3, 4),)
    trip = files.read(tmp_path / "a.csv", routes=tmp_path / "routes.csv")
    assert [(route.opens, route.limit, route.name) for route in trip.each_route] == [
        (780, 420, "Friday"),
        (1980, 660, "Saturday"),
        (3420, 300, "Sunday"),
    ]


@pytest.mark.parametrize("suffix", sorted(files.SUFFIXES))
def test_every_suffix_is_in_the_table(suffix: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{files.SUFFIXES[suffix]}`"))
    assert f"`{suffix}`" in row
