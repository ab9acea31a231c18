"""The laboratory's networks as scores of a search (see `orienteer.beam.score.Scorer`), by tensors of torch."""

import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import torch
from torch import Tensor

from orienteer.beam.backend import choose_backend
from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.backend.host.problems import cheapest_ways
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Children
from orienteer.beam.states import States
from orienteer.lab.networks.decoders import Encoded, RouteModel
from orienteer.lab.networks.models import Model, load_model
from orienteer.network.batching import in_parts, kit_for, precision
from orienteer.network.cuda.look import TensorLook, part_for
from orienteer.network.features import reachable, take
from orienteer.network.score import KNOWN, NetworkScore, ValueScore
from orienteer.network.weights import Header, Method

Made = TypeVar("Made")

MOST_DECODED = 2**15
"""States that a decoder sees at a time, at most: a GPU's attention takes at most 65,535."""


def plugged_in(header: Header, backend: Backend) -> NetworkScore:
    """The score of a weights file on a backend: what the entry points `orienteer.networks` name."""
    device = torch.device(backend.name)
    return placed(score_of(load_model(header.path, device)[0], header.method), device)[1]


def placed(score: Any, device: torch.device) -> tuple[Backend, NetworkScore]:
    """The backend of searches on a device of torch, and the score in the form that they need there."""
    return choose_backend(device.type), score if device.type == "cuda" else OnHost(score)


def score_of(model: Model, method: Method) -> NetworkScore:
    """The score that goes with a method's network, for problems as tensors where its weights lie."""
    if isinstance(model, RouteModel):
        return DecoderScore(model)
    look = TensorLook(model, kit_for(next(model.parameters()).device))
    if method == "tour":
        return TourScore(look)
    if method == "a2c":
        return ActorScore(look)
    return ValueScore(look, KNOWN if method == "expert" else None)


class OnHost:
    """A score by tensors for a search on the host; the tensors share the memory of the search's arrays."""

    def __init__(self, score: NetworkScore):
        self.score = score
        all_ways = isinstance(score, TourScore)  # where costs stood in for ways, a tour might be barred
        self._tensors = Remembered(lambda problems: _as_tensors(problems, all_ways))

    @property
    def passes(self) -> int:
        """How many paths the network has looked at."""
        return self.score.passes

    def children(self, states: States) -> Children:
        children = self.score.children(self._turned(states))
        return Children(children.scores.numpy(), None if children.memory is None else children.memory.numpy())

    def paths(self, states: States) -> Array:
        return self.score.paths(self._turned(states)).numpy()

    def _turned(self, states: States) -> States:
        """The states as tensors."""
        names = ("instance", "last", "visited", "cost", "prize", "score")
        tensors = {name: torch.from_numpy(getattr(states, name)) for name in names}
        memory = None if states.memory is None else torch.from_numpy(states.memory)
        return States(self._tensors(states.problems), **tensors, memory=memory)


def _as_tensors(problems: Problems, all_ways: bool) -> Problems:
    """The problems as tensors; with `all_ways`, cheapest ways are computed however long that takes."""
    fields = (problems.costs, problems.prizes, problems.limit, problems.start, problems.end, problems.to_end)
    made = TensorProblems(*(torch.from_numpy(one) for one in fields))
    ways = cheapest_ways(problems.costs) if all_ways else problems.cheapest_ways
    made.__dict__["cheapest_ways"] = torch.from_numpy(ways)  # the host's loop is faster than tensors
    return made


