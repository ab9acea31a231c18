"""Proves optima and prints how long that takes, as Markdown; rows go to a file, so that it can go on later.

    python benchmarks/exact.py paper --out exact.jsonl        the paper's uniform and distance sets
    python benchmarks/exact.py root --out exact.jsonl         the root's bound alone, n = 100
    python benchmarks/exact.py classic --out exact.jsonl      Tsiligirides and Chao
    python benchmarks/exact.py oplib --out exact.jsonl        OPLib, up to 110 nodes
    python benchmarks/exact.py asymmetric --out exact.jsonl   tmat and road, n = 50
    python benchmarks/exact.py gaps --out exact.jsonl         lns, cs-l and Compass beside the optima of `paper`

The bars, in CPU seconds of one core, warm start included: n = 20 all 200 proven, median below 0.5; n = 50 the first
100 proven, median below 3, none over 60; n = 100 the first 30 proven, median below 15, at least 28 within 120; every
classic file proven and equal to what is known; OPLib up to 110 nodes at least 80 % proven within 300 each; asymmetric
problems proven, median below 10; the root's mean gap at n = 100 below 1 % in under 5.
"""

import argparse
import csv
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy reads them: one core

from orienteer import Instance, MaxSeconds, Result  # noqa: E402
from orienteer.data.files import read, read_set  # noqa: E402
from orienteer.data.generate import generate  # noqa: E402
from orienteer.search.registry import make_solver  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data"
PAPER = {"20": 200, "50": 100, "100": 30}
"""Instances of each size."""
SECONDS = {"paper": 120.0, "root": 60.0, "classic": 300.0, "oplib": 300.0, "asymmetric": 120.0, "gaps": 1.0}

Job = tuple[str, str, Any]
"""Group, name, and the instance or the file that holds it."""


def main() -> int:
    """Runs what is not in the file yet, then prints the table of all that is."""
    arguments = _arguments()
    if not arguments.data.exists() and arguments.what != "asymmetric":
        print(f"{arguments.data} is not there; --data names the folder of the benchmark files", file=sys.stderr)
        return 2
    seconds = SECONDS[arguments.what] if arguments.seconds is None else arguments.seconds
    done = {(row["what"], row["group"], row["name"]): row for row in _rows(arguments.out)}
    rows = []
    for group, name, source in list(_jobs(arguments))[:: arguments.every]:
        key = (arguments.what, group, name)
        if key not in done:
            instance = source if isinstance(source, Instance) else read(source)
            row = {"what": arguments.what, "group": group, "name": name, "n": instance.size}
            row |= _measure(arguments.what, instance, seconds, arguments, group, name)
            done[key] = row
            if arguments.out is not None:
                with arguments.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            if sys.stderr.isatty():
                print(f"\r{group} {name} {row['prize']:g}      ", end="", file=sys.stderr, flush=True)
        rows.append(done[key])
    if arguments.what == "gaps":
        _print_gaps(rows, {(row["group"], row["name"]): row for row in _rows(arguments.out) if row["what"] == "paper"})
    else:
        _print(rows, _known(arguments))
    return 0


def _measure(
    what: str, instance: Instance, seconds: float, arguments: argparse.Namespace, group: str, name: str
) -> dict[str, Any]:
    if what == "gaps":
        compass = _compass(arguments.data)[group, name]
        solver, stop = make_solver("lns"), MaxSeconds(max(0.02, compass["cpu"]))
    else:
        compass, solver, stop = {}, make_solver("exact", tree=what != "root"), MaxSeconds(seconds)
    solver.prepare(instance)
    began = time.process_time()
    result: Result = solver.solve(instance, stop)
    cpu = time.process_time() - began
    return {
        "prize": result.prize,
        "bound": result.bound,
        "status": result.status,
        "cpu": cpu,
        "steps": result.steps,
        "tour": list(result.tour.nodes),
        "compass": compass.get("prize"),
        "learned": make_solver("cs-l", device="cpu", beam=20, tau=0.05).solve(instance).prize
        if what == "gaps"
        else None,
    }


