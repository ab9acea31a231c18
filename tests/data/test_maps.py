"""GeoJSON and GPX: problems and plans for maps."""

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.any_problem import problems_with_rules
from orienteer import BadFile, Budget, Instance, Plan, Result, Route, Tour, check_plan
from orienteer.data import files
from orienteer.data.geojson import geojson_problem, plan_geojson
from orienteer.data.gpx import GPX, OURS, plan_gpx
from orienteer.data.json_file import problem_fields
from orienteer.model.distances import great_circle, pairwise

TOWN: dict[str, Any] = {
    "type": "FeatureCollection",
    "orienteer": {"limit": "2:00", "speed": 80, "budgets": {"fee": 10}},
    "features": [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [8.66, 50.11]},
            "properties": {"name": "Station", "prize": 0, "start": True},
        },
        {"type": "Feature", "geometry": {"type": "LineString", "coordinates": []}, "properties": None},
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [8.67, 50.11, 120.5]},
            "properties": {
                "Name": "Castle",
                "Score": "4.5",
                "duration": "0:20",
                "fee": 7,
                "lat": "?",
                "opens": "00:30",
            },
        },
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [8.66, 50.12]}, "properties": None},
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [8.68, 50.11]},
            "properties": {"name": "Castle", "required": True, "fee": None, "group": "sights"},
        },
    ],
}
WAYPOINTS = f"""<?xml version="1.0"?>
<gpx version="1.1" creator="test" xmlns="{GPX}" xmlns:x="urn:other">
  <metadata><name>not a place</name></metadata>
  <wpt lat="50.11" lon="8.66"><ele>100</ele><name>Station</name>
    <extensions><x:prize>0</x:prize></extensions></wpt>
  <wpt lat="50.11" lon="8.67"><name>Castle &amp; <![CDATA[<park>]]></name><extensions>
    <x:more><x:prize> 4.5 </x:prize><x:duration>0:20</x:duration></x:more></extensions></wpt>
  <wpt lat="50.12" lon="8.66"></wpt>
  <rte><name>day</name><rtept lat="50.11" lon="8.66"/>
    <rtept lat="1" lon="2"><name>Castle &amp; &lt;park&gt;</name></rtept><rtept lat="50.12" lon="8.66"/></rte>
</gpx>
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "town.geojson"


def parsed(path: Path, data: Any, **options: Any) -> Instance:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return files.read(path, **options)


def test_a_town(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    town = parsed(path, TOWN)
    assert town.names == ("Station", "Castle", "place 2", "Castle 2")
    assert town.prizes.tolist() == [0, 4.5, 1, 1]
    assert town.coords is not None
    assert town.coords.tolist() == [[8.66, 50.11], [8.67, 50.11], [8.66, 50.12], [8.68, 50.11]]
    assert town.costs[0, 2] == pytest.approx(111_195 / 100 / 80, abs=0.01)
    assert (town.limit, town.start, town.required, town.clock) == (120, 0, (3,), "minutes")
    assert town.budgets == (Budget("fee", [0, 7, 0, 0], 10),)
    assert town.service is not None
    assert town.service.tolist() == [0, 20, 0, 0]
    assert town.windows == (None, ((30, 1440),), None, None)
    assert caplog.messages == [f"{path}: 1 of 5 features are no points and are not read"]


def test_options_stand_above_the_file(path: Path) -> None:
    simple = {"type": "FeatureCollection", "features": [TOWN["features"][0], TOWN["features"][3]]}
    assert parsed(path, simple, limit=3000).costs[0, 1] == pytest.approx(1112, abs=1)
    walk = parsed(path, simple, limit=3000, speed=80, start="place 1", end="Station")
    assert (walk.start, walk.end) == (1, 0)
    assert walk.costs[0, 1] == pytest.approx(13.9, abs=0.1)


def broken(number: int, **changes: Any) -> dict[str, Any]:
    """The town with one feature changed."""
    features = [dict(feature) for feature in TOWN["features"]]
    features[number] |= changes
    return TOWN | {"features": features}


def about(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be a GeoJSON object of type FeatureCollection"),
        ({"type": "Feature"}, "must be a GeoJSON object of type FeatureCollection"),
        ({"type": "FeatureCollection"}, "features must be a list, got None"),
        ({"type": "FeatureCollection", "features": []}, "at least one node"),
        (TOWN | {"features": [3]}, "features[0] must be a GeoJSON object of type Feature, got 3"),
        (broken(2, properties=7), "features[2].properties must be an object, got 7"),
        (broken(2, geometry={"type": "Point"}), "features[2].geometry.coordinates must be a list of longitude and"),
        (broken(2, geometry={"type": "Point", "coordinates": [50, 91]}), "a latitude up to 90 degrees, got [50, 91]"),
        (broken(2, **about(prize=-3)), "features[2].properties.prize must not be negative, got -3"),
        (broken(4, **about(prize="?")), "features[4].properties.prize must be a number, got '?'"),
        (broken(4, **about(windows=[[3, 1]])), "features[4].properties.windows closes at 1, before it opens at 3"),
        (broken(0, **about(service=3)), "features[0].properties.service must be 0 at a start or an end, got 3"),
        (TOWN | {"orienteer": {"limt": 3}}, "unknown key 'limt'"),
        (TOWN | {"orienteer": {"prizes": [3]}}, "orienteer.prizes must be left out"),
        (TOWN | {"orienteer": [3]}, "orienteer must be an object"),
    ],
)
def test_errors_name_the_feature(path: Path, data: Any, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, data)
    assert message in caught.value.message


def test_waypoints(tmp_path: Path) -> None:
    town = parsed(tmp_path / "a.gpx", WAYPOINTS, limit=60, speed=80)
    assert town.names == ("Station", "Castle & <park>", "place 2")
    assert town.prizes.tolist() == [0, 4.5, 1]
    assert town.service is not None
    assert town.service.tolist() == [0, 20, 0]
    assert town.coords is not None
    assert town.coords.tolist() == [[8.66, 50.11], [8.67, 50.11], [8.66, 50.12]]
    assert files.read_plan(tmp_path / "a.gpx", town) == [[0, 1, 2]]
    assert files.read_tour(tmp_path / "a.gpx", town) == [0, 1, 2]


LAUGHS = '<!DOCTYPE gpx [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("<gpx", f"{LAUGHS}<gpx", 2, "a document type or an entity is declared, which is not read"),
        ("<gpx", '<!DOCTYPE gpx SYSTEM "file:///etc/passwd"><gpx', 2, "a document type or an entity is declared"),
        ("&amp;", "&b;", 6, "not XML: undefined entity"),
        ("</gpx>", "", 12, "not XML: no element found"),
        ("<gpx", "<kml", 2, "must be a GPX document, got the element 'kml'"),
        ('lat="50.12"', 'lat="north"', 8, "lat must be a number, got 'north'"),
        ('lat="50.12"', "", 8, "lat must be a number, got ''"),
        ('lon="8.67"', 'lon="181"', 6, "lon must be from -180 to 180 degrees, got 181"),
        (" 4.5 ", "much", 6, "prize must be a number, got 'much'"),
        ("<ele>", "<ele>" * 40, 4, "elements lie more than 30 deep in each other"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="no-such"?>', None, "not XML"),
        ("wpt", "trkpt", None, "there are no waypoints"),
    ],
)
def test_errors_in_gpx_name_the_line(tmp_path: Path, old: str, new: str, line: int | None, message: str) -> None:
    assert old in WAYPOINTS
    with pytest.raises(BadFile) as caught:
        parsed(tmp_path / "a.gpx", WAYPOINTS.replace(old, new), limit=60)
    assert message in caught.value.message
    if line is not None:
        assert caught.value.line == line


def test_points_of_routes_must_be_places(tmp_path: Path) -> None:
    town = parsed(tmp_path / "a.gpx", WAYPOINTS, limit=60, speed=80)
    (tmp_path / "b.gpx").write_text(WAYPOINTS.replace('<rtept lat="50.12"', '<rtept lat="50.13"'))
    with pytest.raises(BadFile, match="this point, named None, is no place of the problem") as caught:
        files.read_plan(tmp_path / "b.gpx", town)
    assert caught.value.line == 10
    with pytest.raises(BadFile, match="there are no routes"):
        files.read_plan(_without_routes(tmp_path), town)


def _without_routes(folder: Path) -> Path:
    (folder / "c.gpx").write_text(WAYPOINTS[: WAYPOINTS.index("<rte>")] + "</gpx>")
    return folder / "c.gpx"


def test_many_keys_take_little_memory() -> None:
    """A table has a cell for each key in every row, so that keys without end are not kept."""
    point = {"type": "Point", "coordinates": [8, 50]}
    features = [
        {"type": "Feature", "geometry": point, "properties": {f"key {number} {key}": 1 for key in range(100)}}
        for number in range(300)
    ]
    data = {"type": "FeatureCollection", "orienteer": {"limit": 3}, "features": features}
    tracemalloc.start()
    try:
        assert len(problem_fields("many", *geojson_problem("many", data)).prizes) == 300
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("maps")


degrees = st.tuples(st.floats(-180, 180), st.floats(-90, 90))


@st.composite
def problems_on_earth(draw: st.DrawFn) -> Instance:
    """Any problem whose places have longitude and latitude, by great circles, by a speed, or by free costs."""
    free = draw(problems_with_rules())
    coords = np.array(draw(st.lists(degrees, min_size=free.size, max_size=free.size)))
    if draw(st.booleans()):
        return free.replace(coords=coords, on_earth=True)
    metres = pairwise(coords, great_circle) / draw(st.sampled_from([1.0, 80.0, 7 / 3]))
    names = draw(st.none() | st.just(free.names))
    prizes = free.prizes.tolist()
    return Instance(metres, prizes, 1e8, free.start, free.end, coords, names, on_earth=True)


@given(instance=problems_on_earth())
def test_problems_there_and_back(instance: Instance, folder: Path) -> None:
    files.write(instance, folder / "a.geojson")
    read = files.read(folder / "a.geojson")
    assert read == instance
    assert read.on_earth
    assert [route.name for route in read.each_route] == [route.name for route in instance.each_route]
    files.write(instance, folder / "a.json")
    assert files.read(folder / "a.json") == instance
    assert files.read(folder / "a.json").on_earth


@st.composite
def plans(draw: st.DrawFn) -> tuple[Instance, Plan]:
    """Some routes over places on the Earth that share none but the first."""
    size, count = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    coords = np.array(draw(st.lists(st.tuples(st.floats(-180, 179), st.floats(-90, 90)), min_size=size, max_size=size)))
    texts = st.text(max_size=5)
    names = draw(st.none() | st.lists(texts, min_size=size, max_size=size, unique=True))
    routes = [Route(0, draw(st.sampled_from([0, None])), 5.0, 1e9, draw(texts)) for _ in range(count)]
    prizes = draw(st.lists(st.floats(0, 1e6), min_size=size, max_size=size))
    clock = draw(st.sampled_from([None, "minutes"]))
    instance = Instance(
        pairwise(coords, great_circle), prizes, 1e9, 0, 0, coords, names, routes=routes, clock=clock, on_earth=True
    )
    order = draw(st.permutations(range(1, size)))
    stops: list[list[int]] = [[0] for _ in routes]
    for node in order[: draw(st.integers(0, size))]:
        stops[draw(st.integers(0, count - 1))].append(node)
    return instance, check_plan(instance, [s if r.end is None else [*s, 0] for s, r in zip(stops, routes, strict=True)])


@given(found=plans())
def test_plans_there_and_back(found: tuple[Instance, Plan], folder: Path) -> None:
    instance, plan = found
    result = Result(plan, "stopped", 0.5, 3, "lns", 1, instance=instance)
    orders = [list(tour.nodes) for tour in plan.routes]
    for suffix in (".geojson", ".gpx"):
        files.write_tour(result, folder / f"plan{suffix}")
        assert files.read_plan(folder / f"plan{suffix}") == orders


@given(found=plans())
def test_geojson_tells_stops_and_places_left_out(found: tuple[Instance, Plan]) -> None:
    instance, plan = found
    features = plan_geojson(instance, plan)["features"]
    json.dumps(features, allow_nan=False)
    kinds = [feature["properties"]["kind"] for feature in features]
    assert kinds.count("route") == len(plan.routes)
    assert kinds.count("stop") == sum(len(tour) for tour in plan.routes)
    left_out = {feature["properties"]["node"] for feature in features if feature["properties"]["kind"] == "left out"}
    assert left_out == set(range(instance.size)) - plan.visited
    for feature in features:
        if feature["geometry"]["type"] == "LineString":
            assert len(feature["geometry"]["coordinates"]) >= 2


ORDER = ["name", "desc", "number", "type", "extensions", "rtept"]
"""The elements that we write, in the order of GPX's schema within waypoints and routes."""


