"""The linked list of the neighbourhood search against a plain Python list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import KINDS, check_totals, example, insert, start, stops_of
from orienteer.lns.route import length, link, new_route, unlink, write_nodes
from routes import cost


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_a_new_route_is_the_list(symmetric, metric):
    for seed in range(20):
        graph, stops = example(seed, size=2 + seed % 12, symmetric=symmetric, metric=metric)
        route = start(graph, stops)
        assert stops_of(route) == stops
        assert route.total[0] == length(graph, route) == cost(stops, graph.costs)
        check_totals(graph, route)


def test_a_route_of_two_ends():
    graph, stops = example(1, size=2)
    route = start(graph, stops)
    assert stops_of(route) == [0, 13]
    assert (route.before < 0).sum() == 12
    assert route.total.tolist() == [graph.costs[0, 13], graph.prizes[0] + graph.prizes[13]]


def test_nodes_are_written_in_order():
    graph, stops = example(2)
    nodes = np.full(14, -7, dtype=np.int64)
    assert write_nodes(start(graph, stops), nodes) == 9
    assert nodes[:9].tolist() == stops
    assert (nodes[9:] == -7).all()


def test_by_hand():
    graph, _ = example(3, nodes=6, size=2)
    route = new_route(graph, np.array([0, 3, 1, 5]))
    link(route, 4, 3)
    assert stops_of(route) == [0, 3, 4, 1, 5]
    unlink(route, 3)
    assert stops_of(route) == [0, 4, 1, 5]
    link(route, 2, 1)
    link(route, 3, 0)
    assert stops_of(route) == [0, 3, 4, 1, 2, 5]
    assert (route.before >= 0).all()


@given(st.integers(0, 1000), st.lists(st.tuples(st.integers(1, 8), st.integers(0, 7)), max_size=40))
def test_any_changes_are_those_of_a_list(seed, changes):
    """Each change takes its node off the route, or puts it somewhere if it is absent."""
    graph, stops = example(seed, size=5, nodes=10)
    route = start(graph, stops)
    for node, place in changes:
        if node in stops:
            stops.remove(node)
            unlink(route, node)
        else:
            left = stops[place % (len(stops) - 1)]
            insert(stops, node, left)
            link(route, node, left)
        assert stops_of(route) == stops
        assert length(graph, route) == cost(stops, graph.costs)


def test_unlinked_last_first_linked_back():
    """Taking nodes off and putting them back in the other order leaves no trace on the route."""
    graph, stops = example(4, size=12)
    route = start(graph, stops)
    after, before = route.after.copy(), route.before.copy()
    for _ in range(3):
        gone = []
        for node in np.random.default_rng(5).permutation(stops[1:-1]):
            gone.append((node, route.before[node]))
            unlink(route, node)
        assert stops_of(route) == [0, 13]
        for node, left in reversed(gone):
            link(route, node, left)
        assert stops_of(route) == stops
        assert np.array_equal(route.after[stops[:-1]], after[stops[:-1]])
        assert np.array_equal(route.before[stops[1:]], before[stops[1:]])
