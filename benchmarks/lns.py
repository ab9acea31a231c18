"""Prints the neighbourhood search on files with best known values, as Markdown: OPLib's and the classic ones.

    python benchmarks/lns.py oplib --out better.json
    python benchmarks/lns.py classic

The bars: on OPLib files of up to 400 nodes, with 0.7 / 2.5 / 5 s below 110 / below 210 / up to 400 nodes, a mean gap of
at most 0.4 % to the best known value; on the classic files every proven optimum within 1 s. Values better than the best
known are listed, and written with their routes to --out. The exit status is 1 if a bar is missed.
"""

import argparse
import csv
import json
import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy reads them: one core

from orienteer import MaxSeconds, solve  # noqa: E402
from orienteer.data.files import read  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data"
GROUPS = ((110, 0.7), (210, 2.5), (401, 5.0))
"""Nodes below which a file gets so many seconds."""
MOST_GAP = 0.4


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    arguments = _arguments()
    folder = arguments.data / arguments.collection
    if not folder.exists():
        print(f"{folder} is not there; --data names the folder of the benchmark files", file=sys.stderr)
        return 2
    rows = []
    for path, best, proven in _files(folder, arguments.match):
        instance = read(path)
        seconds = 1.0 if arguments.collection == "classic" else _seconds(instance.size)
        result = solve(instance, "lns", stop=MaxSeconds(seconds), seed=arguments.seed)
        gap = 100 * (1 - result.prize / best) if best else 0.0
        rows.append((path.stem, instance.size, best, result, gap, proven))
        if sys.stderr.isatty():
            print(f"\r{len(rows)} {path.stem} {gap:.2f} %      ", end="", file=sys.stderr, flush=True)
    return _report(rows, arguments)


def _report(rows: list, arguments: argparse.Namespace) -> int:
    print("| nodes | files | s each | mean gap | worst | equal | better |")
    print("|---|---|---|---|---|---|---|")
    least = 0
    for below, seconds in GROUPS:
        gaps = [row[4] for row in rows if least <= row[1] < below]
        if gaps:
            given = 1.0 if arguments.collection == "classic" else seconds
            print(
                f"| {least} to {below - 1} | {len(gaps)} | {given:g} | {sum(gaps) / len(gaps):.3f} % "
                f"| {max(gaps):.2f} % | {sum(abs(gap) < 1e-9 for gap in gaps)} | {sum(gap < -1e-9 for gap in gaps)} |"
            )
        least = below
    mean = sum(row[4] for row in rows) / len(rows)
    missed = [row for row in rows if row[5] and row[4] > 1e-9]
    print(f"\nmean gap {mean:.3f} % over {len(rows)} files; {len(missed)} proven optima missed")
    print(*(f"missed: {name} {result.prize:g} of {best:g}" for name, _, best, result, _, _ in missed), sep="\n")
    better = {
        row[0]: {"prize": row[3].prize, "was": row[2], "tour": row[3].tour.nodes} for row in rows if row[4] < -1e-9
    }
    print(*(f"better: {name} {one['prize']:g}, was {one['was']:g}" for name, one in better.items()), sep="\n")
    if arguments.out:
        arguments.out.write_text(json.dumps(better))
    return int(bool(missed)) if arguments.collection == "classic" else int(mean > MOST_GAP)


def _files(folder: Path, match: str) -> list[tuple[Path, float, bool]]:
    """Each file of up to 400 nodes with its best known value and whether that is proven."""
    with (folder / "best_known.csv").open() as file:
        known = {row["instance"]: row for row in csv.DictReader(file)}
    found = []
    for path in sorted(folder.rglob("*")):
        row = known.get(path.stem)
        if row and path.suffix in (".oplib", ".txt") and int(row["n"]) <= 400 and match in path.stem:
            found.append((path, float(row["best_known"]), row["proven_optimal"] == "yes"))
    return found


def _seconds(nodes: int) -> float:
    return next(seconds for below, seconds in GROUPS if nodes < below)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", choices=["oplib", "classic"])
    parser.add_argument("--match", default="", help="only files whose names hold this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the collections (default ../shared/data)")
    parser.add_argument("--out", type=Path, help="JSON file for better routes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
