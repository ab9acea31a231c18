"""Files that claim more than they hold are refused before memory is taken."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from orienteer import BadFile
from orienteer.data import files, npz, text
from orienteer.model.distances import LARGEST_TABLE

MEGABYTE = 2**20


def header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """The beginning of an array, without the array."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)


def refused(read: Callable[[], object], message: str, most: int = 2 * MEGABYTE) -> None:
    """`read` raises `BadFile` and never takes more than `most` bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message):
            read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most


@pytest.mark.parametrize("claim", [10_000_000, 10**15, 10**30])
def test_ten_million_nodes(tmp_path: Path, claim: int) -> None:
    path = tmp_path / "a.oplib"
    path.write_text(f"DIMENSION : {claim}\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n")
    refused(lambda: files.read(path), "more than the|must be a whole number")
    path = tmp_path / "a.npz"
    archive(path, {"coords": header((1, claim, 2)), "prizes": header((1, claim)), "limit": header(()) + bytes(8)})
    refused(lambda: files.read(path), "claims shape")


@pytest.mark.parametrize(
    "body",
    [
        "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n1 2 3\n",
        "EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n",
        "EDGE_WEIGHT_TYPE : EUC_2D\nNODE_SCORE_SECTION\n1 0\n",
    ],
)
def test_a_size_within_bounds_without_the_data(tmp_path: Path, body: str) -> None:
    path = tmp_path / "a.oplib"
    path.write_text(f"DIMENSION : {LARGEST_TABLE}\nCOST_LIMIT : 5\n{body}")
    refused(lambda: files.read(path), "lacks node|is missing|must hold")


def test_a_table_is_smaller_than_the_most_points(tmp_path: Path) -> None:
    path = tmp_path / "a.oplib"
    kind = "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n1 2 3\n"
    path.write_text(f"DIMENSION : {text.MAX_NODES}\nCOST_LIMIT : 5\n{kind}")
    refused(
        lambda: files.read(path), f"a table of costs between {text.MAX_NODES} nodes is larger than the {LARGEST_TABLE}"
    )


def test_coordinates_of_all_nodes_but_scores_of_none(tmp_path: Path) -> None:
    """The matrix takes by far the most memory, so the reader makes it last."""
    path = tmp_path / "a.oplib"
    points = "".join(f"{i} 0 0\n" for i in range(1, 5001))
    path.write_text(f"DIMENSION : 5000\nCOST_LIMIT : 5\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{points}")
    refused(lambda: files.read(path), "NODE_SCORE_SECTION is missing", 8 * MEGABYTE)


def test_too_many_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("text", "chao"):
        monkeypatch.setattr(f"orienteer.data.{module}.MAX_NODES", 3)
    (tmp_path / "a.txt").write_text("9 1\n" + "0 0 0\n" * 4)
    (tmp_path / "a.csv").write_text("# limit = 9\nx,y,prize\n" + "0,0,0\n" * 4)
    (tmp_path / "a.json").write_text(json.dumps({"limit": 9, "prizes": [0] * 4, "coords": [[0, 0]] * 4}))
    np.savez(tmp_path / "a.npz", coords=np.zeros((1, 4, 2)), prizes=np.zeros((1, 4)), limit=9)
    for suffix in ("txt", "csv", "json", "npz"):
        with pytest.raises(BadFile, match="4 nodes are more than the 3 that are read"):
            files.read(tmp_path / f"a.{suffix}")


def test_arrays_that_claim_more_than_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    good = {"coords": header((1, 2, 2)) + bytes(32), "limit": header(()) + bytes(8)}
    for shape in ((1, 3), (1, 2**60), (2**62, 2**62), (-1, -2)):
        archive(path, good | {"prizes": header(shape) + bytes(16)})
        refused(lambda: files.read(path), "prizes claims shape")
    archive(path, good | {"prizes": b"\x93NUMPY\x09\x00" + bytes(200)})
    refused(lambda: files.read(path), "no readable array header")
    archive(path, good | {"prizes": header((1, 2), "<U4000000")})
    refused(lambda: files.read(path), "prizes must hold numbers")


def test_zip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, coords=np.zeros((1, 1, 2)), limit=1.0, prizes=np.zeros((2**12, 2**10)))
    assert path.stat().st_size < MEGABYTE / 4
    refused(lambda: files.read_set(path), "prizes claims 33554560 bytes from [0-9]+: refused as a zip bomb")
    monkeypatch.setattr(npz, "MAX_SET_BYTES", 10**6)
    refused(lambda: files.read_set(path), "its arrays claim")


def test_a_member_that_lies_about_its_size(tmp_path: Path) -> None:
    """The directory of the archive is rewritten to claim less than is packed; no more than claimed is unpacked."""
    path = tmp_path / "a.npz"
    prizes = header((1, 2)) + bytes(16)
    good = {"coords": header((1, 2, 2)) + bytes(32), "limit": header(()) + bytes(8)}
    archive(path, good | {"prizes": prizes + bytes(20 * MEGABYTE)})
    data = path.read_bytes()
    real, fake = (n.to_bytes(4, "little") for n in (len(prizes) + 20 * MEGABYTE, len(prizes)))
    assert real in data
    path.write_bytes(data.replace(real, fake))
    refused(lambda: files.read(path), "Bad CRC-32")


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1" * (text.MAX_LINE + 1))
    with pytest.raises(BadFile, match="a line of more than") as caught:
        files.read(path)
    assert caught.value.line == 1
    path = tmp_path / "a.json"
    with open(path, "wb") as file:
        file.truncate(text.MAX_WHOLE + 1)  # a hole: takes no room on the disk
    with pytest.raises(BadFile, match="more than 67108864 bytes"):
        files.read(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    for suffix in (".json", ".npz", ".oplib", ".txt", ".csv", ".geojson", ".gpx", ".xlsx"):
        with pytest.raises(BadFile, match="cannot be read: No such file"):
            files.read(tmp_path / f"absent{suffix}")
        (tmp_path / f"folder{suffix}").mkdir()
        with pytest.raises(BadFile, match="cannot be read: Is a directory"):
            files.read(tmp_path / f"folder{suffix}")
    with pytest.raises(BadFile, match="cannot be written: No such file"):
        files.write_tour([0, 0], tmp_path / "absent" / "tour.txt")


def test_short_numbers_count_as_the_floats_they_become(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 GB of bytes would be 16 GB of floats."""
    monkeypatch.setattr(npz, "MAX_SET_BYTES", 10_000)
    path = tmp_path / "a.npz"
    np.savez(path, costs=np.zeros((1, 60, 60), np.int8), prizes=np.zeros((1, 60), np.int8), limit=np.int8(1))
    refused(lambda: files.read(path), "its numbers take more than the 10000 bytes")
    np.savez(path, costs=np.zeros((1, 30, 30), np.int8), prizes=np.zeros((1, 30), np.int8), limit=np.int8(1))
    assert files.read(path).size == 30


def test_keys_without_end_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.oplib"
    path.write_text("".join(f"COMMENT_{number} : {'x' * 1000}\n" for number in range(5000)))
    refused(lambda: files.read(path), "DIMENSION is missing")
