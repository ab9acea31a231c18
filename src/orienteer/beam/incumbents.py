"""The best closed route of every instance so far."""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.device import MOST_LANES, has_kernels
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

    def offer(self, instance: Tensor, first: int, closings: "Closings") -> None:
        """Takes each instance's best closing where that is better; `first` is the log's number of the first state.

        Nothing asks how many there are: a GPU goes on with its work meanwhile.
        """
        prize = self.prize.scatter_reduce(0, instance, closings.prize, "amax")
        cost = torch.where(prize > self.prize, torch.inf, self.cost)
        most = (closings.prize == prize.index_select(0, instance)) & (closings.prize > -torch.inf)
        cost = cost.scatter_reduce(0, instance, torch.where(most, closings.cost, torch.inf), "amin")
        better = (prize > self.prize) | (cost < self.cost)
        wins = most & (closings.cost == cost.index_select(0, instance)) & better.index_select(0, instance)
        states = len(instance)
        row = torch.where(wins, torch.arange(states, device=instance.device), states)
        winner = torch.full_like(self.parent, states).scatter_reduce(0, instance, row, "amin")
        chosen = winner.clamp_max(states - 1)
        self.prize, self.cost = prize, cost
        self.parent = torch.where(better, first + chosen, self.parent)
        self.last = torch.where(better, closings.last.index_select(0, chosen), self.last)


@dataclass(frozen=True)
class Closings:
    """The best way to close each path with one more node: the most prize, of equals the least cost."""

    prize: Tensor  # (state,) float64, -inf where none closes
    cost: Tensor  # (state,) float64, inf where none closes
    last: Tensor  # (state,) int64, the node


def step_on(states: States) -> tuple[Tensor, Tensor, Closings]:
    """(state, node) costs on arrival and whether the end is within reach from there, and the states' best closings."""
    problems, instance = states.problems, states.instance
    if has_kernels(problems.device) and problems.nodes <= MOST_LANES:
        from orienteer.beam.fused_search import fused_legs

        arrival, fits, *closings = fused_legs(states)
        return arrival, fits, Closings(*closings)
    arrival = states.cost[:, None] + states.leg
    fits = states.feasible(arrival)
    total = arrival + problems.straight.index_select(0, instance)
    closes = fits & (total <= problems.budget.index_select(0, instance)[:, None])
    prize = states.prize[:, None] + problems.prizes.index_select(0, instance)
    prize.masked_fill_(~closes, -torch.inf)
    best = prize.amax(1)
    cost, last = total.masked_fill_(~closes | (prize < best[:, None]), torch.inf).min(1)
    return arrival, fits, Closings(best, cost, last)
