"""CSV files of points, and of matrices."""

from pathlib import Path

import numpy as np
import pytest

from orienteer import BadFile, Instance
from orienteer.data import files
from orienteer.data.columns import ACCEPTED

SMALL = '# a round trip\n# limit = 12.5\nname,x,y,prize\ndepot,0,0,0\n"b, c",3,4,2.5\nd,0,1,10\n'
BARE = "name,prize\na,0\nb,3\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.csv"


def parsed(path: Path, text: str, **options: object) -> Instance:
    path.write_bytes(text.encode())
    return files.read(path, **options)


def test_a_small_file(path: Path) -> None:
    instance = parsed(path, SMALL)
    assert instance.names == ("depot", "b, c", "d")
    assert instance.prizes.tolist() == [0, 2.5, 10]
    assert instance.costs[0].tolist() == [0, 5, 1]
    assert (instance.limit, instance.start, instance.end) == (12.5, 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\r"),
        "\ufeff\n" + SMALL + "\n,,,\n\n",
        SMALL.replace(",", ";").replace("b; c", "b, c"),
        SMALL.replace(",", "\t").replace("b\t c", "b, c"),
        SMALL.replace("name,x,y,prize", " Name , X, y ,SCORE"),
        SMALL.replace("# limit = 12.5", "#Limit=12.5,,,"),
        SMALL.replace("\n", ",note\n").replace("# limit = 12.5,note", "# limit = 12.5"),
        SMALL.replace("12.5", "12.5\n# metric = euclidean\n# start = 0\n# end = depot"),
    ],
)
def test_other_ways_to_say_the_same(path: Path, other: str) -> None:
    assert parsed(path, other) == parsed(path, SMALL)


COMMAS = SMALL.replace(",", ";").replace("b; c", "b, c").replace("2.5", "2,5")


@pytest.mark.parametrize("other", [COMMAS, COMMAS.replace(";", "\t"), COMMAS.replace("2,5\nd", '"2,5"\nd')])
def test_decimal_commas(path: Path, other: str) -> None:
    assert parsed(path, other) == parsed(path, SMALL)


def test_texts_keep_their_commas(path: Path) -> None:
    text = "# limit = 9,5\nname;x;y;prize;group;windows\n1,5;0;0;0;;\nb;3;4,5;1;2,5;1-2,3-4\nc;1;1;1;2,5;\n"
    instance = parsed(path, text)
    assert instance.names == ("1,5", "b", "c")
    assert (instance.limit, instance.windows) == (9.5, (None, ((1, 2), (3, 4)), None))


def test_commas_and_points_together_are_no_decimal_commas(path: Path) -> None:
    with pytest.raises(BadFile, match="prize must be a number, got '2,5'"):
        parsed(path, COMMAS.replace(";10", ";10.5"))
    with pytest.raises(BadFile, match="prize must be a number, got '2,5'"):
        parsed(path, SMALL.replace("2.5", '"2,5"'))


def test_a_matrix_with_decimal_commas(path: Path) -> None:
    other = path.with_name("hours.csv")
    other.write_text("0;1,5\n;0\n")
    assert parsed(path, BARE, matrix=other, limit=9).costs[0, 1] == 1.5


def test_flags_and_places_to_avoid(path: Path) -> None:
    flagged = parsed(path, "# limit = 9\nx,y,prize,start,end,avoid\n0,0,0,,x,\n1,0,1,yes,,\n2,0,1,,,x\n")
    assert (flagged.start, flagged.end, flagged.costs[0, 2]) == (1, 0, np.inf)
    with pytest.raises(BadFile, match="start is the second start; there is one") as caught:
        parsed(path, "# limit = 9\nx,y,prize,start\n0,0,0,x\n1,0,1,x\n")
    assert caught.value.line == 4


