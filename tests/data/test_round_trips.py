"""What is written is read back equal, bit for bit."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.any_problem import problems, problems_with_rules
from orienteer import BadFile, Instance, Plan, Result, Tour
from orienteer.data import files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trips")


def there_and_back(instance: Instance, path: Path) -> Instance:
    files.write(instance, path)
    assert not list(path.parent.glob(".*"))  # no drafts are left lying about
    return files.read(path)


@given(instance=problems())
def test_json(instance: Instance, folder: Path) -> None:
    assert there_and_back(instance, folder / "a.json") == instance


@given(instance=problems_with_rules(), suffix=st.sampled_from([".json", ".npz"]))
def test_rules(instance: Instance, suffix: str, folder: Path) -> None:
    try:
        read = there_and_back(instance, folder / f"a{suffix}")
    except BadFile:
        assert suffix == ".npz"
        assert instance.names is not None
        assert any(name.endswith("\0") for name in instance.names)
    else:
        assert read == instance
        assert [route.name for route in read.each_route] == [route.name for route in instance.each_route]


@given(instance=problems_with_rules())
def test_formats_without_rules_say_so(instance: Instance, folder: Path) -> None:
    if instance.features:
        with pytest.raises(BadFile, match="cannot be written"):
            files.write(instance, folder / "a.oplib")


@given(instance=problems())
def test_csv(instance: Instance, folder: Path) -> None:
    assert there_and_back(instance, folder / "a.csv") == instance


@given(instance=problems())
def test_npz(instance: Instance, folder: Path) -> None:
    try:
        assert there_and_back(instance, folder / "a.npz") == instance
    except BadFile:
        assert instance.names is not None
        assert any(name.endswith("\0") for name in instance.names)


@given(instance=problems(names=False))
def test_oplib(instance: Instance, folder: Path) -> None:
    assert there_and_back(instance, folder / "a.oplib") == instance


@given(instance=problems(names=False, planar=True))
def test_chao(instance: Instance, folder: Path) -> None:
    if instance.size == 1:
        return
    direct = float(instance.costs[0, 1])
    instance = instance.replace(start=0, end=1, limit=max(instance.limit, direct))
    assert there_and_back(instance, folder / "a.txt") == instance


@given(instance=problems(), limits=st.lists(st.floats(1.0, 9.0), min_size=1, max_size=4))
def test_set(instance: Instance, limits: list[float], folder: Path) -> None:
    given_set = [instance.replace(limit=instance.limit * factor, names=None) for factor in limits]
    files.write_set(given_set, folder / "set.npz")
    read = files.read_set(folder / "set.npz")
    assert list(read) == given_set
    assert list(read[1:]) == given_set[1:]


@given(instance=problems_with_rules(), other=st.booleans())
def test_set_with_rules(instance: Instance, other: bool, folder: Path) -> None:
    """Problems with and without rules may stand in one set."""
    bare = instance.replace(names=None)
    plain = Instance(bare.costs, bare.prizes, bare.limit, bare.start, bare.start, bare.coords)
    given_set = [bare, plain] if other else [plain, bare]
    files.write_set(given_set, folder / "set.npz")
    read = files.read_set(folder / "set.npz")
    assert isinstance(read, files.InstanceSet)
    read.check()
    assert list(read) == given_set
    assert list(read[1:]) == given_set[1:]


routes = st.lists(st.integers(0, 10**6), min_size=1, max_size=8)


@given(route=routes, suffix=st.sampled_from([".json", ".txt", ".tour", ".sol", ""]))
def test_tour(route: list[int], suffix: str, folder: Path) -> None:
    """TSPLIB leaves out the way back."""
    files.write_tour(route, folder / f"tour{suffix}")
    back = suffix in (".tour", ".sol") and len(route) > 1 and route[0] == route[-1]
    assert files.read_tour(folder / f"tour{suffix}") == (route[:-1] if back else route)


@given(routes=st.lists(routes, max_size=4), numbers=st.lists(st.floats(0, 1e9), min_size=3, max_size=3))
def test_results(routes: list[list[int]], numbers: list[float], folder: Path) -> None:
    prize, cost, seconds = numbers
    results = [Result(Plan.of(Tour(tuple(route), prize, cost)), "stopped", seconds, 5, "lns", 0) for route in routes]
    files.write_results(results, folder / "result.npz")
    read = files.read_results(folder / "result.npz")
    assert len(read) == len(routes)
    assert [read.route(i) for i in range(len(read))] == routes
    assert read.tour.dtype == np.int32
    assert all(len(row) == max(map(len, routes)) for row in read.tour)
    for name, value in zip(("prize", "cost", "seconds"), numbers, strict=True):
        assert (getattr(read, name) == value).all()
    for index, route in enumerate(routes):
        files.write_tour(results[index], folder / "result.json")
        assert files.read_result(folder / "result.json") == results[index]
        assert files.read_tour(folder / "result.json") == route
        assert files.read_tour(folder / "result.npz", index=index) == route


@pytest.mark.parametrize(
    ("suffix", "broken"),
    list(
        itertools.chain(
            ((suffix, {"names": ("a", "b", "c")}) for suffix in (".oplib", ".txt")),
            ((".txt", broken) for broken in ({"end": 0}, {"start": 2}, {"coords": None}, {"costs": np.ones((3, 3))})),
            [(".npz", {"names": ("a", "b\0", "c")}), (".csv", {"names": ("a", "\ud800", "c")})],
        )
    ),
)
def test_a_format_that_cannot_hold_a_problem_says_so(tmp_path: Path, suffix: str, broken: dict[str, object]) -> None:
    """Nothing is dropped on the way into a file."""
    instance = Instance.from_coords([[0, 0], [1, 0], [0, 1]], [0, 0, 1], 4.0, end=1).replace(**broken)
    with pytest.raises(BadFile, match="cannot be written"):
        files.write(instance, tmp_path / f"a{suffix}")
    assert not list(tmp_path.iterdir())


def test_instances_of_a_set_must_be_alike(tmp_path: Path) -> None:
    one = Instance.from_coords([[0, 0], [1, 0]], [0, 1], 4.0)
    for others, field in (([one.replace(coords=None)], "coords"), ([one.replace(names=("a", "b"))], "names")):
        with pytest.raises(BadFile, match=f"their {field} differ"):
            files.write_set([one, *others], tmp_path / "set.npz")
    with pytest.raises(BadFile, match="their size differ"):
        files.write_set([one, Instance.from_coords([[0, 0]], [0], 4.0)], tmp_path / "set.npz")
    with pytest.raises(BadFile, match="at least one instance"):
        files.write_set([], tmp_path / "set.npz")


def test_euclidean_sets_are_stored_as_coordinates(tmp_path: Path) -> None:
    one = Instance.from_coords([[0, 0], [1, 0]], [0, 1], 4.0)
    files.write_set([one, one], tmp_path / "set.npz")
    with np.load(tmp_path / "set.npz") as stored:
        assert sorted(stored.files) == ["coords", "end", "limit", "prizes", "start"]
        assert stored["limit"].shape == ()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Instance.from_coords([[0, 0], [1, 0]], [0, 1], 4.0)
    path = tmp_path / "a.npz"
    files.write(one, path)
    old = path.read_bytes()

    def full_disk(file: object, **arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(BadFile, match="cannot be written: No space left"):
        files.write(one.replace(limit=5.0), path)
    assert path.read_bytes() == old
    assert [one.name for one in tmp_path.iterdir()] == ["a.npz"]
