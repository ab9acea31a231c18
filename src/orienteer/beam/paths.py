"""The log of expanded paths: each knows its parent, so that a route can be read back."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orienteer.beam.candidates import Candidates
from orienteer.beam.problems import Array, Problems
from orienteer.beam.states import States

PACKED_AT_ONCE = 2**26
"""Flags of visited nodes that are packed into bits together: on the way a flag takes several bytes."""


@dataclass(frozen=True)
class SortedPaths:
    """Logged paths by instance, and of an instance by cost."""

    first: Array  # (batch + 1,) int64, where the paths of each instance begin; the last number ends all
    number: Array  # (path,) int64, in the log
    parent: Array  # (path,) int64, place in this table of the path's parent, -1 where there is none
    last: Array  # (path,) int64
    cost: Array  # (path,) float64
    prize: Array  # (path,) float64, of the stops: without start and end
    stops: Array  # (path, word) int64, a bit for each stop
    size: Array  # (path,) int64, how many stops the path has
    ends: Array  # (batch,) float64, the prize of start and end


class PathLog(ABC):
    """Every path expanded so far, numbered in order; the first of each instance has only left its start.

    Of the arrays only the first `used` rows count.
    """

    trail: Array  # (path,) int64, number of the parent * nodes + last node; -1 for the first path of an instance
    instance: Array  # (path,) int64
    prize: Array  # (path,) float64
    cost: Array  # (path,) float64
    visited: Array  # (path, node) bool
    memory: Array | None  # (path, hidden) of a recurrent score

    def __init__(self, problems: Problems):
        self.problems = problems
        self.used = 0
        self.memory = None

    @abstractmethod
    def begin(self) -> States:
        """The empty path of every instance, logged."""

    @abstractmethod
    def add(self, chosen: Candidates) -> States:
        """The candidates as states, logged in their order."""

    @abstractmethod
    def stops(self, number: Array) -> list[list[int]]:
        """The nodes of the logged paths with these numbers, without their starts; no nodes where a number is -1."""

    def remember(self, memory: Array | None) -> None:
        """Notes what a recurrent score made of the paths logged last; their children inherit it."""
        if memory is None:
            return
        room, xp = len(self.trail), self.problems.xp
        if self.memory is None or len(self.memory) < room:
            larger = xp.zeros_like(memory[:1])[xp.zeros_like(self.trail)]  # (room, hidden)
            if self.memory is not None:
                larger[: len(self.memory)] = self.memory
            self.memory = larger
        self.memory[self.used - len(memory) : self.used] = memory

    def expanded(self) -> Array:
        """(batch,) how many paths of each instance have been expanded."""
        return self.problems.xp.bincount(self.instance[: self.used], minlength=self.problems.batch)

    def by_cost(self, packed_at_once: int = PACKED_AT_ONCE) -> SortedPaths:
        """All paths, sorted; `packed_at_once` is how many flags of visited nodes are packed at a time."""
        problems, batch, xp = self.problems, self.problems.batch, self.problems.xp
        instance, cost = self.instance[: self.used], self.cost[: self.used]
        number = problems.order(cost)
        number = number[problems.order(instance[number])]
        instance, trail = instance[number], self.trail[number]
        begun, ends = self.visited[:batch], self.prize[:batch]  # the first paths have visited start and end alone
        place = xp.empty_like(number)
        place[number] = problems.arange(len(number))
        stops, size, step = [], [], max(1, packed_at_once // problems.nodes)
        for at in range(0, len(number), step):
            piece = number[at : at + step]
            stopped = self.visited[piece] & ~begun[self.instance[piece]]
            stops.append(problems.bits(stopped))
            size.append(stopped.sum(1))
        first = problems.full((batch + 1,), 0)
        first[1:] = xp.cumsum(xp.bincount(instance, minlength=batch), 0)
        return SortedPaths(
            first,
            number,
            xp.where(trail < 0, -1, place[trail.clip(0) // problems.nodes]),
            xp.where(trail < 0, problems.start[instance], trail % problems.nodes),
            cost[number],
            self.prize[number] - ends[instance],
            xp.concatenate(stops),
            xp.concatenate(size),
            ends,
        )

    def routes(self, parent: Array, last: Array) -> list[list[int]]:
        """Each instance's route: start, the logged path `parent`, the node `last` unless it is -1, end.

        Where the parent is -1 there is no route, and the list is empty.
        """
        ends = self.problems.xp.stack((self.problems.start, self.problems.end, parent, last), 1).tolist()
        return [
            [start, *stops, *([stop] if stop >= 0 else []), end] if path >= 0 else []
            for (start, end, path, stop), stops in zip(ends, self.stops(parent), strict=True)
        ]

    def joined(self, row: Sequence[int], front: Array, back: Array) -> list[list[int]]:
        """Routes of the instances at `row`, each along a path of `front` and back along one of `back`; -1: no route."""
        start, end = self.problems.start.tolist(), self.problems.end.tolist()
        return [
            [start[at], *one, *reversed(other), end[at]] if there else []
            for at, there, one, other in zip(
                row, (front >= 0).tolist(), self.stops(front), self.stops(back), strict=True
            )
        ]

    def closing(self, row: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The paths of an instance that can go straight to the end, most prize first, then least cost.

        Returned are the paths' numbers in the log, and (path, node) which nodes they visit.
        """
        problems, xp = self.problems, self.problems.xp
        number = xp.argwhere(self.instance[: self.used] == row)[:, 0]
        trail = self.trail[number]
        last = xp.where(trail < 0, problems.start[row], trail % problems.nodes)
        number = number[self.cost[number] + problems.straight[row, last] <= problems.budget[row]]
        number = number[problems.order(self.cost[number])]
        number = number[problems.order(self.prize[number], falling=True)]
        visited = np.array(self.visited[number].tolist(), dtype=np.bool_).reshape(-1, problems.nodes)
        return np.array(number.tolist(), dtype=np.int64), visited

    def route(self, number: int, row: int) -> list[int]:
        """The route that goes straight to the end after a logged path of an instance."""
        (stops,) = self.stops(self.problems.full((1,), number))
        return [int(self.problems.start[row]), *stops, int(self.problems.end[row])]
