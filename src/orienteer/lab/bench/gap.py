"""How far methods are from the proven optimum, moment by moment: the mean gap over time, in one picture."""

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from orienteer.lab.bench import chart
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone, finished, run_all
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.lab.bench.summary import Optima, Row, contradictions, failures, proven_optima, summarise
from orienteer.lab.bench.tables import Table, duration, number, percent, words, write_tables
from orienteer.model.errors import OrienteerError

FIRST = 1e-4
"""The first moment of a curve, in seconds."""
A_DECADE = 16
"""Points of a curve for each factor of ten in time."""


def run_gap(
    folder: Path, methods: Sequence[Method], sets: Sequence[NamedSet], on_done: OnDone, given: Optima
) -> Report:
    """Runs what is missing, one instance at a time, and writes tables and chart.png.

    Only instances whose optimum is proven count: by one of the methods, or by the file that `given` was read from.
    """
    entries = run_all(folder, methods, sets, on_done, traces=True)
    rows = [Row(method.label, method.key) for method in methods]
    optima = {**given, **proven_optima(entries, sets)}
    failed = failures(entries, rows, sets) + contradictions(entries, rows, sets, optima)
    notes, panels, summaries = list[str](), [], []
    for one in sets:
        known = [index for index in range(len(one)) if optima.get((one.name, index), 0.0) > 0]
        if not known:
            raise OrienteerError(
                f"{one.name}: no optimum is proven; add exact to --methods (extra `exact`), or give --optimum"
            )
        notes.append(
            f"{one.name}: {len(known)} of {len(one)} instances have a proven optimum; the others do not count."
        )
        curves = [curve for row in rows if (curve := gap_curve(entries, row, one, known, optima)) is not None]
        panels.append((one.name, curves))
        summaries += summarise(entries, rows, one, optima)
    notes.append(
        "Gap: the mean distance of the best route so far below the proven optimum, as a share of it; single calls, one "
        "at a time. A curve begins when every instance has a route with a prize, and ends with its method."
    )
    notes += failed
    picture = chart.try_gap_against_time(folder / "chart.png", panels, notes)
    heads = ("set", "method", "optima", "found", "gap", "time")
    table = Table(
        "Gap to the proven optimum",
        heads,
        tuple(
            (
                words(one.set),
                words(one.method),
                number(one.optima, "d"),
                number(one.equal, "d"),
                percent(one.optimum_gap, ".3f"),
                duration(one.seconds),
            )
            for one in summaries
        ),
    )
    write_tables(folder, "Gap against time", [table], table, notes, picture)
    return Report(summaries, failed, notes)


def gap_curve(
    entries: dict[Place, Entry], row: Row, one: NamedSet, known: Sequence[int], optima: Optima
) -> chart.GapCurve | None:
    """The mean gap of a method over time; None where it has not solved all instances that count."""
    found = [finished(entries, row.key, one, index) for index in known]
    done = [entry for entry in found if entry is not None]
    if len(done) < len(found):
        return None
    best = [optima[one.name, index] for index in known]
    traces = [_rising(entry) for entry in done]
    # Before this moment some instance has no more than the way from start to end.
    begins = max(max(FIRST, next((at for at, prize in trace if prize > 0), FIRST)) for trace in traces)
    ends = statistics.fmean(entry["seconds"] for entry in done)
    last = max(0.0, statistics.fmean(1 - entry["prize"] / optimum for entry, optimum in zip(done, best, strict=True)))
    if begins >= ends:  # a method that finds one route, at its end
        return chart.GapCurve(row.label, [ends], [last])
    count = 2 + round(A_DECADE * float(np.log10(ends / begins)))
    times = np.geomspace(begins, ends, count).tolist()
    times[0], times[-1] = begins, ends
    gaps = [
        statistics.fmean(1 - _prize_at(trace, time) / optimum for trace, optimum in zip(traces, best, strict=True))
        for time in times[:-1]
    ]
    return chart.GapCurve(row.label, times, [max(0.0, gap) for gap in (*gaps, last)])


def _rising(entry: Entry) -> list[tuple[float, float]]:
    """The seconds and prizes of the improvements of a run; at its end the prize of its route."""
    trace = [(float(seconds), float(prize)) for seconds, prize in entry.get("trace", ())]
    return [*trace, (entry["seconds"], entry["prize"])]


def _prize_at(trace: Sequence[tuple[float, float]], time: float) -> float:
    place = bisect_right(trace, time, key=lambda step: step[0])
    return max((prize for _, prize in trace[:place]), default=0.0)
