"""The moves for costs that differ by direction, against slow twins."""

import itertools

import pytest

from orienteer.local_search.directed_opt import swap_stretches, turn_stretches
from orienteer.local_search.shorten import shorten_directed
from routes import check_saving, cost, shortest

LEAST = 1e-9


@pytest.mark.parametrize(("size", "nodes"), [(2, 5), (3, 5), (4, 4), (9, 14), (40, 60)])
@pytest.mark.parametrize("metric", [True, False])
def test_keeps_the_nodes_and_saves_what_it_says(size, nodes, metric):
    for seed in range(20):
        check_saving(swap_stretches, seed, size, nodes, lambda near: (near, LEAST), False, metric)
        check_saving(turn_stretches, seed, size, nodes, lambda near: (LEAST,), False, metric)


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_no_better_exchange_of_stretches_is_left(seed, metric):
    """If three arcs cost less than the three they replace, one of them costs less than the arc from the same node."""
    after, costs, _ = check_saving(swap_stretches, seed, 9, 9, lambda near: (near, LEAST), False, metric)
    for i, j, k in itertools.combinations(range(8), 3):
        swapped = after[: i + 1] + after[j + 1 : k + 1] + after[i + 1 : j + 1] + after[k + 1 :]
        assert cost(swapped, costs) >= cost(after, costs) - 2 * LEAST


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_no_better_turn_is_left(seed, metric):
    after, costs, _ = check_saving(turn_stretches, seed, 9, 9, lambda near: (LEAST,), False, metric)
    for first, last in itertools.combinations(range(1, 8), 2):
        turned = after[:first] + after[first : last + 1][::-1] + after[last + 1 :]
        assert cost(turned, costs) >= cost(after, costs) - 2 * LEAST


def test_both_together_find_often_the_shortest():
    found = 0
    for seed in range(40):
        after, costs, _ = check_saving(shorten_directed, seed, 8, 12, lambda near: (near, LEAST), False)
        best = shortest(after, costs)
        assert cost(after, costs) >= best - LEAST
        found += cost(after, costs) <= best + LEAST
    assert found >= 34
