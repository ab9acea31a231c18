"""What a method did on a set, in a few numbers."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orienteer.lab.bench.others import read_figures
from orienteer.lab.bench.run import finished
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place

Optima = dict[tuple[str, int], float]
"""Proven optima by set and index."""

SLACK = 1e-9
"""The share by which sums of equal prizes may differ."""


@dataclass(frozen=True)
class Row:
    """A method by name, and the key of its results."""

    label: str
    key: str
    about: str = ""
    """What the label stands for, if it does not say so itself."""


@dataclass(frozen=True)
class Summary:
    """A method on a set."""

    method: str
    set: str
    wanted: int
    solved: int
    failed: int = 0
    prize: float = math.nan
    """Mean over the instances that were solved, as all that follow."""
    error: float = math.nan
    """Standard error of that mean; NaN for less than two instances."""
    seconds: float = math.nan
    cpu: float = math.nan
    passes: float | None = None
    gap: float | None = None
    """How far the mean is below that of the set's best method, as a share; only where all instances are solved."""
    optimum_gap: float | None = None
    """The mean distance below the proven optimum, as a share of it, over the instances where that is known."""
    optima: int = 0
    equal: int = 0
    """How many of the known optima it found."""

    @property
    def complete(self) -> bool:
        """Whether every instance was solved."""
        return self.solved == self.wanted


def summarise(entries: dict[Place, Entry], methods: Sequence[Row], one: NamedSet, optima: Optima) -> list[Summary]:
    """A summary for each method, with the gaps between them."""
    rows = [_summary(entries, method, one, optima) for method in methods]
    best = max((row.prize for row in rows if row.complete), default=math.nan)
    return [replace(row, gap=_share_below(row.prize, best)) if row.complete else row for row in rows]


def proven_optima(entries: dict[Place, Entry], sets: Sequence[NamedSet]) -> Optima:
    """The optima that some method proved, whichever methods are shown."""
    by_name = {one.name: one for one in sets}
    found: Optima = {}
    for (key, name, index), entry in entries.items():
        one = by_name.get(name)
        if one is None or index >= len(one) or entry.get("status") != "optimal":
            continue
        if finished(entries, key, one, index) is not None:
            found[name, index] = entry["prize"]
    return found


def read_optima(path: Path) -> Optima:
    """Proven optima from a CSV with the columns set, index and prize."""
    return {(row.set, row.index): row.prize for row in read_figures(path)}


def contradictions(
    entries: dict[Place, Entry], methods: Sequence[Row], sets: Sequence[NamedSet], optima: Optima
) -> list[str]:
    """Routes that collect more than a proven optimum: one of the two is wrong."""
    found = []
    for one in sets:
        for index in range(len(one)):
            if (one.name, index) not in optima:
                continue
            optimum = optima[one.name, index]
            for method in methods:
                entry = finished(entries, method.key, one, index)
                if entry is not None and entry["prize"] > optimum * (1 + SLACK) + SLACK:
                    found.append(
                        f"{method.label} on {one.name} {index}: {entry['prize']:.9g} is above the optimum {optimum:.9g}"
                    )
    return found


def failures(entries: dict[Place, Entry], methods: Sequence[Row], sets: Sequence[NamedSet]) -> list[str]:
    """One line for each instance on which a method failed."""
    return [
        f"{method.label} failed on {one.name} {index}: {entries[method.key, one.name, index]['error']}"
        for one in sets
        for method in methods
        for index in range(len(one))
        if "error" in entries.get((method.key, one.name, index), {})
    ]


def _summary(entries: dict[Place, Entry], method: Row, one: NamedSet, optima: Optima) -> Summary:
    done = {
        index: entry for index in range(len(one)) if (entry := finished(entries, method.key, one, index)) is not None
    }
    failed = sum("error" in entries.get((method.key, one.name, index), {}) for index in range(len(one)))
    empty = Summary(method.label, one.name, len(one), len(done), failed)
    if not done:
        return empty
    prizes = [entry["prize"] for entry in done.values()]
    known = {index: optima[one.name, index] for index in done if (one.name, index) in optima}
    below = [_share_below(done[index]["prize"], optimum) or 0.0 for index, optimum in known.items()]
    passes = [entry["passes"] for entry in done.values() if "passes" in entry]
    return replace(
        empty,
        prize=statistics.fmean(prizes),
        error=statistics.stdev(prizes) / math.sqrt(len(prizes)) if len(prizes) > 1 else math.nan,
        seconds=statistics.fmean(entry["seconds"] for entry in done.values()),
        cpu=statistics.fmean(entry["cpu"] for entry in done.values()),
        passes=statistics.fmean(passes) if passes else None,
        optimum_gap=statistics.fmean(below) if below else None,
        optima=len(known),
        equal=sum(gap <= SLACK for gap in below),
    )


def _share_below(prize: float, best: float) -> float | None:
    if math.isnan(best):
        return None
    share = (best - prize) / best if best else 0.0
    return 0.0 if abs(share) <= SLACK else share
