"""Results in a folder: what is written survives, what is not is missing, and another command is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import BadFile
from orienteer.data import result_parts
from orienteer.data.files import read_plan, read_results
from orienteer.data.npz import BatchResult, joined, load_results
from orienteer.data.result_parts import MANIFEST, ResultParts

COMMAND = {"solver": "lns", "seed": 3, "settings": {"tau": float("inf")}}


def results(begin: int, end: int, routes: int = 1, stops: int = 3) -> BatchResult:
    """Results by which one can tell which instances they are of; every third has no plan."""
    numbers = np.arange(begin, end)
    prize = np.where(numbers % 3 == 2, np.nan, numbers + 0.5)
    tour = np.broadcast_to(numbers.astype(np.int32)[:, None, None], (len(numbers), routes, stops)).copy()
    tour[numbers % 3 == 2] = -1
    return BatchResult(prize, prize, numbers * 0.1, tour if routes > 1 else tour[:, 0])


def same(one: BatchResult, other: BatchResult) -> None:
    for field in ("prize", "cost", "seconds", "tour"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.integers(1, 2), st.integers(1, 4)), max_size=8))
def test_what_was_written_is_there_again(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[int, bool, int, int]]
) -> None:
    """Answers of any sizes, with a kill after some of them: the folder has all up to the last part, and no more."""
    total, folder = 40, tmp_path_factory.mktemp("out") / "results"
    kept: list[BatchResult] = []
    for count, killed, routes, stops in answers:
        with ResultParts(folder, COMMAND, total) as parts:
            begin = sum(map(len, kept))
            assert parts.missing() == [range(begin, total)]
            answer = results(begin, begin + count, routes, stops)
            parts.add(begin, answer)
            if not killed:  # after a kill nothing is written any more
                parts.flush()
                kept.append(answer)
    if not kept:
        assert not folder.exists()
        return
    same(read_results(folder), joined(kept))
    with ResultParts(folder, COMMAND, total) as parts:
        assert parts.join(folder.parent / "r.npz") == len(parts) == sum(map(len, kept))
        assert parts.totals.found == sum(int((~np.isnan(part.prize)).sum()) for part in kept)
    same(load_results(folder.parent / "r.npz"), joined(kept))


def test_parts_are_written_by_the_clock_and_by_the_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(result_parts, "MOST_ROWS", 4)
    with ResultParts(tmp_path / "out", COMMAND, 100, clock) as parts:
        parts.add(0, results(0, 1))
        assert not (tmp_path / "out").exists()
        clock.now = 2.0
        parts.add(1, results(1, 2))
        parts.add(2, results(2, 5))
        clock.now = 3.9
        parts.add(5, results(5, 9))
        clock.now = 1000.0
        parts.add(9, results(9, 10))
        clock.now = 1019.9
        parts.add(10, results(10, 11))
        clock.now = 1020.5
        parts.add(11, results(11, 12))
    assert [(part.begin, part.end) for part in parts.parts] == [(0, 2), (2, 9), (9, 10), (10, 12)]


def test_a_lost_part_is_solved_again(tmp_path: Path) -> None:
    with ResultParts(tmp_path, COMMAND, 9) as parts:
        for begin in (0, 3, 6):
            parts.add(begin, results(begin, begin + 3))
            parts.flush()
        middle = parts.parts[1].path
    middle.unlink()
    with pytest.raises(BadFile, match="results of the instances from 3 to 5 are missing"):
        read_results(tmp_path)
    with ResultParts(tmp_path, COMMAND, 9) as parts:
        assert parts.missing() == [range(3, 6)]
        assert parts.join(tmp_path / "r.npz") == 3
        parts.add(3, results(3, 6))
        parts.flush()
        assert parts.missing() == []
    same(read_results(tmp_path), results(0, 9))
    assert read_plan(tmp_path, index=4) == [[4, 4, 4]]
    with pytest.raises(BadFile, match="there is no plan for instance 5"):
        read_plan(tmp_path, index=5)
    with pytest.raises(BadFile, match="there is no result of instance 9"):
        read_plan(tmp_path, index=9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solver": "tsili"}, "whose solver is 'lns', not 'tsili'; name another --out or delete this folder"),
        ({"seed": 4}, "whose seed is 3, not 4"),
        ({"settings": {}}, "whose settings is {'tau': 'Infinity'}, not {}"),
        ({"more": 1}, "whose more is None, not 1"),
    ],
)
def test_another_command_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with ResultParts(tmp_path / "out", COMMAND, 9) as parts:
        parts.make()
    with pytest.raises(BadFile) as error, ResultParts(tmp_path / "out", COMMAND | change, 9):
        pass
    assert f"holds results of another command, {message}" in str(error.value)
    with pytest.raises(BadFile, match="whose instances is 9, not 8"), ResultParts(tmp_path / "out", COMMAND, 8):
        pass


def test_two_runs_at_a_time_are_refused(tmp_path: Path) -> None:
    with ResultParts(tmp_path / "out", COMMAND, 9) as parts:
        parts.make()
        with pytest.raises(BadFile, match="is being written by another run"), ResultParts(tmp_path / "out", COMMAND, 9):
            pass
    with ResultParts(tmp_path / "out", COMMAND, 9):
        pass


def test_folders_of_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with (
        pytest.raises(BadFile, match=r"is no folder of results: it has no manifest\.json, but 'thesis\.txt'"),
        ResultParts(tmp_path, COMMAND, 9),
    ):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="is not a directory"), ResultParts(tmp_path / "file", COMMAND, 9):
        pass


@pytest.mark.parametrize("text", ["[]", "{", '{"solver": NaN}', "3"])
def test_a_bad_manifest_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(BadFile, match=r"manifest\.json"), ResultParts(tmp_path, COMMAND, 9):
        pass


def test_a_bad_part_is_told(tmp_path: Path) -> None:
    with ResultParts(tmp_path, COMMAND, 9) as parts:
        parts.add(0, results(0, 3))
        parts.flush()
        first = parts.parts[0].path
    assert json.loads((tmp_path / MANIFEST).read_text())["solver"] == "lns"
    for name in ("results-0000000002-0000000005.npz", "results-0000000003-0000000005.npz"):
        (tmp_path / name).write_bytes(first.read_bytes())
        with pytest.raises(BadFile, match=f"{name}: does not fit the other parts"), ResultParts(tmp_path, COMMAND, 9):
            pass
        (tmp_path / name).unlink()
    first.write_bytes(first.read_bytes()[:-9])
    with pytest.raises(BadFile, match="not a readable NPZ file"), ResultParts(tmp_path, COMMAND, 9):
        pass


def test_drafts_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    with ResultParts(tmp_path / "out", COMMAND, 9) as parts:
        parts.make()
    draft = tmp_path / "out" / ".results-0000000000-0000000003.npz.77.part"
    draft.write_bytes(b"half")
    with ResultParts(tmp_path / "out", COMMAND, 9) as parts:
        assert parts.missing() == [range(9)]
    assert not draft.exists()
