"""A batch as engines see it: one job, and tasks, each a slice of the instances; and how a task is done anywhere."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.search.registry import AnyMethod, make_solver
from orienteer.search.solver import AnySolver
from orienteer.search.stop import AnyOf, Never, Progress, Stop

Answer = TypeVar("Answer")

Ended = Callable[[], bool]
"""Whether the batch was ended: the instance in hand is given up, and those before it are kept."""


@dataclass(frozen=True)
class Job(Generic[Answer]):
    """What holds for all instances of a batch. It is sent to other processes, so its parts can be pickled."""

    method: AnyMethod
    pack: Callable[[Sequence[Result]], Answer]
    """Makes of results what is sent back: arrays are smaller, and faster to send, than objects."""
    settings: dict[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    """When to end the search of an instance; by default the solver's default stop."""
    seed: int = 0
    """The seed of instance 0; instance i has seed + i."""

    def solver(self) -> AnySolver:
        """The solver, made anew."""
        return make_solver(self.method, **self.settings)


@dataclass(frozen=True)
class Task:
    """A slice of the instances of a batch."""

    begin: int
    """The number of the first instance in the batch."""
    instances: Sequence[Instance]


@dataclass(frozen=True)
class Done(Generic[Answer]):
    """What came of a task: the results of all its instances, or of the first `count` where it ended early."""

    task: range
    answer: Answer
    count: int
    seconds: float
    """The wall-clock time of the work itself."""
    error: Exception | None = None
    """Why the instance after the last was not solved; None where the batch was ended, and in a task done whole."""


class Engine(Protocol):
    """Does tasks."""

    @property
    def workers(self) -> int:
        """How many tasks are worked on side by side."""

    @property
    def seconds(self) -> float:
        """How long a task should take, so that what it takes besides counts for little."""

    @property
    def gpu(self) -> bool:
        """Whether tasks go to GPUs, which this machine may not have: then solvers may take many instances at a time."""

    def run(self, job: Job[Answer], tasks: Iterator[Task], halt: "Halt") -> Generator[Done[Answer], None, None]:
        """What came of the tasks, in their order, up to the first that ended early.

        Only a few tasks are taken ahead, so that memory does not grow with the batch.
        """

    def close(self) -> None:
        """Gives back what the engine has taken."""


class Halt:
    """A flag that ends a batch; it may be set from a signal handler."""

    def __init__(self) -> None:
        self._on = False
        self._calls: list[Callable[[], None]] = []

    def __call__(self) -> bool:
        return self._on

    def set(self) -> None:
        """Ends the batch."""
        self._on = True
        for call in self._calls:
            call()

    def then(self, call: Callable[[], None]) -> None:
        """Has `call` called when the batch is ended."""
        self._calls.append(call)
        if self._on:
            call()


OnPart = Callable[[int], None]
"""Called with the number of instances of a task that are done."""


def do(
    job: Job[Answer], solver: AnySolver, task: Task, ended: Ended, on_part: OnPart = lambda count: None
) -> Done[Answer]:
    """What comes of a task when it is done here."""
    began = time.perf_counter()
    work = _together if solver.takes_batches() else _one_by_one
    results, error = work(job, solver, task, ended, on_part)
    whole = range(task.begin, task.begin + len(task.instances))
    return Done(whole, job.pack(results), len(results), time.perf_counter() - began, error)


class _WhenEnded:
    """A stop criterion that ends a search when the batch is ended."""

    reads_prize = False

    def __init__(self, ended: Ended):
        self.ended = ended

    def __call__(self, now: Progress) -> bool:
        return self.ended()


def _one_by_one(
    job: Job[Any], solver: AnySolver, task: Task, ended: Ended, on_part: OnPart
) -> tuple[list[Result], Exception | None]:
    results: list[Result] = []
    over = _WhenEnded(ended)
    try:
        for number, instance in enumerate(task.instances, task.begin):
            stop = AnyOf(solver.default_stop(instance) if job.stop is None else job.stop, over)
            result = solver.solve(instance, stop, seed=job.seed + number)
            if ended():
                break
            results.append(result)
            on_part(len(results))
    except Exception as error:  # hours of work must not be lost because a single instance fails
        return results, error
    return results, None


def _together(
    job: Job[Any], solver: AnySolver, task: Task, ended: Ended, on_part: OnPart
) -> tuple[list[Result], Exception | None]:
    """The results of a solver that takes many instances at a time; when ended, those it had reported as done."""
    finished = 0

    def on_done(done: int, total: int) -> None:
        nonlocal finished
        if not ended():
            finished = done
        on_part(done)

    stop = AnyOf(job.stop or Never(), _WhenEnded(ended))
    try:
        results = solver.solve_batch(task.instances, stop, seed=job.seed + task.begin, on_done=on_done)
    except Exception as error:
        return [], error
    return results[:finished] if ended() else results, None
