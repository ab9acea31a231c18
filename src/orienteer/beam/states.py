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

    def __len__(self) -> int:
        return len(self.last)

    @property
    def remaining(self) -> Tensor:
        """(state,) what is left of the limit."""
        return self.problems.limit[self.instance] - self.cost

    @property
    def leg(self) -> Tensor:
        """(state, node) cost of going from the path's last node to each node."""
        return self.problems.costs[self.instance, self.last]

    def feasible(self) -> Tensor:
        """(state, node) bool: nodes to go to next from which the end can still be reached within the limit."""
        arrival = self.cost[:, None] + self.leg
        fits = arrival + self.problems.to_end[self.instance] <= self.problems.budget[self.instance][:, None]
        return fits & ~self.visited
