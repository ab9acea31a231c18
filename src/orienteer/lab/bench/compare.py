"""The plain experiment: any methods on any sets, and one table of their results."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.data.files import write_results
from orienteer.lab.bench import chart
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.others import as_entries, read_figures
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone, finished, run_all
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.lab.bench.summary import Row, Summary, failures, proven_optima, summarise
from orienteer.lab.bench.tables import Table, duration, number, percent, with_error, words, write_tables
from orienteer.model.plan import Plan
from orienteer.model.result import Result
from orienteer.model.tour import Tour


def compare(
    folder: Path,
    title: str,
    methods: Sequence[Method],
    sets: Sequence[NamedSet],
    on_done: OnDone,
    notes: Sequence[str] = (),
    beside: Mapping[str, Path] | None = None,
    routes: bool = False,
) -> Report:
    """Runs what is missing, writes the tables and a chart of the last set, and returns what they say.

    `beside` are files with other programs' figures (`others.read_figures`), by the names of these programs. With
    `routes` the routes of every method on every set are written too, as `orienteer batch` does, for a judge.
    """
    entries = run_all(folder, methods, sets, on_done, tours=routes)
    rows = [Row(method.label, method.key) for method in methods]
    if routes:
        _write_routes(folder / "routes", entries, rows, sets)
    for label, path in (beside or {}).items():
        entries |= as_entries(read_figures(path), label, sets)
        rows.insert(0, Row(label, label))
    optima = proven_optima(entries, sets)
    summaries = [one for each in sets for one in summarise(entries, rows, each, optima)]
    failed = failures(entries, rows, sets)
    said = [*notes, *failed]
    timed = [one for one in summaries if not math.isnan(one.seconds)]
    points = [
        chart.Panel(each.name, [(one.method, one.seconds, one.prize) for one in timed if one.set == each.name])
        for each in sets
    ]
    picture = chart.try_prize_against_time(folder / "chart.png", points, said)
    table = summary_table(title, summaries)
    write_tables(folder, title, [table], table, said, picture)
    return Report(summaries, failed, said)


def _write_routes(folder: Path, entries: dict[Place, Entry], rows: Sequence[Row], sets: Sequence[NamedSet]) -> None:
    """SET.METHOD.npz for every method that solved all instances of a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in sets:
        for row in rows:
            found = [finished(entries, row.key, one, index) for index in range(len(one))]
            solved = [entry for entry in found if entry is not None]
            if len(solved) == len(found):
                write_results([_result(row, entry) for entry in solved], folder / f"{one.name}.{row.key}.npz")


def _result(row: Row, entry: Entry) -> Result:
    tour = Tour(tuple(entry["tour"]), entry["prize"], entry["cost"])
    return Result(
        Plan((tour,), tour.prize, tour.cost),
        entry["status"],
        entry["seconds"],
        entry["steps"],
        row.label,
        entry["index"],
    )


def summary_table(title: str, summaries: Sequence[Summary]) -> Table:
    """A row for each method and set."""
    heads = ("set", "method", "instances", "objective", "gap", "time", "CPU", "passes")
    rows = tuple(
        (
            words(one.set),
            words(one.method),
            number(one.solved, "d"),
            with_error(one.prize, one.error),
            percent(one.gap),
            duration(one.seconds),
            duration(one.cpu),
            number(one.passes, ".0f"),
        )
        for one in summaries
    )
    return Table(title, heads, rows)
