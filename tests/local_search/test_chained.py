"""Chained Lin-Kernighan: what it says, what it undoes, and that it finds shortest routes."""

import numpy as np
import pytest

from orienteer.kernel import next_int, seed_state
from orienteer.local_search.chained import chained_lin_kernighan, new_chain_room
from orienteer.local_search.kick import drawn_kick, saved_by_kick
from orienteer.local_search.or_opt import move_stretch
from orienteer.local_search.shorten import shorten_symmetric
from routes import check_saving, cost, places, random_route, shortest

LEAST = 1e-9


def chained(kicks: int, nodes: int, seed: int = 1):
    """The arguments behind the costs: near nodes and what follows."""
    return lambda near: (near, LEAST, kicks, seed_state(seed), new_chain_room(nodes))


@pytest.mark.parametrize(("size", "nodes"), [(2, 5), (3, 5), (4, 4), (5, 5), (9, 14), (40, 60)])
@pytest.mark.parametrize("metric", [True, False])
def test_keeps_the_nodes_and_saves_what_it_says(size: int, nodes: int, metric: bool) -> None:
    for seed in range(20):
        check_saving(chained_lin_kernighan, seed, size, nodes, chained(30, nodes), metric=metric)


def test_finds_the_shortest_route_of_few_nodes() -> None:
    for seed in range(40):
        after, costs, _ = check_saving(chained_lin_kernighan, seed, 8, 12, chained(50, 12))
        assert cost(after, costs) <= shortest(after, costs) + LEAST


def test_without_kicks_no_move_of_lin_kernighan_or_or_opt_is_left() -> None:
    for seed in range(20):
        after, costs, near = check_saving(chained_lin_kernighan, seed, 40, 60, chained(0, 60))
        route = np.array(after)
        assert shorten_symmetric(route, 40, places(route, 40, 60), costs, near, LEAST) <= LEAST


def test_kicks_shorten_what_local_search_leaves() -> None:
    shorter = 0
    for seed in range(10):
        kicked, costs, _ = check_saving(chained_lin_kernighan, seed, 150, 150, chained(1000, 150))
        plain, _, _ = check_saving(shorten_symmetric, seed, 150, 150, lambda near: (near, LEAST))
        assert cost(kicked, costs) <= cost(plain, costs) * 1.001
        shorter += cost(kicked, costs) < cost(plain, costs) * 0.99
    assert shorter >= 5


def test_a_kick_that_makes_the_route_longer_is_undone() -> None:
    for seed in range(20):
        route, place, costs, near = random_route(seed, 30, 30)
        room, state = new_chain_room(30), seed_state(seed)
        chained_lin_kernighan(route, 30, place, costs, near, LEAST, 0, state, room)
        for _ in range(50):
            before = cost(route, costs)
            saved = chained_lin_kernighan(route, 30, place, costs, near, LEAST, 1, state, room)
            assert saved >= 0.0
            assert cost(route, costs) == pytest.approx(before - saved)
            assert np.array_equal(place, places(route, 30, 30))


def test_a_kick_swaps_two_stretches_and_costs_what_it_says() -> None:
    for seed in range(200):
        route, place, costs, _ = random_route(seed, 12, 12)
        before, state = route.tolist(), seed_state(seed)
        for _ in range(next_int(state, 5)):
            next_int(state, 2)
        first, last, after = drawn_kick(12, state)
        assert 1 <= first <= last < after <= 10
        saved = saved_by_kick(route, costs, first, last, after)
        move_stretch(route, place, first, last, after, False)
        assert route.tolist() == [
            *before[:first],
            *before[last + 1 : after + 1],
            *before[first : last + 1],
            *before[after + 1 :],
        ]
        assert cost(before, costs) - cost(route.tolist(), costs) == pytest.approx(saved)