@given(found=plans())
def test_gpx_is_valid_and_its_waypoints_are_the_places(found: tuple[Instance, Plan], folder: Path) -> None:
    instance, plan = found
    text = plan_gpx(instance, plan)
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("version"), bool(root.get("creator"))) == (f"{{{GPX}}}gpx", "1.1", True)
    tags = [child.tag.removeprefix(f"{{{GPX}}}") for child in root]
    assert tags == ["wpt"] * instance.size + ["rte"] * len(plan.routes)
    for element in root.iter():
        if element.tag.startswith(f"{{{OURS}}}"):
            continue
        tags = [child.tag.removeprefix(f"{{{GPX}}}") for child in element]
        if element is not root and not element.tag.endswith("extensions"):
            assert tags == sorted(tags, key=ORDER.index)
        for axis, most in (("lat", 90), ("lon", 180)):
            if element.get(axis) is not None:
                assert "e" not in str(element.get(axis)).lower()
                assert -most <= float(str(element.get(axis))) <= most
    (folder / "b.gpx").write_text(text)
    read = files.read(folder / "b.gpx", limit=1e9)
    assert instance.coords is not None
    assert read.coords is not None
    assert read.coords.tolist() == instance.coords.tolist()
    assert read.prizes.tolist() == instance.prizes.tolist()
    assert read.costs.tolist() == instance.costs.tolist()
    if instance.names is not None and all(name.isprintable() for name in instance.names):
        assert read.names == instance.names


