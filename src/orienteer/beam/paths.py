"""The log of expanded paths: each knows its parent, so that a route can be read back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from orienteer.beam.candidates import Candidates
from orienteer.beam.problems import Problems
from orienteer.beam.seen import grown
from orienteer.beam.states import States

PACKED_AT_ONCE = 2**26
"""Nodes of the sets that are packed into bits together: in between they need some bytes each."""
_GATHER = 0x0102040810204080
"""A product with this number brings the lowest bits of eight bytes together in the highest byte."""


@dataclass(frozen=True)
class SortedPaths:
    """Logged paths by instance, and of an instance by cost."""

    first: Tensor  # (batch + 1,) int64, where the paths of each instance begin; the last ends all
    number: Tensor  # (path,) int64, in the log
    parent: Tensor  # (path,) int64, place in this table of the path that it goes on from, -1 where there is none
    last: Tensor  # (path,) int64
    cost: Tensor  # (path,) float64
    prize: Tensor  # (path,) float64, of the stops: without start and end
    stops: Tensor  # (path, word) int64, a bit for each of them
    size: Tensor  # (path,) int64, how many they are
    ends: Tensor  # (batch,) float64, the prize of start and end


class PathLog:
    """Every path expanded so far, numbered in order; the first of each instance has only left its start."""

    def __init__(self, problems: Problems):
        self.problems = problems
        self.used = 0
        room, device = 4 * problems.batch, problems.device
        self._link = torch.empty(room, dtype=torch.int64, device=device)
        self._instance = torch.empty(room, dtype=torch.int64, device=device)
        self._prize = torch.empty(room, dtype=torch.float64, device=device)
        self._cost = torch.empty(room, dtype=torch.float64, device=device)
        self._visited = torch.empty(room, problems.nodes, dtype=torch.bool, device=device)
        self._memory: Tensor | None = None

    def begin(self) -> States:
        """The empty path of every instance, logged."""
        states = States.initial(self.problems)
        self._append(torch.full_like(states.last, -1), states)
        return states

    def add(self, chosen: Candidates) -> States:
        """The candidates as states, logged in their order."""
        nodes = self.problems.nodes
        parent = chosen.link // nodes
        last = chosen.link - parent * nodes
        instance = self._instance.index_select(0, parent)
        visited = self._visited.index_select(0, parent)
        visited.scatter_(1, last[:, None], True)
        prize = self._prize.index_select(0, parent)
        prize += self.problems.prizes.reshape(-1).index_select(0, instance * nodes + last)
        memory = None if self._memory is None else self._memory.index_select(0, parent)
        states = States(self.problems, instance, last, visited, chosen.cost.contiguous(), prize, chosen.score, memory)
        self._append(chosen.link, states)
        return states

    def remember(self, memory: Tensor | None) -> None:
        """Notes what a recurrent score made of the paths logged last; their children inherit it."""
        if memory is None:
            return
        if self._memory is None:
            self._memory = memory.new_zeros(len(self._link), memory.shape[1])
        self._memory[self.used - len(memory) : self.used] = memory

    def expanded(self) -> Tensor:
        """(batch,) how many paths of each instance have been expanded."""
        return torch.bincount(self._instance[: self.used], minlength=self.problems.batch)

    def by_cost(self) -> SortedPaths:
        """All paths, sorted."""
        problems, batch = self.problems, self.problems.batch
        instance, cost = self._instance[: self.used], self._cost[: self.used]
        number = cost.argsort(stable=True)
        number = number[instance[number].argsort(stable=True)]
        instance, link = instance[number], self._link[number]
        begun, ends = self._visited[:batch], self._prize[:batch]  # the first paths have visited start and end alone
        place = torch.empty_like(number).scatter_(0, number, torch.arange(len(number), device=number.device))
        stops, size = [], []
        for piece in torch.split(number, max(1, PACKED_AT_ONCE // problems.nodes)):
            stopped = self._visited[piece] & ~begun[self._instance[piece]]
            stops.append(as_bits(stopped))
            size.append(stopped.sum(1))
        return SortedPaths(
            functional.pad(torch.bincount(instance, minlength=batch).cumsum(0), (1, 0)),
            number,
            torch.where(link < 0, -1, place[link.clamp_min(0) // problems.nodes]),
            torch.where(link < 0, problems.start[instance], link % problems.nodes),
            cost[number],
            self._prize[number] - ends.index_select(0, instance),
            torch.cat(stops),
            torch.cat(size),
            ends,
        )

    def routes(self, parent: Tensor, last: Tensor) -> list[list[int]]:
        """Each instance's route: start, the logged path `parent`, the node `last` unless it is -1, end.

        Where the parent is -1 there is no route, and the list is empty.
        """
        ends = torch.stack((self.problems.start, self.problems.end, parent, last), 1).tolist()
        return [
            [start, *stops, *([stop] if stop >= 0 else []), end] if path >= 0 else []
            for (start, end, path, stop), stops in zip(ends, self._stops(parent), strict=True)
        ]

    def joined(self, row: Sequence[int], front: Tensor, back: Tensor) -> list[list[int]]:
        """Routes of the instances at `row`, each along one logged path and then backwards along another; -1: none."""
        start, end = self.problems.start.tolist(), self.problems.end.tolist()
        return [
            [start[at], *one, *reversed(other), end[at]] if there else []
            for at, there, one, other in zip(
                row, (front >= 0).tolist(), self._stops(front), self._stops(back), strict=True
            )
        ]

    def _stops(self, number: Tensor) -> list[list[int]]:
        """The nodes of some logged paths after their starts; none where the number is -1."""
        if number.device.type == "cpu":
            links = self._link[: self.used].numpy()
            return [self._stops_of(links, one) for one in number.tolist()]
        return self._stops_together(number)

    def _stops_of(self, links: npt.NDArray[np.int64], number: int) -> list[int]:
        backwards = []
        link = int(links[number]) if number >= 0 else -1
        while link >= 0:
            number, node = divmod(link, self.problems.nodes)
            backwards.append(node)
            link = int(links[number])
        return backwards[::-1]

    def _stops_together(self, number: Tensor) -> list[list[int]]:
        """All paths go up one node at a time: on a GPU the log is far larger than what they need of it."""
        backwards = []
        while True:
            link = torch.where(number >= 0, self._link[number.clamp_min(0)], -1)
            if not (link >= 0).any():
                break
            number = torch.where(link >= 0, link // self.problems.nodes, -1)
            backwards.append(torch.where(link >= 0, link % self.problems.nodes, -1))
        if not backwards:
            return [[]] * len(number)
        return [[node for node in row if node >= 0] for row in torch.stack(backwards[::-1], 1).tolist()]

    def closing(self, row: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The paths of an instance that can go straight to the end, most prize first, then least cost.

        Their numbers in the log, and which nodes they visit.
        """
        problems = self.problems
        number = (self._instance[: self.used] == row).nonzero().squeeze(1)
        link = self._link[number]
        last = torch.where(link < 0, problems.start[row], link % problems.nodes)
        total = self._cost[number] + problems.straight[row, last]
        number = number[total <= problems.budget[row]]
        prize, cost = self._prize[number].cpu().numpy(), self._cost[number].cpu().numpy()
        order = np.lexsort((cost, -prize))
        chosen = number[torch.from_numpy(order).to(number.device)]
        return chosen.cpu().numpy(), self._visited[chosen].cpu().numpy()

    def route(self, number: int, row: int) -> list[int]:
        """The route that goes straight to the end after a logged path of an instance."""
        (stops,) = self._stops(torch.tensor([number], device=self.problems.device))
        return [int(self.problems.start[row]), *stops, int(self.problems.end[row])]

    def _append(self, link: Tensor, states: States) -> None:
        first, self.used = self.used, self.used + len(states)
        if self.used > len(self._link):
            self._grow(max(self.used, 2 * len(self._link)))
        rows = slice(first, self.used)
        self._link[rows] = link
        self._instance[rows] = states.instance
        self._prize[rows] = states.prize
        self._cost[rows] = states.cost
        self._visited[rows] = states.visited

    def _grow(self, room: int) -> None:
        self._link = grown(self._link, room)
        self._instance = grown(self._instance, room)
        self._prize = grown(self._prize, room)
        self._cost = grown(self._cost, room)
        self._visited = grown(self._visited, room)
        if self._memory is not None:
            self._memory = grown(self._memory, room)


def as_bits(sets: Tensor) -> Tensor:
    """(set, word) int64: the bits of (set, node) bool."""
    count, nodes = sets.shape
    octets = functional.pad(sets, (0, -nodes % 64)).view(torch.uint8).view(torch.int64)  # (set, 8 nodes)
    return ((octets * _GATHER) >> 56).to(torch.uint8).view(count, -1).view(torch.int64)
