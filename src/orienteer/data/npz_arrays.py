"""The arrays of NPZ files, read whole or a few rows at a time. Declared sizes are checked before anything is read."""

import contextlib
import hashlib
import io
import math
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from orienteer.data.text import FilePath, shown, unreadable
from orienteer.model.errors import BadFile

MAX_RATIO = 100
"""The most that a member above a few megabytes may be compressed, unpacked to packed; more is refused as a zip bomb."""


class Member:
    """An array in an open NPZ file, whose rows are read in order, once."""

    def __init__(self, path: FilePath, archive: zipfile.ZipFile, info: zipfile.ZipInfo, kinds: str):
        """`kinds` are numpy's kinds of values that the array may hold; others are a `BadFile`."""
        self.path, self.name = path, info.filename.removesuffix(".npy")
        self._file = archive.open(info)
        self.shape, self._fortran, self.dtype = _header(path, self.name, self._file)
        dtype, held = self.dtype, info.file_size - self._file.tell()
        if dtype.kind not in kinds or (dtype.kind != "U" and dtype.itemsize > 8) or dtype.shape:
            wish = "text" if kinds == "U" else "numbers"
            raise BadFile(path, f"{self.name} must hold {wish}, got {shown(str(dtype))}")
        if min(self.shape, default=0) < 0 or math.prod(self.shape) * dtype.itemsize != held:
            raise BadFile(path, f"{self.name} claims shape {shown(self.shape)}, but its data is {held} bytes")
        self._rows_left = self.shape[0] if self.shape else 0

    @property
    def kept_bytes(self) -> int:
        """The bytes that the array takes in memory: numbers are kept as float64, however short they are in the file."""
        return math.prod(self.shape) * max(8, self.dtype.itemsize)

    @property
    def in_rows(self) -> bool:
        """Whether the rows lie one after the other, so that a few can be read without the others."""
        return bool(self.shape) and not (self._fortran and len(self.shape) > 1)

    def whole(self) -> npt.NDArray[Any]:
        """The array."""
        flat = self._values(math.prod(self.shape))
        self._file.read(1)  # at the end of the member its checksum is compared
        return flat.reshape(self.shape, order="F" if self._fortran else "C")

    def skip(self, count: int) -> None:
        """Goes on to the row that is `count` rows further."""
        self._file.seek(count * math.prod(self.shape[1:]) * self.dtype.itemsize, io.SEEK_CUR)
        self._rows_left -= count

    def rows(self, count: int) -> npt.NDArray[Any]:
        """The next `count` rows of an array that is `in_rows`."""
        flat = self._values(count * math.prod(self.shape[1:]))
        self._rows_left -= count
        if not self._rows_left:
            self._file.read(1)
        return flat.reshape(count, *self.shape[1:])

    def _values(self, count: int) -> npt.NDArray[Any]:
        size = count * self.dtype.itemsize
        data = self._file.read(size)
        if len(data) != size:
            raise BadFile(self.path, f"{self.name} is cut short")
        return np.frombuffer(data, dtype=self.dtype) if size else np.empty(0, dtype=self.dtype)


@contextlib.contextmanager
def opened(path: FilePath, wanted: Iterable[str]) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    """A context with the open file and its members of the `wanted` names; any error of the file is a `BadFile`."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            yield archive, {name: members[name] for name in wanted if name in members}
    except BadFile:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    except Exception as error:  # zipfile and zlib raise all kinds of things on damaged bytes
        raise BadFile(path, f"not a readable NPZ file: {error}") from error


def check_packing(path: FilePath, members: dict[str, zipfile.ZipInfo]) -> None:
    """Raises `BadFile` if a member claims to unpack to far more bytes than it has."""
    for name, info in members.items():
        if info.file_size > 2**24 and info.file_size > MAX_RATIO * info.compress_size:
            raise BadFile(
                path, f"{name} claims {info.file_size} bytes from {info.compress_size}: refused as a zip bomb"
            )


def load_arrays(path: FilePath, wanted: dict[str, str], most: int) -> dict[str, npt.NDArray[Any]]:
    """The arrays that the file holds, of those `wanted` by name with their kinds; `most` is the most bytes of all."""
    with opened(path, wanted) as (archive, members):
        total = sum(info.file_size for info in members.values())
        if total > most:
            raise BadFile(path, f"its arrays claim {total} bytes, more than the {most} that are read")
        check_packing(path, members)
        arrays, left = dict[str, npt.NDArray[Any]](), most
        for name, info in members.items():
            member = Member(path, archive, info, wanted[name])
            left -= member.kept_bytes
            if left < 0:
                raise BadFile(path, f"its numbers take more than the {most} bytes that are read")
            arrays[name] = member.whole()
        return arrays


def fingerprint(path: FilePath, wanted: Iterable[str]) -> bytes:
    """A digest of the wanted arrays by their sizes and checksums, which stand in the file's directory: no data is read.

    Checksums of 32 bits find a set that was mistaken or changed, not one that was forged.
    """
    with opened(path, wanted) as (_, members):
        known = [(name, info.file_size, info.CRC) for name, info in sorted(members.items())]
    return hashlib.sha256(repr(known).encode()).digest()


def write_array(
    archive: zipfile.ZipFile, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...], parts: Iterable[npt.NDArray[Any]]
) -> None:
    """Adds an array of that shape to an NPZ file; its rows come in parts."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype).data)


def _header(path: FilePath, name: str, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(file)
        return np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # the header is parsed as Python text, so anything may go wrong
        raise BadFile(path, f"{name} has no readable array header: {shown(str(error))}") from error
