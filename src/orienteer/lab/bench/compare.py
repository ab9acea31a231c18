"""Some methods on some sets, and one table of what they did: the plain experiment."""

from collections.abc import Sequence
from pathlib import Path

from orienteer.lab.bench import chart
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone, run_all
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.summary import Row, Summary, failures, proven_optima, summarise
from orienteer.lab.bench.tables import Table, duration, number, percent, with_error, words, write_tables


def compare(
    folder: Path,
    title: str,
    methods: Sequence[Method],
    sets: Sequence[NamedSet],
    on_done: OnDone,
    notes: Sequence[str] = (),
) -> Report:
    """Runs what is missing, writes the tables and a chart of the last set, and returns what they say."""
    entries = run_all(folder, methods, sets, on_done)
    rows = [Row(method.label, method.key) for method in methods]
    optima = proven_optima(entries, sets)
    summaries = [one for each in sets for one in summarise(entries, rows, each, optima)]
    failed = failures(entries, rows, sets)
    said = [*notes, *failed]
    points = [
        chart.Panel(each.name, [(one.method, one.seconds, one.prize) for one in summaries if one.set == each.name])
        for each in sets
    ]
    picture = chart.try_prize_against_time(folder / "chart.png", points, said)
    table = summary_table(title, summaries)
    write_tables(folder, title, [table], table, said, picture)
    return Report(summaries, failed, said)


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
