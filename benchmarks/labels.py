"""Proofs with opening hours and several routes: how many, how long they take, and how near the bounds are.

    python benchmarks/labels.py --routes 1 --only c1,r1    Solomon's files of narrow windows, one route, 60 s each
    python benchmarks/labels.py --routes 2 --seconds 10    bounds for two routes in 10 s

Reads the files of TOPTW in the folder --data (../shared/data/variants), where toptw_best_known.csv has the best known
values. A line a file, then a line for each class of files.
"""

import argparse
import csv
import statistics
from pathlib import Path

from orienteer import MaxSeconds, Result, solve
from orienteer.data.files import read


def main() -> None:
    """Proves each file and prints the lines."""
    arguments = _arguments()
    done: dict[str, list[tuple[float, Result]]] = {}
    for name, best in _rows(arguments)[:: arguments.every]:
        problem = read(arguments.data / "toptw" / f"{name}.txt", format="toptw", routes=arguments.routes)
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
    with open(arguments.data / "toptw_best_known.csv", newline="") as file:
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
    parser.add_argument("--routes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit for a file (default 60)")
    parser.add_argument("--only", default="", help="beginnings of names, such as c1,r1; all files without it")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th file")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/variants"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
