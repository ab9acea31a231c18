"""What tests of the command line share: a tiny problem, and a solver that does as it is told."""

import os
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from orienteer import Instance, MaxSteps
from orienteer.data.npz import BatchResult
from orienteer.model.rules import FEATURES
from orienteer.search.engines import processes
from orienteer.search.engines.job import Done, Task
from orienteer.search.run import Run
from orienteer.search.solver import Solver

TOWN = Instance.from_coords(
    [[0, 0], [3, 0], [3, 4], [0, 4], [9, 9]],
    [0, 1.5, 2, 4, 50],
    13,
    names=["home", "mill", "pond", "barn", "hill"],
)
"""Round mill, pond and barn is 14, too far; the best is home, pond, barn, home, 5 + 3 + 4; the hill is out of reach."""


class Said(NamedTuple):
    """What a command said and how it ended."""

    status: int
    out: str
    err: str


Cli = Callable[..., Said]
"""Runs the command line with these words."""

Script = Callable[[Callable[[Run], None]], None]
"""Tells the solver `scripted` what to do at every step."""


class Scripted(Solver):
    """Calls `action` at every step, up to a thousand times."""

    name = "scripted"
    handles = frozenset(FEATURES)
    action: ClassVar[Callable[[Run], None]]

    def search(self, run: Run, seed: int) -> None:
        for _ in range(1000):
            type(self).action(run)
            if run.step():
                return


def die(task: object) -> None:
    """Stands in for a worker's task, and ends its process."""
    os._exit(1)


def first_quickly(task: Task) -> Done[Any]:
    """Stands in for a worker's task: the first is quick, the others wait for the end of the batch."""
    if task.begin == 0:
        return Done(range(1), BatchResult.of([Scripted().solve(TOWN, MaxSteps(0))]), 1, 0.1)
    assert processes._work[2].wait(60)
    return Done(range(task.begin, task.begin + 1), BatchResult.of([]), 0, 0.1)
