"""Whatever the bytes: a result, or `BadFile`; never another error, never a warning."""

import io
import itertools
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import BadFile, Instance, Plan, Result, Tour
from orienteer.data import files
from orienteer.data.places import KEYS as PLACE_KEYS

OPLIB = b"""NAME : three
COMMENT: none
TYPE : OP
DIMENSION : 3
COST_LIMIT : 9
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3.5 4
3 1e0 -1
NODE_SCORE_SECTION
1 0
2 5
3 7.5
DEPOT_SECTION
1
-1
EOF
"""
EXPLICIT = b"""TYPE: OP
DIMENSION: 3
COST_LIMIT: 9
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: UPPER_ROW
EDGE_WEIGHT_SECTION
1 2
3
DISPLAY_DATA_SECTION
1 0 0
2 1 1
3 2 2
NODE_SCORE_SECTION
1 0
2 5
3 7
DEPOT_SECTION
1
3
-1
EOF
"""
GEO = OPLIB.replace(b"EUC_2D", b"GEO").replace(b"COST_LIMIT : 9", b"COST_LIMIT : 999")
CHAO = b"15\t1\n0.000\t-7.000\t0\n0.5\t7\t0\n-1.0\t-6e0\t6\n"
POINTS = b'# limit = 12.5\n# start = a\nname,x,y,prize\na,0,0,0\n"b, c",1.5,2,3\nd,-1,.5,10\n'
EARTH = b"# limit = 9e6\nname;lat;lon;prize\r\na;50.1;8.6;0\r\nb;48.2;16.3;3\r\n"
MATRIX = b"# limit = 12.5\n# matrix = other.csv\nname,prize\na,0\nb,3\n"
JSON = (
    b'{"limit": 4, "start": 0, "end": "c", "names": ["a", "b", "c"],\n"prizes": [0, 1.5, 2],'
    b'\n"coords": [[0, 0], [1, 0.5], [1e0, 1]], "costs": [[0, 1, null], [1, 0, 2], [1, 2, 0]]}'
)
RULES_JSON = (
    b'{"limit": 400, "names": ["a", "b", "c"], "prizes": [0, 1.5, 2], "coords": [[0, 0], [1, 0.5], [1e0, 1]],'
    b'\n"service": [0, 20, "0:15"], "required": ["b"],'
    b'\n"windows": {"b": "09:00-12:00;day 1 14:00-18:00", "2": [1, null]},'
    b'\n"routes": [{"name": "A", "opens": "09:00", "closes": 900}, {"start": "a", "end": 0, "free_end": true}],'
    b'\n"groups": [["b", "c"]], "budgets": [{"name": "fee", "weights": {"b": 3}, "most": 4.5}], "clock": "minutes"}'
)
PLACES_JSON = (
    b'{"limit": "8:00", "budgets": {"fee": 20}, "clock": "minutes", "speed": 80, "routes": 2,'
    b'\n"places": [{"name": "a", "lat": 50.1, "lon": 8.6, "start": true, "opens": "09:00"},'
    b'\n{"name": "b", "lat": 50.2, "lon": 8.7, "prize": 3, "duration": "0:20", "windows": [["09:00", null], [1, 2]]},'
    b'\n{"name": "c", "lat": 50.2, "lon": 8.5, "avoid": true, "group": ["x", "y"], "weights": {"fee": 3.5}}]}'
)
TABLE_JSON = (
    b'{"limit": 4, "places": [{"name": "a"}, {"name": "b", "prize": 2}],'
    b'\n"table": {"code": "Ok", "durations": [[0, 1.5], [null, 0]], "distances": [[0, 7], [8, 0]]}}'
)
ENGINES = [
    b'{"code": "Ok",\n"durations": [[0, 1.5], [null, 0]],\n"sources": [{"hint": "x"}]}',
    b'{"sources_to_targets": {"durations": [[0, 15],\n[16, 0]], "distances": [[0, 0.5], [0.6, 0]]}, "units": "miles"}',
    b'{"sources_to_targets": [[{"time": 0, "distance": 0}, {"time": 5, "distance": 1}],\n'
    b'[{"time": 0, "distance": 0}, {"time": null, "distance": null}]]}',
    b"[[0, 1],\n[2.5, null]]",
]
GEOJSON = (
    b'{"type": "FeatureCollection", "orienteer": {"limit": "2:00", "speed": 80, "budgets": {"fee": 10}}, "features": ['
    b'\n{"type": "Feature", "geometry": {"type": "Point", "coordinates": [8.66, 50.1]}, "properties": {"end": true}},'
    b'\n{"type": "Feature", "geometry": {"type": "Point", "coordinates": [8.67, 50.11]}, "properties": {"name": "b",'
    b' "score": "4.5", "duration": "0:20", "fee": 7, "opens": "00:30", "group": "x"}}]}'
)
GEO_PLAN = (
    b'{"type": "FeatureCollection", "features": [\n{"type": "Feature", "properties": {"kind": "route",'
    b' "nodes": [0, 1]}},\n{"properties": {"kind": "route", "nodes": [0, 2]}}]}'
)
WAYPOINTS = b"""<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="a" xmlns="http://www.topografix.com/GPX/1/1" xmlns:o="urn:o">
<wpt lat="50.1" lon="8.6"><name>a</name></wpt>
<wpt lat="50.2" lon="8.7"><name>b &amp; c</name><extensions> <o:prize>4.5</o:prize> </extensions></wpt>
<rte><name>day</name><number>1</number>
<rtept lat="50.1" lon="8.6"><extensions><o:node>0</o:node></extensions></rtept>
<rtept lat="50.2" lon="8.7"><extensions> <o:node>1</o:node> </extensions></rtept></rte>
</gpx>
"""
COMMAS = b'# limit = 12,5\n# budget:fee = 3,5\nname;x;y;prize;fee\na;0;0;0;\n"b, c";1,5;2;3;0,5\nd;-1;,5;10;2\n'
DAY = b"""# budget:fee = 20
# speed = 1.5
name,x,y,prize,duration,required,opens,closes,group,fee
hotel,0,0,0,,,09:00,18:00,,
museum,10,0,5,90,yes,10:00-12:00;14:00-17:00,,,12
castle,10,20,3,0:45,no,,4:30 pm,lunch,9
"""
SHIFTS = b"name,start,end,opens,limit,closes,free_end\nAnna,b,,09:00,4:00,,\nBen,,a,day 2 10:00,,2400,yes\n"
TOP = b"n 4\nm 2\ntmax 20\n0\t0\t0\n3 4 10\n0 1e0 5\n6 8 1.5\n"
TOPTW = b"1 2 2 1\n0 200\n0 0 0 0 7 0 0 0 100\n1 3 4 10 5 1 1 1 20 30\n2 1 1 0 2 1 2 1 2 4 9 10.5 12\n"
MCTOPMTW = (
    b"2 2 9 1 2 3 4 5 6 7 8 9 10\n0 0 0 0 0 0 60\n"
    b"2 3 4 10 5 0 10 20 30 40 1 4 1 0 0 0 0 0 0 0 0 1\n3 1 1 1 2 0 5 10 15 20 0 5 1 0 0 0 0 0 0 0 0 0\n"
)
PLANS = [b"[[0, 2, 0], [0, 1, 0]]", b'{"routes": [{"nodes": [0, 1]}, [0, 2]], "prize": 3.5}', b"[0, 1]"]
TOURS = [
    b"[0, 2, 1, 0]",
    b'{"tour": [0, 1], "prize": 3.5}',
    b"0 -> 1, 2;3\n# done\n0",
    b"TYPE : TOUR\nTOUR_SECTION\n1\n3\n-1\nEOF\n",
]
RESULT = Result(Plan.of(Tour((0, 2, 1), 1.5, 2.0)), "stopped", 0.5, 3, "lns", 1).to_json().encode()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


