"""The results of a long batch in a folder: written part by part as they come, and taken up again after any end."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from orienteer.data.json_file import parse_json
from orienteer.data.npz import BatchResult, joined, load_results, save_joined
from orienteer.data.text import FilePath, lock_alone, shown, write_lines
from orienteer.model.errors import BadFile

MANIFEST, LOCK = "manifest.json", "lock"

PAUSE, SHARE = 2.0, 0.02
"""A part is written PAUSE seconds after the last, or after a SHARE of the time so far if that is longer: so a kill
costs little, and a batch of days has hundreds of files, not a hundred thousand."""
MOST_ROWS = 2**14
"""The most results of a part: this bounds memory."""


@dataclass(frozen=True)
class Part:
    """A file with the results of the instances from `begin` to before `end`."""

    begin: int
    end: int
    path: Path


@dataclass
class Totals:
    """Sums over results."""

    count: int = 0
    found: int = 0
    """How many have a plan."""
    prize: float = 0.0
    seconds: float = 0.0

    def add(self, batch: BatchResult) -> None:
        """Counts these results too."""
        there = ~np.isnan(batch.prize)
        self.count += len(batch)
        self.found += int(there.sum())
        self.prize += float(batch.prize[there].sum())
        self.seconds += float(batch.seconds.sum())


class ResultParts:
    """A context for the results of a batch: what is in its folder already, and what is added.

    The folder's manifest says by which command the results were found; a folder of another command is a `BadFile`.
    Inside the context no other process can write to the folder.
    """

    def __init__(
        self,
        folder: FilePath,
        command: dict[str, Any],
        instances: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.folder, self.instances = Path(folder), instances
        self.command = _plain({**command, "instances": instances})
        self.parts: list[Part] = []
        self.totals = Totals()
        self._waiting: list[BatchResult] = []
        self._from = self._to = 0
        self._clock = clock
        self._began = self._written = clock()
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> "ResultParts":
        if self.folder.exists():
            try:
                self._take_up()
            except BaseException:
                self._release()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def make(self) -> None:
        """Makes the folder where it is not there yet; otherwise the first part does."""
        if self._lock is not None:
            return
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise BadFile(self.folder, f"cannot be written: {error.strerror or error}") from error
        self._take_lock()
        write_lines(self.folder / MANIFEST, [json.dumps(self.command, indent=1)], durable=True)

    def missing(self) -> list[range]:
        """The stretches of instances that have no results yet."""
        ends = [0, *(part.end for part in self.parts)]
        begins = [*(part.begin for part in self.parts), self.instances]
        return [range(end, begin) for end, begin in zip(ends, begins, strict=True) if end < begin]

    def add(self, begin: int, batch: BatchResult) -> None:
        """Takes in the results of the instances from `begin` on, and writes a part when it is time."""
        if begin != self._to:
            self.flush()
            self._from = begin
        self._waiting.append(batch)
        self._to = begin + len(batch)
        self.totals.add(batch)
        now = self._clock()
        due = self._written + max(PAUSE, SHARE * (now - self._began))
        if now >= due or self._to - self._from >= MOST_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what has not been written; when this returns, the results survive a kill and a loss of power."""
        if self._waiting:
            self.make()
            part = Part(self._from, self._to, self.folder / _name(self._from, self._to))
            save_joined(self._waiting, part.path, durable=True)
            self.parts = sorted([*self.parts, part], key=lambda one: one.begin)
            self._waiting, self._from = [], self._to
        self._written = self._clock()

    def first_files(self) -> list[Path]:
        """The files from the first instance on, up to the first instance without a result."""
        known = self.missing()[0].start if self.missing() else self.instances
        return [part.path for part in self.parts if part.end <= known]

    def join(self, path: FilePath) -> int:
        """Writes the results from the first on without a gap as one file, and says how many; none, no file."""
        parts: Sequence[BatchResult | FilePath]
        if self._lock is None:  # no part was written: all results are here
            parts, count = self._waiting, len(self)
        else:
            self.flush()
            parts = self.first_files()
            count = self.missing()[0].start if self.missing() else self.instances
        if count:
            save_joined(parts, path, durable=True)
        return count

    def remove(self) -> None:
        """Removes the folder: under another name first, so that a kill in between leaves nothing that looks whole."""
        if self._lock is not None:
            self._release()  # Windows renames no folder with an open file
            gone = self.folder.with_name(f".{self.folder.name}.{os.getpid()}.gone")
            os.replace(self.folder, gone)
            shutil.rmtree(gone, ignore_errors=True)

    def __len__(self) -> int:
        return self.totals.count

    def _take_up(self) -> None:
        """Reads what an earlier run has left."""
        if not self.folder.is_dir():
            raise BadFile(self.folder, "cannot be written: it is not a directory")
        self._take_lock()
        names = {path.name for path in self.folder.iterdir()}
        if MANIFEST not in names:
            if strange := sorted(name for name in names if name != LOCK and not name.startswith(".")):
                raise BadFile(self.folder, f"is no folder of results: it has no {MANIFEST}, but {shown(strange[0])}")
            self._release()  # made by a run that was killed before it wrote anything
            return
        self._check_command()
        for draft in self.folder.glob(".*.part"):
            draft.unlink(missing_ok=True)
        self._read_parts()

    def _check_command(self) -> None:
        known, asked = parse_json(self.folder / MANIFEST), self.command
        if not isinstance(known, dict):
            raise BadFile(self.folder / MANIFEST, f"must be an object, got {shown(known)}")
        for key in [*asked, *(key for key in known if key not in asked)]:
            if known.get(key) != asked.get(key):
                values = f"whose {key} is {shown(known.get(key))}, not {shown(asked.get(key))}"
                wish = "name another --out or delete this folder"
                raise BadFile(self.folder, f"holds results of another command, {values}; {wish}")

    def _read_parts(self) -> None:
        self.parts, end = _parts(self.folder), 0
        for part in self.parts:
            batch = load_results(part.path)
            if len(batch) != part.end - part.begin or not end <= part.begin < part.end <= self.instances:
                raise BadFile(part.path, "does not fit the other parts; without it, its instances are solved again")
            self.totals.add(batch)
            end = part.end

    def _take_lock(self) -> None:
        path = self.folder / LOCK
        try:
            self._lock = open(path, "ab")  # noqa: SIM115
        except OSError as error:
            raise BadFile(self.folder, f"cannot be written: {error.strerror or error}") from error
        if not lock_alone(self._lock):
            self._release()
            raise BadFile(self.folder, "is being written by another run")

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def load_folder(folder: FilePath) -> BatchResult:
    """The results in a folder, from the first instance on; a `BadFile` where some in between are missing."""
    parts = _parts(folder)
    for before, part in pairwise(parts):
        if part.begin != before.end:
            raise BadFile(folder, f"results of the instances from {before.end} to {part.begin - 1} are missing")
    if not parts or parts[0].begin:
        raise BadFile(folder, "the results of the first instances are missing")
    return joined([load_results(part.path) for part in parts])


def load_one(folder: FilePath, index: int) -> BatchResult:
    """The result of the instance at `index` alone."""
    for part in _parts(folder):
        if part.begin <= index < part.end:
            return load_results(part.path)[index - part.begin]
    raise BadFile(folder, f"there is no result of instance {index}")


def _parts(folder: FilePath) -> list[Part]:
    """The files of a folder of results, in order."""
    found = [part for path in Path(folder).glob("*.npz") if (part := _part(path))]
    return sorted(found, key=lambda one: one.begin)


def _plain(command: dict[str, Any]) -> dict[str, Any]:
    """The values as a JSON file gives them back."""
    return dict(json.loads(json.dumps(command, default=repr), parse_constant=str))


def _name(begin: int, end: int) -> str:
    return f"results-{begin:010}-{end:010}.npz"


def _part(path: Path) -> Part | None:
    """The part that a file is by its name; None for other files."""
    told = re.fullmatch(r"results-([0-9]{10,18})-([0-9]{10,18})\.npz", path.name, re.ASCII)
    return None if told is None else Part(int(told[1]), int(told[2]), path)
