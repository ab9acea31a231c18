"""Cutting strings of stops out of a route (slack induction by string removals, Christiaens and Vanden Berghe 2020)."""

from orienteer.kernel import Ints, State, lean, next_float, next_int
from orienteer.lns.route import Graph, Route, unlink


@lean
def ruin(
    graph: Graph,
    route: Route,
    seed: int,
    target: int,
    longest: int,
    strings: int,
    spare: float,
    removed: Ints,
    state: State,
) -> int:
    """Removes up to `target` stops in up to `strings` strings around the node `seed`; returns how many went.

    A string is up to `longest` stops in a row, among them a visited node near the seed. With probability `spare` one
    stop inside the string stays. Row i of `removed` gets the i-th stop to go and the node before it, which `restore`
    needs.
    """
    gone = 0
    cut = 0  # strings
    near = graph.near[seed]
    inner = len(graph.prizes) - 1
    for place in range(-1, len(near)):
        node = seed if place < 0 else near[place]
        if not 0 < node < inner or route.before[node] < 0:
            continue
        size = min(1 + next_int(state, longest), target - gone)
        for _ in range(next_int(state, size)):
            if route.before[node] == 0:
                break
            node = route.before[node]
        spared = 1 + next_int(state, size - 2) if size > 2 and next_float(state) < spare else -1
        gone = _cut(graph, route, node, size, spared, removed, gone)
        cut += 1
        if gone >= target or cut >= strings:
            break
    return gone


@lean
def _cut(graph: Graph, route: Route, node: int, size: int, spared: int, removed: Ints, gone: int) -> int:
    """Removes `size` stops from `node` on, but for the one at place `spared`; returns how many are gone by now."""
    last = len(graph.prizes) - 1
    for place in range(size):
        if node == last:
            break
        following = route.after[node]
        if place != spared:
            left = route.before[node]
            route.total[0] += graph.costs[left, following] - graph.costs[left, node] - graph.costs[node, following]
            route.total[1] -= graph.prizes[node]
            removed[gone, 0] = node
            removed[gone, 1] = left
            gone += 1
            unlink(route, node)
        node = following
    return gone
