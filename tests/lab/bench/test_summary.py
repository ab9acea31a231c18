"""Means, errors and gaps, by hand."""

from pathlib import Path

import pytest

from orienteer import BadFile
from orienteer.data.generate import generate
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.lab.bench.summary import Row, contradictions, failures, proven_optima, read_optima, summarise

SET = NamedSet("s", generate(5, count=3))
ROWS = [Row("good", "g"), Row("bad", "b"), Row("half", "h")]


def lines(key: str, prizes: list[float | None], **more: object) -> dict[Place, Entry]:
    found: dict[Place, Entry] = {}
    for index, prize in enumerate(prizes):
        entry: Entry = {"key": key, "set": "s", "index": index, "instance": SET.digests[index]}
        if prize is None:
            entry["error"] = "ValueError: no"
        else:
            entry |= {"prize": prize, "seconds": 2.0, "cpu": 1.0, "status": "stopped", **more}
        found[key, "s", index] = entry
    return found


ENTRIES = {**lines("g", [2.0, 4.0, 6.0], passes=7.0), **lines("b", [1.0, 2.0, 3.0]), **lines("h", [9.0, None])}


def test_means_errors_and_gaps() -> None:
    good, bad, half = summarise(ENTRIES, ROWS, SET, {("s", 0): 2.0, ("s", 1): 5.0, ("other", 0): 1.0})
    assert (good.prize, good.seconds, good.cpu, good.passes, good.gap) == (4.0, 2.0, 1.0, 7.0, 0.0)
    assert good.error == pytest.approx(2 / 3**0.5)
    assert (good.optima, good.equal) == (2, 1)
    assert good.optimum_gap == pytest.approx((0 + 1 / 5) / 2)
    assert (bad.prize, bad.gap, bad.passes) == (2.0, 0.5, None)
    assert (half.solved, half.failed, half.wanted, half.gap) == (1, 1, 3, None)


def test_an_incomplete_method_is_never_the_best() -> None:
    """Its one instance may be an easy one."""
    assert summarise(ENTRIES, ROWS, SET, {})[0].gap == 0.0


def test_a_line_about_another_instance_does_not_count() -> None:
    other = NamedSet("s", generate(5, count=3, seed=1))
    assert [row.solved for row in summarise(ENTRIES, ROWS, other, {})] == [0, 0, 0]


def test_optima_come_from_proofs_of_any_method() -> None:
    proof = lines("p", [2.0], status="optimal")
    assert proven_optima({**ENTRIES, **proof}, [SET]) == {("s", 0): 2.0}


def test_more_than_the_optimum_is_told() -> None:
    (said,) = contradictions(ENTRIES, ROWS, [SET], {("s", 0): 3.0, ("s", 1): 4.0})
    assert said == "half on s 0: 9 is above the optimum 3"


def test_failures_are_told() -> None:
    assert failures(ENTRIES, ROWS, [SET]) == ["half failed on s 1: ValueError: no"]


def test_optima_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "optimum.csv"
    path.write_text("set,index,prize\nuniform_20,3,5.87\n")
    assert read_optima(path) == {("uniform_20", 3): 5.87}
    path.write_text("set,index,prize\nuniform_20,x,5.87\n")
    with pytest.raises(BadFile, match=r"optimum.csv:2: .*'x'"):
        read_optima(path)
    path.write_text("set,prize\n")
    with pytest.raises(BadFile, match="missing: index"):
        read_optima(path)
