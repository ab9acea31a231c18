"""The children of paths, by loops over states and nodes."""

import numpy as np
import numpy.typing as npt

from orienteer.beam.candidates import COST, SCORE, STAMP, TRAIL, Candidates, Offspring
from orienteer.beam.expand import Expander
from orienteer.beam.problems import Array
from orienteer.beam.states import States
from orienteer.kernel import ZERO, Floats, Ints, kernel

Flags = npt.NDArray[np.bool_]


class HostExpander(Expander):
    """Expands paths on a core of the host."""

    def _placed(self, numbers: npt.NDArray[np.int64]) -> Array:
        return numbers

    def _step_on(self, states: States, first: int) -> tuple[Array, Array]:
        problems, best = self.problems, self.best
        arrival = np.empty(states.visited.shape)
        fits = np.empty(states.visited.shape, dtype=np.bool_)
        step_on(
            problems.costs, problems.to_end, problems.straight, problems.prizes, problems.budget,
            states.instance, states.last, states.visited, states.cost, states.prize, first,
            arrival, fits, best.prize, best.cost, best.parent, best.last,
        )  # fmt: skip
        return arrival, fits

    def _scores(self, states: States, fits: Array) -> Array:
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # from infinite costs; children with such scores do not fit anyway
            return super()._scores(states, fits)

    def _chosen(self, states: States, node_set: Array, arrival: Array, fits: Array, score: Array) -> Offspring:
        packed = np.empty((len(states) * self.branch, 4), dtype=np.int64)
        owner = np.empty(len(packed), dtype=np.int64)
        first = self.log.used - len(states)
        score = np.ascontiguousarray(score)
        count = choose(
            score, fits, arrival, node_set, self.both_keys, states.instance, first, self.branch, packed, owner
        )
        return Offspring(owner[:count], Candidates(packed[:count], np))


@kernel
def step_on(
    costs: Floats, to_end: Floats, straight: Floats, prizes: Floats, budget: Floats,
    instance: Ints, last: Ints, visited: Flags, spent: Floats, won: Floats, first: int,
    arrival: Floats, fits: Flags, best_prize: Floats, best_cost: Floats, best_parent: Ints, best_last: Ints,
) -> None:  # fmt: skip
    """Writes `arrival` and `fits` of every child, and the best closed routes; see `Expander._step_on`."""
    for state in range(len(last)):
        row = instance[state]
        legs, rest, closing, worth, limit = (
            costs[row, last[state]],
            to_end[row],
            straight[row],
            prizes[row],
            budget[row],
        )
        for node in range(visited.shape[1]):
            there = spent[state] + legs[node]
            arrival[state, node] = there
            fit = there + rest[node] <= limit and not visited[state, node]
            fits[state, node] = fit
            if fit and there + closing[node] <= limit:
                prize, cost = won[state] + worth[node], there + closing[node]
                if prize > best_prize[row] or (prize == best_prize[row] and cost < best_cost[row]):
                    best_prize[row], best_cost[row] = prize, cost
                    best_parent[row], best_last[row] = first + state, node


@kernel
def choose(
    score: Floats, fits: Flags, arrival: Floats, node_set: Ints, keys: Ints, instance: Ints, first: int, branch: int,
    packed: Ints, owner: Ints,
) -> int:  # fmt: skip
    """Writes the `branch` best children of each state, best first, of equals the lower node; returns their number.

    Where `branch` is the number of nodes, children come in the order of their nodes.
    """
    states, nodes = score.shape
    count = ZERO
    chosen = np.empty(branch, dtype=np.int64)
    for state in range(states):
        used = ZERO
        for node in range(nodes):
            if not (fits[state, node] and score[state, node] > -np.inf):
                continue
            place = used
            if branch < nodes:
                while place > 0 and score[state, chosen[place - 1]] < score[state, node]:
                    place -= 1
                if place == branch:
                    continue
                used = min(used + 1, branch)
                for later in range(used - 1, place, -1):
                    chosen[later] = chosen[later - 1]
            else:
                used += 1
            chosen[place] = node
        for place in range(used):
            node = chosen[place]
            packed[count, SCORE] = score[state, node : node + 1].view(np.int64)[0]
            packed[count, COST] = arrival[state, node : node + 1].view(np.int64)[0]
            packed[count, STAMP] = node_set[state] + keys[node]
            packed[count, TRAIL] = (first + state) * nodes + node
            owner[count] = instance[state]
            count += 1
    return count
