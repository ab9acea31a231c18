"""What a search asks of a score. The search knows this protocol, never a particular network.

Scores are functions of a backend's arrays: what uses only operators and `problems.xp` works on the host and on a GPU.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from orienteer.beam.outlook import outlook
from orienteer.beam.problems import Array, Problems
from orienteer.beam.states import States


@dataclass(frozen=True)
class Children:
    """The scores of all children of the paths in `States`."""

    scores: Array  # (state, node) higher is better; only feasible entries are read
    memory: Array | None = None  # (state, hidden) of a recurrent score, handed on to every child


class Scorer(Protocol):
    """Ranks partial paths, usually by the total prize that they may lead to. Minus infinity bars a path."""

    def children(self, states: States) -> Children:
        """Scores of every path extended by every node, from one look at the path itself."""
        ...

    def paths(self, states: States) -> Array:
        """(state,) scores of the paths themselves, prize(P) + e(s'): one look at each."""
        ...


class PrizeScore:
    """The prize collected so far: the score of CS-p.

    Among paths of equal prize the cheaper is better and so, by a third as much, is a path far from the end, whose way
    home is still to come; a cost of the whole limit counts for a ten-thousandth of a mean prize. Where all prizes are
    equal, most paths tie: there the `outlook` counts as well, and a cost of the whole limit for a hundredth.
    """

    def children(self, states: States) -> Children:
        problems, instance = states.problems, states.instance
        prize = states.prize[:, None] + problems.take(problems.prizes, instance)
        arrival = states.cost[:, None] + states.leg
        cost = arrival - 0.3 * problems.take(problems.to_end, instance)
        if problems.any_alike:
            alike = problems.alike[instance][:, None]
            cost = problems.xp.where(alike, cost - 0.3 * outlook(states, states.feasible(arrival)), cost)
        return Children(prize - _tie_price(problems)[instance][:, None] * cost)

    def paths(self, states: States) -> Array:
        problems, instance = states.problems, states.instance
        cost = states.cost - 0.3 * problems.to_end[instance, states.last]
        return states.prize - _tie_price(problems)[instance] * cost


class TsiliScore:
    """Tsiligirides' desirability, prize / cost: of the next leg to choose four nodes, of the whole path to rank.

    Among children with the best four nodes, ranking a path by the ratio of all its prize to all its cost collects more
    than by the summed logarithms of the probabilities that Tsiligirides draws with (on the paper's sets of 100 nodes:
    5 % more with uniform prizes, 1 % with constant, 1.6 % less with distance).
    """

    best = 4

    def children(self, states: States) -> Children:
        problems, instance, leg = states.problems, states.instance, states.leg
        xp, prizes = problems.xp, problems.take(problems.prizes, instance)
        least, arrival = _least_cost(problems)[instance][:, None], states.cost[:, None] + leg
        desirable = xp.where(states.feasible(arrival), prizes / xp.maximum(leg, least), -1.0)
        fourth = problems.largest(desirable, min(self.best, problems.nodes))
        ratio = (states.prize[:, None] + prizes) / xp.maximum(arrival, least)
        return Children(xp.where(desirable < fourth, -math.inf, ratio))

    def paths(self, states: States) -> Array:
        return states.prize / states.problems.xp.maximum(states.cost, _least_cost(states.problems)[states.instance])


def _tie_price(problems: Problems) -> Array:
    """(batch,) the prize that a unit of cost is worth: so little that it only breaks ties between prizes."""
    return (1 + 99 * problems.alike) * 1e-4 * problems.mean_prize / problems.limit


def _least_cost(problems: Problems) -> Array:
    """(batch,) a tiny cost to divide by where a cost is zero."""
    return 1e-9 * problems.limit
