"""Prints how many times as fast two threads solve as one does; each thread solves the same problems.

    python benchmarks/threads.py [--solver lns] [--steps 200000] [--nodes 100] [--rounds 5]

Kernels let other threads run, so on two idle cores the ratio is to be at least 1.7: the exit status is 1 if it is not.
Beside it stands the ratio of CPU seconds to wall seconds with two threads, which says how many cores were at work: on a
busy machine the first figure falls, and the second falls with it.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy reads them: each thread is to keep one core busy

import orienteer  # noqa: E402
from orienteer.data.generate import generate  # noqa: E402

BAR = 1.7


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    options = _arguments()
    problems = list(generate(options.nodes, count=2))

    def work(_thread: int) -> list[float]:
        stop = orienteer.MaxSteps(options.steps)
        return [orienteer.solve(problem, options.solver, stop, seed=1).prize for problem in problems]

    expected = work(0)  # compiles too
    best = 0.0
    with ThreadPoolExecutor(2) as threads:
        for _ in range(options.rounds):
            began = time.perf_counter()
            for thread in range(2):
                work(thread)
            alone = time.perf_counter() - began
            began, cpu = time.perf_counter(), time.process_time()
            if list(threads.map(work, range(2))) != [expected, expected]:
                raise RuntimeError("two threads found other routes than one")
            together, cpu = time.perf_counter() - began, time.process_time() - cpu
            times, cores = alone / together, cpu / together
            print(f"one thread {alone:.2f} s, two {together:.2f} s: {times:.2f} times as fast on {cores:.2f} cores")
            best = max(best, times)
    print(f"best of {options.rounds}: {best:.2f} times as fast (bar: {BAR})")
    return int(best < BAR)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solver", default="lns", help="any registered solver that counts steps (default lns)")
    parser.add_argument("--steps", type=int, default=200_000, help="steps of each search (default 200000)")
    parser.add_argument("--nodes", type=int, default=100, help="nodes of each problem (default 100)")
    parser.add_argument("--rounds", type=int, default=5, help="how often to measure (default 5)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
