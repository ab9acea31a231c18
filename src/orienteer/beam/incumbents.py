"""The best closed route of every instance so far."""

import torch
from torch import Tensor

from orienteer.beam.problems import Problems
from orienteer.beam.states import States


class Incumbents:
    """For each instance the most prize of a route that closes, at the least cost, and where the log holds it."""

    def __init__(self, problems: Problems):
        """Begins with the route straight from start to end, where that fits."""
        rows = torch.arange(problems.batch, device=problems.device)
        self.problems = problems
        self.cost = problems.straight[rows, problems.start]  # (batch,)
        fits = self.cost <= problems.budget
        ends = problems.prizes[rows, problems.start] + torch.where(
            problems.start == problems.end, 0.0, problems.prizes[rows, problems.end]
        )
        self.prize = torch.where(fits, ends, -torch.inf)  # (batch,)
        self.parent = torch.where(fits, rows, -1)  # (batch,) number in the log, -1 while there is no route
        self.last = torch.full_like(rows, -1)  # (batch,) node between that path and the end, -1 if none

    def offer(self, states: States, first: int, arrival: Tensor, fits: Tensor) -> None:
        """Takes the best of all children that can go straight to the end.

        `first` is the log's number of the first state; `arrival` and `fits` are (state, node).
        """
        problems, instance = self.problems, states.instance
        total = arrival + problems.straight.index_select(0, instance)
        closes = fits & (total <= problems.budget.index_select(0, instance)[:, None])
        prize = states.prize[:, None] + problems.prizes.index_select(0, instance)
        prize.masked_fill_(~closes, -torch.inf)
        best = prize.amax(1)
        hopeful = ((best >= self.prize.index_select(0, instance)) & (best > -torch.inf)).nonzero().squeeze(1)
        if not len(hopeful):
            return
        best, instance, prize = best[hopeful], instance[hopeful], prize[hopeful]
        cost, last = total[hopeful].masked_fill_(prize < best[:, None], torch.inf).min(1)
        # One winner for each instance before anything is written: repeated rows would be mixed on a GPU.
        order = cost.argsort(stable=True)
        order = order[best[order].argsort(descending=True, stable=True)]
        order = order[instance[order].argsort(stable=True)]
        best, instance, cost, last = best[order], instance[order], cost[order], last[order]
        better = (best > self.prize[instance]) | (cost < self.cost[instance])
        better[1:] &= instance[1:] != instance[:-1]
        winner = better.nonzero().squeeze(1)
        row = instance[winner]
        self.prize[row] = best[winner]
        self.cost[row] = cost[winner]
        self.parent[row] = first + hopeful[order[winner]]
        self.last[row] = last[winner]
