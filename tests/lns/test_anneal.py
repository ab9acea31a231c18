"""The loop of the neighbourhood search: its books stay true, its best fits, its temperature is obeyed."""

import numpy as np
import pytest

from graphs import KINDS, check_totals, example, new_graph, start, stops_of
from orienteer.kernel import seed_state
from orienteer.lns.anneal import Best, Moves, anneal, restore
from orienteer.lns.recreate import by_order, nearest_absent, new_candidates
from orienteer.lns.route import length
from orienteer.lns.ruin import ruin
from routes import cost

MOVES = Moves(
    budget=3.0,
    hot=0.5,
    cold=0.1,
    slack_price=0.5,
    floor=0.01,
    remove=6,
    longest=4,
    strings=2,
    spare=0.3,
    fewest=3,
    most=12,
    ratio_share=0.5,
    noise=0.25,
    blink=0.05,
)


class Walk:
    """A route that is annealed, with the best so far."""

    def __init__(self, graph, stops, moves=MOVES, seed=0):
        size = len(graph.prizes)
        self.graph, self.moves, self.state = graph, moves, seed_state(seed)
        self.route = start(graph, stops)
        self.best = Best(np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64), self.route.total.copy())
        self.candidates, self.removed = new_candidates(size), np.zeros((size, 2), dtype=np.int64)

    def go(self, steps, begin=0.0, end=1.0):
        anneal(
            self.graph,
            self.route,
            self.best,
            self.moves,
            self.candidates,
            self.removed,
            steps,
            begin,
            end,
            self.state,
        )
        return self

    @property
    def stops(self):
        return stops_of(self.route)

    @property
    def best_stops(self):
        return self.best.nodes[: self.best.size[0]].tolist()


def affordable(seed, symmetric=True, metric=True):
    """A graph of 30 nodes and the route of its ends, with a limit that pays for some stops."""
    graph, stops = example(seed, 2, 30, symmetric, metric)
    return graph, stops, MOVES._replace(budget=graph.costs[0, 29] + (0.3 if metric else 0.1) * (1 + seed % 5))


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_totals_stay_those_of_the_route(symmetric, metric):
    for seed in range(10):
        walk = Walk(*affordable(seed, symmetric, metric), seed)
        for _ in range(20):
            walk.go(100)
            check_totals(walk.graph, walk.route)
            assert walk.route.total[0] <= walk.moves.budget


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_the_best_is_true_fits_and_only_rises(symmetric, metric):
    rises = 0
    for seed in range(10):
        walk = Walk(*affordable(seed, symmetric, metric), seed)
        for _ in range(40):
            before = walk.best.total.copy()
            walk.best.size[0] = 0
            walk.go(5)
            if not walk.best.size[0]:
                assert np.array_equal(walk.best.total, before)
                continue
            rises += 1
            stops = walk.best_stops
            assert (stops[0], stops[-1]) == (0, 29)
            assert len(set(stops)) == len(stops)
            assert walk.best.total[0] == cost(stops, walk.graph.costs) <= walk.moves.budget
            assert np.isclose(walk.best.total[1], walk.graph.prizes[stops].sum())
            assert walk.best.total[1] > before[1] - 1e-9
            assert walk.best.total[1] > before[1] + 1e-9 or walk.best.total[0] < before[0]
    assert rises > 20


def test_a_limit_met_to_the_last_bit():
    """Costs of tenths add up to the limit or, rounded otherwise, just above it: only what truly fits counts."""
    noted = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        costs = rng.integers(1, 6, (14, 14)) / 10
        np.fill_diagonal(costs, 0.0)
        graph = new_graph(costs, rng.integers(1, 9, 14) / 10)
        walk = Walk(graph, [0, 13], MOVES._replace(budget=float(costs[0, 13] + rng.integers(2, 9) / 10)), seed)
        for _ in range(20):
            walk.best.size[0] = 0
            walk.go(20)
            if walk.best.size[0]:
                noted += 1
                assert cost(walk.best_stops, costs) <= walk.moves.budget
    assert noted > 60


