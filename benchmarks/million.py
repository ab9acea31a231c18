"""A million problems: how long, how much memory, and whether kills change the results.

    python benchmarks/million.py run --count 1000000
    python benchmarks/million.py kills --count 20000 --kills 20

`run` makes a set of problems with 20 prized nodes in a folder, solves it, and prints CPU and wall-clock seconds and the
most memory that the command and all its processes took together. The bar is 1 GB. `kills` ends the command again and
again by SIGKILL, at moments drawn from a seed, starts it anew, and compares the results with those of an unbroken run.
"""

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from orienteer.data.files import read_results

BAR = 10**9
"""Bytes of memory."""
NODES = 20


def main() -> int:
    """Measures and prints; 1 if the bar is missed or results differ."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        return arguments.action(Path(folder), arguments)


def _run(folder: Path, arguments: argparse.Namespace) -> int:
    _measured("generate", _generate(folder / "set", arguments), arguments.count)
    peak = _measured("batch", _batch(folder / "set", folder / "results", arguments), arguments.count)
    files = sorted((folder / "results").glob("*.npz"))
    results = read_results(folder / "results")
    print(f"{len(results)} results in {len(files)} files of {sum(file.stat().st_size for file in files) / 1e6:.0f} MB")
    return int(peak > BAR or len(results) != arguments.count)


def _kills(folder: Path, arguments: argparse.Namespace) -> int:
    problems, whole, broken = folder / "set", folder / "whole", folder / f"broken{arguments.suffix}"
    subprocess.run(_generate(problems, arguments), check=True)
    began = time.perf_counter()
    subprocess.run(_batch(problems, whole, arguments), check=True)
    unbroken = time.perf_counter() - began
    dice, kills, starts = random.Random(arguments.seed), 0, 0
    while True:
        process = subprocess.Popen(_batch(problems, broken, arguments), start_new_session=True)
        starts += 1
        # Moments are drawn so that all kills together take somewhat longer than the unbroken run: some come before the
        # first result, some between two parts, some while a part is written.
        wait = dice.uniform(0, 2.2 * unbroken / arguments.kills + 2.5) if kills < arguments.kills else None
        with suppress(subprocess.TimeoutExpired):
            if (status := process.wait(wait)) == 0:
                break
            sys.exit(f"the command ended with status {status}")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    one, other = read_results(whole), read_results(broken)
    same = len(one) == len(other) and all(
        np.array_equal(getattr(one, field), getattr(other, field), equal_nan=field != "tour")
        for field in ("prize", "cost", "tour")
    )
    print(
        f"{kills} kills, {starts} starts; {len(other)} of {arguments.count} results, equal to the unbroken run: {same}"
    )
    return int(not same or kills < arguments.kills)


def _generate(out: Path, arguments: argparse.Namespace) -> list[str]:
    shard = min(10_000, max(1, arguments.count // 10))
    asked = {"--n": NODES, "--count": arguments.count, "--seed": 1, "--shard": shard, "--out": out}
    return _command("generate", *(word for pair in asked.items() for word in pair))


def _batch(problems: Path, out: Path, arguments: argparse.Namespace) -> list[str]:
    return _command("batch", problems, "--solver", arguments.solver, *arguments.more, "--out", out)


def _command(*words: object) -> list[str]:
    return [sys.executable, "-m", "orienteer", *map(str, words)]


def _measured(name: str, command: list[str], count: int) -> int:
    """The most bytes of memory that a command and its processes took; prints that and the time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command)
    watch = _Watch(process.pid)
    status = process.wait()
    watch.ended.set()
    if status:
        sys.exit(f"{name} ended with status {status}")
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{name}: {count} problems, {wall:.0f} s, {cpu:.0f} s of CPU, {count / wall:.0f} problems a second, "
        f"at most {watch.peak / 1e6:.0f} MB",
        flush=True,
    )
    return watch.peak


class _Watch(threading.Thread):
    """Looks at the memory of a process and its descendants, again and again."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.pid, self.peak, self.ended = pid, 0, threading.Event()
        self.start()

    def run(self) -> None:
        """Notes the most memory until the process has ended."""
        while not self.ended.wait(0.2):
            self.peak = max(self.peak, _memory(self.pid))


def _memory(pid: int) -> int:
    """Bytes that a process and its descendants take; what they share counts once, among those who share it."""
    total = 0
    with suppress(OSError, ValueError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total = 1024 * sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_memory(int(child)) for child in (task / "children").read_text().split())
    return total


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solver", default="tsili", help="default tsili")
    parser.add_argument("--folder", type=Path, help="where the set and the results go for a while (default: temporary)")
    actions = parser.add_subparsers(required=True)
    run = actions.add_parser("run")
    run.add_argument("--count", type=int, default=1_000_000)
    run.set_defaults(action=_run)
    kills = actions.add_parser("kills")
    kills.add_argument("--count", type=int, default=20_000)
    kills.add_argument("--kills", type=int, default=20)
    kills.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    kills.add_argument("--suffix", default="", help=".npz for one file of results instead of a folder")
    kills.set_defaults(action=_kills)
    arguments, more = parser.parse_known_args()
    arguments.more = more
    return arguments


if __name__ == "__main__":
    sys.exit(main())
