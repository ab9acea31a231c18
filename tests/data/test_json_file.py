"""JSON files of problems and results."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orienteer import BadFile, Instance, Plan, Result, Tour
from orienteer.data import files

SMALL: dict[str, Any] = {"limit": 12, "prizes": [0, 2.5, 1], "coords": [[0, 0], [3, 4], [0, 1]]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.json"


def parsed(path: Path, data: Any, **options: object) -> Instance:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return files.read(path, **options)


def test_a_small_file(path: Path) -> None:
    instance = parsed(path, SMALL)
    assert instance == Instance.from_coords([[0, 0], [3, 4], [0, 1]], [0, 2.5, 1], 12)
    assert parsed(path, SMALL | {"metric": "manhattan"}).costs[0].tolist() == [0, 7, 1]
    assert parsed(path, "\ufeff" + json.dumps(SMALL)) == instance


def test_all_there_is(path: Path) -> None:
    data = {"limit": 3, "prizes": [1, 2], "costs": [[0, None], [1.5, 0]], "names": ["a", "b"], "start": "b", "end": 0}
    instance = parsed(path, data | {"coords": None, "comment": "anything"})
    wish = Instance(np.array([[0, np.inf], [1.5, 0]]), np.array([1.0, 2.0]), 3, 1, 0, names=("a", "b"))
    assert instance == wish


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limit": "12"}, "limit must be a number, got '12'"),
        ({"limit": True}, "limit must be a number, got True"),
        ({"limit": None}, "no limit"),
        ({"limit": -1}, "limit must be positive"),
        ({"limit": 2**53 + 1}, "limit must be a number of at most 2**53"),
        ({"prizes": None}, "prizes is missing"),
        ({"prizes": []}, "at least one node"),
        ({"prizes": [0, 1, "x"]}, "prizes[2] must be a number, got 'x'"),
        ({"prizes": [0, 1, None]}, "prizes[2] must be a number, got None"),
        ({"prizes": [0, 1, -1]}, "prizes[2] must not be negative, got -1"),
        ({"prizes": [0, 1, 10**40]}, "prizes[2] must be a number of at most 2**53"),
        ({"coords": [[0, 0], [3, 4]]}, "coords must be a list of 3 rows, one a node, got 2 rows"),
        ({"coords": [[0, 0], [3, 4], [0]]}, "coords[2] must be a list of 2 numbers, got 1"),
        ({"coords": None}, "costs or coords are missing"),
        ({"costs": [[0, 1, 2]] * 2}, "costs must be a list of 3 rows"),
        ({"costs": [[0, 1, 2], [0, 1, 2], 3]}, "costs[2] must be a list of 3 numbers, got 3"),
        ({"costs": [[0, 1, 2]] * 3, "metric": "euclidean"}, "exclude each other"),
        ({"metric": "taxi"}, "metric must be one of euclidean"),
        ({"metric": ["euclidean"]}, "metric must be one of"),
        ({"names": ["a", "b", 3]}, "names must be a list of texts"),
        ({"names": ["a", "b", "a"]}, "names[2] repeats names[0]"),
        ({"start": 3}, "start must be a node from 0 to 2"),
        ({"end": "nowhere"}, "end: no place is called 'nowhere'"),
        ({"start": 0.0}, "start must be a node's number or name, got 0.0"),
        ({"start": False}, "start must be a node's number or name, got False"),
        ({"limt": 3}, "unknown key 'limt'"),
    ],
)
def test_errors_name_the_field(path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, SMALL | change)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "not JSON"),
        ('{"limit": 3,\n"prizes": [1,\n2', 3, "not JSON"),
        ("[]", None, "a problem must be a JSON object"),
        ("{}", None, "prizes is missing"),
        ('{"limit": NaN}', None, "NaN is not JSON"),
        ('{"limit": -Infinity}', None, "-Infinity is not JSON"),
        ('{"limit": 1e999}', None, "the number '1e999' is too large"),
        ('{"limit": ' + "9" * 5000 + "}", None, "Exceeds the limit"),
        ('{"limit": 1, "limit": 2}', None, "the key 'limit' appears twice"),
        ("[" * 100_000, None, "nested too deeply"),
    ],
)
def test_errors_of_the_text(path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parsed(path, text)
    assert message in caught.value.message
    assert caught.value.line == line


def test_bytes_that_are_no_text(path: Path) -> None:
    path.write_bytes(b'{"limit": 3,\n"names": ["\xff"]}')
    with pytest.raises(BadFile, match="byte 0xff is not UTF-8 text") as caught:
        files.read(path)
    assert caught.value.line == 2


def test_results(path: Path) -> None:
    result = Result(Plan.of(Tour((0, 2, 0), 1.0, 2.0)), "stopped", 0.5, 3, "lns", 1, settings={"a": 1})
    path.write_text(result.to_json())
    assert files.read_result(path) == result
    for key, value, message in (
        ("routes", 3, "not a result"),
        ("status", "done", "status must be"),
        ("trace", [1], "not a result"),
    ):
        path.write_text(json.dumps(result.to_dict() | {key: value}))
        with pytest.raises(BadFile, match=message):
            files.read_result(path)
    path.write_text("{}")
    with pytest.raises(BadFile, match="a result needs the key 'status'"):
        files.read_result(path)
