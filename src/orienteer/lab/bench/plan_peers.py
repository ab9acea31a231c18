"""Our search beside PyVRP on published plans: the same files, the same seconds of one core, judged alike.

The files are those of a rule, stated before any run: of the rows of the table of best known values (TOP: those with a
recent value) 30 at equal distances, which are every third of the 90 of TOP, and of the 220 of TOPTW those at the places
floor(220 k / 30).
"""

import hashlib
import multiprocessing
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from orienteer.lab.bench.methods import Method, peer_class
from orienteer.lab.bench.run import OnDone
from orienteer.lab.bench.store import Entry, Store
from orienteer.lab.bench.tables import Cell, Table, number, percent, words, write_tables, write_text
from orienteer.lab.bench.variant_files import VariantFile
from orienteer.model.plan import check_plan
from orienteer.search.cores import set_cores
from orienteer.search.stop import MaxSeconds

SEED = 1
SHARE = 0.9
"""The share of the files that differ on which we want to be better."""


@dataclass(frozen=True)
class Pair:
    """What both collect on a file."""

    file: VariantFile
    ours: Entry
    theirs: Entry

    @property
    def difference(self) -> float:
        """What we collect more."""
        return float(self.ours["prize"] - self.theirs["prize"])


@dataclass(frozen=True)
class PlanReport:
    """The pairs of results, and what went wrong."""

    pairs: list[Pair]
    failures: list[str]

    @property
    def better(self) -> int:
        """On how many files we collect more."""
        return sum(pair.difference > 0 for pair in self.pairs)

    @property
    def worse(self) -> int:
        """On how many files PyVRP collects more."""
        return sum(pair.difference < 0 for pair in self.pairs)

    @property
    def ahead(self) -> bool:
        """Whether we are better on the mean and on nine tenths of the files that differ."""
        return sum(pair.difference for pair in self.pairs) > 0 and self.better >= SHARE * (self.better + self.worse)


def run_plan_peers(
    out: Path,
    title: str,
    files: Sequence[VariantFile],
    methods: tuple[Method, Method],
    workers: int,
    on_done: OnDone,
    judge: Path | None = None,
) -> PlanReport:
    """Runs both methods, ours first, on files without results, and writes tables and plans (`plans/FILE.METHOD.json`).

    `workers` files are solved side by side; one process, on one core, solves a file by both, one after the other.
    `judge` is a program that is called with kind, file, plan and --routes M, and refuses by its exit status.
    """
    plans = out / "plans"
    pairs = _run(out, plans, files, methods, workers, on_done)
    failed = [
        f"{method.label} failed on {pair.file.name}: {entry['error']}"
        for pair in pairs
        for method, entry in zip(methods, (pair.ours, pair.theirs), strict=True)
        if "error" in entry
    ]
    whole = [pair for pair in pairs if "error" not in pair.ours and "error" not in pair.theirs]
    said = "Every plan has passed our judge."
    if judge is not None:
        refused = [words for pair in whole for method in methods for words in _refused(judge, pair.file, method, plans)]
        said = f"Every plan has passed our judge; {judge.name} refuses {len(refused)} of {2 * len(whole)}."
        failed += refused
    report = PlanReport(whole, failed)
    _write(out, title, methods, report, said)
    return report


def _run(
    out: Path,
    plans: Path,
    files: Sequence[VariantFile],
    methods: tuple[Method, Method],
    workers: int,
    on_done: OnDone,
) -> list[Pair]:
    """The lines of both methods about all files, after those that were missing are written, and their plans."""
    plans.mkdir(parents=True, exist_ok=True)
    with Store(out) as store:
        todo = [file for file in files if not all(_kept(store, method, file, plans) for method in methods)]
        done = len(files) - len(todo)
        on_done(done, len(files))
        for entries in _solved(todo, methods, workers):
            for entry in entries:
                if plan := entry.pop("plan", None):
                    write_text(_plan_path(plans, entry["key"], entry["set"]), plan)
            store.add(entries)
            done += 1
            on_done(done, len(files))
        return [Pair(file, *(store.entries[method.key, file.name, 0] for method in methods)) for file in files]


def _solved(files: Sequence[VariantFile], methods: tuple[Method, Method], workers: int) -> Iterator[list[Entry]]:
    """The lines of each file, as they come. Processes are started anew: no library's threads are copied into them."""
    if not files:
        return
    _warm(files[0], methods)  # compiles once, before the processes read what was compiled
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(files)), context, _warm, (files[0], methods)) as pool:
        for future in as_completed([pool.submit(_solve, file, methods) for file in files]):
            yield future.result()


def _warm(file: VariantFile, methods: tuple[Method, Method]) -> None:
    """Loads and calls all once, so that no clock counts it."""
    set_cores(1)
    for method in methods:
        method.make().solve(file.read(), MaxSeconds(0.1), seed=SEED)


def _solve(file: VariantFile, methods: tuple[Method, Method]) -> list[Entry]:
    return [{**_head(method, file), **_answer(method, file)} for method in methods]


