"""Problems that list their places as objects, and the one function that reads decoded JSON."""

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.any_problem import problems_with_rules
from orienteer import BadFile, Budget, Instance, Route
from orienteer.data import files
from orienteer.data.json_file import problem_of
from orienteer.data.rules_json import rules_of

DAY: dict[str, Any] = {
    "unit": "minutes",
    "budgets": {"fee": 20},
    "routes": [{"name": "A"}, {"opens": "10:00", "limit": "2:00"}],
    "places": [
        {"name": "hotel", "x": 0, "y": 0, "prize": 0, "start": True, "opens": "09:00", "closes": "18:00"},
        {"name": "museum", "x": 3, "y": 4, "prize": 5, "duration": "1:30", "required": True, "weights": {"fee": 12}},
        {"name": "inn", "x": 6, "y": 8, "windows": "11:00-12:00;13:00-14:00", "group": "lunch; coffee"},
        {"name": "cafe", "x": 0, "y": 1, "service": 20, "windows": [["11:00", None], [0, 30]], "group": ["lunch"]},
        {"name": "bar", "x": 0, "y": 2, "closes": 700, "avoid": True, "group": "coffee", "id": 7, "comment": [1]},
    ],
}


def test_a_day() -> None:
    day = problem_of(DAY)
    assert day.names == ("hotel", "museum", "inn", "cafe", "bar")
    assert day.prizes.tolist() == [0, 5, 1, 1, 1]
    assert day.costs[0].tolist() == [0, 5, 10, 1, math.inf]
    assert day.service is not None
    assert day.service.tolist() == [0, 90, 0, 20, 0]
    assert day.routes == (Route(0, 0, 540, 540), Route(0, 0, 600, 120))
    assert day.windows == (
        None,
        None,
        ((660, 720), (780, 840)),
        ((0, 30), (660, 1440)),
        ((-math.inf, 700),),
    )
    assert (day.required, day.groups) == ((1,), ((2, 3), (2, 4)))
    assert day.budgets == (Budget("fee", [0, 12, 0, 0, 0], 20),)
    assert day.clock == "minutes"


def test_latitude_and_longitude() -> None:
    places = [{"lat": 50, "lon": 8.5}, {"lat": 51, "lon": 8.5, "prize": 3, "end": True}]
    there = problem_of({"places": places, "limit": 2e5})
    assert there.costs[0, 1] == pytest.approx(111_195, abs=1)
    assert (there.on_earth, there.end, there.names) == (True, 1, None)
    assert there.coords is not None
    assert there.coords.tolist() == [[8.5, 50], [8.5, 51]]
    assert problem_of({"places": places, "limit": "40:00", "speed": 80}).limit == 2400
    with pytest.raises(BadFile, match="times of day need costs in minutes, but lat and lon give metres"):
        problem_of({"places": places, "limit": "40:00"})


def test_keys_beside_the_places_add_to_theirs() -> None:
    data = DAY | {"required": ["inn"], "groups": [["museum", 4]]}
    assert problem_of(data).required == (1, 2)
    assert problem_of(data).groups == ((2, 3), (2, 4), (1, 4))
    own = [{"name": "fee", "most": 20}, {"name": "stars", "most": 5, "weights": {"inn": 2}}]
    assert [budget.name for budget in problem_of(DAY | {"budgets": own}).budgets] == ["fee", "stars"]


