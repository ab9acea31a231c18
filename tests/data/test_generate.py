"""Random sets: the rules of their families, and that they are the same everywhere."""

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer.data.draws import Draws
from orienteer.data.generate import COSTS, PRIZES, default_limit, generate
from orienteer.data.instance_set import InstanceSet
from orienteer.model.instance import distances


def checksum(made: InstanceSet) -> str:
    """A digest of every number of the set."""
    digest = hashlib.sha256()
    for array in (made.coords, made.costs, made.prizes, made.limit):
        if array is not None:
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


PINNED = {
    ("euclidean", "constant"): "ce39382bcc92c603",
    ("euclidean", "uniform"): "0f1f90a5f27cd349",
    ("euclidean", "distance"): "747e32e2ff6d8928",
    ("euclidean", "clustered"): "460f0ff3ffc112b8",
    ("manhattan", "constant"): "c87d5fd42c3ea5c1",
    ("manhattan", "uniform"): "60437392026f40b0",
    ("manhattan", "distance"): "78f3139d7158c7c5",
    ("manhattan", "clustered"): "d84de3187cfa346e",
    ("tmat", "constant"): "e13ee1385086bbc6",
    ("tmat", "uniform"): "f119d225522072b9",
    ("tmat", "distance"): "491715bad5b29ffe",
    ("tmat", "clustered"): "4968ca05a7f368c1",
    ("xasy", "constant"): "1b4e34f47683fa5a",
    ("xasy", "uniform"): "46b2b04561f60287",
    ("xasy", "distance"): "9e9097c2be9e66f7",
    ("xasy", "clustered"): "c46cac7e7e3a7173",
    ("road", "constant"): "293f1a5c4c997409",
    ("road", "uniform"): "22718fde845967e6",
    ("road", "distance"): "2fc4bc4a50ecf002",
    ("road", "clustered"): "98f7c2b4a6d4530f",
    ("xasy", "apart"): "c2c1fbf10c62f443",
}
STREAM = [4038964544837015, 3881039917090675, 3783015845253219]


@pytest.mark.parametrize(("costs", "prizes"), list(itertools.product(COSTS, PRIZES)))
def test_same_on_every_machine(costs: str, prizes: str) -> None:
    """If this fails, stored seeds no longer mean what they meant: a new family or rule needs a new name instead."""
    made = generate(12, prizes, costs, count=3, seed=7)
    assert checksum(made) == PINNED[costs, prizes]


def test_same_on_every_machine_with_an_end_apart() -> None:
    assert (
        checksum(generate(12, costs="xasy", count=3, seed=7, limit=0.15, separate_end=True)) == PINNED["xasy", "apart"]
    )


def test_the_stream_itself() -> None:
    """The first raw outputs of PCG64 for a fixed key: NumPy promises them."""
    assert (Draws(1, 2).uniform(3) * 2**53).astype(np.uint64).tolist() == STREAM


@pytest.mark.parametrize("separate_end", [False, True])
@pytest.mark.parametrize(("costs", "prizes"), list(itertools.product(COSTS, PRIZES)))
def test_every_problem_is_valid_and_laid_out_as_said(costs: str, prizes: str, separate_end: bool) -> None:
    for n in (1, 2, 9):
        made = generate(n, prizes, costs, count=4, seed=1, separate_end=separate_end)
        assert len(made) == 4
        for instance in made:  # making it checks it
            assert instance.size == n + 1 + separate_end
            assert (instance.start, instance.end) == (0, n + 1 if separate_end else 0)
            assert instance.prizes[0] == instance.prizes[instance.end] == 0
            inner = instance.prizes[1 : n + 1]
            assert np.array_equal(inner, np.round(inner, 2))
            assert inner.min() >= 0.01
            assert inner.max() <= 1
            assert instance.limit == default_limit(n, costs)


@settings(max_examples=20)
@given(st.sampled_from(COSTS), st.sampled_from(PRIZES), st.integers(1, 12), st.integers(0, 2**64), st.booleans())
def test_a_problem_does_not_depend_on_how_many_are_drawn(
    costs: str, prizes: str, n: int, seed: int, apart: bool
) -> None:
    few = generate(n, prizes, costs, count=2, seed=seed, separate_end=apart)
    many = generate(n, prizes, costs, count=4, seed=seed, separate_end=apart)
    assert list(many)[:2] == list(few)
    assert many[2] != many[0]
    assert generate(n, prizes, costs, seed=seed + 1, separate_end=apart)[0] != few[0]


@pytest.mark.parametrize("costs", COSTS)
def test_places_do_not_depend_on_the_prizes(costs: str) -> None:
    first, *others = (generate(8, kind, costs, seed=3)[0] for kind in PRIZES)
    assert all(np.array_equal(first.costs, other.costs) for other in others)


def test_planar_families() -> None:
    made = generate(400, costs="euclidean", seed=2)
    assert made.costs is None
    assert made.coords is not None
    assert made.coords.min() >= 0
    assert made.coords.max() < 1
    assert made.coords.mean(axis=1)[0] == pytest.approx([0.5, 0.5], abs=0.05)
    instance = generate(9, costs="manhattan")[0]
    assert instance.coords is not None
    assert np.array_equal(instance.costs, distances(instance.coords, "manhattan"))