def test_a_cost_that_has_drifted_lets_nothing_too_long_be_noted():
    """The running cost is made too small: routes seem to fit that do not, and the legs added anew tell."""
    caught = 0
    for seed in range(20):
        walk = Walk(*affordable(seed), seed)
        walk.go(200)
        for _ in range(50):
            walk.route.total[0] = length(walk.graph, walk.route) - 0.05
            walk.best.total[1] -= 0.2  # more routes seem worth a look
            walk.best.size[0] = 0
            walk.go(3)
            if walk.best.size[0]:
                assert cost(walk.best_stops, walk.graph.costs) <= walk.moves.budget
            caught += walk.route.total[0] < length(walk.graph, walk.route) - 0.01
    assert caught


@pytest.mark.parametrize("ratio_share", [0.0, 1.0])
def test_without_heat_nothing_gets_worse(ratio_share):
    for seed in range(10):
        graph, stops, moves = affordable(seed)
        moves = moves._replace(hot=1e-12, cold=1e-12, ratio_share=ratio_share)
        walk = Walk(graph, stops, moves, seed)
        worth = -np.inf
        for _ in range(200):
            walk.go(1)
            now = walk.route.total[1] - moves.slack_price * walk.route.total[0]
            assert now >= worth - 1e-9
            worth = now
        assert np.isclose(walk.best.total[1], walk.route.total[1], atol=moves.slack_price * moves.budget)


def test_heat_lets_any_change_pass_and_cools_from_begin_to_end():
    """From a great heat to none: at its beginning the walk goes down too, at its end it never does."""
    falls = {0.0: 0, 1.0: 0}
    for begin in falls:
        for seed in range(10):
            graph, stops, moves = affordable(seed)
            walk = Walk(graph, stops, moves._replace(hot=1e6, cold=1e-12), seed)
            worth = -np.inf
            for _ in range(100):
                walk.go(1, begin, begin)
                now = walk.route.total[1] - moves.slack_price * walk.route.total[0]
                falls[begin] += now < worth - 1e-9
                worth = now
    assert falls[0.0] > 200
    assert falls[1.0] == 0


def test_pieces_make_one_walk():
    """Steps done in pieces, each with its part of the cooling, are the steps of one long walk."""
    for seed in range(5):
        whole = Walk(*affordable(seed), seed).go(400)
        parts = Walk(*affordable(seed), seed)
        for piece in range(8):
            parts.go(50, piece / 8, (piece + 1) / 8)
        assert parts.stops == whole.stops
        assert parts.best_stops == whole.best_stops
        assert np.array_equal(parts.state, whole.state)


@pytest.mark.parametrize(("symmetric", "metric"), KINDS)
def test_a_step_is_taken_back_whole(symmetric, metric):
    """Ruin, recreate, restore: the links of all stops are as they were."""
    changed = 0
    for seed in range(60):
        graph, stops = example(seed, 2 + seed % 13, 16, symmetric, metric)
        route, state = start(graph, stops), seed_state(seed)
        candidates, removed = new_candidates(16), np.zeros((16, 2), dtype=np.int64)
        after, before = route.after.copy(), route.before.copy()
        at = 1 + seed % 14
        gone = ruin(graph, route, at, 1 + seed % 8, 4, 2, 0.3, removed, state)
        count = nearest_absent(graph, route, at, 16, candidates.node)
        put = by_order(graph, route, candidates, count, cost(stops, graph.costs) + 0.1, False, 0.0, state)
        changed += stops_of(route) != stops
        restore(route, candidates.inserted, put, removed, gone)
        assert stops_of(route) == stops
        assert np.array_equal(route.after[stops[:-1]], after[stops[:-1]])
        assert np.array_equal(route.before[stops[1:]], before[stops[1:]])
    assert changed > 30


def test_the_only_stop_that_fits_is_found():
    """Three nodes: the one between the ends goes in, and the walk ends where it is best."""
    costs = np.array([[0, 1, 1.0], [1, 0, 1], [1, 1, 0]])
    graph = new_graph(costs, np.array([0, 2.0, 0]))
    walk = Walk(graph, [0, 2], MOVES._replace(budget=2.0)).go(50)
    assert walk.best_stops == [0, 1, 2]
    assert walk.best.total.tolist() == [2.0, 2.0]