class TourScore:
    """The learned heuristic for tours, f(P) = -cost(P) - e(s'), where e is the cost of visiting all the rest.

    A child P + v is scored from its parent's pass by -cost(P) + q(s, v). Scores are in units in which the whole limit
    is worth all prizes, so that a mean prize of the search's settings is a mean step of a tour. A child from which some
    node can no longer be reached is barred, where that shows in the few nodes that are hardest to reach.
    """

    hardest = 4

    def __init__(self, look: TensorLook):
        self.look = look

    @property
    def passes(self) -> int:
        """How many paths the network has looked at."""
        return self.look.passes

    def children(self, states: States) -> Children:
        action = self.look(states)[0]
        scores = (states.remaining[:, None] * action - states.cost[:, None]) * _worth(states)[:, None]
        return Children(scores.masked_fill(self._hopeless(states), -torch.inf))

    def paths(self, states: States) -> Tensor:
        """-cost(P) - e(s'), with the way home as the rest where there is no choice."""
        action, value = self.look(states)
        problems, row = states.problems, states.instance
        stuck = action.isinf().all(1)
        to_go = torch.where(stuck, problems.straight[row, states.last], -states.remaining * value)
        missing = _wanted(problems)[row] & ~states.visited
        lost = missing & (stuck[:, None] | ~reachable(states, problems.cheapest_ways))
        return (-(states.cost + to_go) * _worth(states)).masked_fill(lost.any(1), -torch.inf)

    def _hopeless(self, states: States) -> Tensor:
        """(state, node) bool: children after which one of the hardest nodes can no longer be visited."""
        problems, row = states.problems, states.instance
        ways = problems.cheapest_ways
        far = ways[row, states.last] + problems.to_end[row]
        far.masked_fill_(states.visited | ~_wanted(problems)[row], -torch.inf)
        way, node = far.topk(min(self.hardest, problems.nodes))  # (state, hardest)
        arrival = (states.cost[:, None] + states.leg)[:, :, None]
        rest = ways[row[:, None], :, node].mT + problems.to_end[row[:, None], node][:, None]  # (state, node, hardest)
        late = (arrival + rest > problems.budget[row][:, None, None]) & (way > -torch.inf)[:, None]
        itself = torch.arange(problems.nodes, device=node.device)[None, :, None] == node[:, None]
        return (late & ~itself).any(2)


class ActorScore:
    """The log probability of a path under an actor: the sum of its choices' log probabilities."""

    def __init__(self, look: TensorLook):
        self.look = look

    @property
    def passes(self) -> int:
        """How many paths the network has looked at."""
        return self.look.passes

    def children(self, states: States) -> Children:
        return Children(states.score[:, None] + _log_probability(self.look(states)[0]))

    def paths(self, states: States) -> Tensor:
        """The critic's view: prize(P) + V(s')."""
        action, value = self.look(states)
        return states.prize + torch.where(action.isinf().all(1), 0.0, value)


class DecoderScore:
    """The log probability of a path under a model that encodes an instance once and decodes node after node."""

    def __init__(self, model: RouteModel, part: int | None = None, ways: Tensor | None = None):
        self.model, self.part = model, part
        self.passes = 0
        self._counting = threading.Lock()
        self._encoded = Remembered(
            lambda problems: encode(
                model, cast(TensorProblems, problems), problems.cheapest_ways if ways is None else ways
            )
        )

    @torch.no_grad()
    def children(self, states: States) -> Children:
        with self._counting:
            self.passes += len(states)
        encoded = self._encoded(states.problems)
        logits, memory = [], []
        for part in _cut(states, self.part or min(4 * part_for(states), MOST_DECODED)):
            with precision(states.last.device):
                decoded = self.model.decode(encoded, part)
            logits.append(decoded.logits.float())
            memory.append(decoded.memory)
        kept = None if memory[0] is None else torch.cat([one for one in memory if one is not None])
        return Children(states.score[:, None] + _log_probability(torch.cat(logits)), kept)

    def paths(self, states: States) -> Tensor:
        return states.score


@torch.no_grad()
def encode(model: RouteModel, problems: TensorProblems, ways: Tensor | None) -> Encoded:
    """The model's view of each instance, by node number."""
    states = States.initial(problems)
    parts = list(in_parts(states, ways, part_for(states)))
    with precision(problems.device):
        return model.encode(problems, parts)


def _wanted(problems: Problems) -> Tensor:
    """(batch, node) bool: the nodes that a tour is for, those with a prize within reach."""
    wanted: Tensor = reachable(States.initial(problems), problems.cheapest_ways) & (problems.prizes > 0)
    return wanted


def _worth(states: States) -> Tensor:
    """(state,) what a unit of cost is worth where the whole limit is worth all prizes."""
    problems = states.problems
    return (problems.prizes.sum(1) / problems.divisor)[states.instance]


def _cut(states: States, part: int) -> list[States]:
    places = torch.arange(len(states), device=states.last.device)
    return [take(states, places[first : first + part]) for first in range(0, len(states), part)]


def _log_probability(logits: Tensor) -> Tensor:
    """(state, node) log of a softmax; -inf where nothing may be chosen."""
    return torch.log_softmax(logits, dim=1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)


class Remembered(Generic[Made]):
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
