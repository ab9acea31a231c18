"""The children of paths by the clock: where places have opening hours, or some must be visited.

What a path has cost is the clock at the beginning of its last visit. Nothing else differs for queues and log: of paths
with the same nodes and the same last node, the earlier can do all that the later can.
"""

import numpy as np
import numpy.typing as npt

from orienteer.beam.backend.host.expand import HostExpander
from orienteer.beam.backend.host.timed_problems import Clock, TimedProblems
from orienteer.beam.candidates import Offspring
from orienteer.beam.problems import Array
from orienteer.beam.states import States
from orienteer.kernel import ZERO, Floats, Ints, kernel

Flags = npt.NDArray[np.bool_]

TIE = 1e-4
"""What a clock of the whole limit takes from the score of a path, in mean prizes."""


class TimedExpander(HostExpander):
    """Expands paths of `TimedProblems`, and scores them by prize.

    A path's memory is an order in which it could visit the required places that it lacks. Paths whose orders hold all
    of these come first: so a search that knows such an order at the start never loses the last one.
    """

    problems: TimedProblems

    def _children(self, states: States, node_set: Array) -> Offspring:
        problems, best, clock = self.problems, self.best, self.problems.clock
        shape, needed = states.visited.shape, len(clock.needed)
        begin, fits, score = np.empty(shape), np.empty(shape, dtype=np.bool_), np.empty(shape)
        memory = np.full((len(states), needed), -1) if states.memory is None else states.memory
        first = self.log.used - len(states)
        if needed:
            keep_orders(clock, problems.costs, states.instance, states.last, states.visited, states.cost, memory)
            self.log.remember(memory)
        step_on(
            clock, problems.costs, problems.straight, problems.prizes, TIE * problems.mean_prize / problems.limit,
            states.instance, states.last, states.visited, states.cost, states.prize, memory, first,
            begin, fits, score, best.prize, best.cost, best.parent, best.last,
        )  # fmt: skip
        return self._chosen(states, node_set, begin, fits, score)


@kernel
def step_on(
    clock: Clock, costs: Floats, straight: Floats, prizes: Floats, price: Floats,
    instance: Ints, last: Ints, visited: Flags, spent: Floats, won: Floats, orders: Ints, first: int,
    begin: Floats, fits: Flags, score: Floats,
    best_prize: Floats, best_cost: Floats, best_parent: Ints, best_last: Ints,
) -> None:  # fmt: skip
    """Writes `begin`, `fits` and `score` of every child, and the best closed routes; see `Expander._step_on`."""
    nodes, needed = visited.shape[1], len(clock.needed)
    order = np.empty(needed, dtype=np.int64)
    for state in range(len(last)):
        row = instance[state]
        for node in range(nodes):
            fits[state, node] = False
            if visited[state, node]:
                continue
            now = begin_at(clock, row, node, spent[state] + costs[row, last[state], node])
            if not now + clock.home[row, node] <= clock.latest[row] or _misses(clock, row, node, now, visited[state]):
                continue
            begin[state, node], fits[state, node] = now, True
            prize, total = won[state] + prizes[row, node], now + straight[row, node]
            score[state, node] = prize - price[row] * (now - 0.3 * clock.home[row, node])
            if needed:
                count = _without(orders[state], node, order)
                planned = _planned(clock, costs[row], row, node, now, visited[state], order, count)
                score[state, node] += planned - needed  # a required place brings a bonus of 1
            if total <= clock.latest[row] and (
                prize > best_prize[row] or (prize == best_prize[row] and total < best_cost[row])
            ):
                best_prize[row], best_cost[row] = prize, total
                best_parent[row], best_last[row] = first + state, node


@kernel
def begin_at(clock: Clock, row: int, node: int, arrive: float) -> float:
    """When a visit begins after an arrival; infinite where the place has closed for good."""
    for number in range(clock.closes.shape[2]):
        if arrive <= clock.closes[row, node, number]:
            return max(arrive, clock.opens[row, node, number])
    return np.inf


@kernel
def _misses(clock: Clock, row: int, node: int, now: float, visited: Flags) -> bool:
    """Whether a path that begins a visit `now` can no longer reach a required place in time."""
    for number in range(len(clock.needed)):
        place = clock.needed[number]
        missing = place != node and not visited[place]
        if missing and now + clock.ways[row, number, node] > clock.due[row, number]:
            return True
    return False


@kernel
def keep_orders(
    clock: Clock, costs: Floats, instance: Ints, last: Ints, visited: Flags, spent: Floats, orders: Ints
) -> None:
    """Turns the orders of parents into orders of the paths themselves."""
    order = np.empty(len(clock.needed), dtype=np.int64)
    for state in range(len(last)):
        count = _without(orders[state], last[state], order)
        row = instance[state]
        count = _planned(clock, costs[row], row, last[state], spent[state], visited[state], order, count)
        orders[state] = -1
        orders[state, :count] = order[:count]


@kernel
def _without(order: Ints, node: int, out: Ints) -> int:
    """Writes an order without a node; returns how many places it has."""
    count = ZERO
    for place in order:
        if place >= 0 and place != node:
            out[count] = place
            count += 1
    return count


@kernel
def _planned(
    clock: Clock, costs: Floats, row: int, node: int, now: float, visited: Flags, order: Ints, count: int
) -> int:
    """Puts the required places that a path lacks into an order that it can still make; returns how many have room.

    The path begins a visit of `node` at `now`. The first `count` places of `order` are taken as they are, if
    the path can make that order.
    """
    if _end(clock, costs, row, node, now, order, count) == np.inf:
        count = ZERO  # all anew: better than to mend an order that was made for another path
    for place in clock.needed:  # those that are due first come first
        if place == node or visited[place] or _holds(order, count, place):
            continue
        least, best = np.inf, -1
        for at in range(count, -1, -1):  # the place moves forward through the order
            if at < count:
                order[at + 1] = order[at]
            order[at] = place
            end = _end(clock, costs, row, node, now, order, count + 1)
            if end < least:
                least, best = end, at
        for at in range(count if best < 0 else best):
            order[at] = order[at + 1]
        if best >= 0:
            order[best] = place
            count += 1
    return count


@kernel
def _holds(order: Ints, count: int, place: int) -> bool:
    for at in range(count):  # noqa: SIM110 (numba compiles no generator)
        if order[at] == place:
            return True
    return False


@kernel
def _end(clock: Clock, costs: Floats, row: int, node: int, now: float, order: Ints, count: int) -> float:
    """When a path that goes on along an order is at its end; infinite where a place has closed or the end is late."""
    for at in range(count):
        now = begin_at(clock, row, order[at], now + costs[node, order[at]])
        node = order[at]
        if now + clock.home[row, node] > clock.latest[row]:
            return np.inf
    return now + clock.home[row, node]
