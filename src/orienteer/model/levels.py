"""What a cost-level beam search holds, for those who want to look at it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """The queues of a cost-level beam search after one of them was read and the paths in it were expanded.

    Nodes are those of the instance; where a route may end anywhere, that end is one more node after all others.
    """

    level: int
    """The queue that was read: of paths that cost more than (level - 1) * tau, and at most level * tau."""
    paths: tuple[tuple[int, ...], ...]
    """The paths that were read and expanded, each from the start."""
    prizes: tuple[float, ...]
    """What each of these paths has collected."""
    waiting: tuple[tuple[float, ...], ...]
    """For each level what the paths that wait there have collected, the best path first."""
    route: tuple[int, ...]
    """The best route that has closed so far; empty where none has."""
    tau: float
    """The width of a level, in units of cost."""
    beam: int | None
    """The most paths in a queue; None where there is no bound."""


OnReading = Callable[[Reading], None]