def changed(place: int, key: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(DAY)
    data["places"][place][key] = value
    return data


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        (changed(1, "prize", -1), "places[1].prize", "must not be negative, got -1"),
        (changed(1, "prize", "much"), "places[1].prize", "must be a number, got 'much'"),
        (changed(1, "x", None), "places[1].x", "must be a number, got None"),
        (changed(1, "y", 1e200), None, "coords 0 and 1 are too far apart"),
        (changed(1, "y", 10**20), "places[1].y", "must be a number of at most 2**53"),
        (changed(1, "name", "inn"), "places[2].name", "repeats places[1].name"),
        (changed(1, "name", None), "places[1].name", "must be a text, since other places have names"),
        (changed(1, "name", 3), "places[1].name", "must be a text, got 3"),
        (changed(0, "service", 5), "places[0].service", "must be 0 at a start or an end, got 5"),
        (changed(1, "service", 5), "places[1]", "has service twice"),
        (
            changed(2, "service", "long"),
            "places[2].service",
            "must be a number or hours and minutes such as 1:30, got 'long'",
        ),
        (changed(2, "required", "maybe"), "places[2].required", "must be yes or no, got 'maybe'"),
        (changed(1, "windows", "12:00-10:00"), "places[1].windows", "closes at 10:00, before it opens"),
        (changed(1, "windows", [[5, 1]]), "places[1].windows", "closes at 1, before it opens at 5"),
        (changed(1, "windows", [1]), "places[1].windows", "must have pairs [opens, closes], got [1]"),
        (changed(1, "windows", {}), "places[1].windows", "must be a pair [opens, closes]"),
        (changed(2, "opens", 3), "places[2].windows", "in one column, or in opens and closes"),
        (changed(1, "opens", "9:77"), "places[1].opens", "must be a time of day, got '9:77'"),
        (
            changed(1, "closes", "18.30"),
            "places[1].closes",
            "closes must be a number or a time such as 09:30, got '18.30'",
        ),
        (changed(2, "group", [1]), "places[2].group", "must be a text or a list of texts"),
        (changed(2, "weights", {"fee": -1}), "places[2].weights.fee", "must not be negative"),
        (changed(2, "weights", [1]), "places[2].weights", "must be an object, got [1]"),
        (changed(2, "weights", {"toll": 1}), None, "the budget 'toll' has no limit"),
        (changed(2, "start", True), "places[2].start", "is the second start"),
        (changed(2, "price", 1), "places[2]", "has the unknown key 'price'"),
        (DAY | {"places": [3]}, "places[0]", "must be an object, got 3"),
        (DAY | {"places": {}}, "places", "must be a list of objects"),
        (DAY | {"prizes": [1]}, "places", "and prizes exclude each other"),
        (DAY | {"limit": "12"}, "limit", "must be a number, got '12'"),
        (
            DAY | {"routes": [{"opens": "soon"}]},
            "routes[0].opens",
            "must be a number or a time such as 09:30, got 'soon'",
        ),
        (DAY | {"budgets": {"fee": "x"}}, "budgets.fee", "must be a number"),
        (DAY | {"unit": "days"}, "unit", "must be one of seconds, minutes, hours"),
        (DAY | {"clock": "hours"}, "unit", "and clock must be the same"),
        (DAY | {"metric": "great_circle"}, None, "great_circle goes with lat, lon"),
        (DAY | {"costs": [[0]]}, "costs", "must be a list of 5 rows, one a node, got 1 rows"),
        (DAY | {"speed": "fast"}, "speed", "must be a number, got 'fast'"),
        (DAY | {"start": "hotell"}, "start", "did you mean 'hotel'?"),
        (DAY | {"place": []}, None, "unknown key 'place'"),
        ([], None, "a problem must be a JSON object"),
    ],
)
def test_errors_have_the_path_of_the_field(data: Any, field: str | None, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        problem_of(data)
    assert (caught.value.field, message in caught.value.message) == (field, True), caught.value.message


def as_places(instance: Instance) -> dict[str, Any]:
    """The same problem with an object for each place."""
    rules = rules_of(instance)
    places: list[dict[str, Any]] = [{"prize": prize} for prize in instance.prizes.tolist()]
    for node, place in enumerate(places):
        if instance.names is not None:
            place["name"] = instance.names[node]
        if instance.coords is not None:
            place["x"], place["y"] = instance.coords[node].tolist()
        for key in ("service", "windows"):
            if key in rules:
                place[key] = rules[key][node]
        place["required"] = node in instance.required
        place["group"] = [str(number) for number, group in enumerate(instance.groups) if node in group]
        place["weights"] = {budget.name: float(budget.weights[node]) for budget in instance.budgets}
    shared = {key: rules[key] for key in ("routes", "free_end", "clock") if key in rules}
    limits = {budget.name: budget.most for budget in instance.budgets}
    costs = [[None if math.isinf(cost) else cost for cost in row] for row in instance.costs.tolist()]
    ends = {"start": instance.start, "end": instance.end}
    return {"places": places, "limit": instance.limit, "costs": costs, "budgets": limits} | ends | shared


@given(instance=problems_with_rules())
def test_both_forms_say_the_same(instance: Instance) -> None:
    assert problem_of(as_places(instance)) == instance


OSRM = {"code": "Ok", "durations": [[0, 60, None], [90, 0, 30.5], [7, 8, 0]], "sources": [{"hint": "x"}] * 3}
THREE = [{"name": name, "lat": 50, "lon": 8 + place} for place, name in enumerate("abc")]


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[float | None]], list[list[float | None]]]:
    """An answer of an engine in one of its shapes, with its seconds and metres."""
    size = draw(st.integers(1, 4))
    value = st.none() | st.floats(0, 1e6) | st.integers(0, 10**6)
    table = st.lists(st.lists(value, min_size=size, max_size=size), min_size=size, max_size=size)
    seconds, metres = draw(table), draw(table)
    kind = draw(st.sampled_from(["osrm", "concise", "verbose"]))
    if kind == "osrm":
        return {"code": "Ok", "durations": seconds, "distances": metres}, seconds, metres
    far = [[None if leg is None else leg / 1000 for leg in row] for row in metres]
    if kind == "concise":
        answer: Any = {"durations": seconds, "distances": far}
    else:
        both = zip(seconds, far, strict=True)
        answer = [
            [{"time": time, "distance": leg, "to_index": j} for j, (time, leg) in enumerate(zip(*pair, strict=True))]
            for pair in both
        ]
    return {"sources_to_targets": answer, "units": "kilometers"}, seconds, metres


