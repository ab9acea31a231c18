"""The neighbourhood search on large problems.

    python benchmarks/large.py oplib --seeds 1              # files of at least 400 nodes, beside the listed values
    python benchmarks/large.py oplib --seeds 5 --factor 10  # with ten times the time
    python benchmarks/large.py points --sizes 1000,10000,100000 --seconds 60
    python benchmarks/large.py points --sizes 10000 --seconds 20 --threads 2

`oplib` gives each file about the seconds that EA4OP took for its size: 3 s at 400 nodes, 12 at 783, 50 at 1,379 and 170
at 2,392, times --factor. The bars: on the mean of generations 1 to 3 at least 2.5 % above the listed values, and no
file of generation 4 below. Sets and routes go to `--out`, and ../shared/tools/judge.py, where it is there, judges every
route. `points` searches random points with uniform prizes and a quarter of the limit that a tour
through all of them would take, each size in a process of its own, and prints memory, steps and the prize on the way.
"""

import argparse
import csv
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import mean

import numpy as np

from common import DATA
from orienteer import Instance, MaxSeconds, MaxSteps, Result, check_tour, solve
from orienteer.data.files import read, write_results, write_set

LEAST_NODES = 400
BAR = 2.5
JUDGE = DATA.parent / "tools" / "judge.py"


def main() -> int:
    """Measures and prints; 1 if a bar is missed."""
    arguments = _arguments()
    return _oplib(arguments) if arguments.what == "oplib" else _points(arguments)


def seconds_for(nodes: int) -> float:
    """About what EA4OP takes."""
    return 3.0 * (nodes / 400) ** 2.26


def _oplib(arguments: argparse.Namespace) -> int:
    known = arguments.data / "oplib" / "best_known.csv"
    if not known.exists():
        print(f"{known} is not there; --data names the folder of the benchmark files", file=sys.stderr)
        return 2
    rows = [row for row in csv.DictReader(known.open()) if int(row["n"]) >= LEAST_NODES]
    rows = [row for row in rows if arguments.match in row["instance"]]
    rows.sort(key=lambda row: -int(row["n"]))  # the longest first, so that processes end together
    arguments.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        (
            arguments.data / "oplib" / "instances" / f"gen{row['generation']}" / f"{row['instance']}.oplib",
            row,
            seed,
            arguments.factor,
            arguments.out,
        )
        for row in rows
        for seed in range(1, arguments.seeds + 1)
    ]
    solve(Instance(1.0 - np.eye(5), np.ones(5), 2.5), "lns", MaxSteps(1))
    gaps: dict[str, list[float]] = {}
    refused = 0
    with ProcessPoolExecutor(arguments.workers, get_context("spawn")) as pool:
        for name, generation, prize, listed, seconds, fault in pool.map(_one_file, tasks):
            above = 100 * (prize / listed - 1)
            gaps.setdefault(generation, []).append(above)
            refused += bool(fault)
            print(f"{name:18} {seconds:7.1f} s {prize:10g} listed {listed:10g} {above:+.2f} % {fault}", flush=True)
    passed = f"judged: {len(tasks) - refused} of {len(tasks)} routes pass"
    print(passed if JUDGE.exists() else f"not judged: {JUDGE} is not there")
    for generation, values in sorted(gaps.items()):
        print(f"generation {generation}: mean {mean(values):+.3f} %, worst {min(values):+.3f} %, {len(values)} runs")
    half = [value for generation, values in gaps.items() if generation != "4" for value in values]
    if half:
        print(f"generations 1 to 3: mean {mean(half):+.3f} % (bar {BAR:+.1f} %)")
    return int((bool(half) and mean(half) < BAR) or min(gaps.get("4", [0.0])) < 0 or refused > 0)


def _one_file(task: tuple[Path, dict[str, str], int, float, Path]) -> tuple[str, str, float, float, float, str]:
    path, row, seed, factor, out = task
    instance = read(path)
    result = solve(instance, "lns", MaxSeconds(factor * seconds_for(int(row["n"]))), seed=seed)
    problem, answer = out / f"{path.stem}.npz", out / f"{path.stem}_{seed}_result.npz"
    write_set([instance], problem)
    write_results([result], answer)
    prize = _checked(instance, result)
    return row["instance"], row["generation"], prize, float(row["best_known"]), result.seconds, _fault(problem, answer)


def _fault(problem: Path, answer: Path) -> str:
    """What the independent judge has against a result; nothing where there is no judge."""
    if not JUDGE.exists():
        return ""
    said = subprocess.run([sys.executable, str(JUDGE), str(problem), str(answer)], capture_output=True, check=False)
    return (said.stdout + said.stderr).decode().strip() if said.returncode else ""


def _checked(instance: Instance, result: Result) -> float:
    """The prize, added up anew from the nodes."""
    return check_tour(instance, result.tour.nodes).prize


def _points(arguments: argparse.Namespace) -> int:
    print("| n | prize | stops | seconds | first better route after | steps | microseconds of CPU a step | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for size in map(int, arguments.sizes.split(",")):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # a process each, for its memory
            print(
                pool.submit(_one_size, size, arguments.seconds, arguments.seeds, arguments.threads).result(), flush=True
            )
    return 0


def _one_size(size: int, seconds: float, seed: int, threads: int) -> str:
    rng = np.random.default_rng(size)
    instance = Instance.from_coords(rng.random((size, 2)), rng.random(size), limit=0.25 * 0.7124 * math.sqrt(size))
    solve(instance, "lns", MaxSteps(1), threads=threads)
    began = time.process_time()
    result = solve(instance, "lns", MaxSeconds(seconds), seed=seed, threads=threads)
    used = time.process_time() - began
    prize, memory = _checked(instance, result), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = list(_later(result))
    return (
        f"| {size} | {prize:.1f} | {len(result.tour.nodes)} | {result.seconds:.1f} | {first[0]:.1f} s | {result.steps} "
        f"| {1e6 * used / result.steps:.1f} | {memory:.0f} |"
    )


def _later(result: Result) -> Iterator[float]:
    """When better routes than the first grown one were found; the end, if there was none."""
    yield from (step.seconds for step in result.trace if step.steps > 1)
    yield result.seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("oplib", "points"))
    parser.add_argument("--match", default="", help="only files whose names hold this")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds; for points, the seed")
    parser.add_argument("--factor", type=float, default=1.0, help="factor on the seconds of a file")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds for each size")
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of points")
    parser.add_argument("--threads", type=int, default=1, help="cores for each search of points")
    parser.add_argument("--workers", type=int, default=1, help="processes, one a core")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data (default ../shared/data)")
    parser.add_argument("--out", type=Path, default=Path("out") / "large", help="sets and routes (default out/large)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
