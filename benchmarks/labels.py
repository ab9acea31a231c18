"""Proofs for plans: how many, how long they take, and how near the bounds are.

    python benchmarks/labels.py toptw --routes 1 --only c1,r1    Solomon's files of narrow windows, one route, 60 s each
    python benchmarks/labels.py toptw --routes 2 --seconds 10    bounds for two routes in 10 s
    python benchmarks/labels.py rules                            branch and cut with each rule, beside the plain problem

`toptw` reads the files in the folder variants of --data (../shared/data), where toptw_best_known.csv has the best
known values, and prints a line a file, then a line for each class of files. `rules` takes the first 20 instances of
paper/uniform_50 and paper/uniform_100, each with all rules in turn, so that other work on the machine slows all alike.
"""

import argparse
import csv
import statistics
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np

from orienteer import Budget, Instance, MaxSeconds, MaxSteps, Result, solve
from orienteer.data.files import read
from orienteer.data.npz import load_set

RULES = ("service", "free end", "required", "groups", "budgets")
COUNT = 20


def main() -> None:
    """Proves what is asked for and prints the lines."""
    arguments = _arguments()
    if arguments.what == "rules":
        _prove_rules(arguments)
    else:
        _prove_files(arguments)


def _prove_rules(arguments: argparse.Namespace) -> None:
    """Each rule alone, and all together: CPU seconds, and their ratio to those of the plain problem."""
    kinds: dict[str, Collection[str]] = {"plain": (), **{name: (name,) for name in RULES}, "all of these": RULES}
    print("| set | rules | proven | median CPU s | largest | all, as a multiple of the plain ones |")
    print("|---|---|---|---|---|---|")
    for name in ("uniform_50", "uniform_100"):
        cpu: dict[str, list[float]] = {title: [] for title in kinds}
        proven = dict.fromkeys(kinds, 0)
        for number, plain in enumerate(load_set(arguments.data / "paper" / f"{name}.npz")[: COUNT : arguments.every]):
            for title, names in kinds.items():
                problem = _with_rules(plain, names, np.random.default_rng(number))
                if not number:
                    solve(problem, "exact", MaxSeconds(1))  # compiles what is not compiled yet
                began = time.process_time()
                result = solve(problem, "exact", MaxSeconds(arguments.seconds), seed=1)
                cpu[title].append(time.process_time() - began)
                proven[title] += result.status in ("optimal", "infeasible")
        for title, times in cpu.items():
            print(f"| {name} | {title} | {proven[title]} of {len(times)} | {statistics.median(times):.2f} ", end="")
            print(f"| {max(times):.2f} | {sum(times) / sum(cpu['plain']):.2f} |", flush=True)


def _with_rules(plain: Instance, names: Collection[str], rng: np.random.Generator) -> Instance:
    """A fifth of the limit's worth of visits, three required places, groups of three, a budget for half of the fees."""
    near = np.argsort(plain.costs[plain.start])
    fees = rng.integers(1, 10, plain.size).astype(float)
    route = solve(plain, "lns", MaxSteps(2000)).tour.nodes
    visits = np.full(plain.size, plain.limit / 5 / len(route))
    visits[[plain.start, plain.end]] = 0.0
    known = {
        "service": {"service": visits},
        "free end": {"end": None},
        "required": {"required": near[3:12:3].tolist()},
        "groups": {"groups": [near[first : first + 3].tolist() for first in range(14, 98, 3)]},
        "budgets": {"budgets": [Budget("fees", fees, float(fees[list(set(route))].sum() / 2))]},
    }
    return plain.replace(**{field: value for name in names for field, value in known[name].items()})


def _prove_files(arguments: argparse.Namespace) -> None:
    done: dict[str, list[tuple[float, Result]]] = {}
    for name, best in _rows(arguments)[:: arguments.every]:
        problem = read(arguments.data / "variants" / "toptw" / f"{name}.txt", format="toptw", routes=arguments.routes)
        if not done:
            solve(problem, "exact", MaxSeconds(1))  # compiles what is not compiled yet
        result = solve(problem, "exact", MaxSeconds(arguments.seconds), seed=1)
        note = "ABOVE THE BEST KNOWN" if result.prize > best else ""
        print(f"{name} {result.status} {result.prize:g} of {best:g}, bound {result.bound:g}", end=", ")
        print(f"{result.seconds:.1f} s {note}", flush=True)
        done.setdefault(_class(name), []).append((best, result))
    print("\n| class | files | proven | median s | largest | mean gap of the bound to the best known |")
    print("|---|---|---|---|---|---|")
    for kind, entries in done.items():
        seconds = [result.seconds for _, result in entries]
        proven = sum(result.status == "optimal" for _, result in entries)
        gap = statistics.mean(100 * (result.bound / max(best, result.prize) - 1) for best, result in entries)
        print(f"| {kind} | {len(entries)} | {proven} | {statistics.median(seconds):.1f} | {max(seconds):.1f} ", end="")
        print(f"| {gap:.2f} % |")


def _rows(arguments: argparse.Namespace) -> list[tuple[str, float]]:
    with open(arguments.data / "variants" / "toptw_best_known.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["routes"]) == arguments.routes]
    wanted = arguments.only.split(",") if arguments.only else [""]
    return [
        (row["instance"], float(row["best_known_2020"]))
        for row in rows
        if any(row["instance"].startswith(start) for start in wanted)
    ]


def _class(name: str) -> str:
    """The letters and, of Solomon's files, the first digit: c1, r2, pr."""
    letters = name.rstrip("0123456789")
    return letters if letters == "pr" else name[: len(letters) + 1]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("toptw", "rules"))
    parser.add_argument("--routes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit for a file (default 60)")
    parser.add_argument("--only", default="", help="beginnings of names, such as c1,r1; all files without it")
    parser.add_argument("--every", type=int, default=1, help="only every EVERY-th file")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
