"""Random routes in the form of the kernels, and slow truths about them."""

import itertools

import numpy as np


def random_route(seed, size=8, nodes=12, symmetric=True, metric=True):
    """(route, place, costs, near): a random route of `size` of the nodes, from node 0 to the last one."""
    rng = np.random.default_rng(seed)
    points = rng.random((nodes, 2))
    costs = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    if not metric:
        costs = rng.random((nodes, nodes))
    if symmetric:
        costs = (costs + costs.T) / 2
    elif metric:
        costs = costs + 0.3 * rng.random(nodes)[None, :]  # dearer to arrive at some nodes than to leave them
    np.fill_diagonal(costs, 0.0)
    inner = rng.permutation(np.arange(1, nodes - 1))[: size - 2]
    route = np.zeros(nodes, dtype=np.int64)
    route[:size] = [0, *inner, nodes - 1]
    return route, places(route, size, nodes), costs, nearest(costs)


def places(route, size, nodes):
    """(nodes,) the position of each node on the route, -1 elsewhere."""
    place = np.full(nodes, -1, dtype=np.int64)
    place[route[:size]] = np.arange(size)
    return place


def nearest(costs):
    """(n, n-1) all other nodes by cost from each node."""
    away = costs.copy()
    np.fill_diagonal(away, np.inf)
    return np.ascontiguousarray(np.argsort(away, axis=1, kind="stable")[:, :-1].astype(np.int64))


def cost(route, costs):
    """The sum of the legs."""
    return sum(costs[a, b] for a, b in itertools.pairwise(route))


def shortest(route, costs):
    """The least cost of any order of the inner nodes."""
    first, *inner, last = (int(node) for node in route)
    return min(cost([first, *order, last], costs) for order in itertools.permutations(inner))


def check_saving(kernel, seed, size, nodes, arguments, symmetric=True, metric=True):
    """The route after `kernel`, as a list; it visits the same nodes between the same ends and saves what is said."""
    route, place, costs, near = random_route(seed, size, nodes, symmetric, metric)
    before = route[:size].tolist()
    saved = kernel(route, size, place, costs, *arguments(near))
    after = route[:size].tolist()
    assert sorted(after) == sorted(before)
    assert (after[0], after[-1]) == (before[0], before[-1])
    assert np.array_equal(place, places(route, size, nodes))
    assert saved >= 0
    assert np.isclose(cost(before, costs) - saved, cost(after, costs))
    return after, costs, near
