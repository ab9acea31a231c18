"""Graphs and routes as the neighbourhood search sees them, and slow truths about them."""

import itertools

import numpy as np

from orienteer.lns.route import Graph, Route, new_route
from routes import cost, nearest, random_route

KINDS = [(True, True), (False, True), (True, False), (False, False)]
"""Symmetric or not, with and without the triangle inequality."""


def example(seed: int, size: int = 9, nodes: int = 14, symmetric: bool = True, metric: bool = True):
    """(graph, stops): a random graph with a random route of `size` of its nodes, from node 0 to the last one."""
    route, _, costs, _ = random_route(seed, size, nodes, symmetric, metric)
    prizes = np.random.default_rng(seed + 1000).integers(0, 10, nodes) / 10
    prizes[prizes > 0] += 1e-3 * np.arange(np.count_nonzero(prizes))  # no ties but the worthless
    return new_graph(costs, prizes), route[:size].tolist()


def new_graph(costs: np.ndarray, prizes: np.ndarray) -> Graph:
    """The graph with all other nodes as neighbours, prizes to the powers 0.5, 1 and 1.5."""
    back = np.ascontiguousarray(costs.T)
    powers = np.array([prizes**exponent for exponent in (0.5, 1.0, 1.5)])
    return Graph(costs, back, prizes, powers, nearest(np.minimum(costs, back)))


def start(graph: Graph, stops: list[int]) -> Route:
    """The linked list of the stops."""
    return new_route(graph, np.array(stops, dtype=np.int64))


def stops_of(route: Route) -> list[int]:
    """The stops forwards; backwards they are the same, and all other nodes are absent."""
    last = len(route.after) - 1
    forwards, backwards = [0], [last]
    while forwards[-1] != last:
        forwards.append(int(route.after[forwards[-1]]))
        assert len(forwards) <= last + 1, "the route runs in a circle"
    while backwards[-1] != 0:
        backwards.append(int(route.before[backwards[-1]]))
        assert len(backwards) <= last + 1, "the route runs in a circle"
    assert forwards == backwards[::-1]
    absent = np.flatnonzero(route.before < 0).tolist()
    assert sorted(absent + forwards) == list(range(last + 1))
    return forwards


def check_totals(graph: Graph, route: Route) -> None:
    """Cost and prize are those of the stops, rounding aside."""
    stops = stops_of(route)
    assert np.isclose(route.total[0], cost(stops, graph.costs), rtol=1e-9, atol=1e-12)
    assert np.isclose(route.total[1], graph.prizes[stops].sum(), rtol=1e-9, atol=1e-12)


def slow_place(graph: Graph, stops: list[int], node: int, look: int) -> tuple[float, int]:
    """The cheapest insertion beside the `look` nearest stops, by trying them all, and the stop before it."""
    costs = graph.costs
    close = sorted(stops, key=lambda stop: min(costs[node, stop], costs[stop, node]))[:look]
    return min(
        (costs[a, node] + costs[node, b] - costs[a, b], a)
        for a, b in itertools.pairwise(stops)
        if a in close or b in close
    )


def insert(stops: list[int], node: int, left: int) -> None:
    """Puts the node behind `left`."""
    stops.insert(stops.index(left) + 1, node)
