"""What a search asks of a score. The search knows this protocol, never a particular network."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from orienteer.beam.states import States


@dataclass(frozen=True)
class Children:
    """The scores of all one-node extensions of some paths."""

    scores: Tensor  # (state, node) higher is better; only feasible entries are read
    memory: Tensor | None = None  # (state, hidden) handed on to every child


class Scorer(Protocol):
    """Ranks partial paths, usually by the total prize that they may lead to."""

    def children(self, states: States) -> Children:
        """Scores of every path extended by every node, from one look at the path itself."""
        ...

    def paths(self, states: States) -> Tensor:
        """(state,) scores of the paths themselves, prize(P) + e(s'): one look at each."""
        ...


class PrizeScore:
    """The prize collected so far: the score of CS-p."""

    def children(self, states: States) -> Children:
        return Children(states.prize[:, None] + states.problems.prizes[states.instance])

    def paths(self, states: States) -> Tensor:
        return states.prize
