"""Proofs: how many, and how long they take.

    python benchmarks/exact.py paper         the paper's uniform and distance sets
    python benchmarks/exact.py root          the root's bound alone, n = 100
    python benchmarks/exact.py classic       Tsiligirides and Chao
    python benchmarks/exact.py oplib         OPLib, up to 110 nodes
    python benchmarks/exact.py asymmetric    tmat and road, n = 50
    python benchmarks/exact.py large         lns and the bound of large problems: OPLib from 400 nodes on, random points
    python benchmarks/exact.py gaps          lns, cs-l and Compass beside the optima of `paper`, which must have run

Results are kept in the folder --out (out/exact), so that a run goes on where it was stopped. The bars, in CPU seconds
of one core, warm start included: n = 20 all 200 proven, median below 0.5; n = 50 the first 100 proven, median below 3,
none over 60; n = 100 the first 30 proven, median below 15, at least 28 within 120; every classic file proven and equal
to what is known; OPLib up to 110 nodes at least 80 % proven within 300 each; asymmetric problems proven, median below
10; the root's mean gap at n = 100 below 1 % in under 5; large problems within 120 in all, lns included: the bound at
most 1.5 % above the route of lns at n = 783, 2 % at 1,379 and 3 % at 2,392.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from common import COMPASS, Bar, Method, NamedSet, load_set, options
from orienteer import Instance, MaxSeconds, solve
from orienteer.data.files import read
from orienteer.data.generate import generate
from orienteer.lab.bench.others import as_entries, read_figures
from orienteer.lab.bench.published import known_files
from orienteer.lab.bench.run import run_cases
from orienteer.lab.bench.sets import one_each, random_set
from orienteer.lab.bench.store import Entry, read_entries
from orienteer.lab.bench.summary import proven_optima

COUNTS = {"20": 200, "50": 100, "100": 30}
"""Instances of the paper's sets, by size."""
SECONDS = {"paper": 120.0, "root": 60.0, "classic": 300.0, "oplib": 300.0, "asymmetric": 120.0, "large": 60.0}
LEARNED = Method("cs-l", "cs-l", {"device": "cpu", "beam": 20, "tau": 0.05})


class Case(NamedTuple):
    """An instance, the group of its line in the table, and the best value known before, if there is one."""

    group: str
    set: NamedSet
    index: int
    best: float | None = None
    proven: bool = False

    @property
    def name(self) -> str:
        """What a reader finds the instance by."""
        return f"{self.set.name} {self.index}" if len(self.set) > 1 else self.set.name


def main() -> int:
    """Runs what is not in the folder yet, then prints the table."""
    arguments = _arguments()
    if not arguments.data.exists() and arguments.what != "asymmetric":
        sys.exit(f"{arguments.data} is not there; --data names the folder of the benchmark files")
    if arguments.what == "gaps":
        _print_gaps(arguments)
        return 0
    if arguments.what == "large":
        _print_large(arguments)
        return 0
    seconds = arguments.seconds or SECONDS[arguments.what]
    method = Method(arguments.what, "exact", {"tree": arguments.what != "root"}, seconds)
    cases = _cases(arguments)[:: arguments.every]
    with Bar() as bar:
        entries = run_cases(arguments.out, [(method, case.set, case.index) for case in cases], bar.batch)
    _print(list(zip(cases, entries, strict=True)))
    return 0


def _cases(arguments: argparse.Namespace) -> list[Case]:
    what, data = arguments.what, arguments.data
    if what in ("paper", "root"):
        best = {(row.set, row.index): row.prize for row in read_figures(data / "paper" / "optimum.csv")}
        best |= proven_optima(read_entries([arguments.out]), sets := _paper(data))
        chosen = [one for one in sets if what == "paper" or one.name.endswith("_100")]
        return [
            Case(one.name, one, index, best.get((one.name, index)), (one.name, index) in best)
            for one in chosen
            for index in range(len(one))
        ]
    if what == "asymmetric":
        folder = arguments.out / "instances"
        sets = [random_set(folder, "uniform", 50, 50, 1, costs) for costs in ("tmat", "road")]
        return [Case(one.name, one, index) for one in sets for index in range(len(one))]
    files, _ = known_files(data / what, None, arguments.most)
    problems = [(file, read(file.path)) for file in files]
    kept = [(file, problem) for file, problem in problems if problem.size >= arguments.least]
    ones = one_each([(file.path.stem, problem) for file, problem in kept])
    return [
        Case(file.path.parent.name, one, 0, file.best, file.proven) for (file, _), one in zip(kept, ones, strict=True)
    ]


def _paper(data: Path) -> list[NamedSet]:
    names = [(f"{prizes}_{size}", count) for prizes in ("uniform", "distance") for size, count in COUNTS.items()]
    return [NamedSet(name, load_set(data / "paper" / f"{name}.npz")[:count]) for name, count in names]


