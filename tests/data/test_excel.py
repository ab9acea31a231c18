"""Spreadsheets: problems and plans, formulas and times, and files that claim more than they hold."""

import datetime
import io
import pickle
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.any_problem import problems_with_rules
from data.test_fuzz import damaged, result_or_bad_file
from data.test_maps import plans
from orienteer import BadFile, Budget, Instance, Plan, Result, Route, check_plan
from orienteer.data import excel, files

openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")

DAY = [
    ["# limit", datetime.timedelta(hours=8)],
    ["# budget:fee = 20"],
    [],
    ["name", "x", "y", "prize", "duration", "required", "opens", "closes", "fee", "group"],
    ["hotel", 0, 0, 0, None, None, datetime.time(9, 0), None, None, None],
    ["museum", 3, 4.5, 5, datetime.time(1, 30), True, datetime.time(10, 0), datetime.time(17, 0), 12, None],
    [7, "6", 8, "1,5".replace(",", "."), 20, "no", "09:00-12:00;14:00-18:00", None, "x", "a; b"],
    ["castle", 1, 1, "=2+2", None, 1, None, None, 0, "a"],
]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "day.xlsx"


def test_a_day(path: Path) -> None:
    rows = [*DAY[:-1], ["castle", 1, 1, 4, None, 1, None, None, 0, "a"]]
    day = files.read(workbook(path, Places=rows))
    assert day.names == ("hotel", "museum", "7", "castle")
    assert day.prizes.tolist() == [0, 5, 1.5, 4]
    assert day.costs[0, 2] == 10
    assert day.service is not None
    assert day.service.tolist() == [0, 90, 20, 0]
    assert day.routes == (Route(0, 0, 540, 480),)
    assert day.windows == (None, ((600, 1020),), ((540, 720), (840, 1080)), None)
    assert (day.required, day.groups, day.clock) == ((1, 3), ((2, 3),), "minutes")
    assert day.budgets == (Budget("fee", [0, 12, 1, 0], 20),)


def test_a_formula_without_a_value(path: Path) -> None:
    """openpyxl writes formulas without their values: such cells counted as empty, and visits took no time."""
    with pytest.raises(BadFile, match="sheet 'Places', row 8: prize holds a formula without a value: open the file"):
        files.read(workbook(path, Places=DAY))
    place = {"name": "a", "x": 0, "y": 0, "prize": 1, "duration": 5, "opens": 1, "closes": 9, "group": "b", "avoid": ""}
    for column in place:
        cells = list((place | {column: "=1+2"}).values())
        rows = [["# limit = 9"], list(place), ["home", 1, 1, 0], cells]
        with pytest.raises(BadFile, match=r"row 4: .* holds a formula without a value") as caught:
            files.read(workbook(path, places=rows))
        assert caught.value.line == 4
    for rows in ([["# limit", "=4+5"], ["x", "y", "prize"], [0, 0, 0]], [["x", "y", "prize", '="fee"'], [0, 0, 0, 0]]):
        with pytest.raises(BadFile, match="row 1: a cell holds a formula without a value"):
            files.read(workbook(path, places=rows))
    bare = [["# limit = 9"], ["prize"], [0], [1]]
    for name, rows in (("matrix", [[0, "=1"], [1, 0]]), ("routes", [["opens"], ["=1"]])):
        with pytest.raises(BadFile, match=f"sheet '{name}', row [12]: .* holds a formula without a value"):
            files.read(workbook(path, **{"places": bare, "matrix": [[0, 1], [1, 0]]} | {name: rows}))


def test_a_formula_without_a_value_where_nobody_reads(path: Path) -> None:
    """Sums below other columns, and formulas whose value is an empty text, are no mistake."""
    rows = [["# limit = 9"], ["x", "y", "prize", "duration", "remark"], [0, 0, 0, 0, "=A3"], [1, 0, 3, "=1", "=B4"]]
    workbook(path, places=rows)
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read(SHEET)
    empty = sheet.replace(b'<c r="D4"><f>1</f>', b'<c r="D4" t="str"><f>""</f>')
    assert empty != sheet
    replaced(path, SHEET, empty)
    assert files.read(path).service is None


def test_too_many_formulas_without_a_value(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "MAX_FORMULAS", 3)
    rows = [["x", "y", "prize"], *[["=1", 0, 0]] * 4]
    with pytest.raises(BadFile, match=r"sheet1\.xml has more than 3 formulas without a value"):
        files.read(workbook(path, places=rows), limit=3)


