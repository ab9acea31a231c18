"""The learned heuristic as a score of the beam searches, wherever its network runs."""

from typing import Any, Protocol

from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Children, Scorer
from orienteer.beam.states import States

KNOWN = 200
"""Nodes of the largest problems that the flagship learns from."""


class NetworkScore(Scorer, Protocol):
    """A score that counts how often its network looked at a path."""

    @property
    def passes(self) -> int: ...


class Look(Protocol):
    """A network with its weights, on one backend."""

    passes: int
    """How many paths the network has looked at."""

    def __call__(self, states: States) -> tuple[Array, Array]:
        """(state, node) action values or logits, -inf where a node may not be next, and (state,) values."""
        ...

    def reachable(self, states: States) -> Array:
        """(state, node) bool: unvisited nodes that some way from the last node to the end could still pass."""
        ...


class ValueScore:
    """The learned heuristic f(P) = prize(P) + e(s'), with q from a network.

    A child P + v is scored from its parent's pass by prize(P) + q(s, v), which is f(P + v) by Bellman's equation.
    In problems larger than `known`, the largest that the network has learned from, its values err, and err more
    the longer the rest of the path is. There a path is ranked by a fading mean of the network's values on the way, so
    that the network's choices count for more than its last value.
    """

    def __init__(self, look: Look, known: int | None = None):
        self.look, self.known = look, known

    @property
    def passes(self) -> int:
        """How many paths the network has looked at."""
        return self.look.passes

    def children(self, states: States) -> Children:
        action, value = self.look(states)
        scores = states.prize[:, None] + action
        problems, row = states.problems, states.instance
        trust = self.trust(problems)
        if trust is None:
            return Children(scores)
        begun = states.last != problems.take(problems.start, row)  # the empty path has no earlier value
        doubt = ((1 - problems.take(trust, row)) * begun)[:, None]
        before = (states.score - states.prize - value)[:, None]
        return Children(problems.xp.where(doubt > 0, scores + doubt * before, scores))

    def paths(self, states: States) -> Array:
        xp, best = states.problems.xp, states.problems.xp.amax(self.look(states)[0], 1)
        return states.prize + xp.where(xp.isinf(best), 0.0, best)  # without a choice there is no prize to go

    def recorded(self, step: Any) -> Any:
        """What launches the kernels for a step of a recorded search; None where the network has none."""
        record = getattr(self.look, "recorded", None)
        return None if record is None else record(step)

    def looked(self, paths: int) -> None:
        """Counts paths at which the network looked in a recorded search."""
        self.look.passes += paths

    def trust(self, problems: Problems) -> Array | None:
        """(batch,) how much the network's last value counts: 1 in problems of at most `known` nodes, less beyond.

        None where every instance has 1.
        """
        if self.known is None or problems.nodes <= self.known:
            return None
        size = self.look.reachable(States.initial(problems)).sum(1)
        return (self.known / size.clip(1)).clip(0, 1) ** 2
