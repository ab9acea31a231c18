"""Insertion against slow twins on lists: the cheapest place, by ratio, in order."""

import numpy as np
import pytest

from graphs import KINDS, check_totals, example, insert, new_graph, slow_place, start, stops_of
from orienteer.kernel import seed_state
from orienteer.lns.recreate import LOOK, by_order, by_ratio, cheapest_place, nearest_absent, new_candidates
from routes import cost

ROOMY = 1e9


def absent_of(graph, stops):
    return [node for node in range(len(graph.prizes)) if node not in stops]


def candidates_of(graph, nodes):
    """The nodes as candidates, and how many they are."""
    candidates = new_candidates(len(graph.prizes))
    candidates.node[: len(nodes)] = nodes
    return candidates, len(nodes)


def slow_ratio(graph, stops, nodes, budget, floor, power):
    """The rule in plain words: insertions known so far, of which the best in prize over cost goes in.

    An insertion is looked up anew when its arc is gone; the two new arcs are tried for all.
    """
    costs, order = graph.costs, []
    known = {node: slow_place(graph, stops, node, LOOK) for node in nodes}
    while True:
        slack = budget - cost(stops, costs)
        ratio = {
            node: power[node] / max(price + floor, 1e-300)
            for node, (price, _) in known.items()
            if price <= slack and (power[node] > 0 or price < 0)
        }
        if not ratio:
            return order
        pick = max(ratio, key=ratio.__getitem__)
        left = known.pop(pick)[1]
        insert(stops, pick, left)
        order.append(pick)
        right = stops[stops.index(pick) + 1]
        for node, (price, before) in known.items():
            if before == left:
                known[node] = slow_place(graph, stops, node, LOOK)
                continue
            fresh = [(costs[a, node] + costs[node, b] - costs[a, b], a) for a, b in ((left, pick), (pick, right))]
            known[node] = min([(price, before), *fresh])


def slow_full_ratio(graph, stops, nodes, budget, floor, power):
    """As above, with every insertion of every node looked up anew each time."""
    order, left_over = [], list(nodes)
    while True:
        slack = budget - cost(stops, graph.costs)
        choices = []
        for node in left_over:
            price, left = slow_place(graph, stops, node, len(stops))
            if price <= slack and (power[node] > 0 or price < 0):
                choices.append((power[node] / max(price + floor, 1e-300), node, left))
        if not choices:
            return order
        _, node, left = max(choices)
        insert(stops, node, left)
        left_over.remove(node)
        order.append(node)


def slow_order(graph, stops, nodes, budget):
    """Each node in turn at its cheapest place, if it fits and is worth it."""
    order = []
    for node in nodes:
        price, left = slow_place(graph, stops, node, LOOK)
        if price <= budget - cost(stops, graph.costs) and (graph.prizes[node] > 0 or price < 0):
            insert(stops, node, left)
            order.append(node)
    return order


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_cheapest_place_beside_the_nearest_stops(symmetric, metric):
    for seed in range(40):
        graph, stops = example(seed, 12, 18, symmetric, metric)
        route = start(graph, stops)
        for node in absent_of(graph, stops):
            price, left = cheapest_place(graph, route, node)
            expected, before = slow_place(graph, stops, node, LOOK)
            assert np.isclose(price, expected)
            assert left == before


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
@pytest.mark.parametrize("size", [2, 3, LOOK, LOOK + 1])
def test_cheapest_place_of_all_on_a_short_route(symmetric, metric, size):
    """Every arc lies beside one of the nearest stops when these are all stops but one."""
    for seed in range(20):
        graph, stops = example(seed, size, 12, symmetric, metric)
        route = start(graph, stops)
        for node in absent_of(graph, stops):
            price, left = cheapest_place(graph, route, node)
            expected, before = slow_place(graph, stops, node, len(stops))
            assert np.isclose(price, expected)
            assert left == before