def test_formulas_are_their_values(path: Path) -> None:
    workbook(path, places=[["# limit = 9"], ["x", "y", "prize"], [0, 0, 0], [1, 0, "=1+2"]])
    changed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(
                name, old.read(name).replace(b"<f>1+2</f><v></v>", b"<f>1+2</f><v>3</v>").replace(b"<v />", b"<v>3</v>")
            )
    path.write_bytes(changed.getvalue())
    assert files.read(path).prizes.tolist() == [0, 3]


def test_sheets_of_their_own(path: Path) -> None:
    rows = [["# limit = 9"], ["name", "prize"], ["a", 0], ["b", 3]]
    routes = [["name", "opens", "free end"], ["Anna", 1, None], ["Ben", None, "yes"]]
    day = files.read(workbook(path, Table=rows, matrix=[[None, "a", "b"], ["a", 0, 1.5], ["b"]], Routes=routes))
    assert day.costs.tolist() == [[0, 1.5], [float("inf"), float("inf")]]
    assert day.routes == (Route(0, 0, 1, 9), Route(0, None, 0, 9))
    named = [["# matrix", "Minutes"], *rows]
    assert files.read(workbook(path, places=named, minutes=[[0, 2], [2, 0]])).costs[0, 1] == 2
    with pytest.raises(BadFile, match="there is no sheet 'Minutes'"):
        files.read(workbook(path, places=named))
    with pytest.raises(BadFile, match="there is no sheet with places"):
        files.read(workbook(path, matrix=[[0]]))
    with pytest.raises(BadFile, match="sheet 'places': there is no table in it"):
        files.read(workbook(path, places=[["# limit = 3"]]))


def test_errors_name_the_sheet_and_the_row(path: Path) -> None:
    routes = [["name", "opens"], ["Anna", "soon"]]
    places = [["# limit = 9"], ["x", "y", "prize"], [0, 0, 0]]
    for sheets, message in (
        ({"places": [*places, [0, 1, "much"]]}, "day.xlsx: sheet 'places', row 4: prize must be a number, got 'much'"),
        (
            {"places": places, "Routes": routes},
            "day.xlsx: sheet 'Routes', row 2: opens must be a number or a time such as 09:30, got 'soon'",
        ),
        ({"places": places, "matrix": [["far"]]}, "day.xlsx: sheet 'matrix', row 1: .*'far'"),
        ({"places": [["# limt = 9"], *places]}, "day.xlsx: sheet 'places', row 1: unknown setting 'limt'"),
    ):
        with pytest.raises(BadFile, match=message) as caught:
            files.read(workbook(path, **sheets))
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.path) == (str(caught.value), str(path))


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        (
            "closes",
            datetime.datetime(1900, 1, 12),
            "'1900-01-12T00:00:00'; the cell holds a number that is shown as a date",
        ),
        ("closes", datetime.datetime(2026, 5, 1, 12, 30), "enter the time alone, 12:30, or with the number of its day"),
        ("prize", "5,5", "row 6: prize must be a number, got '5,5'; the cell holds a text: enter 5.5 as a number"),
        ("duration", "1,5", "got '1,5'; the cell holds a text: enter 1.5 as a number"),
        ("prize", None, "row 6: prize must be a number, but the cell is empty"),
        ("x", None, "row 6: x must be a number, but the cell is empty"),
        ("name", "hotel", "row 6: the name 'hotel' appears again, first in row 5: all names must differ"),
    ],
)
def test_errors_tell_what_to_enter(path: Path, column: str, cell: Any, message: str) -> None:
    """They said `got None`, `names[1] repeats names[0]` and `got '1900-01-12T00:00:00'` for 12 in a cell of times."""
    rows = [[*row] for row in DAY[:-1]]
    rows[5][DAY[3].index(column)] = cell
    with pytest.raises(BadFile, match=re.escape(message)):
        files.read(workbook(path, Places=rows))


def test_a_table_of_routes_under_another_name(path: Path) -> None:
    """It was left out without a word: one route for one person."""
    places = [["# limit = 9"], ["x", "y", "prize"], [0, 0, 0], [1, 0, 3]]
    shifts = [["Shifts of June"], [], ["Name", "Start", "Opens", "Closes", "phone"], ["Ana", 0, 1, 5, "12"]]
    message = "sheet 'Technicians': looks like a table of routes: call it 'routes', or write '# routes = Technicians'"
    with pytest.raises(BadFile, match=message):
        files.read(workbook(path, Jobs=places, Technicians=shifts))
    assert files.read(path, routes=2).routes == (Route(0, 0, 0, 9),) * 2
    assert files.read(workbook(path, Jobs=[["# routes = 1"], *places], Technicians=shifts)).size == 2
    table = [["name", "start", "opens", "closes"], ["Ana", 0, 1, 5]]
    named = workbook(path, Jobs=[["# routes = Technicians"], *places], Technicians=table, later=table)
    assert files.read(named).routes == (Route(0, 0, 1, 4, "Ana"),)