def test_times_are_told(tmp_path: Path) -> None:
    coords = [[8.66, 50.11], [8.67, 50.11]]
    costs = [[0, 10], [10, 0]]
    day = Instance(costs, [0, 1], 60, 0, 0, coords, ["a", "b"], [0, 5], routes=[Route(0, 0, 540, 60)], clock="minutes")
    day = day.replace(on_earth=True)
    plan = check_plan(day, [[0, 1, 0]])
    stop = plan_geojson(day, plan)["features"][2]["properties"]
    assert {key: stop[key] for key in ("node", "name", "arrive", "leave", "arrive_time", "leave_time")} == {
        "node": 1,
        "name": "b",
        "arrive": 550.0,
        "leave": 555.0,
        "arrive_time": "09:10",
        "leave_time": "09:15",
    }
    assert "<desc>arrive 09:10, leave 09:15</desc>" in plan_gpx(day, plan)


def test_places_without_latitude_are_not_written(tmp_path: Path) -> None:
    flat = Instance.from_coords([[0, 0], [1, 0]], [0, 1], 4.0)
    with pytest.raises(BadFile, match="cannot be written: this format holds longitude and latitude"):
        files.write(flat, tmp_path / "a.geojson")
    plan = Plan.of(Tour((0, 0), 0.0, 0.0))
    for suffix in (".gpx", ".geojson"):
        with pytest.raises(BadFile, match="cannot be written: this format holds longitude and latitude"):
            files.write_tour(Result(plan, "stopped", 0, 0, "lns", 0, instance=flat), tmp_path / f"a{suffix}")
        with pytest.raises(BadFile, match="takes a result of `solve`"):
            files.write_tour([0, 0], tmp_path / f"a{suffix}")
    with pytest.raises(BadFile, match="gpx is read only"):
        files.write(flat, tmp_path / "a.gpx")
    assert not list(tmp_path.iterdir())


def test_a_plan_is_no_problem(path: Path) -> None:
    town = parsed(path, TOWN)
    path.write_text(json.dumps(plan_geojson(town, check_plan(town, [[0, 3, 0]]))))
    with pytest.raises(BadFile, match="holds a plan, not a problem"):
        files.read(path)
    assert math.isfinite(town.limit)


def test_a_plan_in_gpx_says_that_it_is_no_problem(path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    town = parsed(path, TOWN)
    (tmp_path / "plan.gpx").write_text(plan_gpx(town, check_plan(town, [[0, 3, 0]])))
    caplog.clear()
    again = files.read(tmp_path / "plan.gpx", limit=town.limit)
    assert [message for message in caplog.messages if "holds a plan, so only the names" in message]
    assert (again.names, again.prizes.tolist()) == (town.names, town.prizes.tolist())
    assert town.service is not None
    assert again.service is not None
    assert again.service.tolist() == town.service.tolist()
    assert (town.required, again.required) == ((3,), ())
    caplog.clear()
    parsed(tmp_path / "a.gpx", WAYPOINTS, limit=60, speed=80)
    assert caplog.messages == []
