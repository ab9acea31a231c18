"""The engine of several processes on this machine, each with one thread; the results are those of a single process."""

import concurrent.futures
import concurrent.futures.process
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Executor, Future
from itertools import chain
from multiprocessing.synchronize import Event
from typing import Any

from orienteer.model.errors import OrienteerError
from orienteer.search.cores import set_cores
from orienteer.search.engines.job import Answer, Done, Halt, Job, Task, do
from orienteer.search.processes import single_threaded, unsignalled
from orienteer.search.solver import AnySolver
from orienteer.search.stop import MaxSteps

AHEAD = 4
"""How many tasks for each process are on their way to it or wait to be fetched."""


class Processes:
    """Does tasks in `workers` processes."""

    gpu = False
    seconds = 0.25
    """How long a task should take: hundreds of times as long as its way to a process and back."""

    def __init__(self, workers: int):
        self.workers = workers

    def run(self, job: Job[Answer], tasks: Iterator[Task], halt: Halt) -> Generator[Done[Answer], None, None]:
        """What came of the tasks."""
        first = next(tasks, None)
        if first is None:
            return
        job.solver().solve(first.instances[0], MaxSteps(0))  # compiles kernels once, for all processes
        context = multiprocessing.get_context("spawn")
        ended = context.Event()
        halt.then(ended.set)
        pool = concurrent.futures.ProcessPoolExecutor(self.workers, context, _begin, (job, ended))
        try:
            for done in _in_order(pool, chain([first], tasks), AHEAD * self.workers):
                yield done
                if done.count < len(done.task):
                    return
        except concurrent.futures.process.BrokenProcessPool as error:
            raise OrienteerError("a worker process died, perhaps for lack of memory; try fewer --workers") from error
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Nothing is left."""


def _in_order(pool: Executor, tasks: Iterator[Task], ahead: int) -> Iterator[Done[Any]]:
    """What came of the tasks, in order, while at most `ahead` of them are on their way."""
    waiting: deque[Future[Done[Any]]] = deque()
    for task in tasks:
        with single_threaded(), unsignalled():  # a submission may start a process
            waiting.append(pool.submit(_do, task))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_work: tuple[Job[Any], AnySolver, Event]
"""The job, its solver and the flag that ends the batch in a worker process, which `_begin` sets."""


def _begin(job: Job[Any], ended: Event) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    set_cores(1)
    _work = job, job.solver(), ended


def _end_with_parent() -> None:
    """Ends this process when the parent is gone: a killed parent tells its workers nothing, and they would wait."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(task: Task) -> Done[Any]:
    job, solver, ended = _work
    return do(job, solver, task, ended.is_set)