def test_columns_of_times_are_no_flags(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert parsed(path, "# limit = 9\nx,y,prize,start\n0,0,0,09:00\n1,0,1,10:00\n").start == 0
    assert "1 column is not used: 'start'" in caplog.messages[0]


def test_what_is_given_stands_above_what_is_written(path: Path) -> None:
    instance = parsed(path, SMALL, limit=30, start="d", end=1)
    assert (instance.limit, instance.start, instance.end) == (30, 2, 1)
    assert parsed(path, SMALL, metric="manhattan").costs[0].tolist() == [0, 7, 1]


def test_a_route_ends_where_it_starts_unless_said(path: Path) -> None:
    instance = parsed(path, SMALL.replace("# limit", "# start = d\n# limit"))
    assert (instance.start, instance.end) == (2, 2)


def test_numbers_win_over_names(path: Path) -> None:
    """A number is a row's number even where names are numbers: else rows of such a table had no number."""
    text = SMALL.replace("depot", "2").replace("\nd,", "\n0,")
    assert parsed(path, text, start="2").start == 2


def test_latitude_and_longitude_are_metres_on_the_earth(path: Path) -> None:
    instance = parsed(path, "# limit = 1e6\nlongitude,latitude,profit\n8.5,50,0\n8.5,51,1\n")
    assert instance.costs[0, 1] == pytest.approx(111_195, abs=1)
    assert instance.coords is not None
    assert instance.coords.tolist() == [[8.5, 50], [8.5, 51]]
    assert instance.names is None


@pytest.mark.parametrize(
    "matrix", ["0,1.5\n,0\n", "0;1.5\ninf;0\n", ",a,b\na,0,1.5\nb,inf,0\n", "# hours\n0,1.5\n ,0\n"]
)
def test_a_matrix(path: Path, matrix: str) -> None:
    other = path.with_name("hours.csv")
    other.write_text(matrix)
    wish = Instance(np.array([[0, 1.5], [np.inf, 0]]), np.array([0.0, 3.0]), 9.0, names=("a", "b"))
    assert parsed(path, BARE, matrix=other, limit=9) == wish
    assert parsed(path, "# limit = 9\n# matrix = hours.csv\n" + BARE) == wish


@pytest.mark.parametrize(
    ("matrix", "line", "message"),
    [
        ("0,1\n", None, "must have 2 rows, one a point, got 1"),
        ("0,1\n1,0\n1,1\n", 3, "more than 2 rows, one a point"),
        (",a,b\na,0,1\nb,1,0\nc,1,1\n", 4, "more than 2 rows, one a point"),
        (",\n", 1, "must have 2 numbers, got 0"),
        ("0\n", 1, "must have 2 numbers, got 1"),
        ("0,1\n1,0,3\n", 2, "must have 2 numbers, got 3"),
        ("0,1\n1,-1\n", 2, "a cost must not be negative"),
        ("0,1\n1,nan\n", 2, "a cost must be a number"),
        (",b,a\na,0,1\nb,1,0\n", 1, "must hold the points' names"),
        (",a,b\nb,0,1\na,1,0\n", 2, "must begin with its name 'a'"),
        ("", None, "there is no table"),
    ],
)
def test_errors_in_a_matrix(path: Path, matrix: str, line: int | None, message: str) -> None:
    other = path.with_name("hours.csv")
    other.write_text(matrix)
    with pytest.raises(BadFile, match=message) as caught:
        parsed(path, BARE, matrix=other, limit=9)
    assert (caught.value.path, caught.value.line) == (str(other), line)


def test_a_file_cannot_point_out_of_its_folder(path: Path) -> None:
    for elsewhere in ("/etc/passwd", "../other.csv", "sub/other.csv", "..", "."):
        with pytest.raises(BadFile, match=r"same folder|cannot be read"):
            parsed(path, f"# limit = 9\n# matrix = {elsewhere}\n" + BARE)
    with pytest.raises(BadFile, match="cannot be read: No such file"):
        parsed(path, "# limit = 9\n# matrix = absent.csv\n" + BARE)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "there is no table"),
        ("# limit = 3\n", None, "there is no table"),
        (SMALL.replace("# limit = 12.5\n", ""), None, "no limit"),
        (SMALL.replace("12.5", "much"), 2, "limit must be a number or hours and minutes such as 1:30, got 'much'"),
        (SMALL.replace("# limit", "# limmit"), 2, "unknown setting 'limmit'"),
        (SMALL.replace("# limit", "# limit = 1\n# limit"), 3, "limit is set twice, first on line 2"),
        (
            SMALL.replace("12.5", "12.5\n# start = nowhere"),
            None,
            "start: no place is called 'nowhere'",
        ),
        (SMALL.replace("12.5", "12.5\n# start = 7"), None, "start must be a node from 0 to 2, got 7"),
        (SMALL.replace("12.5", "12.5\n# metric = great_circle"), None, "great_circle goes with lat, lon"),
        (SMALL.replace("12.5", "12.5\n# metric = taxi"), None, "metric must be one of"),
        (SMALL.replace("prize", "price"), 3, "the header has no column prize"),
        (SMALL.replace("x,y", "x,lat"), 3, "the header needs both x and y"),
        (SMALL.replace("x,y", "x,x"), 3, "the header names x twice"),
        ("lat,lon,x,y,prize\n", 1, "not both"),
        (SMALL.replace("3,4,2.5", "3,4"), 5, "a row must have 4 cells like the header, got 3"),
        (SMALL.replace("3,4,2.5", "3,four,2.5"), 5, "y must be a number, got 'four'"),
        (SMALL.replace("3,4,2.5", "3,4,-2.5"), 5, "prize must not be negative"),
        (SMALL.replace("3,4,2.5", "3,4,"), 5, "prize must be a number, but the cell is empty"),
        (SMALL.replace('"b, c"', '"b'), 6, "not CSV"),
        (SMALL.replace('"b, c"', '"b\nc\nd"').replace("10", "ten"), 8, "prize must be a number, got 'ten'"),
        (SMALL.replace('"b, c"', "depot"), 5, "the name 'depot' appears again, first on line 4"),
        (SMALL.replace("x,y", "lat,lon").replace("3,4", "91,4"), 5, "lat must be from -90 to 90 degrees, got 91"),
        (BARE, None, "neither x, y nor lat, lon columns, nor a matrix"),
        ("# limit = 1\nx,y,prize\n", None, "at least one node"),
    ],
)
def test_errors_name_the_line(path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, text)
    assert message in caught.value.message
    assert caught.value.line == line


