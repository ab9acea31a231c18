"""Sets: checked and prepared as arrays, with the same outcome as instance by instance."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.any_problem import problems
from orienteer import BadFile, Instance, InvalidInstance
from orienteer.data.files import read
from orienteer.data.generate import COSTS, generate
from orienteer.data.instance_set import InstanceSet
from orienteer.data.npz import save_set

INF, NAN = np.inf, np.nan
POINTS = np.array([[[0, 0], [3, 4], [0, 1]], [[0, 0], [6, 8], [1, 0]]], dtype=float)
PRIZES = np.array([[0, 1, 2], [0, 3, 4]], dtype=float)


def some(**changes: Any) -> InstanceSet:
    """Two instances of three nodes; `changes` are arrays of the set."""
    ends = np.zeros(2, dtype=np.int64)
    return InstanceSet(**{"prizes": PRIZES, "limit": np.full(2, 30.0), "start": ends, "end": ends} | changes)


DERIVED = ("to_end", "from_start", "reachable", "symmetric")


@pytest.mark.parametrize("separate_end", [False, True])
@pytest.mark.parametrize("costs", COSTS)
def test_what_is_found_out_at_once_is_what_each_instance_finds_out(costs: str, separate_end: bool) -> None:
    """Twenty instances make several parts, of which the costs are looked at together."""
    made = generate(40, costs=costs, count=20, seed=3, separate_end=separate_end)
    before = list(made)
    for name in DERIVED:
        assert getattr(made, name).shape[0] == 20
        assert not getattr(made, name).flags.writeable
    for first, row, known in zip(before, range(20), made, strict=True):
        fresh = Instance(known.costs, known.prizes, known.limit, known.start, known.end, known.coords)
        assert first == known == fresh
        assert type(known.symmetric) is bool
        for name in DERIVED:
            np.testing.assert_array_equal(getattr(made, name)[row], getattr(fresh, name))
            np.testing.assert_array_equal(getattr(first, name), getattr(fresh, name))
            np.testing.assert_array_equal(getattr(known, name), getattr(fresh, name))
    for one, other in zip(made[5:9], before[5:9], strict=True):
        assert one == other
        np.testing.assert_array_equal(one.to_end, other.to_end)


@given(st.lists(problems(names=False, planar=True), min_size=1, max_size=3) | problems().map(lambda one: [one]))
def test_instances_come_back_equal(given_ones: list[Instance]) -> None:
    size = min(one.size for one in given_ones)
    alike = [one for one in given_ones if one.size == size]
    made = InstanceSet.of(alike)
    made.check()
    assert list(made) == alike
    for name in DERIVED:
        for row, one in enumerate(alike):
            np.testing.assert_array_equal(getattr(made, name)[row], getattr(one, name))


BAD = {
    "prizes negative": {"prizes": PRIZES * [[1], [-1]]},
    "prizes NaN": {"prizes": np.array([[0, 1, 2], [0, NAN, 4]])},
    "prizes infinite": {"prizes": np.array([[0, 1, 2], [0, INF, 4]])},
    "prizes overflow": {"prizes": np.array([[0, 1, 2], [0, 1e308, 1e308]])},
    "limit zero": {"limit": np.array([30, 0.0])},
    "limit NaN": {"limit": np.array([30, NAN])},
    "limit near overflow": {"limit": np.array([30, 1e304])},
    "start beyond": {"start": np.array([0, 3])},
    "end negative": {"end": np.array([0, -1])},
    "end too far": {"end": np.array([0, 1]), "limit": np.array([30, 9.9])},
    "coords endless": {"coords": np.where(POINTS == 8, INF, POINTS)},
    "names twice": {"names": np.array([["a", "b", "c"], ["a", "b", "a"]])},
    "costs negative": {"costs": np.ones((2, 3, 3)) * [[[1]], [[-1]]]},
    "costs NaN": {"costs": np.ones((2, 3, 3)) * [[[1]], [[NAN]]]},
    "no way": {"costs": np.ones((2, 3, 3)) * [[[1]], [[INF]]], "end": np.array([0, 1])},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_a_bad_instance_is_told_as_if_it_were_alone(change: dict[str, Any]) -> None:
    made = some(**{"coords": POINTS} | change)
    fields = made.fields(1) if "coords" not in change else replace_costs(made)
    with pytest.raises(InvalidInstance) as alone:
        Instance(fields.costs, fields.prizes, fields.limit, fields.start, fields.end, fields.coords, fields.names)
    wish = f"^set: instance 1: {alone.value}$".translate(str.maketrans({c: "\\" + c for c in "()[]+."}))
    for attempt in (made.check, lambda: made[1], lambda: made.to_end):
        with pytest.raises(BadFile, match=wish):
            attempt()
    assert made[0].size == 3
    assert made[:1].to_end.shape == (1, 3)


def replace_costs(made: InstanceSet) -> Any:
    """The second instance with any costs: points at an endless distance have none."""
    return replace(made, costs=np.ones((2, 3, 3))).fields(1)


def test_points_too_far_apart_are_told() -> None:
    with pytest.raises(BadFile, match="set: instance 0: coords 0 and 1 are too far apart to have a distance"):
        some(coords=POINTS * 1e200)[0]


def test_what_looks_doubtful_may_be_right() -> None:
    """Distances beyond 1e150, prizes near the largest sum, an end that only a detour reaches."""
    far = some(coords=POINTS * 1e151, limit=np.full(2, 1e300))
    rich = some(coords=POINTS, prizes=PRIZES * 2e302 / 4)
    costs = np.array([[[0, 9, 1], [9, 0, 9], [9, 1, 0]]] * 2, dtype=float)
    around = some(costs=costs, limit=np.full(2, 3.0), end=np.array([1, 1]))
    for made in (far, rich, around):
        first = made[0]
        made.check()
        assert made[0] == first
    assert around[0].cheapest_route() == [0, 2, 1]


def test_no_instances_and_no_nodes() -> None:
    nothing = some(coords=POINTS)[2:]
    nothing.check()
    assert (len(nothing), nothing.to_end.shape, nothing.symmetric.shape) == (0, (0, 3), (0,))
    empty = some(prizes=np.zeros((2, 0)), coords=np.zeros((2, 0, 2)))
    with pytest.raises(BadFile, match="instance 0: prizes is empty"):
        empty.check()


def test_costs_of_points_are_made_when_asked_for() -> None:
    instance = some(coords=POINTS)[1]
    assert "costs" not in vars(instance)
    assert instance.costs[0].tolist() == [0, 10, 1]
    assert instance.costs is instance.costs
    assert not instance.costs.flags.writeable
    assert repr(instance) == "Instance(size=3, limit=30, start=0, end=0)"
    for other in (pickle.loads(pickle.dumps(instance)), instance.replace(), instance.turned().turned()):
        assert other == instance


def test_arrays_of_other_kinds_are_converted() -> None:
    made = some(prizes=PRIZES.astype(np.float32), coords=np.asfortranarray(POINTS), limit=np.array([30, 40]))
    assert made[1] == Instance.from_coords(POINTS[1], PRIZES[1], 40.0)
    assert made[1].prizes.dtype == np.float64
    assert made.tables(slice(0, 2)).flags.c_contiguous


def test_one_of_a_set_may_be_read_with_another_limit(tmp_path: Path) -> None:
    """The file's own limit lets no route reach the end; that of the other instances does not matter either."""
    made = some(coords=POINTS, end=np.array([1, 1]), limit=np.full(2, 7.0))
    save_set(made, tmp_path / "set.npz")
    assert read(tmp_path / "set.npz", index=1, limit=12.0).limit == 12.0
