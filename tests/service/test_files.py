"""Files that the page sends to be read, and plans that it gets as files."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from orienteer.data.files import read, read_plan
from orienteer.data.json_file import problem_of
from servers import Server, problem

EXAMPLES = Path(__file__).parents[2] / "examples"
ROUTE = [[0, 3, 5, 0]]


def sent(server: Server, name: str, content: bytes | str, media: str = "application/octet-stream") -> httpx.Response:
    """The answer to a file."""
    return server.client.post("/v1/read", params={"name": name}, content=content, headers={"Content-Type": media})


@pytest.mark.parametrize("name", ["city.csv", "day_in_town.csv", "town.geojson"])
def test_a_file_is_read_as_the_command_line_reads_it(server: Server, name: str) -> None:
    answer = sent(server, name, (EXAMPLES / name).read_bytes()).json()
    assert answer["warnings"] == []
    assert problem_of(answer["problem"]) == read(EXAMPLES / name)


def test_what_a_file_has_that_is_not_read_is_told(server: Server) -> None:
    answer = sent(server, "town.csv", "# limit = 5\nname,x,y,prize,openning\na,0,0,0,9:00\nb,1,1,2,10:00\n").json()
    assert len(answer["warnings"]) == 1
    assert "openning" in answer["warnings"][0]


@pytest.mark.parametrize(
    ("name", "content", "detail"),
    [
        ("town.csv", "name,x,y,prize\na,0,zero,1\n", "town.csv:2: "),
        ("town.CSV", b"\xff\xfe\x00", "town.CSV"),
        ("town.exe", "", "town.exe: files end in .json"),
        ("town.npz", "", "files end in"),
        ("../../etc/passwd.csv", "# matrix = /etc/passwd\nname,prize\na,1\n", "must name a file of the same folder"),
        ("town.csv", "# matrix = other.csv\nname,prize\na,1\n", "other.csv"),
        ("town.json", '{"places": NaN}', "NaN"),
        ("town.geojson", "[" * 100, "nested"),
        ("town.gpx", "<gpx", "town.gpx"),
    ],
)
def test_a_bad_file_is_refused(server: Server, name: str, content: bytes | str, detail: str) -> None:
    answer = sent(server, name, content)
    assert answer.status_code == 400, answer.text
    assert detail in answer.json()["detail"]
    assert "/tmp" not in answer.text


def test_bounds_hold_for_files(server: Server) -> None:
    rows = "".join(f"{number},0,1\n" for number in range(101))
    assert sent(server, "long.csv", f"x,y,prize\n{rows}").status_code == 422
    assert sent(server, "long.csv", b" " * 200_001).status_code == 413
    assert sent(server, "town.csv", "", media="text/plain").status_code == 415
    assert server.client.post("/v1/read", content=b"").status_code in (400, 422)


def spreadsheet(**members: bytes) -> bytes:
    """A small spreadsheet, with other bytes in the place of some of its members."""
    openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    book = openpyxl.Workbook()
    for row in (["# limit = 5"], ["name", "x", "y", "prize"], ["a", 0, 0, 0], ["b", 1, 1, 2]):
        book.active.append(row)
    first, packed = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, members.get(Path(name).stem, old.read(name)))
    return packed.getvalue()


def test_a_small_spreadsheet_that_expands_is_refused(server: Server) -> None:
    answer = sent(server, "town.xlsx", spreadsheet())
    assert [place["name"] for place in answer.json()["problem"]["places"]] == ["a", "b"]
    bomb = spreadsheet(sheet1=b"<worksheet><t>" + b"a" * 5_000_000 + b"</t></worksheet>")
    assert len(bomb) < 16_000
    answer = sent(server, "town.XLSX", bomb)
    assert answer.status_code == 400
    assert "refused as a zip bomb" in answer.json()["detail"]


def written(server: Server, **changes: Any) -> httpx.Response:
    """The answer to a plan that is to be a file."""
    names = [f"place {number}" for number in range(20)]
    ask = {"problem": problem() | {"names": names}, "routes": ROUTE, "format": "csv"}
    return server.client.post("/v1/write", json=ask | changes)


def test_a_timetable(server: Server, tmp_path: Path) -> None:
    answer = written(server)
    (tmp_path / "plan.csv").write_bytes(answer.content)
    assert read_plan(tmp_path / "plan.csv") == ROUTE
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["name"] for row in rows] == ["place 0", "place 3", "place 5", "place 0"]
    arrivals = [float(row["arrive"]) for row in rows]
    assert arrivals == sorted(arrivals)
    assert sum(float(row["leg"]) for row in rows) == pytest.approx(arrivals[-1])


def test_a_plan_as_json(server: Server) -> None:
    plan = written(server, format="json").json()
    assert plan["tour"] == ROUTE[0]
    assert plan["routes"][0]["names"] == ["place 0", "place 3", "place 5", "place 0"]


@pytest.mark.parametrize("format", ["gpx", "geojson"])
def test_maps_need_latitudes(server: Server, format: str) -> None:
    assert written(server, format=format).json()["field"] == "format"
    earth = {"problem": problem(limit=1e6) | {"metric": "great_circle"}, "format": format}
    answer = written(server, **earth)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(f"application/{'gpx+xml' if format == 'gpx' else 'geo+json'}")


def test_a_plan_that_breaks_a_rule_is_no_file(server: Server) -> None:
    assert written(server, routes=[[0, 3]]).json()["field"] == "routes"
    assert written(server, format="exe").json()["field"] == "format"