def _print(answers: list[tuple[Case, Entry]]) -> None:
    print("| set | instances | proven | median CPU s | 90th percentile | largest | mean gap of the bound |")
    print("|---|---|---|---|---|---|---|")
    failed = [f"FAILED: {case.name}: {entry['error']}" for case, entry in answers if "error" in entry]
    done = [(case, entry) for case, entry in answers if "error" not in entry]
    for group in dict.fromkeys(case.group for case, _ in done):
        some = [(case, entry) for case, entry in done if case.group == group]
        cpu = sorted(entry["cpu"] for _, entry in some)
        gaps = [_gap(case, entry) for case, entry in some if entry["bound"] is not None]
        proven = sum(entry["status"] == "optimal" for _, entry in some)
        print(
            f"| {group} | {len(some)} | {proven} | {statistics.median(cpu):.2f} "
            f"| {cpu[int(0.9 * (len(cpu) - 1))]:.2f} | {cpu[-1]:.2f} | {abs(statistics.mean(gaps)):.3f} % |"
        )
    print()
    for line in [*failed, *(line for case, entry in done if (line := _difference(case, entry)))]:
        print(line)


def _gap(case: Case, entry: Entry) -> float:
    """How far the bound is above the best value known, in per cent."""
    best = max(entry["prize"], case.best or 0.0)
    return 100 * (entry["bound"] / best - 1) if best else 0.0


def _difference(case: Case, entry: Entry) -> str:
    """What is to be said about a prize that is not the best known one; nothing of one that time ended."""
    if case.best is None or abs(entry["prize"] - case.best) <= 1e-9 * case.best:
        return ""
    less = entry["prize"] < case.best
    if less and entry["status"] != "optimal":
        return ""
    word = "MISSED" if less else "WRONG" if case.proven else "better"
    return f"{word}: {case.name} {entry['prize']:g} ({entry['status']}), was {case.best:g}"


def _print_gaps(arguments: argparse.Namespace) -> None:
    sets = _paper(arguments.data)
    optima = proven_optima(read_entries([arguments.out]), sets)
    others = as_entries(read_figures(arguments.data / "paper" / "compass.csv"), COMPASS, sets)
    print("| set | optima | mean | `lns` below | equal | `cs-l` below | equal | Compass below | equal |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in sets:
        known = [index for index in range(len(one)) if (one.name, index) in optima][:: arguments.every]
        if not known:
            continue
        compass = [others[COMPASS, one.name, index] for index in known]
        anytime = [Method("lns", "lns", seconds=max(0.02, entry["cpu"])) for entry in compass]
        cases = [(method, one, index) for method, index in zip(anytime, known, strict=True)]
        with Bar() as bar:
            ours = run_cases(arguments.out, cases, bar.batch)
            learned = run_cases(arguments.out, [(LEARNED, one, index) for index in known], bar.batch)
        best = [optima[one.name, index] for index in known]
        cells = [one.name, str(len(known)), f"{statistics.mean(best):.3f}"]
        for entries in (ours, learned, compass):
            gaps = [100 * (1 - entry["prize"] / optimum) for entry, optimum in zip(entries, best, strict=True)]
            cells += [f"{statistics.mean(gaps):.3f} %", str(sum(gap < 1e-7 for gap in gaps))]
        print(f"| {' | '.join(cells)} |", flush=True)


def _print_large(arguments: argparse.Namespace) -> None:
    """A line for each problem: `--seconds` for lns, and as many again at most for the bound."""
    stop = MaxSeconds(arguments.seconds or SECONDS["large"])
    print("| problem | n | prize | bound | gap | CPU s of lns | CPU s of the bound |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name, problem in _large(arguments):
        began = time.process_time()
        found = solve(problem, "lns", stop, seed=1)
        halfway = time.process_time()
        bounded = solve(problem, "exact", stop, seed=1, initial=found, tree=False, warm=0.0)
        cells = [name, problem.size, f"{found.prize:g}", f"{bounded.bound:g}"]
        cells += [f"{100 * (bounded.bound / found.prize - 1):.2f} %"]
        cells += [f"{halfway - began:.0f}", f"{time.process_time() - halfway:.0f}"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _large(arguments: argparse.Namespace) -> Iterator[tuple[str, Instance]]:
    """OPLib's files of `--least` (400) nodes or more with limits of half a tour, or random points (`--random`)."""
    if arguments.random:
        for size in arguments.random:
            yield f"random {size}", generate(n=size, count=1, seed=1)[0]
        return
    files, _ = known_files(arguments.data / "oplib", None, max(arguments.most, 10_000), arguments.match)
    kept = [file for file in files if "gen4" not in file.path.stem]
    for file in kept[:: arguments.every]:
        problem = read(file.path)
        if problem.size >= (arguments.least or 400):
            yield file.path.stem, problem


def _arguments() -> argparse.Namespace:
    parser = options(__doc__, "exact")
    parser.add_argument("what", choices=(*SECONDS, "gaps"))
    parser.add_argument("--seconds", type=float, help="time limit for an instance")
    parser.add_argument("--least", type=int, default=0, help="only files of at least LEAST nodes")
    parser.add_argument("--most", type=int, default=110, help="only files of at most MOST nodes (default 110)")
    parser.add_argument("--match", default="", help="for large: only files with this in their names")
    parser.add_argument("--random", type=int, nargs="*", help="for large: random points of these numbers of nodes")
    parser.add_argument("--every", type=int, default=1, help="only every EVERY-th instance")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
