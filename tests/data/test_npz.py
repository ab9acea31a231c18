"""NPZ sets and results."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orienteer import BadFile, Instance
from orienteer.data import files

COORDS = np.array([[[0, 0], [3, 4], [0, 1]], [[0, 0], [6, 8], [1, 0]]], dtype=float)
PRIZES = np.array([[0, 1, 2], [0, 3, 4]], dtype=float)
SET: dict[str, Any] = {"coords": COORDS, "prizes": PRIZES, "limit": np.float64(30)}
RESULT: dict[str, Any] = {"prize": [3.0], "cost": [2.0], "seconds": [0.1], "tour": np.array([[0, 2, -1]])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "set.npz"


def test_coordinates_are_euclidean(path: Path) -> None:
    np.savez(path, **SET)
    read = files.read_set(path)
    assert len(read) == 2
    assert read[1] == read[-1] == Instance.from_coords(COORDS[1], PRIZES[1], 30)
    with pytest.raises(IndexError):
        read[2]


def test_costs_rule_where_both_are_given(path: Path) -> None:
    costs = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    np.savez(path, **SET, costs=np.asfortranarray(costs), start=np.array([0, 2]), end=np.uint8(1))
    read = files.read_set(path)
    assert read[1] == Instance(costs[1].astype(float), PRIZES[1], 30, 2, 1, COORDS[1])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_other_arrays_and_layouts(path: Path, save: Any) -> None:
    save(path, **SET | {"prizes": PRIZES.astype(">f4"), "limit": np.array([30, 31], dtype=np.int16)}, extra=np.ones(3))
    read = files.read_set(path)
    assert read[1] == Instance.from_coords(COORDS[1], PRIZES[1], 31)


def test_one_of_a_set(path: Path) -> None:
    np.savez(path, **SET)
    with pytest.raises(BadFile, match="a set of 2 instances; an index must say which"):
        files.read(path)
    with pytest.raises(BadFile, match="there is no instance 2 among 2"):
        files.read(path, index=2)
    with pytest.raises(BadFile, match="there is no instance -1 among 2"):
        files.read(path, index=-1)
    instance = files.read(path, index=1, limit=50, start=2)
    assert (instance.limit, instance.start, instance.prizes.tolist()) == (50, 2, [0, 3, 4])


def test_a_bad_instance_is_named(path: Path) -> None:
    np.savez(path, **SET | {"prizes": PRIZES * [[1], [-1]]})
    read = files.read_set(path)
    assert read[0].size == 3
    with pytest.raises(BadFile, match=r"set.npz: instance 1: prizes\[1\] must not be negative"):
        read[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prizes": None}, "a set needs prizes, limit and coords or costs, got"),
        ({"coords": None}, "a set needs prizes, limit and coords or costs"),
        ({"limit": None}, "a set needs prizes, limit and coords or costs"),
        ({"prizes": PRIZES[0]}, "prizes must have shape"),
        ({"prizes": PRIZES[:0]}, "prizes must have shape"),
        ({"prizes": PRIZES[:, :0], "coords": COORDS[:, :0]}, "at least one node"),
        ({"prizes": PRIZES[:1]}, "limit|coords must have shape"),
        ({"coords": COORDS[:, :2]}, "coords must have shape"),
        ({"costs": np.ones((2, 3, 2))}, "costs must have shape"),
        ({"limit": np.ones(3)}, "limit must have shape"),
        ({"start": np.ones(3, dtype=int)}, "start must have shape"),
        ({"start": 1.0}, "start must hold numbers"),
        ({"start": np.uint64(2**63)}, "start holds an integer beyond"),
        ({"prizes": PRIZES.astype(complex)}, "prizes must hold numbers"),
        ({"prizes": PRIZES.astype(np.longdouble)}, "prizes must hold numbers"),
        ({"prizes": PRIZES > 0}, "prizes must hold numbers"),
        ({"prizes": PRIZES.astype(object)}, "prizes must hold numbers"),
        ({"prizes": np.full((2, 3), 2**53 + 1)}, "prizes holds an integer beyond"),
        ({"names": np.array([["a", "b", "c"]])}, "names must have shape"),
        ({"names": np.ones((2, 3))}, "names must hold text"),
    ],
)
def test_wrong_sets(path: Path, change: dict[str, Any], message: str) -> None:
    np.savez(path, **{name: value for name, value in (SET | change).items() if value is not None})
    with pytest.raises(BadFile, match=message):
        files.read_set(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prize": None}, "missing: prize"),
        ({"cost": [1.0, 2.0]}, "must be of one length"),
        ({"prize": 3.0}, "must be of one length"),
        ({"tour": np.array([0, 1])}, "tour must have shape"),
        ({"tour": np.array([[0, -2]])}, "tour must hold node numbers"),
        ({"tour": np.array([[0, 2**40]])}, "tour must hold node numbers"),
        ({"tour": np.array([[0.0, 1.0]])}, "tour must hold numbers"),
    ],
)
def test_wrong_results(path: Path, change: dict[str, Any], message: str) -> None:
    np.savez(path, **{name: value for name, value in (RESULT | change).items() if value is not None})
    with pytest.raises(BadFile, match=message):
        files.read_results(path)


def test_pickles_are_never_opened(path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return pytest.fail, ("a pickle was opened",)

    np.savez(path, **SET | {"prizes": np.array([[Trap()]], dtype=object)})
    with pytest.raises(BadFile, match="prizes must hold numbers, got 'object'"):
        files.read_set(path)


def test_slices_share_and_count(path: Path) -> None:
    np.savez(path, **SET)
    read = files.read_set(path)
    assert isinstance(read, files.InstanceSet)
    assert len(read[1:]) == 1
    assert read[1:][0] == read[1]
    assert repr(read) == "InstanceSet(2 instances of 3 nodes)"