def test_no_place_where_no_neighbour_is_on_the_route():
    graph, stops = example(1)
    far = graph._replace(near=np.array([[node] for node in range(14)])[::-1].copy())
    node = next(one for one in absent_of(graph, stops) if 13 - one not in stops)
    assert cheapest_place(far, start(graph, stops), node) == (np.inf, -1)
    candidates, count = candidates_of(graph, [node])
    route = start(graph, stops)
    assert by_ratio(far, route, candidates, count, ROOMY, 0.01, graph.powers[1], 0.0, seed_state(0)) == 0
    assert by_order(far, route, candidates, count, ROOMY, False, 0.0, seed_state(0)) == 0
    assert stops_of(route) == stops


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_candidates_are_the_nearest_absent_nodes(symmetric, metric):
    for seed in range(20):
        graph, stops = example(seed, 8, 16, symmetric, metric)
        route = start(graph, stops)
        either = np.minimum(graph.costs, graph.costs.T)
        for node in range(16):
            expected = sorted(absent_of(graph, stops), key=lambda other, node=node: either[node, other])
            for most in (1, 3, 16):
                nodes = np.full(16, -7, dtype=np.int64)
                count = nearest_absent(graph, route, node, most, nodes)
                assert nodes[:count].tolist() == expected[:most]
                assert (nodes[count:] == -7).all()


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_ratio_as_the_twin_does(symmetric, metric):
    total = 0
    for seed in range(60):
        graph, stops = example(seed, 3 + seed % 8, 20, symmetric, metric)
        route, power = start(graph, stops), graph.powers[seed % 3]
        budget = cost(stops, graph.costs) + (0.1, 0.5, 2.0)[seed % 3]
        candidates, count = candidates_of(graph, absent_of(graph, stops))
        inserted = by_ratio(graph, route, candidates, count, budget, 0.01, power, 0.0, seed_state(seed))
        expected = slow_ratio(graph, stops, absent_of(graph, stops), budget, 0.01, power)
        assert candidates.inserted[:inserted].tolist() == expected
        assert stops_of(route) == stops
        assert route.total[0] <= budget
        check_totals(graph, route)
        total += inserted
    assert total > 60


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_ratio_on_short_routes_misses_no_place(symmetric, metric):
    for seed in range(60):
        graph, stops = example(seed, 2 + seed % 2, 12, symmetric, metric)
        route = start(graph, stops)
        budget = cost(stops, graph.costs) + (0.2, 0.6, 3.0)[seed % 3]
        nodes = absent_of(graph, stops)[:4]  # with these the route never outgrows what is looked at
        candidates, count = candidates_of(graph, nodes)
        inserted = by_ratio(graph, route, candidates, count, budget, 0.01, graph.powers[1], 0.0, seed_state(seed))
        assert candidates.inserted[:inserted].tolist() == slow_full_ratio(
            graph, stops, nodes, budget, 0.01, graph.powers[1]
        )
        assert stops_of(route) == stops


def line(spots, prizes):
    """A graph of spots on a line; the last one is the end."""
    spots = np.array(spots, dtype=float)
    return new_graph(np.abs(spots[:, None] - spots[None]), np.array(prizes, dtype=float))


def test_ratio_by_hand():
    """From 0 to 10 with 4 to spare: a detour of 2 for a prize of 3 beats one of 4 for 5, and nothing is left then.

    Node 3, on the way, costs nothing and goes first; node 4, on the way too, has no prize.
    """
    graph = line([0, 11, -2, 5, 6, 10], [0, 3, 5, 1, 0, 0])
    route = start(graph, [0, 5])
    candidates, count = candidates_of(graph, [1, 2, 3, 4])
    assert by_ratio(graph, route, candidates, count, 14.0, 0.01, graph.powers[1], 0.0, seed_state(0)) == 2
    assert candidates.inserted[:2].tolist() == [3, 1]
    assert stops_of(route) == [0, 3, 1, 5]
    assert route.total.tolist() == [12.0, 4.0]


