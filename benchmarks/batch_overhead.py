"""Prints what `orienteer batch` spends on an instance beside the search: to read, check, prepare, judge and write.

    python benchmarks/batch_overhead.py --count 10000 -n 100

The command runs with the random search, whose own time is taken off; what it takes with one instance is start-up. CPU
milliseconds of one process, so that other work on the machine counts little. The bar is 0.2 ms with 100 nodes.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy reads them: one core

from orienteer.cli.main import run as run_command  # noqa: E402
from orienteer.construct.random import RandomSearch  # noqa: E402
from orienteer.data.files import write_set  # noqa: E402
from orienteer.data.generate import COSTS, generate  # noqa: E402
from orienteer.search.run import Run  # noqa: E402

BAR = 0.2
"""Milliseconds an instance."""


class TimedSearch(RandomSearch):
    """The random search with a watch; the check of the route that it offers is not its own work."""

    seconds = 0.0

    def search(self, run: Run, seed: int) -> None:
        """As the random search does."""
        judge, judged = run.offer, 0.0

        def offer(nodes: list[int]) -> bool:
            nonlocal judged
            began = time.process_time()
            better = judge(nodes)
            judged += time.process_time() - began
            return better

        run.offer = offer  # type: ignore[method-assign, assignment]
        began = time.process_time()
        super().search(run, seed)
        TimedSearch.seconds += time.process_time() - began - judged


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        problems, results = Path(folder) / "set.npz", Path(folder) / "result.npz"
        write_set(generate(arguments.n, costs=arguments.costs, count=arguments.count, seed=1), problems)
        _batch(problems, results, 1)
        start_up = min(_batch(problems, results, 1)[0] for _ in range(3))
        whole, search = _batch(problems, results, arguments.count)
    each, searching = 1e3 * (whole - start_up) / arguments.count, 1e3 * search / arguments.count
    print(f"{each:.3f} ms an instance, {searching:.3f} of them search, {each - searching:.3f} beside it")
    return int(each - searching > BAR)


def _batch(problems: Path, results: Path, count: int) -> tuple[float, float]:
    """CPU seconds of the command on the first `count` instances, and of the search in it."""
    TimedSearch.seconds = 0.0
    began = time.process_time()
    path = f"{__name__}:TimedSearch"
    status = run_command(["batch", str(problems), "--solver", path, "--count", str(count), "--out", str(results)])
    assert status == 0, status
    return time.process_time() - began, TimedSearch.seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100, help="nodes beside the start (default 100)")
    parser.add_argument("--count", type=int, default=10_000, help="instances (default 10000)")
    parser.add_argument("--costs", choices=COSTS, default="euclidean", help="family of costs (default euclidean)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
