"""What a machine does for the beam searches. The searches know this protocol, never where their arrays lie."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from orienteer.beam.candidates import Candidates, Offspring
from orienteer.beam.expand import Expander, ScoreBy, Watch
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.model.instance import Instance

if TYPE_CHECKING:
    from orienteer.beam.cost_level import CostLevelConfig

Over = Callable[[], bool]
"""Says whether to end early, with the best so far."""


class Queues(Protocol):
    """One bounded queue of paths for every instance and every level of cost."""

    def put(self, children: Offspring) -> None:
        """Merges children into their queues; full queues keep the best."""

    def pop(self) -> Candidates:
        """All paths worth expanding of each instance's cheapest level that has any; none when all queues are empty."""
        ...


@dataclass(frozen=True)
class Ends:
    """Paths that may meet, for each instance: those of two rows of a batch, or of one row among themselves."""

    costs: Array  # (row, node, node) float64
    paths: SortedPaths
    front: Array  # (instance,) int64, the row with the paths from the start
    back: Array  # (instance,) int64, the row with the paths from the end; if it is `front`, its paths turned round
    budget: Array  # (instance,) float64, what a route may cost
    least: Array  # (instance,) float64, a prize that the stops of a route must exceed


class Backend(Protocol):
    """The steps of a search on one kind of machine."""

    name: str
    """"cpu" or "cuda"."""
    compiles_ahead: bool
    """Whether a search of a tiny problem compiles what all problems need."""
    cells: int
    """Nodes of a batch, counted in each direction, that keep the machine busy: where several batches are worked on at
    once, none need have more."""

    def __hash__(self) -> int: ...

    def problems(self, instances: Sequence[Instance], directions: int = 1) -> Problems:
        """The batch in which every instance has a row for each direction: as it is, and turned round."""
        ...

    def expander(
        self, problems: Problems, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"
    ) -> Expander:
        """The object that expands and logs the paths of one search."""
        ...

    def recorded(
        self, problems: Problems, scorer: Scorer, config: "CostLevelConfig", tau: Array, watch: Watch
    ) -> Expander | None:
        """The whole cost-level search, where the backend and the score have a faster way than step by step."""
        ...

    def queues(self, problems: Problems, width: int | None, tau: Array, spread: float, lag: float | None) -> Queues:
        """Empty queues of at most `width` paths a level (None: any number); `tau` is (batch,) in units of cost.

        A path's rank falls by `spread` mean prizes for each better path of its queue with the same last node. A path
        is not worth expanding whose score is more than `lag` mean prizes below the best of its queue (None: any is).
        """
        ...

    def keep_best(self, children: Offspring, width: int | None) -> Candidates:
        """The `width` best children of each instance (None: all); of orders of the same nodes only the cheapest."""
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
        """The best route of each instance after exchanges of stretches in its route and its `chosen` paths.

        `chosen` is (instance, base) places in `paths`, -1 for none; `over` says whether to end early.
        """
        ...

    def free_memory(self, batches: int) -> int:
        """Bytes that the arrays of a batch may take where `batches` batches are worked on at once."""
        ...

    def workers(self, instances: int) -> int:
        """How many batches of a set of `instances` instances are worked on at once."""
        ...

    def turn(self) -> AbstractContextManager[None]:
        """The context of a batch while it is searched: no more batches at once than keep the machine busy."""
        ...

    def worker(self, number: int) -> AbstractContextManager[None]:
        """The context in which the thread with this `number` works on its batches."""
        ...
