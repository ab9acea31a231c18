"""Tsiligirides' and Chao's text files."""

from pathlib import Path

import pytest

from orienteer import BadFile
from orienteer.data import files

SMALL = "15\t1\n0.0\t-7.0\t0\n0\t7\t0\n-1.5\t-6e0\t6\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.txt"


@pytest.mark.parametrize("text", [SMALL, SMALL.replace("\n", "\r\n"), "\ufeff\n" + SMALL + "\n\n", SMALL.rstrip("\n")])
def test_a_small_file(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
    instance = files.read(path)
    assert (instance.limit, instance.start, instance.end) == (15, 0, 1)
    assert instance.prizes.tolist() == [0, 0, 6]
    assert instance.costs[0].tolist() == [0, 14, (1.5**2 + 1) ** 0.5]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the first line must be 'Tmax P', got 0"),
        (SMALL.replace("15\t1", "15"), 1, "got 1 values"),
        (SMALL.replace("15\t1", "15 4"), 1, "P must be 1, a single route, got 4"),
        (SMALL.replace("15\t1", "many 1"), 1, "Tmax must be a number"),
        (SMALL.replace("15\t1", "13.9 1"), None, "limit 13.9 is below 14"),
        (SMALL.replace("0\t7\t0", "0\t7"), 3, "a point must be 'x y score', got 2"),
        (SMALL.replace("0\t7\t0", "0\tseven\t0"), 3, "y must be a number, got 'seven'"),
        (SMALL.replace("0\t7\t0", "0\t7\t-1"), 3, "score must not be negative"),
        (SMALL.replace("0\t7\t0", "0\t7e999\t1"), 3, "y is too large"),
        (SMALL.replace("0\t7\t0", "0\tinf\t1"), 3, "y must be a number"),
        ("15 1\n0 0 0\n", 2, "a start and an end are needed, got 1"),
        ("9" * 500 + " 1\n", 1, "Tmax is too large: '999"),
        ("15 1\n0 0 0\n1e300 1e300 0\n", None, "coords 0 and 1 are too far apart"),
    ],
)
def test_errors_name_the_line(path: Path, text: str, line: int | None, message: str) -> None:
    path.write_bytes(text.encode())
    with pytest.raises(BadFile) as caught:
        files.read(path)
    assert message in caught.value.message
    assert caught.value.line == line
