"""Prints our EA4OP beside its authors' program, Compass, on the paper's nine sets, as Markdown.

    python benchmarks/compass.py
    python benchmarks/compass.py --count 40 --sets uniform_100 distance_100

The bar: at least 99.8 % of Compass's mean prize in at most twice its CPU seconds, on every set. Times are CPU seconds
of one core per instance, kernels compiled; the values of Compass, measured once, are in the data's compass.csv. The
exit status is 1 if a set is below the bar.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy reads them: one core

from orienteer.data.files import read_set  # noqa: E402
from orienteer.evolution.solver import Evolution  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
SETS = tuple(f"{prizes}_{nodes}" for nodes in (20, 50, 100) for prizes in ("constant", "uniform", "distance"))
LEAST_PRIZE, MOST_TIME = 0.998, 2.0


def main() -> int:
    """Measures and prints, set by set; 1 if one is below the bar."""
    arguments = _arguments()
    print("| set | Compass | its CPU s | ours | our CPU s | prize ratio | time ratio | steps | bar |")
    print("|---|---|---|---|---|---|---|---|---|")
    kept = True
    for name in arguments.sets:
        prize, seconds, steps = measure(arguments.data / f"{name}.npz", arguments.count, arguments.seed)
        their_prize, their_seconds = peer(arguments.data / "compass.csv", name, arguments.count)
        good = prize >= LEAST_PRIZE * their_prize and seconds <= MOST_TIME * their_seconds
        kept = kept and good
        print(
            f"| {name} | {their_prize:.3f} | {their_seconds:.3f} | {prize:.3f} | {seconds:.4f} "
            f"| {100 * prize / their_prize:.2f} % | {seconds / their_seconds:.2f} | {steps:.0f} "
            f"| {'kept' if good else 'MISSED'} |",
            flush=True,
        )
    return 0 if kept else 1


def measure(path: Path, count: int, seed: int) -> tuple[float, float, float]:
    """Mean prize, CPU seconds and steps over the first `count` instances, the i-th solved with seed + i."""
    instances = list(read_set(path))[:count]
    solver = Evolution()
    solver.prepare(instances[0])
    began = time.process_time()
    results = solver.solve_batch(instances, seed=seed)
    seconds = time.process_time() - began
    return (
        sum(result.prize for result in results) / len(results),
        seconds / len(results),
        sum(result.steps for result in results) / len(results),
    )


def peer(path: Path, name: str, count: int) -> tuple[float, float]:
    """Compass's mean prize and CPU seconds over the same instances."""
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == name and int(row["index"]) < count]
    return (
        sum(float(row["prize"]) for row in rows) / len(rows),
        sum(float(row["cpu_seconds"]) for row in rows) / len(rows),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--count", type=int, default=200, help="instances of each set (default 200, all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets (default ../shared/data/paper)")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"{arguments.data} is not there; --data names the folder of the sets")
    if arguments.count < 1:
        parser.error(f"--count must be at least 1, got {arguments.count}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
