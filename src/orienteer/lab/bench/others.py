"""Figures of other programs, measured once and kept in a file, as lines beside our own."""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.model.errors import BadFile


@dataclass(frozen=True)
class Figure:
    """What a program collected on one instance of a set."""

    set: str
    index: int
    prize: float
    cpu_seconds: float
    """NaN where the file does not tell."""


def read_figures(path: Path) -> list[Figure]:
    """The rows of a CSV with the columns set, index and prize, and cpu_seconds if it is there."""
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if missing := {"set", "index", "prize"} - set(reader.fieldnames or ()):
            raise BadFile(path, f"needs the columns set, index and prize; missing: {', '.join(sorted(missing))}", 1)
        found = []
        for row in reader:
            try:
                cpu = float(row.get("cpu_seconds") or math.nan)
                found.append(Figure(row["set"], int(row["index"]), float(row["prize"]), cpu))
            except (TypeError, ValueError) as error:
                raise BadFile(path, str(error), reader.line_num) from error
        return found


def as_entries(figures: Iterable[Figure], label: str, sets: Sequence[NamedSet]) -> dict[Place, Entry]:
    """Lines about the instances of some sets, under the key `label`; that the figures are of these, nobody checks."""
    by_name = {one.name: one for one in sets}
    found: dict[Place, Entry] = {}
    for row in figures:
        one = by_name.get(row.set)
        if one is not None and 0 <= row.index < len(one):
            about = {"key": label, "set": row.set, "index": row.index, "instance": one.digests[row.index]}
            figure = {"prize": row.prize, "seconds": row.cpu_seconds, "cpu": row.cpu_seconds}
            found[label, row.set, row.index] = {**about, **figure}
    return found