def test_a_node_without_a_prize_goes_in_as_a_short_cut():
    costs = np.array([[0, 1, 9.0], [1, 0, 1], [9, 1, 0]])
    graph = new_graph(costs, np.array([0, 0, 1.0]))
    for budget in (3.0, ROOMY):  # the route it is put in need not fit by itself
        route = start(graph, [0, 2])
        candidates, count = candidates_of(graph, [1])
        assert by_ratio(graph, route, candidates, count, budget, 0.01, graph.powers[1], 0.0, seed_state(0)) == 1
        assert stops_of(route) == [0, 1, 2]
        route = start(graph, [0, 2])
        assert by_order(graph, route, candidates, count, budget, True, 0.0, seed_state(0)) == 1
        assert route.total.tolist() == [2.0, 1.0]


def test_noise_changes_what_goes_first_but_not_by_much():
    """Prizes 10, 9 and 4 at equal costs: with a quarter of noise the second may lead, the third never."""
    costs = 1.0 - np.eye(5)
    graph = new_graph(costs, np.array([0, 10, 9, 4, 0.0]))
    state, first = seed_state(0), set()
    for _ in range(200):
        candidates, count = candidates_of(graph, [1, 2, 3])
        assert by_ratio(graph, start(graph, [0, 4]), candidates, count, 2.0, 0.01, graph.powers[1], 0.25, state) == 1
        first.add(int(candidates.inserted[0]))
    assert first == {1, 2}


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
@pytest.mark.parametrize("sort", [False, True])
def test_order_as_the_twin_does(symmetric, metric, sort):
    """The kernel leaves the candidates in the order in which it tried them."""
    total = 0
    for seed in range(60):
        graph, stops = example(seed, 3 + seed % 8, 20, symmetric, metric)
        route = start(graph, stops)
        budget = cost(stops, graph.costs) + (0.1, 0.5, 2.0)[seed % 3]
        candidates, count = candidates_of(graph, absent_of(graph, stops))
        inserted = by_order(graph, route, candidates, count, budget, sort, 0.0, seed_state(seed))
        tried = candidates.node[:count].tolist()
        assert sorted(tried) == absent_of(graph, stops)
        if sort:
            assert (np.diff(graph.prizes[tried]) <= 0).all()
        assert candidates.inserted[:inserted].tolist() == slow_order(graph, stops, tried, budget)
        assert stops_of(route) == stops
        assert route.total[0] <= budget
        check_totals(graph, route)
        total += inserted
    assert total > 60


@pytest.mark.parametrize("sort", [False, True])
def test_orders_are_drawn_where_prizes_do_not_decide(sort):
    graph = line([0, 1, 2, 3, 4], [0, 1, 5, 1, 0])
    state, seen = seed_state(0), set()
    for _ in range(200):
        candidates, count = candidates_of(graph, [1, 2, 3])
        by_order(graph, start(graph, [0, 4]), candidates, count, 4.0, sort, 0.0, state)
        seen.add(tuple(candidates.inserted[:3].tolist()))
    every = {(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)}
    assert seen == ({(2, 1, 3), (2, 3, 1)} if sort else every)


def test_blinks_pass_nodes_over():
    graph = line([0, 1, 2, 3, 4], [0, 1, 5, 1, 0])
    state, counts = seed_state(0), np.zeros(4)
    for _ in range(1000):
        candidates, count = candidates_of(graph, [1, 2, 3])
        counts[by_order(graph, start(graph, [0, 4]), candidates, count, 4.0, True, 0.2, state)] += 1
    expected = 1000 * np.array([0.008, 0.096, 0.384, 0.512])
    assert np.abs(counts - expected).max() < 60
    candidates, count = candidates_of(graph, [1, 2, 3])
    assert by_order(graph, start(graph, [0, 4]), candidates, count, 4.0, True, 1.0, state) == 0
