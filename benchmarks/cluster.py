"""What a Ray cluster costs and brings: its overhead, two machines against one, and a machine lost in the middle.

    python benchmarks/cluster.py overhead
    python benchmarks/cluster.py --repeats 5 speed
    python benchmarks/cluster.py loss
    python benchmarks/cluster.py driver

The machines are processes of this one, with one core each, as `ray.cluster_utils` makes them. `overhead` is the CPU
time of the driver and the workers beside the work itself, by the seconds of a task; the bar is 5 % at the default.
`speed` takes turns between one machine and two, with searches of equal seconds, so that other work on the computer
counts little; the bar is 1.8 times the throughput. `loss` kills a machine at work and compares the results with those
of one process. `driver` is what the process of the command spends on a problem, from file to file, where others solve.
"""

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import ray  # noqa: E402
from ray.cluster_utils import Cluster as Machines  # noqa: E402

from orienteer import MaxSeconds, MaxSteps  # noqa: E402
from orienteer.data.generate import generate  # noqa: E402
from orienteer.data.instance_set import InstanceSet  # noqa: E402
from orienteer.data.npz import BatchResult, joined, save_set  # noqa: E402
from orienteer.data.result_parts import ResultParts  # noqa: E402
from orienteer.data.stored_set import open_set  # noqa: E402
from orienteer.search.engines import cluster  # noqa: E402
from orienteer.search.engines.cluster import Cluster  # noqa: E402
from orienteer.search.engines.here import Here  # noqa: E402
from orienteer.search.engines.job import Done, Engine, Halt, Job  # noqa: E402
from orienteer.search.registry import make_solver  # noqa: E402
from orienteer.search.stream import InMemory, stream  # noqa: E402

MOST_OVERHEAD, LEAST_GAIN = 0.05, 1.8
PACE = 0.1
"""Seconds of a search where speed is measured: other work on the computer does not change them."""
SIZES = (0.01, 0.1, Cluster.seconds)
"""Seconds of a task."""


def main() -> int:
    """Measures and prints; 1 if a bar is missed."""
    arguments = _arguments()
    problems = generate(20, count=arguments.count, seed=1)
    return int(arguments.action(problems, arguments))


def _overhead(problems: InstanceSet, arguments: argparse.Namespace) -> bool:
    """CPU time of the driver and the workers beside the work itself, by the seconds of a task."""
    medians = {}
    cluster._do = _timed(cluster._do)
    with _machines(1):
        engine = Cluster(make_solver("tsili"))
        _share(problems[:200], engine)  # workers start, and load what they need
        for seconds in SIZES:
            engine.seconds = seconds  # type: ignore[misc]
            shares = [_share(problems, engine) for _ in range(arguments.repeats)]
            medians[seconds] = statistics.median(shares)
            span = f"{100 * min(shares):.1f} to {100 * max(shares):.1f}"
            print(f"tasks of {seconds} s: {100 * medians[seconds]:.1f} % beside the work ({span})", flush=True)
    return medians[Cluster.seconds] > MOST_OVERHEAD


def _timed(do: Callable[..., Any]) -> Callable[..., Any]:
    """The function that does a task and tells when it began and ended on the worker's CPU clock.

    It is made here, so that it travels to the workers whole.
    """

    def done(*arguments: Any) -> Any:
        began = time.process_time()
        answer = do(*arguments)
        return dataclasses.replace(answer, answer=(os.getpid(), began, time.process_time()))

    return done


def _share(problems: InstanceSet, engine: Engine) -> float:
    """What the driver and the workers spend beside the work, as a share of the work.

    A worker's part is the CPU time between the end of a task and the beginning of the next: what it takes to hand in a
    result and to fetch a task. Ray's daemons are not in it: they run whether there is work or not.
    """
    began = time.process_time()
    clocks: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for one in _dones(problems, engine):
        worker, *span = one.answer  # type: ignore[misc]
        clocks[worker].append((span[0], span[1]))
    driver = time.process_time() - began
    spans = [sorted(own) for own in clocks.values()]
    work = sum(end - begin for own in spans for begin, end in own)
    between = sum(after[0] - before[1] for own in spans for before, after in pairwise(own))
    return (driver + between) / work


