"""From paths to all their children: the step that both searches share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from orienteer.beam.candidates import Candidates, Offspring
from orienteer.beam.paths import PathLog
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.beam.states import States

if TYPE_CHECKING:
    from orienteer.beam.backend.protocol import Backend

ScoreBy = Literal["parent", "child"]

CHILDREN_AT_ONCE = 16384
"""How many child states a scorer looks at in one call."""


@dataclass
class Incumbents:
    """The best closed route of each instance: the most prize, of equals the least cost; the log holds its nodes."""

    prize: Array  # (batch,) float64, minus infinity while there is no route
    cost: Array  # (batch,) float64
    parent: Array  # (batch,) int64, number in the log, -1 while there is no route
    last: Array  # (batch,) int64, node between the path `parent` and the end, -1 if none

    @classmethod
    def straight(cls, problems: Problems) -> "Incumbents":
        """The routes straight from start to end, where they fit the limit."""
        xp, rows = problems.xp, problems.arange(problems.batch)
        cost = problems.straight[rows, problems.start]
        end_prize = problems.prizes[rows, problems.end] * (problems.start != problems.end)
        prize = problems.prizes[rows, problems.start] + end_prize
        fits = cost <= problems.budget
        none = xp.zeros_like(rows) - 1
        return cls(xp.where(fits, prize, -np.inf), cost, xp.where(fits, rows, none), none)


class Expander(ABC):
    """Expands paths, logs them and keeps the best closed route of every instance."""

    def __init__(
        self, backend: "Backend", log: PathLog, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"
    ):
        self.backend, self.log, self.scorer, self.score_by = backend, log, scorer, score_by
        self.problems = log.problems
        nodes = self.problems.nodes
        self.branch = nodes if branch is None else min(branch, nodes)
        self.best = Incumbents.straight(self.problems)
        # A sum of random numbers names a set of nodes, another random number its last node.
        keys = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, (2, nodes))
        self.last_key, self.both_keys = self._placed(keys[0]), self._placed(keys[0] + keys[1])

    def begin(self) -> Offspring:
        """The children of the empty paths."""
        states = self.log.begin()
        return self._children(states, self.problems.xp.zeros_like(states.last))

    def expand(self, chosen: Candidates) -> Offspring:
        """The children of the chosen paths from which the end can still be reached."""
        states = self.log.add(chosen)
        return self._children(states, chosen.stamp - self.problems.take(self.last_key, states.last))

    def routes(self) -> list[list[int]]:
        """The best route of each instance; an empty list where none has closed."""
        return self.log.routes(self.best.parent, self.best.last)

    @abstractmethod
    def _placed(self, numbers: npt.NDArray[np.int64]) -> Array:
        """A copy of the numbers in the memory that holds the problems' arrays."""

    @abstractmethod
    def _step_on(self, states: States, first: int) -> tuple[Array, Array]:
        """(state, node) cost on arrival at each node, and whether the end is within reach from that node.

        The best way to close each path, with one more node, goes to the incumbents: the most prize, of equals the least
        cost, of equals the first. `first` is the log's number of the first state.
        """

    @abstractmethod
    def _chosen(self, states: States, node_set: Array, arrival: Array, fits: Array, score: Array) -> Offspring:
        """The `branch` best children of each path, of those that fit and have a score above minus infinity."""

    def _children(self, states: States, node_set: Array) -> Offspring:
        """The children of logged paths; `node_set` is (state,) the sum of the keys of each path's nodes."""
        arrival, fits = self._step_on(states, self.log.used - len(states))
        return self._chosen(states, node_set, arrival, fits, self._scores(states, fits))

    def _scores(self, states: States, fits: Array) -> Array:
        """(state, node) float64 scores of the children."""
        xp = self.problems.xp
        if self.score_by == "parent":
            children = self.scorer.children(states)
            self.log.remember(children.memory)
            return xp.asarray(children.scores, dtype=xp.float64)
        score = xp.where(fits, 0.0 * states.cost[:, None], -np.inf)
        cells = xp.argwhere(fits)
        for begin in range(0, len(cells), CHILDREN_AT_ONCE):
            row, node = cells[begin : begin + CHILDREN_AT_ONCE].T
            score[row, node] = xp.asarray(self.scorer.paths(states.extended(row, node)), dtype=xp.float64)
        return score


class Watch(Protocol):
    """Called after one or more expansions; says whether to end the search."""

    @property
    def pace(self) -> int:
        """How many expansions may pass between two calls."""
        ...

    def __call__(self, expander: Expander, steps: int = 1) -> bool: ...


@dataclass(frozen=True)
class Asked:
    """A watch by any function of the expander, asked after every expansion."""

    ask: Callable[[Expander], bool]
    pace: int = 1

    def __call__(self, expander: Expander, steps: int = 1) -> bool:
        return self.ask(expander)


never = Asked(lambda expander: False, 8)
"""The watch that lets a search finish."""