def _jobs(arguments: argparse.Namespace) -> Iterator[Job]:
    what, data = arguments.what, arguments.data
    if what in ("paper", "gaps", "root"):
        for prizes in ("uniform", "distance"):
            for size, count in PAPER.items():
                if what != "root" or size == "100":
                    group = f"{prizes}_{size}"
                    for index, instance in enumerate(read_set(data / "paper" / f"{group}.npz")[:count]):
                        yield group, str(index), instance
    elif what == "asymmetric":
        for costs in ("tmat", "road"):
            for index, instance in enumerate(generate(n=50, costs=costs, count=50, seed=1)):
                yield costs, str(index), instance
    else:
        for path in sorted((data / what).rglob("*")):
            known = _best_known(data / what).get(path.stem)
            fits = known and path.suffix in (".oplib", ".txt") and arguments.least <= int(known["n"]) <= arguments.most
            if known and fits:
                yield known.get("set") or f"gen{known['generation']}", path.stem, path


def _print(rows: list[dict[str, Any]], known: dict[tuple[str, str], tuple[float, bool]]) -> None:
    print("| set | instances | proven | median CPU s | 90th percentile | largest | mean gap of the bound |")
    print("|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(row["group"] for row in rows):
        some = [row for row in rows if row["group"] == group]
        cpu = sorted(row["cpu"] for row in some)
        truth = [max(row["prize"], known.get((group, row["name"]), (0.0, False))[0]) for row in some]
        gaps = [100 * (row["bound"] / best - 1) for row, best in zip(some, truth, strict=True) if best]
        proven = sum(row["status"] == "optimal" for row in some)
        print(
            f"| {group} | {len(some)} | {proven} | {statistics.median(cpu):.2f} "
            f"| {cpu[int(0.9 * (len(cpu) - 1))]:.2f} | {cpu[-1]:.2f} | {abs(statistics.mean(gaps)):.3f} % |"
        )
    print()
    for row in rows:
        best, proven = known.get((row["group"], row["name"]), (None, False))
        if best is not None and abs(row["prize"] - best) > 1e-9 * best:
            word = "MISSED" if row["prize"] < best else "WRONG" if proven else "better"
            if word != "MISSED" or row["status"] == "optimal":
                print(f"{word}: {row['name']} {row['prize']:g} ({row['status']}), was {best:g}")


def _print_gaps(rows: list[dict[str, Any]], optima: dict[tuple[str, str], dict[str, Any]]) -> None:
    print("| set | optima | mean | `lns` below | equal | `cs-l` below | equal | Compass below | equal |")
    print("|---|---|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(row["group"] for row in rows):
        some = [
            (row, optima[group, row["name"]]["prize"])
            for row in rows
            if row["group"] == group and optima.get((group, row["name"]), {}).get("status") == "optimal"
        ]
        if some:
            cells = [group, str(len(some)), f"{statistics.mean(best for _, best in some):.3f}"]
            for field in ("prize", "learned", "compass"):
                gaps = [100 * (1 - row[field] / best) for row, best in some]
                equal = sum(gap < 1e-7 for gap in gaps)
                cells += [f"{statistics.mean(gaps):.3f} %", str(equal)]
            print(f"| {' | '.join(cells)} |")


def _known(arguments: argparse.Namespace) -> dict[tuple[str, str], tuple[float, bool]]:
    """Best values known so far, and whether they are proven."""
    if arguments.what in ("classic", "oplib"):
        return {
            (row.get("set") or f"gen{row['generation']}", name): (
                float(row["best_known"]),
                row["proven_optimal"] == "yes",
            )
            for name, row in _best_known(arguments.data / arguments.what).items()
        }
    if arguments.what == "asymmetric":
        return {}
    with (arguments.data / "paper" / "optimum.csv").open() as file:
        known = {(row["set"], row["index"]): (float(row["prize"]), True) for row in csv.DictReader(file)}
    proven = [row for row in _rows(arguments.out) if row["what"] == "paper" and row["status"] == "optimal"]
    return {(row["group"], row["name"]): (row["prize"], True) for row in proven} | known


def _best_known(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "best_known.csv").open() as file:
        return {row["instance"]: row for row in csv.DictReader(file)}


def _compass(data: Path) -> dict[tuple[str, str], dict[str, float]]:
    with (data / "paper" / "compass.csv").open() as file:
        return {
            (row["set"], row["index"]): {"prize": float(row["prize"]), "cpu": float(row["cpu_seconds"])}
            for row in csv.DictReader(file)
        }


def _rows(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(SECONDS))
    parser.add_argument("--seconds", type=float, help="time limit for an instance")
    parser.add_argument("--least", type=int, default=0, help="only files of at least so many nodes")
    parser.add_argument("--most", type=int, default=110, help="only files of at most so many nodes (default 110)")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th instance")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the collections (default ../shared/data)")
    parser.add_argument("--out", type=Path, help="file of JSON lines to write to and go on from")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
