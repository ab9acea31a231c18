"""Partial paths as tensors: each is a smaller problem of the same kind."""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.problems import Problems


@dataclass(frozen=True)
class States:
    """Partial paths P of a batch's instances, each the sub-problem <V - P, C, R, T - cost(P), last(P), end>."""

    problems: Problems
    instance: Tensor  # (state,) int64, row of the problems
    last: Tensor  # (state,) int64
    visited: Tensor  # (state, node) bool: the path's nodes; the end counts as visited, since no path goes on from it
    cost: Tensor  # (state,) float64, legs added in order
    prize: Tensor  # (state,) float64, of the path's nodes and the end
    score: Tensor  # (state,) float64, what the search ranked the path by
    memory: Tensor | None = None  # (state, hidden) what a recurrent score remembers of the path

    @classmethod
    def initial(cls, problems: Problems) -> "States":
        """The path of each instance that has only left its start."""
        rows = torch.arange(problems.batch, device=problems.device)
        visited = torch.zeros(problems.batch, problems.nodes, dtype=torch.bool, device=problems.device)
        visited[rows, problems.start] = True
        visited[rows, problems.end] = True
        prize = (problems.prizes * visited).sum(1)
        zero = torch.zeros_like(prize)
        return cls(problems, rows, problems.start, visited, zero, prize, zero)

    def extended(self, row: Tensor, node: Tensor) -> "States":
        """(child,) the paths at `row`, each gone on to `node`; their score and memory are still the parents'."""
        instance = self.instance[row]
        visited = self.visited[row]
        visited.scatter_(1, node[:, None], True)
        return States(
            self.problems,
            instance,
            node,
            visited,
            self.cost[row] + self.problems.costs[instance, self.last[row], node],
            self.prize[row] + self.problems.prizes[instance, node],
            self.score[row],
            None if self.memory is None else self.memory[row],
        )

    def __len__(self) -> int:
        return len(self.last)

    @property
    def remaining(self) -> Tensor:
        """(state,) what is left of the limit."""
        return self.problems.limit[self.instance] - self.cost

    @property
    def leg(self) -> Tensor:
        """(state, node) cost of going from the path's last node to each node."""
        return self.problems.legs(self.instance, self.last)

    def feasible(self, arrival: Tensor | None = None) -> Tensor:
        """(state, node) bool: nodes to go to next from which the end can still be reached within the limit.

        `arrival` is the (state, node) cost of the path on arriving there, for callers that have it at hand.
        """
        problems, instance = self.problems, self.instance
        if arrival is None:
            arrival = self.cost[:, None] + self.leg
        fits = arrival + problems.to_end.index_select(0, instance) <= problems.budget.index_select(0, instance)[:, None]
        return fits & ~self.visited
