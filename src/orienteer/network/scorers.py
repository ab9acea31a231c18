"""The networks as scores of a search (see `orienteer.beam.score.Scorer`)."""

import threading
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from orienteer.beam.device import LANES
from orienteer.beam.problems import Problems
from orienteer.beam.score import Children, Scorer
from orienteer.beam.states import States
from orienteer.lab.networks.decoders import Encoded, RouteModel
from orienteer.network.batching import Network, evaluate, in_parts, precision, take
from orienteer.network.features import cheapest_ways, reachable

Made = TypeVar("Made")

CELLS = {"cuda": 2**27, "cpu": 2**18}
"""Pairs of tokens that go through a network at a time: enough for the device."""
CELL_BYTES = 512
"""Memory of a pair of tokens, generously."""
MOST_STATES = {"cuda": 16384, "cpu": 128}
MOST_DECODED = 2**15
"""States that a decoder sees at a time, at most: attention over more than 65,535 is beyond what a GPU can be asked."""


MOST_FOR_WAYS = 1000
"""Nodes up to which a CPU works out the cheapest ways between all of them, in a second or so: it takes their third
power. In larger problems a network sees what a path can reach by one leg; on distances that is the same."""


class NetworkScore(Scorer, Protocol):
    """A score that counts how often its network looked at a path."""

    passes: int


class _Looks:
    """What the scores share that look at every path with a network of its own; threads may share them too."""

    def __init__(self, network: Network, part: int | None = None):
        self.network, self.part = network, part
        self.passes = 0
        self._counting = threading.Lock()
        self._ways = _Remembered(self.ways_of)

    def ways_of(self, problems: Problems) -> Tensor:
        """(batch, node, node) what a network is told of the ways between nodes."""
        return _ways_in_time(problems)

    def _estimate(self, states: States) -> tuple[Tensor, Tensor]:
        """(state, node) action values or logits, and (state,) values."""
        with self._counting:
            self.passes += len(states)
        part = self.part or _part(states)
        return evaluate([self.network], states, self._ways(states.problems), part)[0]


class ValueScore(_Looks):
    """The learned heuristic f(P) = prize(P) + e(s'), with q from an attention network.

    A child P + v is scored from its parent's pass by prize(P) + q(s, v), which Bellman's equation makes the same thing.
    In problems larger than `known`, the largest that the network has learned from, its values err, and the more a path
    has left undone the more. There a path is ranked by a fading mean of what the network said on the way, so that its
    choices count for more than its last word.
    """

    def __init__(self, network: Network, part: int | None = None, known: int | None = None):
        super().__init__(network, part)
        self._trust = _Remembered(lambda problems: _trust(problems, self._ways(problems), known))

    def children(self, states: States) -> Children:
        action, value = self._estimate(states)
        scores = states.prize[:, None] + action
        trust = self._trust(states.problems)
        if trust is None:
            return Children(scores)
        problems, row = states.problems, states.instance
        begun = states.last != problems.start.index_select(0, row)  # before that nothing has been said
        doubt = torch.where(begun, 1 - trust.index_select(0, row), 0.0)[:, None]
        before = (states.score - states.prize - value)[:, None]
        return Children(torch.where(doubt > 0, scores + doubt * before, scores))

    def paths(self, states: States) -> Tensor:
        best = self._estimate(states)[0].amax(1)
        return states.prize + torch.where(best.isinf(), 0.0, best)  # nothing more to win where there is no choice


class TourScore(_Looks):
    """The learned heuristic for tours, f(P) = -cost(P) - e(s'), where e is the cost of visiting all the rest.

    A child P + v is scored from its parent's pass by -cost(P) + q(s, v). Scores are in units in which the whole limit
    is worth all prizes, so that a mean prize of the search's settings is a mean step of a tour. A child from which some
    node can no longer be reached is barred, where that shows in the few nodes that are hardest to reach.
    """

    hardest = 4

    def __init__(self, network: Network, part: int | None = None):
        super().__init__(network, part)
        self._wanted = _Remembered(lambda problems: _wanted(problems, self._ways(problems)))

    def ways_of(self, problems: Problems) -> Tensor:
        return cheapest_ways(problems.costs)  # no tour may be barred

    def children(self, states: States) -> Children:
        action = self._estimate(states)[0]
        scores = (states.remaining[:, None] * action - states.cost[:, None]) * _worth(states)[:, None]
        return Children(scores.masked_fill(self._hopeless(states), -torch.inf))

    def paths(self, states: States) -> Tensor:
        """-cost(P) - e(s'), with the way home as the rest where there is no choice."""
        action, value = self._estimate(states)
        problems, row = states.problems, states.instance
        stuck = action.isinf().all(1)
        to_go = torch.where(stuck, problems.straight[row, states.last], -states.remaining * value)
        missing = self._wanted(problems)[row] & ~states.visited
        lost = missing & (stuck[:, None] | ~reachable(states, self._ways(problems)))
        return (-(states.cost + to_go) * _worth(states)).masked_fill(lost.any(1), -torch.inf)

    def _hopeless(self, states: States) -> Tensor:
        """(state, node) bool: children after which one of the hardest nodes can no longer be visited."""
        problems, row = states.problems, states.instance
        ways = self._ways(problems)
        far = ways[row, states.last] + problems.to_end[row]
        far.masked_fill_(states.visited | ~self._wanted(problems)[row], -torch.inf)
        way, node = far.topk(min(self.hardest, problems.nodes))  # (state, hardest)
        arrival = (states.cost[:, None] + states.leg)[:, :, None]
        rest = ways[row[:, None], :, node].mT + problems.to_end[row[:, None], node][:, None]  # (state, node, hardest)
        late = (arrival + rest > problems.budget[row][:, None, None]) & (way > -torch.inf)[:, None]
        itself = torch.arange(problems.nodes, device=node.device)[None, :, None] == node[:, None]
        return (late & ~itself).any(2)


