"""Filling a ruined route up again: by prize over insertion cost, or in an order of the candidates."""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, State, lean, next_float, next_int
from orienteer.lns.route import AnyGraph, Graph, Route, link

LOOK = 5
"""Beside how many of its nearest visited nodes a node is tried."""

NOTHING = 1e-300
"""A positive number that stands for a cost of zero where prizes are divided by costs."""


class Candidates(NamedTuple):
    """Room for the nodes that one step may insert; the first four arrays run side by side."""

    node: Ints
    cost: Floats
    """The cost of the cheapest insertion known."""
    left: Ints
    """The node behind which that insertion is."""
    weight: Floats
    """The prize, to a power and with noise, that `by_ratio` divides by the cost."""
    inserted: Ints
    """The nodes put in so far in this step, in order."""


def new_candidates(nodes: int) -> Candidates:
    """Room for as many candidates as there are nodes."""
    return Candidates(
        node=np.zeros(nodes, dtype=np.int64),
        cost=np.zeros(nodes),
        left=np.zeros(nodes, dtype=np.int64),
        weight=np.zeros(nodes),
        inserted=np.zeros(nodes, dtype=np.int64),
    )


@lean
def nearest_absent(graph: AnyGraph, route: Route, seed: int, most: int, nodes: Ints) -> int:
    """Writes up to `most` nodes that are not on the route into `nodes`, nearest to `seed` first; returns how many.

    Few candidates make a step local: that is worth more than trying every node at every step.
    """
    count = 0
    if route.before[seed] < 0:
        nodes[0] = seed
        count = 1
    for node in graph.near[seed]:
        if count >= most:
            break
        if route.before[node] == -1:  # less in nodes of another thread (lns/large/rounds.py)
            nodes[count] = node
            count += 1
    return count


@lean
def cheapest_place(graph: Graph, route: Route, node: int) -> tuple[float, int]:
    """The cost of inserting `node` at its cheapest place, and the node that would precede it there."""
    last = len(graph.prizes) - 1
    into, out = graph.back[node], graph.costs[node]
    best, place, seen = np.inf, -1, 0
    for other in graph.near[node]:
        if route.before[other] < 0:
            continue
        if other != last:
            right = route.after[other]
            cost = into[other] + out[right] - graph.costs[other, right]
            if cost < best:
                best, place = cost, other
        if other != 0:
            left = route.before[other]
            cost = into[left] + out[other] - graph.costs[left, other]
            if cost < best:
                best, place = cost, left
        seen += 1
        if seen >= LOOK:
            break
    return best, place


@lean
def by_ratio(
    graph: Graph,
    route: Route,
    candidates: Candidates,
    count: int,
    budget: float,
    floor: float,
    power: Floats,
    noise: float,
    state: State,
) -> int:
    """Inserts, again and again, the candidate that fits with the largest power * noise / (cost + floor).

    `power` is a row of `graph.powers`, `noise` the spread of a random factor around 1; `count` candidates stand in
    `candidates.node`. Returns how many nodes went in.
    """
    for i in range(count):
        node = candidates.node[i]
        candidates.cost[i], candidates.left[i] = cheapest_place(graph, route, node)
        candidates.weight[i] = power[node] * (1.0 - noise + 2.0 * noise * next_float(state))
    inserted = 0
    while True:
        pick = _best_ratio(candidates, count, budget - route.total[0], floor)
        if pick < 0:
            return inserted
        node, left = candidates.node[pick], candidates.left[pick]
        right = route.after[left]
        _insert(graph, route, candidates, node, left, candidates.cost[pick], inserted)
        inserted += 1
        count -= 1
        candidates.node[pick] = candidates.node[count]
        candidates.cost[pick] = candidates.cost[count]
        candidates.left[pick] = candidates.left[count]
        candidates.weight[pick] = candidates.weight[count]
        _see_new_arcs(graph, route, candidates, count, left, node, right)


@lean
def by_order(
    graph: Graph,
    route: Route,
    candidates: Candidates,
    count: int,
    budget: float,
    sort: bool,
    blink: float,
    state: State,
) -> int:
    """Inserts the candidates that fit, each at its cheapest place; returns how many went in.

    They are taken in random order, or by falling prize with `sort`. With probability `blink` a candidate that would fit
    is passed over.
    """
    nodes = candidates.node
    for i in range(count - 1, 0, -1):
        j = next_int(state, i + 1)
        nodes[i], nodes[j] = nodes[j], nodes[i]
    if sort:
        sort_by_prize(graph, nodes, count)
    inserted = 0
    for i in range(count):
        node = nodes[i]
        cost, left = cheapest_place(graph, route, node)
        worth = graph.prizes[node] > 0 or cost < 0  # a node without a prize may still be a short cut
        if worth and cost <= budget - route.total[0] and next_float(state) >= blink:
            _insert(graph, route, candidates, node, left, cost, inserted)
            inserted += 1
    return inserted


@lean
def _best_ratio(candidates: Candidates, count: int, slack: float, floor: float) -> int:
    """The candidate that costs no more than `slack` and has the largest weight / (cost + floor); -1 if none does."""
    pick, weight, divisor = -1, 0.0, 1.0
    for i in range(count):
        cost = candidates.cost[i]
        if cost <= slack and (candidates.weight[i] > 0 or cost < 0):
            own_divisor = max(cost + floor, NOTHING)
            if pick < 0 or candidates.weight[i] * divisor > weight * own_divisor:
                pick, weight, divisor = i, candidates.weight[i], own_divisor
    return pick


@lean
def _insert(
    graph: Graph, route: Route, candidates: Candidates, node: int, left: int, cost: float, inserted: int
) -> None:
    """Puts `node` behind `left` at `cost`, and notes it as the step's insertion number `inserted`."""
    link(route, node, left)
    route.total[0] += cost
    route.total[1] += graph.prizes[node]
    candidates.inserted[inserted] = node


@lean
def _see_new_arcs(
    graph: Graph, route: Route, candidates: Candidates, count: int, left: int, node: int, right: int
) -> None:
    """Brings the cheapest insertions up to date after `node` went in between `left` and `right`."""
    first, second = graph.costs[left, node], graph.costs[node, right]
    from_left, to_node = graph.costs[left], graph.back[node]
    from_node, to_right = graph.costs[node], graph.back[right]
    for i in range(count):
        other = candidates.node[i]
        if candidates.left[i] == left:
            candidates.cost[i], candidates.left[i] = cheapest_place(graph, route, other)
            continue
        cost = from_left[other] + to_node[other] - first
        if cost < candidates.cost[i]:
            candidates.cost[i], candidates.left[i] = cost, left
        cost = from_node[other] + to_right[other] - second
        if cost < candidates.cost[i]:
            candidates.cost[i], candidates.left[i] = cost, node


@lean
def sort_by_prize(graph: AnyGraph, nodes: Ints, count: int) -> None:
    """Insertion sort, largest prize first: the lists are short, and equal prizes keep their random order."""
    for i in range(1, count):
        node = nodes[i]
        j = i
        while j > 0 and graph.prizes[nodes[j - 1]] < graph.prizes[node]:
            nodes[j] = nodes[j - 1]
            j -= 1
        nodes[j] = node
