"""Results as lines of JSON that survive a killed run: each is whole on the disk, or it is done again."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from orienteer.data.text import lock_alone
from orienteer.model.errors import BadFile, OrienteerError

Entry = dict[str, Any]
"""One line: `key` (of a method with its settings), `set`, `index`, and what came of it."""

Place = tuple[str, str, int]
"""Key, set and index: what a line is about."""

SUFFIX = ".jsonl"


class Store:
    """The lines of a folder, and one file in it that this process alone adds to; used as a context.

    Several processes may share a folder if each writes a file of its own name. A later line about the same place stands
    above an earlier one. Routes stay in the file unless `tours` asks for them: a million would fill the memory.
    """

    def __init__(self, folder: Path, name: str = "results", tours: bool = False):
        self.tours = tours
        self.path = folder / f"{name}{SUFFIX}"
        folder.mkdir(parents=True, exist_ok=True)
        self._file = _open_alone(self.path)
        try:
            _drop_torn_line(self._file)
            self.entries = read_entries([folder], tours)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, entries: Iterable[Entry]) -> None:
        """Keeps the lines, written before it returns: from then on only a failure of the machine can lose them."""
        new = list(entries)
        self._file.write("".join(json.dumps(one) + "\n" for one in new).encode())
        self.entries.update((place(one), one if self.tours else _without_tour(one)) for one in new)


def read_entries(folders: Iterable[Path], tours: bool = False) -> dict[Place, Entry]:
    """The lines of all files of some folders; of several about one place, the last that is no failure.

    Routes are left out unless `tours` asks for them.
    """
    found: dict[Place, Entry] = {}
    for folder in folders:
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            for entry in _read(path):
                if "error" not in entry or place(entry) not in found:
                    found[place(entry)] = entry if tours else _without_tour(entry)
    return found


def place(entry: Entry) -> Place:
    """What a line is about."""
    return entry["key"], entry["set"], entry["index"]


def _without_tour(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if key != "tour"}


def _read(path: Path) -> Iterator[Entry]:
    """The whole lines of a file; what stands behind the last end of line was cut off by a kill."""
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            entry = json.loads(line)
            place(entry)
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(path, f"is no line of results: {error}", number) from error
        yield entry


def _drop_torn_line(file: IO[bytes]) -> None:
    file.seek(0)
    content = file.read()
    file.truncate(content.rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)


def _open_alone(path: Path) -> IO[bytes]:
    """The file, open for adding, or an error where another process has it; a kill frees it."""
    try:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise BadFile(path, f"cannot be written: {error.strerror or error}") from error
    if not lock_alone(file):
        file.close()
        raise OrienteerError(f"{path} is being written by another run; shards (--shard) may share a folder")
    return file
