"""What a machine does for the beam searches. The searches know this protocol, never where their arrays lie."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from orienteer.beam.candidates import Candidates, Offspring
from orienteer.beam.expand import Expander, ScoreBy
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.model.instance import Instance

Over = Callable[[], bool]
"""Whether to end early, with the best so far."""


class Queues(Protocol):
    """One bounded queue of paths for every instance and every level of cost."""

    def put(self, children: Offspring) -> None:
        """Merges children into their queues; full queues keep the best."""

    def pop(self) -> Candidates:
        """All paths worth expanding of each instance's cheapest level that has any; none when all queues are empty."""
        ...


@dataclass(frozen=True)
class Ends:
    """The paths of some instances that may meet: those of two rows of a batch, or of one row among themselves."""

    costs: Array  # (row, node, node) float64
    paths: SortedPaths
    front: Array  # (instance,) int64, the row with the paths from the start
    back: Array  # (instance,) int64, the row with those from the end; where it is the same, each path turned round
    budget: Array  # (instance,) float64, what a route may cost
    least: Array  # (instance,) float64, a prize that the stops of a route must exceed


class Backend(Protocol):
    """The steps of a search on one kind of machine."""

    name: str
    """"cpu" or "cuda"."""
    compiles_ahead: bool
    """Whether a search of a tiny problem compiles what all problems need."""

    def __hash__(self) -> int: ...

    def problems(self, instances: Sequence[Instance], directions: int = 1) -> Problems:
        """The batch in which every instance has a row for each direction: as it is, and turned round."""
        ...

    def expander(
        self, problems: Problems, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"
    ) -> Expander:
        """What expands, logs and remembers the paths of one search."""
        ...

    def queues(self, problems: Problems, width: int | None, tau: Array, spread: float) -> Queues:
        """Empty queues of at most `width` paths a level (None: any number); `tau` is (batch,) in units of cost.

        Ending where a better path of the queue does costs `spread` mean prizes of rank.
        """
        ...

    def keep_best(self, children: Offspring, width: int | None) -> Candidates:
        """The `width` best children of each instance (None: all), without dearer orders of the same nodes."""
        ...

    def best_pairs(self, ends: Ends) -> Array:
        """(2, instance) numbers in the log of the two paths that make the route with the most prize; -1 for none."""
        ...

    def exchanged(
        self,
        problems: Problems,
        paths: SortedPaths,
        directions: int,
        routes: list[list[int]],
        chosen: Array,
        over: Over,
    ) -> list[list[int]]:
        """What exchanges of stretches make of each route and of the (instance, base) `chosen` paths of its instance."""
        ...

    def free_memory(self, batches: int) -> int:
        """Bytes that the arrays of a batch may take where that many `batches` are worked on at once."""
        ...

    def workers(self, instances: int) -> int:
        """How many batches of a set of that many instances are worked on at once."""
        ...

    def worker(self, number: int) -> AbstractContextManager[None]:
        """The context in which the thread with that number works on its batches."""
        ...
