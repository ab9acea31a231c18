"""The engine that does all tasks in this process."""

from collections.abc import Generator, Iterator

from orienteer.search.engines.job import Answer, Done, Halt, Job, OnPart, Task, do


class Here:
    """Does one task after the other."""

    workers = 1
    gpu = False
    seconds = 0.25
    """How long a task should take: a progress bar moves after each."""

    def __init__(self, on_part: OnPart = lambda count: None):
        """`on_part` is called with the number of instances of the present task that are done."""
        self.on_part = on_part

    def run(self, job: Job[Answer], tasks: Iterator[Task], halt: Halt) -> Generator[Done[Answer], None, None]:
        """What came of the tasks."""
        solver = job.solver()
        for task in tasks:
            done = do(job, solver, task, halt, self.on_part)
            yield done
            if done.count < len(done.task):
                return

    def close(self) -> None:
        """Nothing is left."""