def test_a_title_above_the_table(path: Path) -> None:
    rows = [["Jobs of June"], ["x", "y", "prize"], [0, 0, 0]]
    message = "sheet 'places', row 2: a row must have 1 cells like the header, got 3; row 1 was taken for the header"
    with pytest.raises(BadFile, match=f"{message}: above the header only lines that begin with # may stand"):
        files.read(workbook(path, places=rows))
    path.with_suffix(".csv").write_text("Jobs of June\nx,y,prize\n0,0,0\n")
    with pytest.raises(BadFile, match="got 3; line 1 was taken for the header"):
        files.read(path.with_suffix(".csv"))
    path.with_suffix(".csv").write_text("x,y,prize\n0,0,0,1\n")
    with pytest.raises(BadFile, match=r"a row must have 3 cells like the header, got 4$"):
        files.read(path.with_suffix(".csv"))


def test_other_sheets_are_left_alone(path: Path) -> None:
    places = [["# limit = 9"], ["x", "y", "prize"], [0, 0, 0], [1, 0, 3]]
    notes = [["a"], ["b", "c"]] * 10
    sites = [["name", "opens", "closes", "x", "y"], ["Hall", 8, 9, 0, 0]]
    phones = [["name", "phone", "start"], ["Ana", 12, "May"]]
    assert files.read(workbook(path, places=places, notes=notes, sites=sites, phones=phones, none=[])).size == 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("excel")


@settings(max_examples=60)
@given(instance=problems_with_rules(), suffix=st.sampled_from([".xlsx", ".csv"]))
def test_problems_there_and_back(instance: Instance, suffix: str, folder: Path) -> None:
    """Tables hold all problems, but for some names: Excel's texts have no control characters, columns no commas."""
    path = folder / f"a{suffix}"
    try:
        files.write(instance, path)
    except BadFile as error:
        name, text = ("by the budget" in error.message, "does not hold the text" in error.message)
        assert name or (text and suffix == ".xlsx")
        return
    read = files.read(path)
    assert read == instance
    names = [route.name for route in instance.each_route]
    assert [route.name for route in read.each_route] == [name if name.strip() else "" for name in names]


def test_a_large_prize_comes_back(tmp_path: Path) -> None:
    """A float beyond 2**53 is written without a point; it was refused as an integer that a float would round."""
    instance = Instance([[0, 1, 1], [1, 0, 1], [1, 1, 0]], [0.0, 9007199254740994.0, 1.0], 2.5)
    files.write(instance, tmp_path / "a.xlsx")
    assert files.read(tmp_path / "a.xlsx") == instance


@settings(max_examples=40)
@given(found=plans(), suffix=st.sampled_from([".xlsx", ".csv"]))
def test_plans_there_and_back(found: tuple[Instance, Plan], suffix: str, folder: Path) -> None:
    instance, plan = found
    result = Result(plan, "stopped", 0.5, 3, "lns", 1, instance=instance)
    try:
        files.write_tour(result, folder / f"plan{suffix}")
    except BadFile:
        assert suffix == ".xlsx" or not "".join(instance.names or ()).isprintable()
        return
    assert files.read_plan(folder / f"plan{suffix}") == [list(tour.nodes) for tour in plan.routes]


