"""The one loop of all batches: instances come in pieces, an engine does tasks, answers leave in order."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from orienteer.model.instance import Instance
from orienteer.search.engines.job import Answer, Done, Engine, Halt, Job
from orienteer.search.engines.sizes import MOST, cut, sizes_for
from orienteer.search.solver import AnySolver


class Source(Protocol):
    """Instances that need not be in memory all at once, such as `orienteer.data.stored_set.StoredSet`."""

    def __len__(self) -> int: ...

    def pieces(self, begin: int = 0, end: int | None = None) -> Iterator[Sequence[Instance]]:
        """The instances from `begin` to before `end`, in order, in pieces."""

    def check(self, begin: int = 0, end: int | None = None) -> None:
        """Raises an error about the first of these instances that breaks a rule."""


class InMemory:
    """A source of instances that are in memory."""

    def __init__(self, instances: Sequence[Instance]):
        self.instances = instances

    def __len__(self) -> int:
        return len(self.instances)

    def pieces(self, begin: int = 0, end: int | None = None) -> Iterator[Sequence[Instance]]:
        """The instances in pieces of at most as many as a task may have."""
        last = len(self) if end is None else end
        return (self.instances[at : min(at + MOST, last)] for at in range(begin, last, MOST))

    def check(self, begin: int = 0, end: int | None = None) -> None:
        """Makes every instance of a set, which checks it; others are checked already."""
        for _ in self.instances[begin:end]:
            pass


def stream(
    job: Job[Answer], source: Source, numbers: range, engine: Engine, halt: Halt, solver: AnySolver | None = None
) -> Iterator[Done[Answer]]:
    """What comes of the instances with these numbers, in order; when ended or after an error, of those before.

    `solver` is that of the job, if the caller has made it already. An error of a solver is in the last answer.
    """
    sizes = sizes_for(solver or job.solver(), engine)
    tasks = cut(source.pieces(numbers.start, numbers.stop), numbers, sizes, engine)
    with contextlib.closing(engine.run(job, tasks, halt)) as answers:
        for done in answers:
            sizes.note(done.count, done.seconds)
            yield done
