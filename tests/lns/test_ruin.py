"""The cutting of strings: only stops between the ends, never too many, near the seed, and all undone."""

import itertools

import numpy as np
import pytest

from graphs import KINDS, check_totals, example, start, stops_of
from orienteer.kernel import seed_state
from orienteer.lns.anneal import restore
from orienteer.lns.ruin import ruin

NOTHING_PUT = np.zeros(0, dtype=np.int64)


def cut(graph, route, seed, target=5, longest=4, strings=2, spare=0.0, state=None):
    """The (stop, stop before it) that went, in order."""
    removed = np.full((len(graph.prizes), 2), -7, dtype=np.int64)
    gone = ruin(graph, route, seed, target, longest, strings, spare, removed, seed_state(0) if state is None else state)
    assert (removed[gone:] == -7).all()
    return removed[:gone]


def runs(places):
    """How many stretches of consecutive places there are."""
    return sum(here != before + 1 for before, here in itertools.pairwise([-9, *sorted(places)]))


def nearest_stop(graph, stops, seed):
    """The stop between the ends nearest to the seed: the seed itself if it is one."""
    either = np.minimum(graph.costs, graph.costs.T)
    return min(stops[1:-1], key=lambda stop: -1.0 if stop == seed else either[seed, stop])


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
@pytest.mark.parametrize("spare", [0.0, 0.5, 1.0])
def test_what_goes_and_what_comes_back(symmetric, metric, spare):
    state = seed_state(3)
    for seed in range(60):
        graph, stops = example(seed, 2 + seed % 13, 16, symmetric, metric)
        route = start(graph, stops)
        target, longest, strings = 1 + seed % 9, 1 + seed % 5, 1 + seed % 3
        removed = cut(graph, route, 1 + seed % 14, target, longest, strings, spare, state)
        gone = removed[:, 0].tolist()
        assert len(set(gone)) == len(gone) <= min(target, longest * strings)
        assert set(gone) <= set(stops[1:-1])
        assert bool(gone) == (len(stops) > 2)
        assert stops_of(route) == [stop for stop in stops if stop not in gone]
        check_totals(graph, route)
        restore(route, NOTHING_PUT, 0, removed, len(removed))
        assert stops_of(route) == stops


@pytest.mark.parametrize("strings", [1, 2, 3])
def test_as_many_strings_as_allowed_and_the_first_at_the_nearest_stop(strings):
    most = 0
    for seed in range(100):
        graph, stops = example(seed, 16, 24)
        near = nearest_stop(graph, stops, 5)
        gone = cut(graph, start(graph, stops), 5, 12, 3, strings, 0.0, seed_state(seed))[:, 0].tolist()
        count = runs([stops.index(node) for node in gone])
        assert 1 <= count <= strings  # strings may touch, and then look like one
        assert near in gone
        most = max(most, count)
    assert most == strings


def test_every_string_around_the_seed_is_cut_some_time():
    """A string of 1 to 3 stops holds the seed at any place; the ends of the route cut it short."""
    graph, stops = example(7, 7, 10)
    for at in range(1, 6):
        expected = set()
        for size in (1, 2, 3):
            for back in range(size):
                first = max(1, at - back)
                expected.add(tuple(stops[first : min(first + size, 6)]))
        state = seed_state(at)
        seen = {
            tuple(cut(graph, start(graph, stops), stops[at], 9, 3, 1, 0.0, state)[:, 0].tolist()) for _ in range(300)
        }
        assert seen == expected


def test_a_target_of_one_takes_the_seed_alone():
    graph, stops = example(8)
    for node in stops[1:-1]:
        assert cut(graph, start(graph, stops), node, target=1).tolist() == [[node, stops[stops.index(node) - 1]]]


def test_a_spared_stop_lies_inside_its_string():
    """Strings of five with one spared: four stops go, and the one between them stays."""
    graph, stops = example(9, 14, 16)
    state = seed_state(1)
    spared = set()
    for _ in range(300):
        gone = cut(graph, start(graph, stops), stops[6], 9, 5, 1, 1.0, state)[:, 0].tolist()
        places = sorted(stops.index(node) for node in gone)
        window = set(range(places[0], places[-1] + 1))
        left = window - set(places)
        assert len(window) <= 5
        assert len(left) <= 1
        if len(window) > 2:
            assert len(left) == 1
            spared.add(left.pop() - places[0])
    assert spared == {1, 2, 3}


def test_nothing_to_cut():
    graph, stops = example(1, size=2)
    assert len(cut(graph, start(graph, stops), 3)) == 0
