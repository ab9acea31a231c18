"""Folders of published problems: what a method collects beside the best known values, and where it collects more."""

import csv
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.data.files import SUFFIXES, read
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.run import OnDone, run_cases
from orienteer.lab.bench.sets import NamedSet, one_each
from orienteer.lab.bench.store import Entry
from orienteer.lab.bench.tables import Table, duration, number, percent, words, write_tables, write_text
from orienteer.model.errors import BadFile

GROUPS = ((110, 0.7), (210, 2.5), (401, 5.0), (10**9, 20.0))
"""Pairs of a number of nodes and the seconds of OPLib files with fewer nodes: up to 400 those that EA4OP needs."""

CLASSIC_SECONDS = 1.0

SAME = 1e-9
"""Prizes whose difference is at most this share of them count as equal."""


@dataclass(frozen=True)
class KnownFile:
    """A problem and the best that is known of it."""

    path: Path
    best: float
    proven: bool


@dataclass(frozen=True)
class FileResult:
    """What a method collected on a file."""

    name: str
    nodes: int
    best: float
    proven: bool
    prize: float
    seconds: float
    tour: tuple[int, ...]

    @property
    def gap(self) -> float:
        """The share of the best known value that is missing; negative where there is more."""
        return 1 - self.prize / self.best if self.best else 0.0

    @property
    def better(self) -> bool:
        """Whether the prize is above the best known value."""
        return self.gap < -SAME

    @property
    def missed(self) -> bool:
        """Whether the prize is below a proven optimum."""
        return self.proven and self.gap > SAME


@dataclass(frozen=True)
class LibraryReport:
    """The results on all files, and the failures."""

    results: list[FileResult]
    failures: list[str]

    @property
    def mean_gap(self) -> float:
        """Mean over the files; NaN where there are none."""
        return sum(one.gap for one in self.results) / len(self.results) if self.results else math.nan


def known_files(
    folder: Path, best_known: Path | None, largest: int, match: str = ""
) -> tuple[list[KnownFile], list[str]]:
    """The files of a folder and below that a CSV of best known values names, sorted by name; notes on the others.

    The CSV has the columns instance (a file's name without suffix), best_known and, if they are there, n and
    proven_optimal (yes or not); files of more than `largest` nodes are left out, by n before they are read.
    """
    rows = _read_best_known(best_known or folder / "best_known.csv")
    found, large, absent = [], [], {name for name in rows if name and match in name}
    for path in sorted(folder.rglob("*")):
        row = rows.get(path.stem)
        if row is None or path.suffix.lower() not in SUFFIXES or match not in path.stem or not path.is_file():
            continue
        absent.discard(path.stem)
        if int(row.get("n") or 0) <= largest:
            found.append(KnownFile(path, float(row["best_known"]), row.get("proven_optimal") == "yes"))
        else:
            large.append(path)
    if not found:
        raise BadFile(folder, f"holds no file of at most {largest} nodes that its best known values name")
    notes = [f"left out: {len(large)} files of more than {largest} nodes (--largest)"] if large else []
    return found, notes + ([f"named with a best known value, but not there: {_few(absent)}"] if absent else [])


def _few(names: set[str]) -> str:
    """Some names, and how many more there are."""
    some = sorted(names)[:5]
    return ", ".join(some) + (f" and {len(names) - len(some)} more" if len(names) > len(some) else "")


def oplib_seconds(nodes: int) -> float:
    """Time for a file of OPLib."""
    return next(seconds for below, seconds in GROUPS if nodes < below)


def classic_seconds(nodes: int) -> float:
    """Time for a file of Tsiligirides or Chao."""
    return CLASSIC_SECONDS


