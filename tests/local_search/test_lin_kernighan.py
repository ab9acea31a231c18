"""Lin-Kernighan and or-opt against slow twins, separately and together."""

import itertools

import numpy as np
import pytest

from orienteer.local_search.lin_kernighan import lin_kernighan
from orienteer.local_search.or_opt import LONGEST, move_stretch, or_opt
from orienteer.local_search.shorten import nearest_neighbour, shorten_symmetric
from routes import check_saving, cost, nearest, places, random_route, shortest

LEAST = 1e-9


def search(kernel, seed, size, nodes, metric=True):
    return check_saving(kernel, seed, size, nodes, lambda near: (near, LEAST), metric=metric)


@pytest.mark.parametrize("kernel", [lin_kernighan, or_opt])
@pytest.mark.parametrize(("size", "nodes"), [(2, 5), (3, 5), (4, 4), (9, 14), (40, 60)])
@pytest.mark.parametrize("metric", [True, False])
def test_keeps_the_nodes_and_saves_what_it_says(kernel, size, nodes, metric):
    for seed in range(20):
        search(kernel, seed, size, nodes, metric)


@pytest.mark.parametrize("seed", range(30))
def test_lin_kernighan_leaves_no_better_exchange_of_two_arcs(seed):
    """Each of eight stops has fewer than `NEIGHBOURS` others, so that no new arc is left out."""
    after, costs, _ = search(lin_kernighan, seed, 8, 8)
    for first, last in itertools.combinations(range(1, 7), 2):
        turned = after[:first] + after[first : last + 1][::-1] + after[last + 1 :]
        assert cost(turned, costs) >= cost(after, costs) - 2 * LEAST


@pytest.mark.parametrize("seed", range(30))
def test_or_opt_leaves_no_better_move(seed):
    """Every move of a stretch to behind another stop, if one of its ends gets nearer than what the stretch frees."""
    after, costs, _ = search(or_opt, seed, 9, 9)
    for first in range(1, 8):
        for last in range(first, min(first + LONGEST, 8)):
            head, tail, rest = after[first], after[last], after[:first] + after[last + 1 :]
            freed = cost(after, costs) - cost(rest, costs) - cost(after[first : last + 1], costs)
            for behind in range(len(rest) - 1):
                near = min(costs[end, node] for end in (head, tail) for node in rest[behind : behind + 2])
                if near >= freed:
                    continue
                for stretch in (after[first : last + 1], after[first : last + 1][::-1]):
                    moved = rest[: behind + 1] + stretch + rest[behind + 1 :]
                    if behind + 1 != first:  # elsewhere than before
                        assert cost(moved, costs) >= cost(after, costs) - 2 * LEAST


@pytest.mark.parametrize("turned", [False, True])
def test_move_stretch_is_a_cut_and_a_paste(turned):
    for first, last, after in itertools.product(range(1, 8), range(1, 8), range(8)):
        if last < first or first <= after <= last:
            continue
        route, place, _, _ = random_route(3, 9, 9)
        stops = route.tolist()
        stretch = stops[first : last + 1]
        rest = stops[:first] + stops[last + 1 :]
        at = rest.index(stops[after]) + 1
        move_stretch(route, place, first, last, after, turned)
        assert route.tolist() == rest[:at] + (stretch[::-1] if turned else stretch) + rest[at:]
        assert np.array_equal(place, places(route, 9, 9))


def test_both_together_find_nearly_always_the_shortest():
    found = 0
    for seed in range(40):
        after, costs, _ = check_saving(shorten_symmetric, seed, 8, 12, lambda near: (near, LEAST))
        best = shortest(after, costs)
        assert cost(after, costs) >= best - LEAST
        found += cost(after, costs) <= best + LEAST
    assert found >= 38


def test_nearest_neighbour_by_hand():
    spots = np.array([0.0, 5.0, 1.0, 2.5, 9.0, 0.0])
    costs = np.abs(spots[:, None] - spots[None])
    route, place = np.zeros((2, 6), dtype=np.int64)
    size = nearest_neighbour(np.array([1, 3, 2, 0, 0, 0]), 3, costs, nearest(costs), route, place)
    assert route[:size].tolist() == [0, 2, 3, 1, 5]
    assert place.tolist() == [0, 3, 1, 2, -1, 4]


def test_nearest_neighbour_looks_further_when_the_list_of_near_nodes_ends():
    spots = np.array([0.0, 5.0, 1.0, 2.5, 9.0, 0.0])
    costs = np.abs(spots[:, None] - spots[None])
    route, place = np.zeros((2, 6), dtype=np.int64)
    size = nearest_neighbour(np.array([4, 1]), 2, costs, np.ascontiguousarray(nearest(costs)[:, :1]), route, place)
    assert route[:size].tolist() == [0, 1, 4, 5]
