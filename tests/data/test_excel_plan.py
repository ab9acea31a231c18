"""Plans as spreadsheets: what their cells are, and what is read after somebody moved rows and sheets by hand."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from orienteer import BadFile, Instance, Result, Route, check_plan
from orienteer.data import files

openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")

DAY_LENGTH = 24 * 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "day.xlsx"


def three_stops(**fields: Any) -> Result:
    """A plan of two routes, on two days, that visit two and one of five places."""
    routes = [Route(0, 0, 540, 300, "Ana"), Route(0, 0, DAY_LENGTH + 540, 300, "Bo")]
    names = ["hotel", "museum of the history of the town", "park", "castle", "tower"]
    hours = [[(540, 720), (780, 1080)], [(600, 1020)], None]
    windows = [None, None] + [
        None if one is None else [(opens + day, closes + day) for day in (0, DAY_LENGTH) for opens, closes in one]
        for one in hours
    ]
    instance = Instance.from_coords(
        [[0, 0], [3, 4], [0, 1], [5, 5], [9, 7]],
        [0, 2, 1.25, 4, 3],
        **{"limit": 300, "names": names, "routes": routes, "clock": "minutes", "windows": windows} | fields,
        service=[0, 30, 7.5, 60, 20],
    )
    plan = check_plan(instance, [[0, 1, 4, 0], [0, 3, 0]])
    return Result(plan, "stopped", 0, 0, "lns", 0, instance=instance)


def test_times_are_times_and_numbers_have_formats(path: Path) -> None:
    files.write_tour(three_stops(), path)
    book = openpyxl.load_workbook(path)
    first, second = book.worksheets[:2]
    heads = {cell.value: cell.column - 1 for cell in first[1]}
    arrive = first[3][heads["arrive"]]
    assert (arrive.value, arrive.number_format, arrive.is_date) == (datetime.time(9, 5), "hh:mm", True)
    later = second[3][heads["arrive"]]
    assert later.number_format == '"day 2" hh:mm'
    assert later.value.time() == datetime.time(9, 7)
    leg = first[4][heads["leg"]]
    assert (leg.value, leg.number_format) == (pytest.approx(6.708203932499369, rel=1e-14), "0.0")
    assert first.column_dimensions["D"].width >= len("museum of the history of the town")
    assert first.column_dimensions["A"].width < 10
    assert first.freeze_panes == "A2"


def test_places_left_out_have_hours_and_visit_times(path: Path) -> None:
    files.write_tour(three_stops(), path)
    rows = list(openpyxl.load_workbook(path)["left out"].iter_rows(values_only=True))
    assert rows == [
        ("node", "name", "prize", "service", "opens", "closes"),
        (2, "park", 1.25, 7.5, "09:00-12:00;13:00-18:00", None),
    ]
    result = three_stops(windows=[None, None, [(600, 1020)], None, None])
    files.write_tour(result, path)
    rows = list(openpyxl.load_workbook(path)["left out"].iter_rows(values_only=True))
    assert rows[1][4:] == (datetime.time(10), datetime.time(17))


def test_a_plan_without_a_clock_has_numbers_as_times(path: Path) -> None:
    result = three_stops(clock=None)
    files.write_tour(result, path)
    rows = list(openpyxl.load_workbook(path).worksheets[0].iter_rows(min_row=2, values_only=True))
    assert [row[7] for row in rows][:2] == [540, 545]
    assert files.read_plan(path, result.instance) == [[0, 1, 4, 0], [0, 3, 0]]


def changed(path: Path, change: Callable[[Any], None]) -> Path:
    """The plan after somebody has changed the workbook by hand."""
    files.write_tour(three_stops(), path)
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)
    return path


def test_the_order_of_rows_is_the_order_of_stops(path: Path) -> None:
    def swap(book: Any) -> None:
        sheet = book.worksheets[0]
        rows = [[cell.value for cell in sheet[number]] for number in (3, 4)]
        for number, row in zip((4, 3), rows, strict=True):
            for cell, value in zip(sheet[number], row, strict=True):
                cell.value = value

    def move_to_another_sheet(book: Any) -> None:
        ana, bo = book.worksheets[:2]
        moved = [cell.value for cell in ana[4]]
        ana.delete_rows(4)
        bo.insert_rows(3)
        for column, value in enumerate(moved, start=1):
            bo.cell(3, column, value)

    def turn_sheets(book: Any) -> None:
        book.move_sheet(book.worksheets[0], 2)

    def add_sums(book: Any) -> None:
        book.worksheets[0].append([None, None, None, None, None, "=SUM(F2:F5)"])

    def one_sheet(book: Any) -> None:
        for row in list(book.worksheets[1].iter_rows(min_row=2, values_only=True)):
            book.worksheets[0].append(row)
        book.remove(book.worksheets[1])

    def insert(book: Any) -> None:
        book.worksheets[1].insert_rows(3)
        book.worksheets[1]["C3"] = 2

    for change, routes in (
        (swap, [[0, 4, 1, 0], [0, 3, 0]]),
        (move_to_another_sheet, [[0, 1, 0], [0, 4, 3, 0]]),
        (turn_sheets, [[0, 1, 4, 0], [0, 3, 0]]),
        (add_sums, [[0, 1, 4, 0], [0, 3, 0]]),
        (one_sheet, [[0, 1, 4, 0], [0, 3, 0]]),
        (insert, [[0, 1, 4, 0], [0, 2, 3, 0]]),
    ):
        assert files.read_plan(changed(path, change), three_stops().instance) == routes, change.__name__


def test_titles_of_columns_say_what_they_hold(path: Path) -> None:
    """A row above the header, or a column less, and the sheet was left out without a word."""

    def add_title(book: Any) -> None:
        book.worksheets[0].insert_rows(1, 2)
        book.worksheets[0]["A1"] = "Ana, Monday"

    def drop_stop(book: Any) -> None:
        book.worksheets[1].delete_cols(2)

    def names_only(book: Any) -> None:
        for number in (2, 3, 4):
            book.worksheets[0].cell(number, 3).value = None

    for change in (add_title, drop_stop, names_only):
        assert files.read_plan(changed(path, change), three_stops().instance) == [[0, 1, 4, 0], [0, 3, 0]]
    for column, wish in ((1, "route is missing"), (3, "node is missing")):
        message = rf"'Route 2 \(Bo\)', row 1: the header of a plan must have the columns route and node, {wish}"
        with pytest.raises(BadFile, match=message):
            files.read_plan(changed(path, lambda book: book.worksheets[1].delete_cols(column)))  # noqa: B023


def test_rows_that_name_no_place(path: Path) -> None:
    def name(text: str) -> Callable[[Any], None]:
        return lambda book: book.worksheets[0].append([None, None, None, text])

    instance = three_stops().instance
    for text, message in (
        ("Total", "row 6: no place is called 'Total'; a stop needs a node or the name of a place, and a row of sums"),
        ("towr", r"no place is called 'towr'; did you mean 'tower'\?$"),
    ):
        with pytest.raises(BadFile, match=message):
            files.read_plan(changed(path, name(text)), instance)
    with pytest.raises(BadFile, match="row 6: the row 'Total' has no node"):
        files.read_plan(changed(path, name("Total")))
    twins = three_stops(names=["hotel", "museum of the history of the town", "tower ", "castle", "tower"]).instance
    with pytest.raises(BadFile, match="several places are called 'tower': the row needs a node"):
        files.read_plan(changed(path, name("tower")), twins)


def test_errors_name_the_sheet_and_the_row(path: Path) -> None:
    def put(sheet: int, cell: str, value: Any) -> Callable[[Any], None]:
        def change(book: Any) -> None:
            book.worksheets[sheet][cell] = value

        return change

    for change, message in (
        (put(1, "C3", "x"), r"day.xlsx: sheet 'Route 2 \(Bo\)', row 3: node must be a whole number, got 'x'"),
        (put(1, "D3", "tower"), r"sheet 'Route 2 \(Bo\)', row 3: node 3 is called 'castle', but the row's name is"),
        (put(1, "A2", 1), r"sheet 'Route 2 \(Bo\)', row 2: its first row says route 1, and so does another sheet"),
        (
            put(1, "A2", 3),
            r"there is a route 3, but none is Route 2 \(Bo\): they are counted from 1, and an idle one is its start",
        ),
        (put(1, "A2", "b"), "row 2: route must be a whole number, got 'b'"),
        (put(0, "C3", -1), "row 3: nodes are counted from 0, got -1"),
    ):
        with pytest.raises(BadFile, match=message):
            files.read_plan(changed(path, change), three_stops().instance)


def test_check_writes_the_times_of_a_plan_that_was_changed(cli: Cli, path: Path) -> None:
    """After rows had been turned by hand, the workbook still had the old times."""

    def move(book: Any) -> None:
        book.worksheets[0].move_range("A3:K3", rows=10)

    problem, new = path.parent / "problem.json", path.parent / "new.xlsx"
    instance = three_stops().instance
    assert instance is not None
    files.write(instance, problem)
    changed(path, move)
    assert cli("check", problem, path, "--out", new).status == 1
    book = openpyxl.load_workbook(path)
    book.worksheets[0].move_range("A5:K5", rows=10)
    book.save(path)
    assert cli("check", problem, path, "--out", new).out.startswith("feasible: prize 9")
    assert files.read_plan(new, instance) == [[0, 4, 1, 0], [0, 3, 0]]
    rows = list(openpyxl.load_workbook(new).worksheets[0].iter_rows(min_row=2, values_only=True))
    assert [(row[1], row[3], row[7]) for row in rows[:2]] == [
        (0, "hotel", datetime.time(9)),
        (1, "tower", datetime.time(9, 11)),
    ]
    assert cli("check", problem, path, "--out", path).status == 2