def run_files(
    out: Path,
    title: str,
    files: list[KnownFile],
    method: Method,
    seconds: Callable[[int], float],
    on_done: OnDone,
    notes: Sequence[str] = (),
) -> LibraryReport:
    """Runs a method on files that have no result yet, and writes the tables, with `notes` below, and better.json.

    `seconds` tells the time by the number of nodes, unless the method has a limit of its own.
    """
    sets = one_each([(file.path.stem, read(file.path)) for file in files])
    cases = [(_timed(method, seconds, one), one, 0) for one in sets]
    answers = list(zip(files, sets, run_cases(out, cases, on_done, tours=True), strict=True))
    failed = [f"{method.label} failed on {one.name}: {entry['error']}" for _, one, entry in answers if "error" in entry]
    results = [_result(file, one, entry) for file, one, entry in answers if "error" not in entry]
    report = LibraryReport(results, failed)
    _write(out, title, method, report, notes)
    return report


def _timed(method: Method, seconds: Callable[[int], float], one: NamedSet) -> Method:
    """The method with the time for the instance of a set of one, unless it has a limit of its own."""
    if method.seconds is not None or method.steps is not None:
        return method
    return Method(method.label, method.solver, method.settings, seconds(one.instances[0].size))


def _result(file: KnownFile, one: NamedSet, entry: Entry) -> FileResult:
    nodes, tour = one.instances[0].size, tuple(entry["tour"])
    return FileResult(one.name, nodes, file.best, file.proven, entry["prize"], entry["seconds"], tour)


def _write(out: Path, title: str, method: Method, report: LibraryReport, more: Sequence[str]) -> None:
    better = [one for one in report.results if one.better]
    missed = [one for one in report.results if one.missed]
    proven = sum(one.proven for one in report.results)
    notes = [
        f"{method.label}: mean gap {100 * report.mean_gap:.3f} % over {len(report.results)} files; a negative gap is a "
        "value above the best known.",
        *([f"{len(missed)} of {proven} proven optima missed."] if proven else []),
        *more,
        *(f"missed: {one.name} {one.prize:g} of {one.best:g}" for one in missed),
        *(f"better: {one.name} {one.prize:g}, was {one.best:g}" for one in better),
        *(f"better than a value called optimal, so one of them is wrong: {one.name}" for one in better if one.proven),
        *report.failures,
    ]
    write_tables(out, title, [_by_size(title, report.results)], _by_file(title, report.results), notes)
    routes = {one.name: {"prize": one.prize, "was": one.best, "tour": one.tour} for one in better}
    write_text(out / "better.json", json.dumps(routes, indent=1))


def _by_size(title: str, results: list[FileResult]) -> Table:
    heads = ("nodes", "files", "seconds", "mean gap", "worst", "equal", "better")
    rows = []
    least = 0
    for below, _ in GROUPS:
        some = [one for one in results if least <= one.nodes < below]
        if some:
            rows.append(
                (
                    words(f"{least} to {max(one.nodes for one in some)}"),
                    number(len(some), "d"),
                    duration(sum(one.seconds for one in some) / len(some)),
                    percent(sum(one.gap for one in some) / len(some), ".3f"),
                    percent(max(one.gap for one in some)),
                    number(sum(abs(one.gap) <= SAME for one in some), "d"),
                    number(sum(one.better for one in some), "d"),
                )
            )
        least = below
    return Table(title, heads, tuple(rows))


def _by_file(title: str, results: list[FileResult]) -> Table:
    heads = ("file", "nodes", "best known", "proven", "prize", "gap", "seconds")
    rows = tuple(
        (
            words(one.name),
            number(one.nodes, "d"),
            number(one.best, "g"),
            words("yes" if one.proven else "not known"),
            number(one.prize, "g"),
            percent(one.gap, ".3f"),
            number(one.seconds, ".3f"),
        )
        for one in results
    )
    return Table(title, heads, rows)


def _read_best_known(path: Path) -> dict[str, dict[str, str]]:
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            if missing := {"instance", "best_known"} - set(reader.fieldnames or ()):
                wish = f"needs the columns instance and best_known; missing: {', '.join(sorted(missing))}"
                raise BadFile(path, wish, 1)
            return {row["instance"]: row for row in reader}
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror or error}; --best-known names another") from error