def test_bytes_that_are_no_text(path: Path) -> None:
    path.write_bytes(SMALL.replace("depot", "D\u00e9p\u00f4t").encode("latin-1"))
    with pytest.raises(BadFile, match="byte 0xe9 is not UTF-8 text") as caught:
        files.read(path)
    assert caught.value.line == 4


TITLES = f"columns are {ACCEPTED}"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("name,x,y,scores", f"no column prize, only 'name, x, y, scores'; {TITLES}; did you mean 'score' by 'scores'?"),
        ("0,0,0,0", f"the first row must name the columns, got '0, 0, 0, 0'; {TITLES}"),
        ("name,lat,longitud,prize", f"needs both lat and lon; {TITLES}; did you mean 'longitude' by 'longitud'?"),
        ("name,east,north,prize", f"neither x, y nor lat, lon columns, nor a matrix; {TITLES}"),
    ],
)
def test_messages_list_the_columns_and_suggest_names(path: Path, header: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, f"# limit = 3\n{header}\na,0,0,0\nb,1,1,2\n")
    assert caught.value.message.endswith(message)


def test_a_misspelt_setting_gets_a_suggestion(path: Path) -> None:
    with pytest.raises(BadFile, match=r"unknown setting 'limt'; known are limit, .*; did you mean 'limit'\?"):
        parsed(path, SMALL.replace("limit", "limt"))
    with pytest.raises(BadFile, match=r"got 'manhatan'; did you mean 'manhattan'\?"):
        parsed(path, SMALL, metric="manhatan")


@pytest.mark.parametrize(
    ("title", "cells", "warned"),
    [
        ("age", ("0", "20", "45"), True),
        ("visited", ("", "09:00", "10:30 am"), True),
        ("Monday", ("", "9:00-17:00", ""), True),
        ("priority", ("3", "1", "2"), True),
        ("scores", ("1", "1.5", "2"), True),
        ("mandatory", ("no", "yes", ""), True),
        ("visit", ("2026-05-01", "2026-05-02", ""), True),
        ("price", ("8 EUR", "free", "?"), False),  # it might be a typo, but there is a column prize
        ("note", ("", "bring water", "3 stars"), False),
        ("address", ("1 Main St", "2 Main St", "3 Main St"), False),
        ("id", ("17", "4", "99"), False),
        ("", ("0", "1", "2"), False),
        ("row", ("1", "2", "3"), False),
        ("closed", ("", "", ""), False),
    ],
)
def test_columns_that_seem_to_matter_are_named(
    path: Path, caplog: pytest.LogCaptureFixture, title: str, cells: tuple[str, ...], warned: bool
) -> None:
    lines = SMALL.splitlines()
    table = "\n".join([*lines[:2], *(f"{line},{cell}" for line, cell in zip(lines[2:], (title, *cells), strict=True))])
    assert parsed(path, table) == parsed(path, SMALL)
    accepted = TITLES.removeprefix("columns are ")
    wanted = [f"{path}: 1 column is not used: {title!r}; those that are: {accepted}"] if warned else []
    assert caplog.messages == wanted


def test_a_column_that_may_hold_the_names_is_named(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert parsed(path, SMALL.replace("name", "nmae").replace("depot", "1")).names is None
    assert caplog.messages[0].endswith("; did you mean 'name' by 'nmae'?")


def test_a_column_that_may_hold_opening_hours_is_named(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert parsed(path, "# limit = 9\nx,y,prize,open\n0,0,0,\n1,0,3,9:00-17:00\n").windows is None
    assert caplog.messages[0].endswith("; did you mean 'opens' by 'open'?")


@pytest.mark.parametrize("title", ["title", "Job", "place"])
def test_a_column_of_names_by_another_title_is_told(path: Path, caplog: pytest.LogCaptureFixture, title: str) -> None:
    """Places were called 0, 1 and 2, without a word."""
    assert parsed(path, f"{title},x,y,prize\nDepot,0,0,0\nLake,3,4,1\n", limit=9).names is None
    assert f"did you mean 'name' by '{title}'?" in caplog.text
    caplog.clear()
    assert parsed(path, f"{title},name,x,y,prize\nDepot,A,0,0,0\nLake,B,3,4,1\n", limit=9).names == ("A", "B")
    assert caplog.text == ""


def test_a_long_text_in_a_message_has_both_quotes(path: Path) -> None:
    titles = ",".join(f"column {number}" for number in range(20))
    with pytest.raises(BadFile, match=r"no column prize, only 'column 0, column 1, [^']*\.\.\.'; columns are"):
        parsed(path, f"{titles}\n")
