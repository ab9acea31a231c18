"""The tables and the chart of the paper's experiment, from the lines of results."""

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orienteer.lab.bench import chart
from orienteer.lab.bench.paper_figures import PRIZES, SIZES, SOURCE, printed
from orienteer.lab.bench.sets import SEED, NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.lab.bench.summary import Optima, Row, Summary, contradictions, failures, proven_optima, summarise
from orienteer.lab.bench.tables import (
    Cell,
    Table,
    duration,
    number,
    percent,
    with_error,
    words,
    write_tables,
    write_text,
)
from orienteer.version import __version__


@dataclass(frozen=True)
class Spec:
    """Which instances the experiment runs on."""

    prizes: tuple[str, ...] = PRIZES
    sizes: tuple[int, ...] = SIZES
    count: int = 200
    seed: int = SEED
    given: bool = False
    """Whether the instances came from files, not from the seed."""

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Kinds of prize and sizes, in the order of the table."""
        return [(prizes, nodes) for prizes in self.prizes for nodes in self.sizes]


@dataclass(frozen=True)
class Report:
    """What an experiment came to: its summaries, and what must not be overlooked."""

    summaries: list[Summary]
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every method solved every instance."""
        return all(one.complete for one in self.summaries)


def write_report(
    folder: Path,
    spec: Spec,
    rows: Sequence[Row],
    sets: Sequence[NamedSet],
    entries: dict[Place, Entry],
    given: Optima,
) -> Report:
    """Writes table.md, .csv, .tex, .html, chart.png and optimum.csv, and returns what they say."""
    optima = {**given, **proven_optima(entries, sets)}
    by_cell = dict(zip(spec.cells, (summarise(entries, rows, one, optima) for one in sets), strict=True))
    failed = failures(entries, rows, sets) + contradictions(entries, rows, sets, optima)
    notes = [*_notes(spec, rows, entries), *failed]
    title = "The paper's table, run again"
    picture = chart.try_prize_against_time(folder / "chart.png", _panels(spec, by_cell), notes)
    wide = [_wide(prizes, [(nodes, by_cell[prizes, nodes]) for nodes in spec.sizes]) for prizes in spec.prizes]
    write_tables(folder, title, wide, _long(spec, by_cell), notes, picture)
    _write_optima(folder / "optimum.csv", optima)
    return Report([one for summaries in by_cell.values() for one in summaries], failed, notes)


def _notes(spec: Spec, rows: Sequence[Row], entries: dict[Place, Entry]) -> list[str]:
    origin = "given instances" if spec.given else f"instances drawn with seed {spec.seed}"
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    notes = [
        f"{spec.count} {origin} a cell; objective: mean prize with its standard error; gap: to the best method of the "
        "cell; optimum: mean gap to the proven optimum, with the number of instances where it is known.",
        f"Times are wall-clock seconds an instance (a batched search counts an equal share of its batch) on "
        f"{machine}, orienteer {__version__}.",
        f"Paper: {SOURCE}; 10,000 instances of its own, so that differences within its and our errors mean nothing. "
        "An empty cell: the paper has no figure for that method with these settings and weights.",
    ]
    if any(row.label.startswith("cs-l") for row in rows):
        notes.append("cs-l joins and polishes the routes that it finds; cs-paper is the paper's search, without that.")
    notes += [f"{row.label}: {row.about}" for row in rows if row.about != row.label]
    shown = {row.key for row in rows}
    others = sorted({key for key, _, _ in entries} - shown)
    if others:
        notes.append(f"Results of other methods, settings or versions are kept but not shown: {', '.join(others)}.")
    return notes


def _wide(prizes: str, columns: Sequence[tuple[int, list[Summary]]]) -> Table:
    heads = ["method"]
    for nodes, _ in columns:
        heads += [f"n = {nodes}: objective", "paper", "gap", "optimum", "time"]
    rows = []
    for place, first in enumerate(columns[0][1]):
        cells = [words(first.method)]
        for nodes, summaries in columns:
            one = summaries[place]
            theirs = printed(one.method, prizes, nodes)
            cells += [
                _objective(one),
                number(None if theirs is None else theirs.prize),
                percent(one.gap),
                _optimum(one),
                duration(one.seconds),
            ]
        rows.append(tuple(cells))
    return Table(f"{prizes.capitalize()} prizes", tuple(heads), tuple(rows))


def _objective(one: Summary) -> Cell:
    cell = with_error(one.prize, one.error)
    if one.complete:
        return cell
    return Cell(f"{cell.text} ({one.solved} of {one.wanted})".strip(), cell.value)


def _optimum(one: Summary) -> Cell:
    cell = percent(one.optimum_gap)
    return Cell(f"{cell.text} ({one.optima})", cell.value) if one.optima else cell


def _long(spec: Spec, by_cell: dict[tuple[str, int], list[Summary]]) -> Table:
    heads = (
        *(
            "prizes",
            "n",
            "method",
            "objective",
            "standard error",
            "gap %",
            "optimum gap %",
            "optima known",
            "optima found",
        ),
        *("seconds", "cpu seconds", "passes", "paper", "above paper %", "paper seconds", "solved", "wanted", "failed"),
    )
    rows = []
    for (prizes, nodes), summaries in by_cell.items():
        for one in summaries:
            theirs = printed(one.method, prizes, nodes)
            above = None if theirs is None or math.isnan(one.prize) else one.prize / theirs.prize - 1
            rows.append(
                (
                    words(prizes),
                    number(nodes, "d"),
                    words(one.method),
                    number(one.prize, ".4f"),
                    number(one.error, ".4f"),
                    _hundredths(one.gap),
                    _hundredths(one.optimum_gap),
                    number(one.optima, "d"),
                    number(one.equal, "d"),
                    number(one.seconds, ".5f"),
                    number(one.cpu, ".5f"),
                    number(one.passes, ".0f"),
                    number(None if theirs is None else theirs.prize),
                    _hundredths(above),
                    number(None if theirs is None else theirs.seconds, ".0f"),
                    number(one.solved, "d"),
                    number(one.wanted, "d"),
                    number(one.failed, "d"),
                )
            )
    return Table("All cells", heads, tuple(rows))


def _hundredths(share: float | None) -> Cell:
    """A share in per cent, without the sign: the head says it."""
    return number(None if share is None else 100 * share + 0.0, ".3f")


def _panels(spec: Spec, by_cell: dict[tuple[str, int], list[Summary]]) -> list[chart.Panel]:
    """One panel a kind of prize, at the largest size."""
    nodes = max(spec.sizes)
    return [
        chart.Panel(
            f"{prizes} prizes, n = {nodes}",
            [(one.method, one.seconds, one.prize) for one in by_cell[prizes, nodes] if one.solved],
        )
        for prizes in spec.prizes
    ]


def _write_optima(path: Path, optima: Optima) -> None:
    """Keeps the proven optima, in the form that --optimum reads."""
    if optima:
        lines = [f"{name},{index},{prize!r}\n" for (name, index), prize in sorted(optima.items())]
        text = "set,index,prize\n" + "".join(lines)
        write_text(path, text)
