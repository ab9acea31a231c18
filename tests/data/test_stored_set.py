"""Sets that are read a piece at a time: the same instances as by NumPy, wherever the pieces and the files end."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import BadFile
from orienteer.data import files, npz
from orienteer.data.generate import generate
from orienteer.data.instance_set import InstanceSet
from orienteer.data.npz import SetFile, save_set
from orienteer.data.stored_set import SetFolder, open_set, part_name

MEGABYTE = 2**20


def joined(pieces: list[InstanceSet], field: str) -> np.ndarray:
    return np.concatenate([getattr(piece, field) for piece in pieces])


@st.composite
def stored(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """The arrays of a set in any order and type that NumPy writes, and the function that writes them."""
    count, nodes = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    dice = np.random.default_rng(draw(st.integers(0, 99)))
    kinds = st.sampled_from(["<f8", ">f8", "<f4", "<i8", "u1"])
    arrays = {
        "prizes": dice.integers(0, 9, (count, nodes)).astype(draw(kinds)),
        "limit": dice.integers(50, 99, draw(st.sampled_from([(), (count,)]))).astype(draw(kinds)),
    }
    if draw(st.booleans()):
        arrays["coords"] = dice.integers(0, 9, (count, nodes, 2)).astype(draw(kinds))
    if "coords" not in arrays or draw(st.booleans()):
        arrays["costs"] = dice.integers(0, 9, (count, nodes, nodes)).astype(draw(kinds))
    if draw(st.booleans()):
        arrays["start"] = dice.integers(0, nodes, draw(st.sampled_from([(), (count,)])))
    if draw(st.booleans()):
        arrays["names"] = np.array([[f"{row}:{node}" for node in range(nodes)] for row in range(count)])
    turned = draw(st.sets(st.sampled_from(sorted(name for name in arrays if arrays[name].ndim > 1))))
    arrays |= {name: np.asfortranarray(arrays[name]) for name in turned}
    return arrays, draw(st.sampled_from([np.savez, np.savez_compressed]))


@settings(max_examples=60)
@given(stored(), st.integers(0, 7), st.integers(0, 7), st.integers(1, 4))
def test_pieces_are_what_numpy_reads(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[dict[str, Any], Any], begin: int, end: int, most: int
) -> None:
    arrays, save = given
    path = tmp_path_factory.mktemp("set") / "set.npz"
    save(path, **arrays)
    count = len(arrays["prizes"])
    begin = min(begin, count - 1)
    pieces = list(SetFile(path).pieces(begin, end, most))
    assert [len(piece) for piece in pieces[:-1]] == [most] * (len(pieces) - 1)
    assert [piece.first for piece in pieces] == list(range(begin, min(end, count), most))
    loaded = np.load(path)
    for field in loaded.files if pieces else ():
        rows = loaded[field] if loaded[field].ndim else np.full(count, loaded[field])
        np.testing.assert_array_equal(joined(pieces, field), rows[begin:end])


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 12), st.integers(0, 12))
def test_a_folder_is_one_set(
    tmp_path_factory: pytest.TempPathFactory, count: int, shard: int, begin: int, end: int
) -> None:
    folder, whole = tmp_path_factory.mktemp("set"), generate(3, count=count)
    parts = SetFolder(folder, -(-count // shard))
    for index in range(parts.parts):
        parts.write(index, generate(3, count=min(shard, count - index * shard), first=index * shard))
    found = open_set(folder)
    assert len(found) == count
    prizes = [row.tolist() for piece in found.pieces(begin, end) for row in piece.prizes]
    assert prizes == whole.prizes[begin:end].tolist()
    assert found.at(count - 1)[0] == whole[count - 1] == files.read(folder, index=count - 1)
    assert list(files.read_set(folder)) == list(whole)


def test_files_come_by_number(tmp_path: Path) -> None:
    for number in (10, 9, 100):
        save_set(generate(3, first=number), tmp_path / f"a{number}.npz")
    save_set(generate(3, first=5), tmp_path / ".a5.npz")
    wanted = [generate(3, first=number)[0] for number in (9, 10, 100)]
    assert [instance for piece in open_set(tmp_path).pieces() for instance in piece] == wanted
    assert [instance for piece in open_set(f"{tmp_path}/a?.npz").pieces() for instance in piece] == wanted[:1]


def test_a_missing_part_is_told(tmp_path: Path) -> None:
    for index in (0, 2):
        save_set(generate(3), tmp_path / part_name(index, 3))
    with pytest.raises(BadFile, match="holds 2 of 3 parts: number 1 is not there"):
        open_set(tmp_path)
    with pytest.raises(BadFile, match=r"cannot be written: it holds the file part-00000-of-00003\.npz of another set"):
        SetFolder(tmp_path, 2)
    save_set(generate(3), tmp_path / part_name(1, 10**18))
    with pytest.raises(BadFile, match="holds files of several sets"):
        open_set(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match=r"Is a directory without \.npz files"):
        open_set(tmp_path / "empty")
    with pytest.raises(BadFile, match="no file matches"):
        open_set(tmp_path / "b*.npz")


def test_a_cut_file_is_told(tmp_path: Path) -> None:
    for index in range(2):
        save_set(generate(3, count=50), tmp_path / part_name(index, 2))
    path = tmp_path / part_name(1, 2)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadFile, match=r"part-00001-of-00002.npz: not a readable NPZ file"):
        open_set(tmp_path)


def test_a_changed_byte_is_told_by_the_check(tmp_path: Path) -> None:
    """The checksum stands at the end of an array, so a search would find out after hours."""
    path = tmp_path / "set.npz"
    save_set(generate(3, count=50), path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadFile, match="Bad CRC-32"):
        open_set(path).check()


def test_the_number_of_a_bad_instance_is_that_in_its_file(tmp_path: Path) -> None:
    made = generate(3, count=9)
    prizes = made.prizes * np.where(np.arange(9) == 7, -1, 1)[:, None]
    np.savez(tmp_path / "set.npz", coords=made.coords, prizes=prizes, limit=made.limit)
    pieces = list(SetFile(tmp_path / "set.npz").pieces(2, most=3))
    pieces[0].check()
    with pytest.raises(BadFile, match=r"set.npz: instance 7: prizes\[1\] must not be negative"):
        pieces[1].check()


def test_shapes_are_checked_before_rows_are_read(tmp_path: Path) -> None:
    made, path = generate(3, count=9), tmp_path / "set.npz"
    np.savez(path, coords=made.coords[:8], prizes=made.prizes, limit=1.0)
    with pytest.raises(BadFile, match=r"coords must have shape \(9, 4, 2\) beside prizes \(9, 4\), got \(8, 4, 2\)"):
        SetFile(path)
    np.savez(path, coords=made.coords, prizes=made.prizes)
    with pytest.raises(BadFile, match="a set needs prizes, limit and coords or costs"):
        SetFile(path)


def test_arrays_whose_rows_lie_apart_must_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, path = generate(9, count=90), tmp_path / "set.npz"
    np.savez(path, coords=np.asfortranarray(made.coords), prizes=made.prizes, limit=1.0)
    monkeypatch.setattr(npz, "MAX_SET_BYTES", 10_000)
    with pytest.raises(BadFile, match="its arrays are in Fortran order, whose rows cannot be read one by one"):
        SetFile(path)
    np.savez(path, coords=made.coords, prizes=made.prizes, limit=1.0)
    assert len(SetFile(path)) == 90


def test_a_file_that_changes_is_told(tmp_path: Path) -> None:
    save_set(generate(3, count=5), tmp_path / "set.npz")
    found = SetFile(tmp_path / "set.npz")
    save_set(generate(3, count=6), tmp_path / "set.npz")
    with pytest.raises(BadFile, match="was changed while it was read"):
        next(found.pieces())


def test_fingerprints_tell_sets_apart_by_content_not_by_name(tmp_path: Path) -> None:
    def fingerprint(name: str, *sets: InstanceSet) -> str:
        parts = SetFolder(tmp_path / name, len(sets))
        for index, one in enumerate(sets):
            parts.write(index, one)
        return open_set(tmp_path / name).fingerprint()

    one, other = generate(3, count=2), generate(3, count=2, first=2)
    assert fingerprint("a", one, other) == fingerprint("b", one, other)
    assert len({fingerprint(*given) for given in (("c", one, other), ("d", other, one), ("e", one))}) == 3


def test_memory_does_not_grow_with_the_set(tmp_path: Path) -> None:
    """32 MB of costs, as floats, in one compressed file: a piece takes a few, whatever the file."""
    path, costs = tmp_path / "set.npz", np.random.default_rng(0).integers(0, 200, (1000, 64, 64)).astype("<u2")
    np.savez_compressed(path, costs=costs, prizes=np.ones((1000, 64), "u1"), limit=9.0)
    del costs
    tracemalloc.start()
    try:
        assert sum(len(piece) for piece in SetFile(path).pieces(most=25)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    finally:
        tracemalloc.stop()