SETS = [
    npz(coords=np.ones((2, 3, 2)), prizes=np.ones((2, 3)), limit=3.0),
    npz(costs=np.ones((1, 2, 2), dtype=np.float32), prizes=np.ones((1, 2), dtype=np.int8), limit=[3.0], end=1),
    npz(coords=np.ones((1, 2, 2)), prizes=np.ones((1, 2)), limit=3.0, names=np.array([["a", "bc"]])),
    npz(coords=np.ones((1, 2, 2)), prizes=np.ones((1, 2)), limit=3.0, rules=np.array(['{"service": [0, 1]}'])),
]
RESULTS = [npz(prize=[1.0], cost=[2.0], seconds=[0.1], tour=np.array([[0, 1, -1]], dtype=np.int32))]


def read_all(path: Path) -> list[Instance]:
    return list(files.read_set(path))


def read_labelled(path: Path) -> Instance:
    """The fuzzed file as the matrix of sound points."""
    points = path.with_name("points.csv")
    points.write_bytes(b"# limit = 12.5\nname,prize\na,0\nb,3\n")
    return files.read(points, matrix=path)


def read_shifts(path: Path) -> Instance:
    """The fuzzed file as the table of routes of sound points."""
    points = path.with_name("points.csv")
    points.write_bytes(b"# limit = 12.5\nname,x,y,prize\na,0,0,0\nb,0,1,3\n")
    return files.read(points, routes=path)


