"""Costs of many points, which are computed when they are asked for."""

import copy
from pathlib import Path

import numpy as np
import pytest

from orienteer import Instance, InvalidInstance, OrienteerError, check_tour
from orienteer.data.files import read, write
from orienteer.model import distances
from orienteer.model.distances import METRICS, TSPLIB_METRICS, Distances, measured_by, pairwise, scale_of


def both(name: str = "euclidean", size: int = 7) -> tuple[Distances, distances.Array]:
    """The same costs computed and as a table."""
    metric = {**METRICS, **TSPLIB_METRICS}[name]
    coords = np.random.default_rng(1).uniform(-80, 80, (size, 2))
    return Distances(coords, metric), pairwise(coords, metric)


@pytest.mark.parametrize("name", [*METRICS, *TSPLIB_METRICS])
def test_any_index_gives_what_the_table_gives(name: str) -> None:
    costs, table = both(name)
    rows, columns = np.array([0, 3, 5]), np.array([3, 3, 1])
    for key in (
        2,
        (2, 5),
        (4, 4),
        slice(1, 4),
        (slice(None), 3),
        rows,
        (rows, columns),
        (3, columns),
        np.ix_(rows, [1, 2]),
    ):
        np.testing.assert_allclose(costs[key], table[key], rtol=1e-12, atol=1e-9)
        assert np.shape(costs[key]) == np.shape(table[key])
    assert isinstance(float(costs[2, 5]), float)


def test_what_no_index_can_do_is_done_with_a_table() -> None:
    costs, table = both()
    np.testing.assert_array_equal(costs + 1.0, table + 1.0)
    np.testing.assert_array_equal(np.asarray(costs), table)
    np.testing.assert_array_equal(costs[None], table[None])
    np.testing.assert_array_equal(costs[2, None], table[2, None])
    np.testing.assert_array_equal(costs.max(axis=1), table.max(axis=1))
    assert costs.T is costs


def test_a_speed_and_barred_nodes() -> None:
    costs, table = both()
    np.testing.assert_array_equal((costs / 2.0).table, table / 2.0)
    barred = costs.without([3])
    assert np.isinf(barred[3, 1])
    assert np.isinf(barred[1, 3])
    assert barred[1, 2] == table[1, 2]
    assert np.isinf(barred.table[3]).all()
    assert not barred.same(costs)
    assert copy.deepcopy(costs).same(costs)


def test_costs_know_their_metric() -> None:
    costs, _ = both()
    assert measured_by(costs, costs.coords, METRICS["euclidean"])
    assert not measured_by(costs / 2.0, costs.coords, METRICS["euclidean"])
    assert not measured_by(costs, costs.coords + 1, METRICS["euclidean"])
    assert scale_of(costs / 4.0, costs.coords, METRICS["euclidean"]) == 0.25
    assert scale_of(costs, costs.coords, METRICS["manhattan"]) is None


def test_a_table_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "LARGEST_TABLE", 6)
    costs, _ = both()
    with pytest.raises(OrienteerError, match=r"between 7 nodes would take .* up to 6 nodes"):
        np.asarray(costs)
    assert costs[0, 1] > 0


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Instance:
    """A problem of 30 points, without a table."""
    for module in ("distances", "instance"):
        monkeypatch.setattr(f"orienteer.model.{module}.MOST_IN_TABLE", 10)
    rng = np.random.default_rng(3)
    return Instance.from_coords(rng.random((30, 2)), rng.integers(1, 9, 30), limit=2.0)


def test_an_instance_keeps_its_points(points: Instance) -> None:
    table = Instance(np.asarray(points.costs), points.prizes, 2.0, coords=points.coords)
    assert isinstance(points.costs, Distances)
    assert points == table
    assert points.replace() == points
    for name in ("to_end", "from_start", "reachable"):
        np.testing.assert_allclose(getattr(points, name), getattr(table, name), rtol=1e-12)
    assert points.symmetric
    assert points.reduced is points
    assert check_tour(points.replace(limit=9.0), [0, 4, 7, 0]) == check_tour(table.replace(limit=9.0), [0, 4, 7, 0])
    assert points.turned() == points


def test_points_without_a_distance_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "MOST_IN_TABLE", 1)
    with pytest.raises(InvalidInstance, match=r"coords\[1, 0\] must be finite"):
        pairwise(np.array([[0.0, 0.0], [np.inf, 0.0]]), METRICS["euclidean"])
    with pytest.raises(InvalidInstance, match="too far apart"):
        pairwise(np.array([[0.0, 0.0], [1e300, 1e300]]), METRICS["euclidean"])


@pytest.mark.parametrize("name", ["town.json", "town.csv", "town.oplib", "town.npz"])
def test_files_of_points_come_back_as_points(points: Instance, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("oplib"):  # which holds whole numbers
        coords = np.rint(points.coords * 1000)
        points = Instance(pairwise(coords, TSPLIB_METRICS["EUC_2D"]), points.prizes, 2000.0, coords=coords)
    write(points, path)
    back = read(path, limit=points.limit)
    assert back == points
    assert path.stat().st_size < 5000