@given(answer=answers())
def test_tables_of_engines_are_taken_as_they_come(
    answer: tuple[dict[str, Any], list[list[float | None]], list[list[float | None]]],
) -> None:
    data, seconds, metres = answer
    problem = {"places": [{} for _ in seconds], "table": data, "limit": 10}

    def numbers(table: list[list[float | None]], divisor: float) -> list[Any]:
        legs = [[math.inf if leg is None else leg / divisor for leg in row] for row in table]
        return [pytest.approx(row, rel=1e-12) for row in legs]

    told = all(leg is None for row in seconds for leg in row) and "units" in data
    if not told:  # Valhalla's rows without any time are taken for rows of distances
        assert problem_of(problem).costs.tolist() == numbers(seconds, 1)
        assert problem_of(problem | {"unit": "minutes"}).costs.tolist() == numbers(seconds, 60)
    if any(leg is not None for row in metres for leg in row):
        assert problem_of(problem | {"speed": 80}).costs.tolist() == numbers(metres, 80)


def test_the_unit_of_a_table() -> None:
    day = problem_of({"places": THREE, "table": OSRM, "routes": [{"opens": "00:10", "limit": "0:05"}]})
    assert (day.limit, day.clock, day.each_route[0].opens) == (300, "seconds", 600)
    assert day.on_earth
    in_hours = problem_of({"places": THREE, "table": OSRM, "limit": 2, "clock": "hours"})
    assert (in_hours.costs[0, 1], in_hours.clock) == (60 / 3600, "hours")


def test_a_table_in_a_file(tmp_path: Path) -> None:
    points, table = tmp_path / "a.csv", tmp_path / "osrm.json"
    points.write_text("name,lat,lon,prize,opens\na,50,8,0,00:01\nb,50,8.1,1,\nc,50,8.2,1,0:03\n")
    table.write_text(json.dumps(OSRM))
    day = files.read(points, matrix=table, limit=300)
    assert day.costs.tolist() == [[0, 60, math.inf], [90, 0, 30.5], [7, 8, 0]]
    assert (day.routes, day.clock) == ((Route(0, 0, 60, 300),), "seconds")
    assert files.read(points, matrix=table, limit=30, unit="minutes").costs[1, 2] == 30.5 / 60
    points.write_text("# matrix = osrm.json\n# limit = 300\n" + points.read_text())
    assert files.read(points) == day
    table.write_text("[[0, 1, 2], [1, 0, null], [3, 4, 0]]")
    assert files.read(points).costs[1, 2] == math.inf


@pytest.mark.parametrize(
    ("table", "field", "message"),
    [
        ({"code": "NoTable", "message": "No route"}, "table", "holds no table but the error 'No route'"),
        ({"error": "Exceeded max locations"}, "table", "holds no table but the error 'Exceeded max locations'"),
        ({"code": "Ok"}, "table", "needs durations or distances"),
        ({"durations": [[0]]}, None, "the table has 1 places, the problem 3"),
        ({"durations": [[0, 1], [1, 0], [1, 1]]}, "table.durations[0]", "must be a list of 3 numbers, as many as rows"),
        (
            {"durations": [[0, 1], [-1, 0]]},
            "table.durations[1][0]",
            "not negative, or null where there is no way, got -1",
        ),
        ({"durations": [[0]], "distances": [[0, 1], [1, 0]]}, None, "durations and distances must have as many rows"),
        ({"durations": 3}, "table.durations", "must be a list of rows, got 3"),
        ({"sources_to_targets": [[3]]}, "table.sources_to_targets[0]", "must be a list of objects"),
        ({"sources_to_targets": 3}, "table.sources_to_targets", "must be a list of rows or an object"),
        ({"sources_to_targets": [[]], "units": "leagues"}, "table.units", "must be one of kilometers"),
        (7, "table", "must be the answer of a routing engine, got 7"),
    ],
)
def test_errors_of_tables(table: Any, field: str | None, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        problem_of({"places": THREE, "limit": 9, "table": table})
    assert (caught.value.field, message in caught.value.message) == (field, True), caught.value.message


def test_durations_have_no_speed() -> None:
    with pytest.raises(BadFile, match="the table has durations alone"):
        problem_of({"places": THREE, "limit": 9, "table": OSRM, "speed": 2})
