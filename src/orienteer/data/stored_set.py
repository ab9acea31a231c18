"""Sets of instances that may be larger than memory: in one file, or in a folder of files that hold a part each."""

import glob
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from orienteer.data.instance_set import InstanceSet
from orienteer.data.npz import SetFile, save_set
from orienteer.data.text import FilePath
from orienteer.model.errors import BadFile

PATTERN = "*?["
"""Characters that make a path a pattern, unless there is a file of that very name."""


class StoredSet:
    """A set in NPZ files, in order; only the part that is worked on is in memory."""

    def __init__(self, files: Sequence[SetFile]):
        self.files = files

    def __len__(self) -> int:
        return sum(len(file) for file in self.files)

    def pieces(self, begin: int = 0, end: int | None = None) -> Iterator[InstanceSet]:
        """The instances from `begin` to before `end`, in order, a few megabytes at a time."""
        last, before = len(self) if end is None else end, 0
        for file in self.files:
            if before + len(file) > begin and before < last:
                yield from file.pieces(max(0, begin - before), last - before)
            before += len(file)

    def at(self, index: int) -> InstanceSet:
        """The set of the one instance at `index`."""
        return next(self.pieces(index, index + 1))

    def check(self, begin: int = 0, end: int | None = None) -> None:
        """Raises `BadFile` about the first instance that breaks a rule, or about a damaged file."""
        for piece in self.pieces(begin, end):
            piece.check()

    def fingerprint(self) -> str:
        """A digest that tells whether the set is the same, however it is called, made without reading all of it."""
        return hashlib.sha256(b"".join(file.fingerprint() for file in self.files)).hexdigest()


def is_stored_set(path: FilePath) -> bool:
    """Whether a path is that of a folder or a pattern, which may stand for a set in several files."""
    return Path(path).is_dir() or (any(sign in str(path) for sign in PATTERN) and not Path(path).exists())


def open_set(path: FilePath) -> StoredSet:
    """The set in an NPZ file, in all NPZ files of a folder, or in those that match a pattern such as ``set/a*.npz``.

    Files come in the order of their names, numbers within names by their value.
    """
    if not is_stored_set(path):
        return StoredSet([SetFile(path)])
    found = Path(path).glob("*.npz") if Path(path).is_dir() else (Path(name) for name in glob.glob(str(path)))
    names = sorted((name for name in found if not name.name.startswith(".")), key=_in_order)
    if not names:
        kind = "Is a directory without .npz files" if Path(path).is_dir() else "no file matches"
        raise BadFile(path, f"cannot be read: {kind}")
    if Path(path).is_dir():
        _check_all_there(path, names)
    return StoredSet([SetFile(name) for name in names])


def part_name(index: int, count: int) -> str:
    """The name of a part of a set in `count` files, by which a reader sees whether all are there."""
    return f"part-{index:05}-of-{count:05}.npz"


class SetFolder:
    """A folder that a set is written to, part by part."""

    def __init__(self, folder: FilePath, parts: int):
        """Makes the folder; one that holds NPZ files other than these parts is a `BadFile`."""
        self.folder, self.parts = Path(folder), parts
        names = {part_name(index, parts) for index in range(parts)}
        try:
            self.folder.mkdir(exist_ok=True)
            others = sorted(path.name for path in self.folder.glob("*.npz") if path.name not in names)
        except OSError as error:
            raise BadFile(folder, f"cannot be written: {error.strerror or error}") from error
        if others:
            raise BadFile(folder, f"cannot be written: it holds the file {others[0]} of another set")

    def write(self, index: int, instances: InstanceSet) -> None:
        """Writes a part."""
        save_set(instances, self.folder / part_name(index, self.parts))


def _in_order(path: Path) -> list[tuple[str, int]]:
    """A key for sorting: texts and numbers by turns, then the whole name, since 01 and 1 are one number."""
    words = re.findall(r"([^0-9]*)([0-9]*)", str(path))
    return [*((text, int(number or -1)) for text, number in words), (str(path), 0)]


def _check_all_there(folder: FilePath, names: Sequence[Path]) -> None:
    """Raises `BadFile` if names tell how many files there are, and one is missing."""
    told = [re.fullmatch(r"(.*?)([0-9]+)-of-([0-9]+)\.npz", path.name, re.ASCII) for path in names]
    if not all(told):
        return
    counts = {(one[1], int(one[3])) for one in told if one}
    if len(counts) > 1:
        raise BadFile(folder, f"holds files of several sets, such as {names[0].name} and {names[-1].name}")
    ((_, count),) = counts
    numbers = {int(one[2]) for one in told if one}
    if numbers != set(range(len(names))) or len(names) != count:
        missing = next(number for number in range(len(names) + 1) if number not in numbers)
        raise BadFile(folder, f"holds {len(names)} of {count} parts: number {missing} is not there")
