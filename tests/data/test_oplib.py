"""OPLib and TSPLIB files."""

from pathlib import Path

import numpy as np
import pytest

from orienteer import BadFile, Instance
from orienteer.data import files

HEAD = "NAME : small\nTYPE : OP\nDIMENSION : 4\nCOST_LIMIT : 20\n"
TAIL = "NODE_SCORE_SECTION\n1 0\n2 10\n3 20\n4 30\nDEPOT_SECTION\n1\n-1\nEOF\n"
POINTS = "EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 1\n4 1 1\n"
SMALL = HEAD + POINTS + TAIL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.oplib"


def parsed(path: Path, text: str, **options: object) -> Instance:
    path.write_bytes(text.encode())
    return files.read(path, **options)


def test_a_small_file(path: Path) -> None:
    instance = parsed(path, SMALL)
    assert instance.costs[0].tolist() == [0, 5, 1, 1]
    assert instance.prizes.tolist() == [0, 10, 20, 30]
    assert (instance.limit, instance.start, instance.end) == (20, 0, 0)
    assert instance.coords is not None
    assert instance.coords[1].tolist() == [3, 4]


@pytest.mark.parametrize(
    "other",
    [
        SMALL.replace(" : ", ":"),
        SMALL.replace(" : ", ": "),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\n\n"),
        "\ufeff" + SMALL,
        SMALL.removesuffix("EOF\n"),
        SMALL + "anything after the end",
        SMALL.replace("\n1 ", "\n   1\t "),
        SMALL.replace("1 0 0\n2 3 4\n", "2 3.0 4e0\n1 0 0\n"),
        SMALL.replace("NAME", "TSPSOL : 17\nCOMMENT : one\nCOMMENT : two\nNAME"),
        HEAD + TAIL.removesuffix("EOF\n") + POINTS,
    ],
)
def test_other_ways_to_say_the_same(path: Path, other: str) -> None:
    assert parsed(path, other) == parsed(path, SMALL)


def test_bytes_that_are_no_text_do_no_harm_in_a_comment(path: Path) -> None:
    path.write_bytes(SMALL.replace("small", "Gr\u00f6tschel").encode("latin-1"))
    assert files.read(path).size == 4


