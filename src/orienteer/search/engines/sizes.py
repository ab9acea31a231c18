"""How many instances make a task: as many as take a given time, by the time that the last ones took."""

from collections.abc import Iterable, Iterator, Sequence

from orienteer.model.instance import Instance
from orienteer.search.engines.job import Engine, Task
from orienteer.search.solver import AnySolver

MOST = 2**14
"""The most instances of a task."""
FIRST_TOGETHER, SECONDS_TOGETHER = 256, 10.0
"""The first size and the time of a task for solvers that take many instances at a time."""
SECONDS_ON_GPU = 40.0
"""The time of a task on a GPU, which waits between two tasks; the first is as large as any."""


class TaskSizes:
    """The size of the next task, so that a task takes about `seconds`."""

    def __init__(self, seconds: float, first: int = 1):
        self.seconds, self.size = seconds, first

    def note(self, count: int, seconds: float) -> None:
        """Takes note that `count` instances took `seconds`; a size at most doubles, since the next may be harder."""
        if count:
            fitting = self.seconds * count / max(seconds, 1e-9)
            self.size = int(max(1, min(fitting, 2 * count, MOST)))


def sizes_for(solver: AnySolver, engine: Engine) -> TaskSizes:
    """The sizes of tasks that suit a solver on an engine."""
    if engine.gpu or (solver.takes_batches() and solver.on_gpu()):
        return TaskSizes(SECONDS_ON_GPU, MOST)
    return TaskSizes(SECONDS_TOGETHER, FIRST_TOGETHER) if solver.takes_batches() else TaskSizes(engine.seconds)


def cut(pieces: Iterable[Sequence[Instance]], numbers: range, sizes: TaskSizes, engine: Engine) -> Iterator[Task]:
    """The tasks of the instances with these numbers, which come in pieces; a task is within one piece.

    A task is at most half of a worker's share of what is left, so that all workers end at about the same time.
    """
    begin = numbers.start
    for piece in pieces:
        at = 0
        while at < len(piece):
            workers = engine.workers
            share = sizes.size if workers == 1 else -(-(numbers.stop - begin) // (2 * workers))
            count = min(sizes.size, share, len(piece) - at)
            yield Task(begin, piece[at : at + count])
            at += count
            begin += count
