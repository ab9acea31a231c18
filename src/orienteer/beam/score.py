"""What a search asks of a score. The search knows this protocol, never a particular network."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from orienteer.beam.outlook import outlook
from orienteer.beam.problems import Problems
from orienteer.beam.states import States


@dataclass(frozen=True)
class Children:
    """The scores of all one-node extensions of some paths."""

    scores: Tensor  # (state, node) higher is better; only feasible entries are read
    memory: Tensor | None = None  # (state, hidden) handed on to every child


class Scorer(Protocol):
    """Ranks partial paths, usually by the total prize that they may lead to. Minus infinity bars a path."""

    def children(self, states: States) -> Children:
        """Scores of every path extended by every node, from one look at the path itself."""
        ...

    def paths(self, states: States) -> Tensor:
        """(state,) scores of the paths themselves, prize(P) + e(s'): one look at each."""
        ...


class PrizeScore:
    """The prize collected so far: the score of CS-p.

    Between ties the cheaper path is better and so, by a third as much, is one that is far from the end, with its way
    home still before it; a whole limit of cost counts for a ten-thousandth of a mean prize. Where all prizes are the
    same, ties are all there is: there the `outlook` counts as well, and a limit of cost for a hundredth.
    """

    def children(self, states: States) -> Children:
        problems, instance = states.problems, states.instance
        prize = states.prize[:, None] + problems.prizes.index_select(0, instance)
        arrival = states.cost[:, None] + states.leg
        cost = arrival - 0.3 * problems.to_end.index_select(0, instance)
        if problems.any_alike:
            alike = problems.alike.index_select(0, instance)[:, None]
            cost = torch.where(alike, cost - 0.3 * outlook(states, states.feasible(arrival)), cost)
        return Children(prize - _tie_price(problems).index_select(0, instance)[:, None] * cost)

    def paths(self, states: States) -> Tensor:
        problems, instance = states.problems, states.instance
        cost = states.cost - 0.3 * problems.to_end[instance, states.last]
        return states.prize - _tie_price(problems)[instance] * cost


class TsiliScore:
    """Tsiligirides' desirability, prize / cost: of the next leg to name the best four nodes, of the whole path to rank.

    With the best four alone, ranking a path by the ratio of all its prize to all its cost collects more than by the
    summed logarithms of the probabilities that Tsiligirides draws with (on the paper's sets of 100 nodes: 5 % more with
    uniform prizes, 1 % with constant, 1.6 % less with distance).
    """

    best = 4

    def children(self, states: States) -> Children:
        problems, instance, leg = states.problems, states.instance, states.leg
        prizes = problems.prizes.index_select(0, instance)
        least = _least_cost(problems).index_select(0, instance)[:, None]
        desirable = (prizes / leg.maximum(least)).masked_fill_(~states.feasible(states.cost[:, None] + leg), -1.0)
        fourth = desirable.topk(min(self.best, problems.nodes)).values[:, -1:]
        ratio = (states.prize[:, None] + prizes) / (states.cost[:, None] + leg).maximum(least)
        return Children(ratio.masked_fill_(desirable < fourth, -torch.inf))

    def paths(self, states: States) -> Tensor:
        return states.prize / states.cost.maximum(_least_cost(states.problems)[states.instance])


def _tie_price(problems: Problems) -> Tensor:
    """(batch,) the prize that a unit of cost is worth where only ties are to be broken."""
    return torch.where(problems.alike, 1e-2, 1e-4) * problems.mean_prize / problems.limit


def _least_cost(problems: Problems) -> Tensor:
    """(batch,) a cost to divide by where there is none."""
    return 1e-9 * problems.limit