READERS: list[tuple[str, Callable[[Path], object], list[bytes]]] = [
    ("a.oplib", files.read, [OPLIB, EXPLICIT, GEO]),
    ("a.txt", files.read, [CHAO]),
    ("a.csv", files.read, [POINTS, EARTH, MATRIX, DAY, COMMAS]),
    ("s.csv", read_shifts, [SHIFTS]),
    ("top.txt", partial(files.read, format="top"), [TOP]),
    ("toptw.txt", partial(files.read, format="toptw"), [TOPTW]),
    ("mctopmtw.txt", partial(files.read, format="mctopmtw"), [MCTOPMTW]),
    ("p.json", files.read_plan, [*PLANS, GEO_PLAN]),
    ("a.geojson", files.read, [GEOJSON]),
    ("a.gpx", partial(files.read, limit=1e6), [WAYPOINTS]),
    ("p.gpx", files.read_plan, [WAYPOINTS]),
    ("m.csv", read_labelled, [b"0,1.5\n1,0\n", b",a,b\na,0,inf\nb,2,0\n"]),
    ("m.json", read_labelled, ENGINES),
    ("a.json", files.read, [JSON, RULES_JSON, PLACES_JSON, TABLE_JSON]),
    ("a.npz", read_all, SETS),
    ("t.txt", files.read_tour, TOURS),
    ("t.npz", files.read_tour, RESULTS),
    ("p.csv", files.read_plan, [b'route,stop,node,name\n1,0,0,a\n1,1,2,"b, c"\n2,0,0,a\n']),
    ("r.json", files.read_result, [RESULT]),
]
every_reader = pytest.mark.parametrize(("name", "read", "sound"), READERS, ids=[name for name, _, _ in READERS])

NASTY = [
    b"1e999",
    b"-1",
    b"nan",
    b"inf",
    b"1_0",
    b"9" * 400,
    b"",
    b":",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"-",
    b"0x1",
    b"1e-999",
    b"\xd9\xa1",
    b"null",
    b"10000000",
    b"\r",
    b"&",
    b"<!DOCTYPE x>",
    b"<o:prize>",
]


