"""Prize and time of the cost-level search against K and tau, and of the step-by-step search at equal passes."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from orienteer.beam.backend import choose_backend
from orienteer.lab.bench import chart
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone, run_all
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place
from orienteer.lab.bench.summary import Row, Summary, failures, summarise
from orienteer.lab.bench.tables import Table, duration, number, percent, with_error, words, write_tables
from orienteer.network.solver import LearnedCostLevelSearch

PILOT = 20
"""Width of the step-by-step beam that tells how many passes a path of the beam costs."""


def run_beam(
    folder: Path,
    one: NamedSet,
    widths: Sequence[int],
    taus: Sequence[float],
    weights: str,
    device: str,
    on_done: OnDone,
) -> Report:
    """Runs the grid, then step-by-step beams of such widths that their networks look as often, and writes the table."""
    grid = [(width, tau) for tau in taus for width in widths]
    network = weights or LearnedCostLevelSearch.default_weights(choose_backend(device))
    levels = [_levels(width, tau, network, device) for width, tau in grid]
    pilot = _steps(PILOT, network, device)
    total = len(one) * (2 * len(levels) + 1)
    first = run_all(folder, [pilot, *levels], [one], lambda done, _: on_done(done, total))
    steps = [_steps(width, network, device) for width in _equal_widths(first, pilot, levels, one)]
    before = len(one) * (len(levels) + 1)
    different = list({method.key: method for method in steps}.values())
    entries = run_all(folder, different, [one], lambda done, _: on_done(min(total, before + done), total))
    rows = [_row(method) for method in [*levels, *different]]
    found = {row.method: row for row in summarise(entries, rows, one, {})}
    pairs = [(found[level.label], found[step.label]) for level, step in zip(levels, steps, strict=True)]
    failed = failures(entries, rows, [one])
    notes = [f"Score: {network}; passes: looks of the network at a path.", *failed]
    picture = _chart(folder / "chart.png", one, grid, pairs, notes)
    title = f"Cost-level and step-by-step beam search on {one.name}, {len(one)} instances"
    summaries = list(found.values())
    table = _table(title, grid, pairs)
    write_tables(folder, title, [table], table, notes, picture)
    return Report(summaries, failed, notes)


def _equal_widths(entries: dict[Place, Entry], pilot: Method, levels: Sequence[Method], one: NamedSet) -> list[int]:
    """Widths of step-by-step beams that cost about as many passes; the table tells what came of it."""
    trial, *rows = summarise(entries, [_row(method) for method in [pilot, *levels]], one, {})
    if not trial.passes:
        return [PILOT for _ in rows]
    each = trial.passes / PILOT
    return [max(1, round((row.passes or 0.0) / each)) for row in rows]


def _chart(
    path: Path,
    one: NamedSet,
    grid: Sequence[tuple[int, float]],
    pairs: Sequence[tuple[Summary, Summary]],
    notes: list[str],
) -> Path | None:
    curves = []
    for tau in dict.fromkeys(tau for _, tau in grid):
        levels = [level for (_, other), (level, _) in zip(grid, pairs, strict=True) if other == tau]
        curves.append(chart.Curve(f"CS, tau = {tau:g}", *_line(levels)))
    by_passes = sorted({step.method: step for _, step in pairs}.values(), key=lambda row: row.passes or 0.0)
    curves.append(chart.Curve("step by step", *_line(by_passes)))
    return chart.try_curves(path, [(one.name, "forward passes an instance", curves)], notes)


def _levels(width: int, tau: float, weights: str, device: str) -> Method:
    # The searches themselves are compared: only one of them makes routes of its paths afterwards.
    settings = {"beam": width, "tau": tau, "weights": weights, "recombine": False, "device": device}
    return Method(f"cs-l K={width} tau={tau:g}", "cs-l", settings)


def _steps(width: int, weights: str, device: str) -> Method:
    return Method(f"step K={width}", "an-dqn-beam", {"beam": width, "weights": weights, "device": device})


def _row(method: Method) -> Row:
    return Row(method.label, method.key)


def _line(rows: Sequence[Summary]) -> tuple[list[float], list[float], list[float]]:
    done = [dataclasses.replace(row, error=0.0) if row.error != row.error else row for row in rows if row.solved]
    return [row.passes or 0.0 for row in done], [row.prize for row in done], [row.error for row in done]


def _table(title: str, grid: Sequence[tuple[int, float]], pairs: Sequence[tuple[Summary, Summary]]) -> Table:
    searches = [f"{search}: {what}" for search in ("CS", "step") for what in ("objective", "passes", "time")]
    heads = ("K", "tau", *searches[:3], "step by step", *searches[3:], "CS above")
    rows = []
    for (width, tau), (level, step) in zip(grid, pairs, strict=True):
        rows.append(
            (
                number(width, "d"),
                number(tau, "g"),
                with_error(level.prize, level.error),
                number(level.passes, ".0f"),
                duration(level.seconds),
                words(step.method),
                with_error(step.prize, step.error),
                number(step.passes, ".0f"),
                duration(step.seconds),
                percent(level.prize / step.prize - 1 if step.prize else None),
            )
        )
    return Table(title, heads, tuple(rows))
