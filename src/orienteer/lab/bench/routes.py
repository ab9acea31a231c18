"""The paper's pictures: the routes of AN-dqn, CS-p and CS side by side on the same instances."""

from collections.abc import Sequence
from pathlib import Path

from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone, finished, run_all
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.summary import Row, failures, summarise


def run_figures(
    folder: Path, methods: Sequence[Method], one: NamedSet, on_done: OnDone, suffix: str = ".png"
) -> tuple[Path, Report]:
    """The path of the picture, a row an instance and a column a method, and what the methods collected."""
    from orienteer.plot import save_routes

    entries = run_all(folder, methods, [one], on_done, tours=True)
    rows = [Row(method.label, method.key) for method in methods]
    failed = failures(entries, rows, [one])
    pictures = []
    for index in range(len(one)):
        found = [(method.label, finished(entries, method.key, one, index)) for method in methods]
        routes = [(label, entry["tour"]) for label, entry in found if entry is not None]
        pictures.append((one.instances[index], routes))
    path = folder / f"routes{suffix}"
    if not failed:
        save_routes(pictures, path)
    return path, Report(summarise(entries, rows, one, {}), failed)