class ActorScore(_Looks):
    """The log probability of a path under an actor: the sum of its choices' log probabilities."""

    def children(self, states: States) -> Children:
        return Children(states.score[:, None] + _log_probability(self._estimate(states)[0]))

    def paths(self, states: States) -> Tensor:
        """The critic's view: prize(P) + V(s')."""
        action, value = self._estimate(states)
        return states.prize + torch.where(action.isinf().all(1), 0.0, value)


class DecoderScore:
    """The log probability of a path under a model that encodes an instance once and decodes node after node."""

    def __init__(self, model: RouteModel, part: int | None = None, ways: Tensor | None = None):
        self.model, self.part = model, part
        self.passes = 0
        self._counting = threading.Lock()
        self._encoded = _Remembered(
            lambda problems: encode(model, problems, _ways_in_time(problems) if ways is None else ways)
        )

    @torch.no_grad()
    def children(self, states: States) -> Children:
        with self._counting:
            self.passes += len(states)
        encoded = self._encoded(states.problems)
        logits, memory = [], []
        for part in _cut(states, self.part or min(4 * _part(states), MOST_DECODED)):
            with precision(states.last.device):
                decoded = self.model.decode(encoded, part)
            logits.append(decoded.logits.float())
            memory.append(decoded.memory)
        kept = None if memory[0] is None else torch.cat([one for one in memory if one is not None])
        return Children(states.score[:, None] + _log_probability(torch.cat(logits)), kept)

    def paths(self, states: States) -> Tensor:
        return states.score


@torch.no_grad()
def encode(model: RouteModel, problems: Problems, ways: Tensor | None) -> Encoded:
    """The model's view of each instance, by node number."""
    states = States.initial(problems)
    parts = list(in_parts(states, ways, _part(states)))
    with precision(problems.device):
        return model.encode(problems, parts)


def _ways_in_time(problems: Problems) -> Tensor:
    """(batch, node, node) the cheapest ways, or the costs themselves where those would take a CPU too long."""
    too_long = problems.device.type == "cpu" and problems.nodes > MOST_FOR_WAYS
    return problems.costs if too_long else cheapest_ways(problems.costs)


def _trust(problems: Problems, ways: Tensor, known: int | None) -> Tensor | None:
    """(batch,) how much a network's last word counts: 1 in problems of at most `known` nodes, less and less beyond.

    None where it is 1 for all.
    """
    size = reachable(States.initial(problems), ways).sum(1)
    if known is None or int(size.max()) <= known:
        return None
    return (known / size.clamp_min(1)).clamp_max(1.0) ** 2


def _wanted(problems: Problems, ways: Tensor) -> Tensor:
    """(batch, node) bool: the nodes that a tour is for, those with a prize within reach."""
    return reachable(States.initial(problems), ways) & (problems.prizes > 0)


def _worth(states: States) -> Tensor:
    """(state,) what a unit of cost is worth where the whole limit is worth all prizes."""
    problems = states.problems
    return (problems.prizes.sum(1) / problems.divisor)[states.instance]


def _part(states: States) -> int:
    """How many states go through a network at a time."""
    device, nodes = states.last.device, states.problems.nodes
    cells = CELLS[device.type]
    if device.type == "cuda":
        cells = min(cells, torch.cuda.get_device_properties(device).total_memory // (CELL_BYTES * LANES))
    return max(1, min(MOST_STATES[device.type], cells // nodes**2))


def _cut(states: States, part: int) -> list[States]:
    places = torch.arange(len(states), device=states.last.device)
    return [take(states, places[first : first + part]) for first in range(0, len(states), part)]


def _log_probability(logits: Tensor) -> Tensor:
    """(state, node) log of a softmax; -inf where nothing may be chosen."""
    return torch.log_softmax(logits, dim=1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)


class _Remembered(Generic[Made]):
    """A function of problems, computed once for each and forgotten when they are gone; threads may share it."""

    def __init__(self, make: Callable[[Problems], Made]):
        self._make = make
        self._made: dict[int, Made] = {}

    def __call__(self, problems: Problems) -> Made:
        key = id(problems)
        if key not in self._made:
            self._made[key] = self._make(problems)
            weakref.finalize(problems, self._made.pop, key, None)
        return self._made[key]