def test_a_plan_has_a_sheet_a_route_and_one_of_the_rest(path: Path) -> None:
    names = ["=A1", "b", "c"]
    routes = [Route(0, 0, 540, 60, "Monday: a/b"), Route(0, 0, 540, 60, "Monday: a/b")]
    instance = Instance.from_coords(
        [[0, 0], [3, 4], [0, 1]], [0, 2, 1], 60, names=names, routes=routes, clock="minutes"
    )
    plan = check_plan(instance, [[0, 1, 0], [0, 0]])
    files.write_tour(Result(plan, "stopped", 0, 0, "lns", 0, instance=instance), path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Route 1 (Monday  a b)", "Route 2 (Monday  a b)", "left out"]
    rows = list(book.worksheets[0].iter_rows(values_only=True))
    assert rows[1][:4] == (1, 0, 0, "=A1")
    assert book.worksheets[0]["D2"].data_type == "s"
    at = datetime.time(9, 5)
    assert rows[2] == (1, 1, 1, "b", 2, 5, 5, at, 0, at, at)
    assert list(book["left out"].iter_rows(values_only=True))[1:] == [(2, "c", 1)]


def test_numbers_of_a_plan_can_be_summed(path: Path) -> None:
    """Costs of seventeen digits were texts, which a spreadsheet's sums leave out without a word."""
    instance = Instance.from_coords([[0, 0], [0.1, 0.2], [0.7, 0.1]], [0, 0.1 + 0.2, 1 / 3], 9)
    plan = check_plan(instance, [[0, 1, 2, 0]])
    files.write_tour(Result(plan, "stopped", 0, 0, "lns", 0, instance=instance), path)
    rows = list(openpyxl.load_workbook(path).worksheets[0].iter_rows(min_row=2, min_col=5, values_only=True))
    assert sum(row[1] for row in rows) == pytest.approx(plan.cost)
    assert sum(row[0] for row in rows) == pytest.approx(plan.prize)


def replaced(path: Path, member: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> None:
    """Puts other bytes into the place of a member."""
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    path.write_bytes(packed.getvalue())


SHEET = "xl/worksheets/sheet1.xml"
SPREAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s<sheetData>%s</sheetData></worksheet>'
HEAD = b'<row r="1"><c r="A1" t="inlineStr"><is><t>prize</t></is></c></row>'


def refused(path: Path, message: str, most: float = 100e6) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message):
            files.read(path, limit=3)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_hostile_workbooks(path: Path) -> None:
    def fresh() -> Path:
        return workbook(path, places=[["x", "y", "prize"], [0, 0, 0], [1, 0, 3]])

    replaced(fresh(), SHEET, SPREAD % (b"", b"<row><c/></row>" * 200_000))
    refused(path, "refused as a zip bomb")
    replaced(fresh(), SHEET, b"x" * (excel.MAX_UNPACKED + 1), zipfile.ZIP_DEFLATED)
    refused(path, "its members claim", 200e6)
    replaced(fresh(), SHEET, SPREAD % (b"", b"<row>" + b"<c/>" * 20_000 + b"</row>"), zipfile.ZIP_STORED)
    refused(path, "has more elements than are read")
    replaced(fresh(), "xl/styles.xml", b"<styleSheet>" + b"<xf/>" * 200_001 + b"</styleSheet>", zipfile.ZIP_STORED)
    refused(path, "xl/styles.xml has more elements than are read")
    for member in (SHEET, "xl/workbook.xml", "xl/styles.xml"):
        replaced(fresh(), member, b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
        refused(path, f"{member} declares a document type or an entity")
    far = SPREAD % (b'<dimension ref="A1:XFD1048576"/>', HEAD + b'<row r="1048576"><c r="A1048576"><v>1</v></c></row>')
    replaced(fresh(), SHEET, far)
    refused(path, "neither x, y nor lat|more than|at least one node")
    wide = SPREAD % (b"", HEAD + b'<row r="2"><c r="XFD2"><v>1</v></c></row>')
    replaced(fresh(), SHEET, wide)
    refused(path, "a row of more than 10001 cells")
    path.write_bytes(b"PK\x03\x04 nothing")
    refused(path, "not a readable spreadsheet")


TEXTS = "xl/sharedStrings.xml"
STRINGS = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</sst>'
KIND = b'"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"'


def share(path: Path, texts: bytes, sheet: bytes) -> None:
    """Makes a workbook of a sheet and of texts that its cells share."""
    workbook(path, places=[["x"]])
    with zipfile.ZipFile(path) as archive:
        kinds = archive.read("[Content_Types].xml")
    known = b'<Override PartName="/xl/sharedStrings.xml" ContentType=' + KIND + b"/></Types>"
    replaced(path, "[Content_Types].xml", kinds.replace(b"</Types>", known))
    replaced(path, SHEET, SPREAD % (b"", sheet))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(TEXTS, STRINGS % texts)


def test_many_small_members_that_expand(path: Path) -> None:
    workbook(path, places=[["x", "y", "prize"], [0, 0, 0], [1, 0, 3]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        for number in range(60):  # each too small to be a bomb by itself
            archive.writestr(f"xl/worksheets/more{number}.xml", SPREAD % (b"", b"<row><c/></row>" * 60_000))
    assert path.stat().st_size < 300_000
    refused(path, "the file claims [0-9]+ bytes from [0-9]+: refused as a zip bomb", 5e6)


def test_texts_that_expand(path: Path) -> None:
    """What takes much memory from few bytes is refused while it is read."""
    cell = b'<c t="s"><v>0</v></c>'
    share(path, b"<si><t>prize</t></si>", b"<row>%s</row><row><c><v>1</v></c></row>" % cell)
    with pytest.raises(BadFile, match="neither x, y nor lat"):
        files.read(path, limit=3)  # sound, as far as it goes
    share(path, b"<si>" + b"<r>" * 100_000, b"<row>%s</row>" % cell)
    refused(path, f"{TEXTS} is nested more than 100 deep", 5e6)
    share(path, b"<si><t>" + b"a" * 900_000 + b"</t></si>", b"<row>%s</row>" % cell)
    assert path.stat().st_size < 10_000
    refused(path, "a cell of 900000 characters, at most 32767 are read", 20e6)
    share(path, b"<si><t>" + b"ab" * 16_000 + b"</t></si>", (b"<row>" + cell * 1000 + b"</row>") * 4)
    assert path.stat().st_size < 10_000, "four thousand cells of 32,000 characters"
    refused(path, "its cells hold more than the 67108864 characters that are read", 20e6)


def test_a_member_that_lies_about_its_size(path: Path) -> None:
    """The directory claims less than is packed: no more than claimed is unpacked."""
    workbook(path, places=[["x", "y", "prize"], [0, 0, 0], [1, 0, 3]])
    real, fake = SPREAD % (b"", b"<row><c/></row>" * 3_000_000), SPREAD % (b"", b"<row/>")
    replaced(path, SHEET, real)
    data = path.read_bytes()
    sizes = [size.to_bytes(4, "little") for size in (len(real), len(fake))]
    assert data.count(sizes[0]) == 2
    path.write_bytes(data.replace(*sizes))
    refused(path, "not a readable spreadsheet", 5e6)


def test_a_sheet_by_another_name_is_checked_too(path: Path) -> None:
    workbook(path, places=[["x", "y", "prize"], [0, 0, 0], [1, 0, 3]])
    with zipfile.ZipFile(path) as archive:
        links = archive.read("xl/_rels/workbook.xml.rels").replace(b"sheet1.xml", b"sheet1.bin")
    replaced(path, "xl/_rels/workbook.xml.rels", links)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/worksheets/sheet1.bin", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
        archive.writestr("xl/media/picture.png", b"\x89PNG no XML")
    refused(path, "sheet1.bin declares a document type or an entity")


def test_a_sheet_that_ends_late_is_read_soon(path: Path) -> None:
    """What a sheet claims as its dimensions does not count."""
    workbook(path, places=[["x", "y", "prize"], [0, 0, 0], [1, 0, 3]])
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read(SHEET).replace(b'ref="A1:C3"', b'ref="A1:XFD1048576"')
    replaced(path, SHEET, sheet)
    assert files.read(path, limit=3).size == 2


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_members_of_a_sound_archive(data: st.DataObject, folder: Path) -> None:
    path = folder / "sound.xlsx"
    if not path.exists():
        workbook(path, places=[*DAY[:3], ["name", "x", "y", "prize"], ["a", 0, 0, 0], ["b", 1, 2, 3]])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    victim = data.draw(st.sampled_from(sorted(members)))
    members[victim] = data.draw(damaged([members[victim]]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    result_or_bad_file(files.read, folder / "damaged.xlsx", packed.getvalue())


@settings(max_examples=25)
@given(data=st.binary(max_size=80))
def test_random_bytes(data: bytes, folder: Path) -> None:
    result_or_bad_file(files.read, folder / "bytes.xlsx", data)
    result_or_bad_file(files.read_plan, folder / "bytes.xlsx", data)


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_archives(data: st.DataObject, folder: Path) -> None:
    sound = folder / "small.xlsx"
    if not sound.exists():  # once: a workbook holds the time at which it was written
        workbook(sound, places=[["# limit = 9"], ["x", "y", "prize"], [0, 0, 0], [1, 2, 3]])
    result_or_bad_file(files.read, folder / "damaged.xlsx", data.draw(damaged([sound.read_bytes()])))


def test_without_the_extra_a_message_says_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "from orienteer.cli.main import main\n"
        "main(['solve', sys.argv[1], '--limit', '3'])"
    )
    path = workbook(tmp_path / "a.xlsx", places=[["x", "y", "prize"], [0, 0, 0]])
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "orienteer: a spreadsheet needs an optional package: pip install 'orienteer[excel]'\n"
