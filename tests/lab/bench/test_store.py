"""Lines of results: whole, or not there."""

import json
from pathlib import Path

import pytest

from orienteer import BadFile, OrienteerError
from orienteer.lab.bench.store import Store, read_entries


def line(index: int, **more: object) -> dict[str, object]:
    return {"key": "k", "set": "s", "index": index, **more}


def test_what_is_added_is_read_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add([line(0, prize=0.1), line(1, prize=2.0)])
        assert store.entries["k", "s", 0]["prize"] == 0.1
    with Store(tmp_path) as store:
        assert sorted(index for _, _, index in store.entries) == [0, 1]


@pytest.mark.parametrize("torn", [b'{"key": "k", "se', b"{", json.dumps(line(1)).encode(), b"\x00\x00"])
def test_a_torn_last_line_is_dropped(tmp_path: Path, torn: bytes) -> None:
    """A kill may cut the last line anywhere, even before its end-of-line alone."""
    path = tmp_path / "results.jsonl"
    path.write_bytes(json.dumps(line(0)).encode() + b"\n" + torn)
    assert list(read_entries([tmp_path])) == [("k", "s", 0)]
    with Store(tmp_path) as store:
        assert list(store.entries) == [("k", "s", 0)]
        store.add([line(1, prize=3)])
    assert [json.loads(text) for text in path.read_text().splitlines()] == [line(0), line(1, prize=3)]


def test_a_wrong_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    """No kill leaves one: somebody else wrote it, and dropping it silently could lose a result."""
    (tmp_path / "results.jsonl").write_text("hello\n" + json.dumps(line(0)) + "\n")
    with pytest.raises(BadFile, match=r"results.jsonl:1: is no line of results"):
        Store(tmp_path)
    (tmp_path / "results.jsonl").write_text('{"key": "k"}\n')
    with pytest.raises(BadFile, match=":1:"):
        Store(tmp_path)


def test_routes_stay_in_the_file_unless_asked_for(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add([line(0, tour=[0, 1, 0])])
        assert store.entries["k", "s", 0] == line(0)
    assert read_entries([tmp_path]) == {("k", "s", 0): line(0)}
    with Store(tmp_path, tours=True) as store:
        assert store.entries["k", "s", 0] == line(0, tour=[0, 1, 0])


def test_two_processes_cannot_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with Store(tmp_path), pytest.raises(OrienteerError, match="being written by another run"):
        Store(tmp_path)
    with Store(tmp_path), Store(tmp_path, "results-2-of-2"):
        pass


def test_a_failure_never_stands_above_a_result(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add([line(0, error="no"), line(0, prize=1.0), line(0, error="again"), line(1, error="no")])
    found = read_entries([tmp_path])
    assert found["k", "s", 0]["prize"] == 1.0
    assert found["k", "s", 1]["error"] == "no"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(BadFile, match="cannot be written"):
        Store(tmp_path)