@st.composite
def damaged(draw: st.DrawFn, sound: list[bytes]) -> bytes:
    """A sound file with a few wounds."""
    data = draw(st.sampled_from(sound))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["cut", "flip", "drop", "repeat", "swap", "nasty", "insert"]))
        at = draw(st.integers(0, len(data)))
        lines = data.split(b"\n")
        row = draw(st.integers(0, len(lines) - 1))
        if kind == "cut":
            data = data[:at]
        elif kind == "flip":
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        elif kind == "drop":
            data = b"\n".join(lines[:row] + lines[row + 1 :])
        elif kind == "repeat":
            data = b"\n".join(lines[:row] + lines[row : row + 1] * 2 + lines[row + 1 :])
        elif kind == "swap":
            lines[row], lines[0] = lines[0], lines[row]
            data = b"\n".join(lines)
        elif kind == "nasty":
            words = lines[row].split(b" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(NASTY))
            data = b"\n".join([*lines[:row], b" ".join(words), *lines[row + 1 :]])
        else:
            data = data[:at] + draw(st.binary(max_size=4)) + data[at:]
    return data


def result_or_bad_file(read: Callable[[Path], object], path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        assert read(path) is not None
    except BadFile as error:
        assert error.path  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@every_reader
def test_sound_files_are_read(name: str, read: Callable[[Path], object], sound: list[bytes], folder: Path) -> None:
    (folder / "other.csv").write_bytes(b"0,1\n1,0\n")
    for data in sound:
        (folder / name).write_bytes(data)
        assert read(folder / name)


@every_reader
@settings(max_examples=25)
@given(data=st.data())
def test_random_bytes(
    name: str, read: Callable[[Path], object], sound: list[bytes], data: st.DataObject, folder: Path
) -> None:
    result_or_bad_file(read, folder / name, data.draw(st.binary(max_size=80)))


@every_reader
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files(
    name: str, read: Callable[[Path], object], sound: list[bytes], data: st.DataObject, folder: Path
) -> None:
    (folder / "other.csv").write_bytes(b"0,1\n1,0\n")
    result_or_bad_file(read, folder / name, data.draw(damaged(sound)))


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_arrays_in_a_sound_archive(data: st.DataObject, folder: Path) -> None:
    """Checksums guard the archive; here the damage is done before they are taken."""
    with zipfile.ZipFile(io.BytesIO(data.draw(st.sampled_from(SETS)))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    victim = data.draw(st.sampled_from(sorted(members)))
    members[victim] = data.draw(damaged([members[victim]]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    result_or_bad_file(read_all, folder / "b.npz", packed.getvalue())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_json_of_wrong_types(data: st.DataObject, folder: Path) -> None:
    import json

    value = json.loads(data.draw(st.sampled_from([JSON, RULES_JSON, PLACES_JSON, TABLE_JSON])))
    if "places" in value:
        place = data.draw(st.sampled_from(value["places"]))
        place[data.draw(st.sampled_from(PLACE_KEYS))] = data.draw(json_values)
    for key in data.draw(st.lists(st.sampled_from(sorted(value)), min_size=1, max_size=2)):
        value[key] = data.draw(json_values)
    if isinstance(value.get("routes"), list) and value["routes"] and isinstance(value["routes"][0], dict):
        value["routes"][0][data.draw(st.sampled_from(["name", "start", "opens", "closes", "end"]))] = data.draw(
            json_values
        )
    result_or_bad_file(files.read, folder / "c.json", json.dumps(value).encode())
    result = json.loads(RESULT)
    result[data.draw(st.sampled_from(sorted(result)))] = data.draw(json_values)
    result_or_bad_file(files.read_result, folder / "d.json", json.dumps(result).encode())
    result_or_bad_file(files.read_tour, folder / "d.json", json.dumps(result).encode())
    result_or_bad_file(files.read_result, folder / "d.json", json.dumps(data.draw(json_values)).encode())


@given(numbers=st.lists(st.floats(0, allow_nan=False, allow_infinity=False), min_size=9, max_size=9))
def test_huge_numbers_end_in_no_warning(numbers: list[float], folder: Path) -> None:
    rows = [" ".join(map(repr, numbers[i : i + 3])) for i in (0, 3, 6)]
    text = EXPLICIT.decode().replace("UPPER_ROW", "FULL_MATRIX").replace("1 2\n3\n", "\n".join(rows) + "\n", 1)
    result_or_bad_file(files.read, folder / "e.oplib", text.encode())
    points = "".join(f"{x!r} {-y!r} 1\n" for x, y in itertools.pairwise(numbers))
    result_or_bad_file(files.read, folder / "e.txt", f"1e300 1\n{points}".encode())
