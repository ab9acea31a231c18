"""Dropping and adding nodes against slow twins on lists, and on hand-checked routes."""

import itertools

import numpy as np
import pytest

from orienteer.local_search.drop_add import (
    NEAREST,
    add_while_fits,
    best_spot,
    drop_until_fits,
    make_chain,
    route_cost,
    write_route,
)
from routes import cost, nearest, random_route

FAMILIES = [(True, True), (False, True), (True, False), (False, False)]


class Chain:
    """A route as the kernels see it."""

    def __init__(self, route, size, place):
        self.nodes, self.place = len(place), place
        self.following, self.leading = np.full((2, self.nodes), -1, dtype=np.int64)
        make_chain(route, size, self.following, self.leading)

    @property
    def ends(self):
        return 0, self.nodes - 1

    def stops(self):
        route, place = np.zeros(self.nodes, dtype=np.int64), np.full(self.nodes, -1, dtype=np.int64)
        size = write_route(0, self.nodes - 1, self.following, route, place)
        assert set(np.flatnonzero(self.place >= 0)) == set(np.flatnonzero(place >= 0))
        return route[:size].tolist()

    def drop(self, costs, prizes, budget):
        start = cost(self.stops(), costs)
        return drop_until_fits(*self.ends, self.following, self.leading, self.place, costs, prizes, start, budget)

    def add(self, costs, prizes, budget):
        near_in, near_out = nearest(np.ascontiguousarray(costs.T)), nearest(costs)
        start = cost(self.stops(), costs)
        return add_while_fits(
            *self.ends, self.following, self.leading, self.place, costs, prizes, near_in, near_out, start, budget
        )


def example(seed, size=9, nodes=14, symmetric=True, metric=True):
    route, place, costs, _ = random_route(seed, size, nodes, symmetric, metric)
    prizes = np.random.default_rng(seed + 1000).integers(0, 10, nodes) / 10
    prizes[prizes > 0] += 1e-3 * np.arange(np.count_nonzero(prizes))  # no ties but the worthless
    return Chain(route, size, place), costs, prizes


def slow_drop(stops, costs, prizes, budget):
    """The rule of the paper, then whole stretches where no node saves."""
    while cost(stops, costs) > budget:
        for longest in (1, len(stops)):
            choices = []
            for before, after in itertools.combinations(range(len(stops)), 2):
                if 1 < after - before <= longest + 1:
                    left = stops[: before + 1] + stops[after:]
                    saved = cost(stops, costs) - cost(left, costs)
                    if saved > 1e-12:
                        choices.append((sum(prizes[stops[before + 1 : after]]) / saved, left))
            if choices:
                stops = min(choices, key=lambda choice: choice[0])[1]
                break
        else:
            return stops
    return stops


@pytest.mark.parametrize(("symmetric", "metric"), FAMILIES)
def test_drop_follows_the_slow_twin(symmetric, metric):
    for seed in range(40):
        chain, costs, prizes = example(seed, symmetric=symmetric, metric=metric)
        prizes += 1e-3 * np.arange(len(prizes))  # no ties
        budget = cost(chain.stops(), costs) * (0.2 + 0.02 * seed)
        expected = slow_drop(chain.stops(), costs, prizes, budget)
        said = chain.drop(costs, prizes, budget)
        assert chain.stops() == expected
        assert np.isclose(said, cost(expected, costs))


def slow_add(stops, costs, prizes, budget):
    """The same rule with a dictionary of each absent node's cheapest known spot, as (cost, stop before)."""

    def spot(node):
        before = sorted((stop for stop in stops[:-1]), key=lambda stop: (costs[stop, node], stop))[:NEAREST]
        after = sorted((stop for stop in stops[1:]), key=lambda stop: (costs[node, stop], stop))[:NEAREST]
        pairs = [(one, two) for one, two in itertools.pairwise(stops) if one in before or two in after]
        return min((costs[one, node] + costs[node, two] - costs[one, two], one) for one, two in pairs)

    known = {node: spot(node) for node in range(len(prizes)) if node not in stops}
    while True:
        worth = {
            node: prizes[node] / added if added > 1e-12 * budget else 1e12 * prizes[node] / budget + 1
            for node, (added, _) in known.items()
            if cost(stops, costs) + added <= budget and (prizes[node] > 0 or added < 0)
        }
        if not worth:
            return stops
        node = max(worth, key=worth.__getitem__)
        _, before = known.pop(node)
        place = stops.index(before) + 1
        stops = [*stops[:place], node, *stops[place:]]
        for other, (_, behind) in known.items():
            if behind == before:
                known[other] = spot(other)
            for one, two in itertools.pairwise(stops[place - 1 : place + 2]):
                known[other] = min(known[other], (costs[one, other] + costs[other, two] - costs[one, two], one))


@pytest.mark.parametrize(("symmetric", "metric"), FAMILIES)
def test_add_follows_the_slow_twin(symmetric, metric):
    for seed in range(40):
        chain, costs, prizes = example(seed, 5, 14, symmetric, metric)
        budget = cost(chain.stops(), costs) * (1 + 0.05 * seed)
        expected = slow_add(chain.stops(), costs, prizes, budget)
        said = chain.add(costs, prizes, budget)
        assert chain.stops() == expected
        assert np.isclose(said, cost(expected, costs))
        assert cost(expected, costs) <= budget * (1 + 1e-12)


def test_add_leaves_nothing_that_fits_beside_a_near_stop():
    for seed in range(40):
        chain, costs, prizes = example(seed, 5, 14)
        prizes += 0.1
        near = nearest(costs)
        budget = cost(chain.stops(), costs) * 1.4
        said = chain.add(costs, prizes, budget)
        for node in set(range(14)) - set(chain.stops()):
            _, added = best_spot(node, *chain.ends, chain.following, chain.leading, chain.place, costs, near, near)
            assert said + added > budget


def test_far_from_every_stop_the_best_spot_is_the_best_of_all():
    """The lists of near nodes hold no stop, so that all spots are looked at."""
    chain, costs, _ = example(1, 5, 14)
    stops = chain.stops()
    absent = [node for node in range(14) if node not in stops]
    near = np.array([[next(other for other in absent if other != node)] for node in range(14)])
    for node in absent:
        _, added = best_spot(node, *chain.ends, chain.following, chain.leading, chain.place, costs, near, near)
        spots = [costs[a, node] + costs[node, b] - costs[a, b] for a, b in itertools.pairwise(stops)]
        assert np.isclose(added, min(spots))


def test_worthless_nodes_are_added_only_where_they_shorten_the_route():
    """The way from 0 to 3 by 1 saves 4; node 2 would fit for nothing but is worth nothing."""
    costs = np.array([[0, 1, 0, 6], [9, 0, 9, 1], [9, 9, 0, 6], [9, 9, 9, 0.0]])
    place = np.array([0, -1, -1, 1])
    chain = Chain(np.array([0, 3, 0, 0]), 2, place)
    assert chain.add(costs, np.zeros(4), 100.0) == 2.0
    assert chain.stops() == [0, 1, 3]


def test_route_cost_adds_in_order():
    route, _, costs, _ = random_route(5)
    assert route_cost(route, 8, costs) == cost(route[:8], costs)