def _head(method: Method, file: VariantFile) -> Entry:
    return {"key": method.key, "method": method.label, "set": file.name, "index": 0, "instance": _digest(file)}


def _answer(method: Method, file: VariantFile) -> Entry:
    """What came of a file; any mistake of a method becomes a line."""
    try:
        problem = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyVRP warns at length where it finds few plans that fit
            result = method.make().solve(problem, method.stop, seed=SEED)
        plan = check_plan(problem, [tour.nodes for tour in result.routes])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    told = {"prize": plan.prize, "cost": plan.cost, "seconds": result.seconds, "status": result.status}
    return {**told, "steps": result.steps, "nodes": problem.size, "plan": result.to_json()}


def _digest(file: VariantFile) -> str:
    return hashlib.sha256(file.path.read_bytes()).hexdigest()[:12]


def _kept(store: Store, method: Method, file: VariantFile, plans: Path) -> bool:
    """Whether there is a line about a file that is no failure and about the same file, and its plan is there."""
    entry = store.entries.get((method.key, file.name, 0))
    if entry is None or "error" in entry or entry["instance"] != _digest(file):
        return False
    return _plan_path(plans, method.key, file.name).exists()


def _plan_path(plans: Path, key: str, name: str) -> Path:
    return plans / f"{name}.{key}.json"


def _refused(judge: Path, file: VariantFile, method: Method, plans: Path) -> list[str]:
    """What the other judge says against a plan."""
    plan = _plan_path(plans, method.key, file.name)
    command = [sys.executable, str(judge), file.kind, str(file.path), str(plan), "--routes", str(file.routes)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    said = " ".join((answer.stdout + answer.stderr).split())
    if not answer.returncode:
        return []
    return [f"{judge.name} refuses the plan of {method.label} for {file.name}: {said}"]


def _write(out: Path, title: str, methods: tuple[Method, Method], report: PlanReport, judged: str) -> None:
    ours, theirs = methods
    equal = len(report.pairs) - report.better - report.worse
    notes = [
        f"{len(report.pairs)} files, {ours.about} beside {peer_class(theirs.solver)().version}, each on one core, seed "
        f"{SEED}.",
        f"{ours.label} is better on {report.better}, equal on {equal}, worse on {report.worse}. Wanted: better on the "
        f"mean and on {SHARE:.0%} of the files that differ: {'reached' if report.ahead else 'missed'}.",
        "PyVRP as it comes: prize first, a unit of distance costs 1; times whole in a power of ten, or rounded up on a "
        "scale of the limit.",
        f"{judged} A gap is to the value listed, negative above it.",
        *report.failures,
    ]
    by_file = _by_file(title, ours.label, report.pairs)
    write_tables(out, title, [_by_routes(title, ours.label, report.pairs), by_file], by_file, notes)


def _by_routes(title: str, label: str, pairs: Sequence[Pair]) -> Table:
    heads = ("routes", "files", "listed", label, "PyVRP", f"gap of {label}", "gap of PyVRP", "better", "equal", "worse")
    counts = sorted({pair.file.routes for pair in pairs})
    groups = [(str(count), [pair for pair in pairs if pair.file.routes == count]) for count in counts]
    return Table(title, heads, tuple(_mean_row(name, some) for name, some in [*groups, ("all", list(pairs))] if some))


def _mean_row(name: str, pairs: Sequence[Pair]) -> tuple[Cell, ...]:
    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    signs = [(pair.difference > 0) - (pair.difference < 0) for pair in pairs]
    return (
        words(name),
        number(len(pairs), "d"),
        number(mean([pair.file.best for pair in pairs])),
        number(mean([pair.ours["prize"] for pair in pairs])),
        number(mean([pair.theirs["prize"] for pair in pairs])),
        percent(mean([_gap(pair.file, pair.ours) for pair in pairs]), ".3f"),
        percent(mean([_gap(pair.file, pair.theirs) for pair in pairs]), ".3f"),
        *(number(signs.count(sign), "d") for sign in (1, 0, -1)),
    )


def _by_file(title: str, label: str, pairs: Sequence[Pair]) -> Table:
    heads = ("file", "routes", "nodes", "listed", label, "PyVRP", f"gap of {label}", "gap of PyVRP")
    times = (f"seconds of {label}", "seconds of PyVRP")
    rows = tuple(
        (
            words(pair.file.path.stem),
            number(pair.file.routes, "d"),
            number(pair.ours["nodes"], "d"),
            number(pair.file.best, "g"),
            number(pair.ours["prize"], "g"),
            number(pair.theirs["prize"], "g"),
            percent(_gap(pair.file, pair.ours), ".3f"),
            percent(_gap(pair.file, pair.theirs), ".3f"),
            number(pair.ours["seconds"], ".2f"),
            number(pair.theirs["seconds"], ".2f"),
        )
        for pair in pairs
    )
    return Table(f"{title}, file by file", heads + times, rows)


def _gap(file: VariantFile, entry: Entry) -> float:
    """The share of the listed value that is missing."""
    return 1 - entry["prize"] / file.best if file.best else 0.0
