"""Shortens a route where the costs of the two directions differ.

Two moves: neighbouring stretches change places, both keeping their direction (the exchange of three arcs that needs no
turning; Kanellakis and Papadimitriou 1980 build on it), and a stretch is turned round at its true cost. Routes and
places are those of `lin_kernighan`.
"""

import numpy as np

from orienteer.kernel import NONE, ONE, Floats, Ints, kernel
from orienteer.local_search.lin_kernighan import NEIGHBOURS, reverse


@kernel
def swap_stretches(route: Ints, size: int, place: Ints, costs: Floats, near: Ints, least: float) -> float:
    """The length saved by exchanges of neighbouring stretches, made until none saves more than `least`.

    `near` lists nodes by cost from each node, cheapest first; at least one of the three new arcs leads to a near node.
    """
    saved = 0.0
    at, unchanged = 0, 0
    while unchanged < size - 1:  # once round without a change
        gain = _best_swap(route[at], route, size, place, costs, near, least)
        saved += gain
        unchanged = 0 if gain > 0.0 else unchanged + 1
        at = at + 1 if at + 1 < size - 1 else 0
    return saved


@kernel
def turn_stretches(route: Ints, size: int, place: Ints, costs: Floats, least: float) -> float:
    """The length saved by turning stretches round, made until none saves more than `least`."""
    saved = 0.0
    added = np.zeros(size)  # what turning the route round, from its start to each position, adds to its cost
    first, unchanged, stale = ONE, 0, True
    while unchanged < size - 2:
        if stale:
            for i in range(1, size):
                here, there = route[i - 1], route[i]
                added[i] = added[i - 1] + costs[there, here] - costs[here, there]
            stale = False
        before, head = route[first - 1], route[first]
        best, best_last = least, NONE
        for last in range(first + 1, size - 1):
            tail, behind = route[last], route[last + 1]
            ends = costs[before, head] + costs[tail, behind] - costs[before, tail] - costs[head, behind]
            gain = ends - (added[last] - added[first])
            if gain > best:
                best, best_last = gain, last
        unchanged += 1
        if best_last >= 0:
            reverse(route, place, first, best_last)
            saved += best
            unchanged, stale = 0, True
        first = first + 1 if first + 1 < size - 1 else 1
    return saved


@kernel
def _best_swap(node: int, route: Ints, size: int, place: Ints, costs: Floats, near: Ints, least: float) -> float:
    """Makes the best exchange that adds an arc from `node`; returns what it saves, 0 if none saves enough.

    Opening the arcs behind positions i < j < k adds the arcs i to j+1, k to i+1 and j to k+1: the arc from `node` can
    be any of the three.
    """
    a = place[node]
    opened = costs[node, route[a + 1]]
    best, best_i, best_j, best_k = least, NONE, NONE, NONE
    seen = 0
    for target in near[node]:
        c = place[target]
        if c < 0:
            continue
        seen += 1
        if opened - costs[node, target] <= least or seen > NEIGHBOURS:
            break
        if c == 0 or c == a + 1:
            continue
        if c > a:
            for k in range(c, size - 1):
                gain = _swap_gain(route, costs, a, c - 1, k)
                if gain > best:
                    best, best_i, best_j, best_k = gain, a, c - 1, k
            for i in range(a):
                gain = _swap_gain(route, costs, i, a, c - 1)
                if gain > best:
                    best, best_i, best_j, best_k = gain, i, a, c - 1
        else:
            for j in range(c, a):
                gain = _swap_gain(route, costs, c - 1, j, a)
                if gain > best:
                    best, best_i, best_j, best_k = gain, c - 1, j, a
    if best_i < 0:
        return 0.0
    reverse(route, place, best_i + 1, best_j)
    reverse(route, place, best_j + 1, best_k)
    reverse(route, place, best_i + 1, best_k)
    return best


@kernel
def _swap_gain(route: Ints, costs: Floats, i: int, j: int, k: int) -> float:
    """By how much the three opened arcs cost more than the three new arcs."""
    opened = costs[route[i], route[i + 1]] + costs[route[j], route[j + 1]] + costs[route[k], route[k + 1]]
    return opened - (costs[route[i], route[j + 1]] + costs[route[k], route[i + 1]] + costs[route[j], route[k + 1]])
