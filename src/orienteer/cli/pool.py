"""A batch on several processes, each with one thread; the same results as one process gives."""

import concurrent.futures
import concurrent.futures.process
import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from multiprocessing.synchronize import Event
from typing import Any

from orienteer.cli.interrupt import Interrupt
from orienteer.model.errors import OrienteerError
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.search.registry import make_solver
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, MaxSteps, Progress, Stop

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def solve_in_processes(
    name: str,
    settings: dict[str, Any],
    instances: Sequence[Instance],
    stop: Stop | None,
    seed: int,
    workers: int,
) -> Iterator[Result]:
    """The results in order; after a Ctrl-C, those before the first that it cut short."""
    make_solver(name, **settings).solve(instances[0], MaxSteps(0))  # compiles, so that the processes find it done
    context = multiprocessing.get_context("spawn")
    ended = context.Event()
    pool = concurrent.futures.ProcessPoolExecutor(
        min(workers, len(instances)), context, _begin, (name, settings, stop, ended)
    )
    with Interrupt(on_press=ended.set):
        try:
            for answer in _in_order(pool, instances, seed, ahead=4 * workers):
                if answer is None:
                    return
                yield answer
        except concurrent.futures.process.BrokenProcessPool as error:
            raise OrienteerError("a worker process died, perhaps for lack of memory; try fewer --workers") from error
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)


def _in_order(pool: Executor, instances: Sequence[Instance], seed: int, ahead: int) -> Iterator[Result | None]:
    """The answers one by one, while only some instances wait in memory for a free process."""
    waiting: deque[Future[Result | None]] = deque()
    for index in range(len(instances)):
        alone = instances[index : index + 1]  # of a set its coordinates, which are fewer than an instance's costs
        with _single_threaded(), _unsignalled():  # a submission may start a process
            waiting.append(pool.submit(_solve, alone, seed + index))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Libraries read these once, when they are loaded: new processes inherit them, this one is past that."""
    before = {key: os.environ.get(key) for key in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@contextlib.contextmanager
def _unsignalled() -> Iterator[None]:
    """New processes inherit that Ctrl-C does not reach them: only this process decides what it means."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Ended:
    """A stop criterion that another process sets."""

    def __init__(self, event: Event):
        self.event = event

    def __call__(self, now: Progress) -> bool:
        return self.event.is_set()


_task: tuple[AnySolver, Stop | None, _Ended]
"""What a worker process was told at its start."""


def _begin(name: str, settings: dict[str, Any], stop: Stop | None, event: Event) -> None:
    global _task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _task = make_solver(name, **settings), stop, _Ended(event)


def _solve(alone: Sequence[Instance], seed: int) -> Result | None:
    """The result of the one instance, or None if the whole batch was ended before that was done."""
    solver, stop, ended = _task
    (instance,) = alone
    result = solver.solve(instance, AnyOf(solver.default_stop(instance) if stop is None else stop, ended), seed=seed)
    return None if ended.event.is_set() else result