def _speed(problems: InstanceSet, arguments: argparse.Namespace) -> bool:
    """Throughput of two machines beside one, in turns, for searches of equal seconds."""
    few, gains = problems[: arguments.count // 40], []
    with _machines(1) as machines:
        for _ in range(arguments.repeats):
            alone, _ = _paced(few, Cluster(make_solver("tsili")))
            second = machines.add_node(num_cpus=1)
            machines.wait_for_nodes()
            both = Cluster(make_solver("tsili"))
            _paced(few[:20], both)  # the second machine starts its worker
            together, busy = _paced(few, both)
            machines.remove_node(second)
            gains.append(alone / together)
            words = f"one machine {alone:.1f} s, two {together:.1f} s: {gains[-1]:.2f} times"
            print(f"{words}; of the two, {busy:.2f} were at work", flush=True)
    print(f"median {statistics.median(gains):.2f} times, from {min(gains):.2f} to {max(gains):.2f}")
    return statistics.median(gains) < LEAST_GAIN


def _paced(problems: InstanceSet, engine: Engine) -> tuple[float, float]:
    """Seconds for searches of `PACE` seconds each, and how many machines were at work, in the mean."""
    began, job = time.perf_counter(), Job("tsili", BatchResult.of, {"tries": 10**6}, MaxSeconds(PACE))
    done = list(stream(job, InMemory(problems), range(len(problems)), engine, Halt()))
    seconds = time.perf_counter() - began
    return seconds, sum(one.seconds for one in done) / seconds


def _loss(problems: InstanceSet, arguments: argparse.Namespace) -> bool:
    whole = _solved(problems, Here())
    with _machines(2) as machines:
        engine = Cluster(make_solver("tsili"))
        (lost,) = machines.worker_nodes
        killer, answers = None, []
        began = time.perf_counter()
        for done in _dones(problems, engine):
            answers.append(done.answer)
            if killer is None and sum(map(len, answers)) > len(problems) // 3:
                killer = threading.Thread(target=machines.remove_node, args=(lost, False))
                killer.start()
        seconds = time.perf_counter() - began
    found = joined(answers)
    same = all(np.array_equal(getattr(whole, field), getattr(found, field)) for field in ("prize", "cost", "tour"))
    print(f"a machine killed after a third: {len(found)} results in {seconds:.1f} s, equal to one process: {same}")
    return not same


def _driver(problems: InstanceSet, arguments: argparse.Namespace) -> bool:
    """CPU time that the process which hands out tasks spends on a problem, from its file to that of the results."""
    with tempfile.TemporaryDirectory() as folder, _machines(2):
        save_set(problems, f"{folder}/set.npz")
        source, engine = open_set(f"{folder}/set.npz"), Cluster(make_solver("random"))
        for number in range(arguments.repeats):
            began, job = time.process_time(), Job("random", BatchResult.of)
            with ResultParts(f"{folder}/out{number}", {}, len(source)) as parts:
                source.check()
                for done in stream(job, source, range(len(source)), engine, Halt()):
                    parts.add(done.task.start, done.answer)
                parts.flush()
            print(f"{1e6 * (time.process_time() - began) / len(source):.1f} microseconds a problem", flush=True)
    return False


@contextmanager
def _machines(count: int) -> Iterator[Any]:
    """A cluster of that many machines with one core each, to which this process is connected."""
    made = Machines(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(count - 1):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def _dones(problems: InstanceSet, engine: Engine) -> Iterator[Done[BatchResult]]:
    job = Job("tsili", BatchResult.of, {"tries": 10}, MaxSteps(10))
    return stream(job, InMemory(problems), range(len(problems)), engine, Halt())


def _solved(problems: InstanceSet, engine: Engine) -> BatchResult:
    return joined([done.answer for done in _dones(problems, engine)])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="problems with 20 prized nodes (default 10000)")
    parser.add_argument("--repeats", type=int, default=5)
    actions = parser.add_subparsers(required=True)
    for name, action in (("overhead", _overhead), ("speed", _speed), ("loss", _loss), ("driver", _driver)):
        actions.add_parser(name).set_defaults(action=action)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