def test_uniform_prizes_take_all_values_alike() -> None:
    prizes = generate(100, count=100).prizes[:, 1:]
    values, counts = np.unique(prizes, return_counts=True)
    assert values.tolist() == [i / 100 for i in range(1, 101)]
    assert counts.min() > 50


def test_distance_prizes_grow_with_the_cost_from_the_start() -> None:
    for costs in COSTS:
        instance = generate(30, "distance", costs)[0]
        away = instance.costs[0, 1:]
        order = np.argsort(away)
        assert (np.diff(instance.prizes[1:][order]) >= 0).all()
        assert instance.prizes[1:].max() >= 0.99
        assert instance.prizes[1:] == pytest.approx((1 + np.floor(99 * away / away.max())) / 100, abs=0.0101)


def test_clustered_prizes_fall_off_from_hot_spots() -> None:
    instance = generate(200, "clustered")[0]
    hot = np.flatnonzero(instance.prizes == 1)
    assert 1 <= len(hot) <= 3
    near = instance.costs[hot].min(axis=0)
    assert np.corrcoef(near[1:], instance.prizes[1:])[0, 1] < -0.8


@pytest.mark.parametrize("costs", ["tmat", "road"])
def test_closed_families_obey_the_triangle_inequality(costs: str) -> None:
    for instance in generate(25, costs=costs, count=3):
        table = instance.costs
        rounding = 0 if costs == "road" else 1e-12
        assert (table[:, None, :] <= (table[:, :, None] + table[None, :, :]) * (1 + rounding)).all()
        assert not instance.symmetric


def test_tmat_is_scaled_to_one() -> None:
    for instance in generate(25, costs="tmat", count=3):
        assert instance.costs.max() == 1
        assert (instance.costs + np.eye(26) > 0).all()


def test_xasy_obeys_nothing() -> None:
    table = generate(40, costs="xasy")[0].costs
    assert not (table == table.T)[~np.eye(41, dtype=bool)].any()
    assert (table[:, None, :] > table[:, :, None] + table[None, :, :]).any()
    assert 0 <= table.min() <= table.max() < 1


@settings(max_examples=15)
@given(n=st.integers(1, 60), seed=st.integers(0, 10**6))
def test_every_place_of_a_road_network_can_be_reached(n: int, seed: int) -> None:
    instance = generate(n, costs="road", seed=seed)[0]
    off_diagonal = instance.costs[~np.eye(n + 1, dtype=bool)]
    assert np.isfinite(off_diagonal).all()
    assert (off_diagonal > 0).all()
    assert instance.coords is not None
    assert 0 < instance.coords.min() <= instance.coords.max() < 1
    assert len(np.unique(instance.coords, axis=0)) == n + 1
    # Nobody drives faster than the fastest avenue without traffic.
    straight = distances(instance.coords)
    assert (instance.costs >= straight * 0.8 / (1.5 * 1.2) - 1e-6).all()


def test_one_way_streets_make_a_difference() -> None:
    there = generate(100, costs="road")[0].costs + np.eye(101)
    ratio = there / there.T
    assert 1.2 < ratio.max() < 20
    assert np.median(np.maximum(ratio, 1 / ratio)) > 1.02


def test_default_limits() -> None:
    for costs in ("euclidean", "manhattan", "road"):
        assert [default_limit(n, costs) for n in (20, 50, 100)] == [2, 3, 4]
        assert all(0 < default_limit(n, costs) < default_limit(n + 1, costs) for n in range(1, 300))
    assert (default_limit(100, "tmat"), default_limit(100, "xasy")) == (4, 0.4)


def test_a_given_limit() -> None:
    assert generate(5, limit=7)[0].limit == 7


def test_ends_out_of_reach_are_drawn_again() -> None:
    """A limit far below the usual distance of two points leaves only pairs that are near."""
    made = generate(5, limit=0.2, count=20, separate_end=True)
    assert all(instance.costs[0, 6] <= 0.2 for instance in made)
    assert len({instance.costs[0, 6] for instance in made}) == 20
    made = generate(5, costs="xasy", limit=0.1, count=20, separate_end=True)
    assert all(instance.to_end[0] <= 0.1 for instance in made)
    assert any(instance.costs[0, 6] > 0.1 for instance in made)  # a detour may be the way


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"n": 10_000_000}, "n must be at most"),
        ({"n": 5, "count": 0}, "count must be at least 1, got 0"),
        ({"n": 5, "seed": -1}, "seed must be at least 0, got -1"),
        ({"n": 5, "prizes": "gold"}, "prizes must be one of constant, uniform, distance, clustered, got 'gold'"),
        ({"n": 5, "costs": "air"}, "costs must be one of euclidean, .*, got 'air'"),
        ({"n": 5, "limit": 0}, "limit must be positive and finite, got 0"),
        ({"n": 5, "limit": float("nan")}, "limit must be positive and finite, got nan"),
        ({"n": 5, "limit": 1e-12, "separate_end": True}, "limit must let a route reach its end"),
        ({"n": 5000, "costs": "road", "count": 100}, "count must keep the set below 2147483648 bytes"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate(**arguments)  # type: ignore[arg-type]
