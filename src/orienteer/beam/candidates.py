"""Paths that wait for their turn, four numbers each."""

from dataclasses import dataclass
from typing import Any

from orienteer.beam.problems import Array

WIDEST = 2**31 - 1
"""The widest beam: sizes in bytes stay far below 63 bits."""
MOST_GROUPS = 2**20
MOST_SPOTS = 2**27
"""Bounds on groups and on groups * nodes: what is left of 63 bits holds a score. They are fixed, so that a path's rank
does not depend on the batch it is in."""
REMEMBERED = 2**14
"""Expanded paths that are remembered of an instance by their stamp; a newer path takes the slot of an older."""
SCORE, COST, STAMP, TRAIL = 0, 1, 2, 3
"""Columns of `Candidates.packed`."""


def bits_for_score(most: int) -> int:
    """How many bits of a score fit into 63 bits beside a group's number of at most `most`."""
    return 63 - most.bit_length()


@dataclass(frozen=True)
class Candidates:
    """Unexpanded paths; their numbers lie side by side so that one gather or scatter moves a path."""

    packed: Array  # (path, 4) int64: score and cost as the bits of float64, stamp, trail
    xp: Any  # the module of `packed`, numpy or torch

    @classmethod
    def pack(cls, xp: Any, score: Array, cost: Array, stamp: Array, trail: Array) -> "Candidates":
        """Candidates from four (path,) arrays."""
        return cls(xp.stack((score.view(xp.int64), cost.view(xp.int64), stamp, trail), -1), xp)

    @property
    def score(self) -> Array:
        """(path,) float64, what paths are ranked by; minus infinity in an empty slot."""
        return self.packed[..., SCORE].view(self.xp.float64)

    @property
    def cost(self) -> Array:
        """(path,) float64."""
        return self.packed[..., COST].view(self.xp.float64)

    @property
    def stamp(self) -> Array:
        """(path,) int64, equal for paths of an instance with the same nodes and the same last node."""
        return self.packed[..., STAMP]

    @property
    def trail(self) -> Array:
        """(path,) int64, where the path comes from: number of its parent in the log * nodes + its last node."""
        return self.packed[..., TRAIL]

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, index: Array) -> "Candidates":
        return Candidates(self.packed[index], self.xp)


@dataclass(frozen=True)
class Offspring:
    """Children of the paths that were expanded together, in no particular order."""

    instance: Array  # (child,) int64
    candidates: Candidates  # (child,)