@pytest.mark.parametrize(
    ("layout", "weights"),
    [
        ("FULL_MATRIX", "0 1 2 3  1 0 4 5  2 4 0 6  3 5 6 0"),
        ("UPPER_ROW", "1 2 3  4 5  6"),
        ("LOWER_ROW", "1  2 4  3 5 6"),
        ("UPPER_DIAG_ROW", "0 1 2 3  0 4 5  0 6  0"),
        ("LOWER_DIAG_ROW", "0  1 0  2 4 0  3 5 6 0"),
        ("UPPER_COL", "1  2 4  3 5 6"),
        ("LOWER_COL", "1 2 3  4 5  6"),
        ("UPPER_DIAG_COL", "0  1 0  2 4 0  3 5 6 0"),
        ("LOWER_DIAG_COL", "0 1 2 3  0 4 5  0 6  0"),
    ],
)
@pytest.mark.parametrize("gap", ["\n", " "])
def test_layouts_of_a_matrix(path: Path, layout: str, weights: str, gap: str) -> None:
    section = f"EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : {layout}\nEDGE_WEIGHT_SECTION\n"
    instance = parsed(path, HEAD + section + weights.replace("  ", gap) + "\n" + TAIL)
    assert instance.costs.tolist() == [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    assert instance.coords is None


def test_a_full_matrix_keeps_its_direction_and_its_gaps(path: Path) -> None:
    section = "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
    text = HEAD + section + "9 1 2 3\n8 9 7 6\n1 inf 9 1\n1 2 3 9\n"
    text += "DISPLAY_DATA_SECTION\n1 0 0\n2 0 1\n3 1 0\n4 5 5\n"
    instance = parsed(path, text + TAIL)
    assert instance.costs.tolist() == [[9, 1, 2, 3], [8, 9, 7, 6], [1, np.inf, 9, 1], [1, 2, 3, 9]]
    assert instance.coords is not None
    assert instance.coords[3].tolist() == [5, 5]


def test_two_depots_are_start_and_end(path: Path) -> None:
    instance = parsed(path, SMALL.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n4\n2\n"))
    assert (instance.start, instance.end) == (3, 1)


def test_geographic_pictures_have_north_above(path: Path) -> None:
    instance = parsed(path, SMALL.replace("EUC_2D", "GEO").replace("2 3 4", "2 3.30 4.15").replace("20\n", "9999\n", 1))
    assert instance.coords is not None
    assert instance.coords[1].tolist() == pytest.approx([4.25, 3.5])


def test_what_a_tsplib_file_lacks_may_be_given(path: Path) -> None:
    text = SMALL.replace("COST_LIMIT : 20\n", "").replace("DEPOT_SECTION\n1\n-1\n", "").replace(": OP", ": TSP")
    with pytest.raises(BadFile, match="no limit"):
        parsed(path, text)
    instance = parsed(path, text, limit=7, start=2)
    assert (instance.limit, instance.start, instance.end) == (7, 2, 2)


WRONG = [
    (SMALL.replace("DIMENSION : 4", "DIMENSION : 10000000"), 3, "10000000 nodes are more than"),
    (SMALL.replace("DIMENSION : 4", "DIMENSION : 0"), 3, "at least one node"),
    (SMALL.replace("DIMENSION : 4", "DIMENSION : four"), 3, "DIMENSION must be a whole number, got 'four'"),
    (SMALL.replace("DIMENSION : 4\n", ""), 5, "DIMENSION must come before NODE_COORD_SECTION"),
    (SMALL.replace("DIMENSION : 4\n", "DIMENSION : 4\nDIMENSION : 3\n"), 4, "DIMENSION appears twice, first on line 3"),
    (SMALL.replace(": 20", ": 1e999"), 4, "COST_LIMIT is too large"),
    (SMALL.replace(": 20", ": NaN"), 4, "COST_LIMIT must be a number, got 'NaN'"),
    (SMALL.replace(": 20", ": -1"), None, "limit must be positive"),
    (SMALL.replace(": OP", ": CVRP"), 2, "TYPE must be OP"),
    (SMALL.replace("EUC_2D", "XRAY1"), 5, "EDGE_WEIGHT_TYPE must be one of EUC_2D"),
    (SMALL.replace("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), None, "EDGE_WEIGHT_TYPE is missing"),
    (SMALL.replace("2 3 4\n", ""), 6, "NODE_COORD_SECTION lacks node 2"),
    (SMALL.replace("2 3 4", "1 3 4"), 8, "NODE_COORD_SECTION: node 1 appears again, first on line 7"),
    (SMALL.replace("2 3 4", "5 3 4"), 8, "node must be from 1 to 4, got 5"),
    (SMALL.replace("2 3 4", "2 3"), 8, "a line must hold 3 value"),
    (SMALL.replace("2 3 4", "2 3 4\n2 3 4\n2 3 4"), 12, "holds more than 4 lines"),
    (SMALL.replace("2 3 4", "2 3 1_0"), 8, "a coordinate must be a number, got '1_0'"),
    (SMALL.replace("2 3 4", "2 3 \u0661"), 8, "a coordinate must be a number"),
    (SMALL.replace("2 10", "2 -10"), 13, "a score must not be negative"),
    (SMALL.replace("2 10\n", ""), 11, "NODE_SCORE_SECTION lacks node 2"),
    (SMALL[: SMALL.index("NODE_SCORE")], None, "NODE_SCORE_SECTION is missing"),
    (HEAD + "EDGE_WEIGHT_TYPE : ATT\n" + TAIL, None, "NODE_COORD_SECTION is missing, which ATT needs"),
    (SMALL.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n5\n"), 17, "a depot must be from 1 to 4, got 5"),
    (SMALL.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n1\n2\n3\n"), 16, "one depot, or a start and an end, got 3"),
    (SMALL.replace("DEPOT_SECTION\n1\n-1", "DEPOT_SECTION\n-1"), 16, "got 0"),
    (SMALL.replace("-1\n", "-1\n2\n"), 19, "goes on after -1"),
    (SMALL.replace("DEPOT_SECTION", "FIXED_EDGES_SECTION"), 16, "FIXED_EDGES_SECTION is not supported"),
    (SMALL.replace("EOF", "NODE_SCORE_SECTION"), 19, "NODE_SCORE_SECTION appears twice, first on line 11"),
    ("1 2 3\n" + SMALL, 1, "expected 'KEY : value' or a section"),
    (SMALL.replace("NAME : small", "NAME"), 1, "neither 'KEY : value' nor a section"),
    ("", None, "DIMENSION is missing"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_errors_name_the_line(path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.path) == (line, str(path))


@pytest.mark.parametrize(
    ("weights", "line", "message"),
    [
        ("1 2 3 4 5\n", 7, "must hold 6 weights, got 5"),
        ("1 2 3 4\n5 6 7\n", 9, "holds more than the 6 weights"),
        ("1 2 3\n4 -5 6\n", 9, "a weight must not be negative"),
        ("1 2 3\n4 x 6\n", 9, "a weight must be a number"),
    ],
)
def test_errors_in_a_matrix(path: Path, weights: str, line: int, message: str) -> None:
    section = "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\nEDGE_WEIGHT_SECTION\n"
    with pytest.raises(BadFile, match=message) as caught:
        parsed(path, HEAD + section + weights + TAIL)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("EDGE_WEIGHT_FORMAT : FUNCTION\nEDGE_WEIGHT_SECTION\n", "EDGE_WEIGHT_FORMAT must be one of"),
        ("EDGE_WEIGHT_SECTION\n", "EDGE_WEIGHT_FORMAT is missing"),
        ("EDGE_WEIGHT_FORMAT : UPPER_ROW\n", "EDGE_WEIGHT_SECTION is missing"),
    ],
)
def test_errors_about_a_matrix(path: Path, section: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        parsed(path, HEAD + "EDGE_WEIGHT_TYPE : EXPLICIT\n" + section + TAIL)


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT"])
def test_integer_distances_are_written_as_coordinates(path: Path, metric: str) -> None:
    instance = parsed(path, SMALL.replace("EUC_2D", metric).replace("2 3 4", "2 30 42"))
    files.write(instance, path)
    assert f"EDGE_WEIGHT_TYPE : {metric}" in path.read_text()
    assert files.read(path) == instance
