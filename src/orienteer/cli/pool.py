"""A batch solved by several processes, each with one thread; the results are those of a single process."""

import concurrent.futures
import concurrent.futures.process
import multiprocessing
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
from orienteer.search.processes import single_threaded, unsignalled
from orienteer.search.registry import make_solver
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, MaxSteps, Progress, Stop


def solve_in_processes(
    name: str,
    settings: dict[str, Any],
    instances: Sequence[Instance],
    stop: Stop | None,
    seed: int,
    workers: int,
) -> Iterator[Result]:
    """The results in the order of the instances; after Ctrl-C, only those before the first unfinished one."""
    make_solver(name, **settings).solve(instances[0], MaxSteps(0))  # compiles kernels once, for all processes
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
    """The answers in the order of the instances, while at most `ahead` instances are on their way to a process."""
    waiting: deque[Future[Result | None]] = deque()
    for index in range(len(instances)):
        alone = instances[index : index + 1]  # a set of one, which may hold coordinates; an `Instance` holds all costs
        with single_threaded(), unsignalled():  # a submission may start a process
            waiting.append(pool.submit(_solve, alone, seed + index))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class _Ended:
    """A stop criterion that ends a search once another process has set the event."""

    def __init__(self, event: Event):
        self.event = event

    def __call__(self, now: Progress) -> bool:
        return self.event.is_set()


_task: tuple[AnySolver, Stop | None, _Ended]
"""The solver and the stop criteria of a worker process, which `_begin` sets."""


def _begin(name: str, settings: dict[str, Any], stop: Stop | None, event: Event) -> None:
    global _task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _task = make_solver(name, **settings), stop, _Ended(event)


def _solve(alone: Sequence[Instance], seed: int) -> Result | None:
    """The result of the single instance in `alone`, or None if the batch was ended before the search was done."""
    solver, stop, ended = _task
    (instance,) = alone
    result = solver.solve(instance, AnyOf(solver.default_stop(instance) if stop is None else stop, ended), seed=seed)
    return None if ended.event.is_set() else result
