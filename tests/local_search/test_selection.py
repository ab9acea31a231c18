"""The best choice of stops along an order, against all choices."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.local_search import selection
from orienteer.local_search.selection import best_selection, least_detour, ordered


def _problem(seed: int, nodes: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    costs = rng.random((nodes, nodes))
    if symmetric:
        places = rng.random((nodes, 2))
        costs = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(costs, 0.0)
    return costs, np.round(rng.random(nodes), 2)


def _best(order: list[int], costs: np.ndarray, prizes: np.ndarray, budget: float) -> float:
    inner, best = order[1:-1], -1.0
    for count in range(len(inner) + 1):
        for stops in combinations(inner, count):
            if sum(costs[a, b] for a, b in pairwise([order[0], *stops, order[-1]])) <= budget:
                best = max(best, float(sum(prizes[list(stops)])))
    return best


@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 9), symmetric=st.booleans(), share=st.floats(0.1, 1.2))
def test_no_choice_along_the_order_is_better(seed: int, nodes: int, symmetric: bool, share: float) -> None:
    costs, prizes = _problem(seed, nodes, symmetric)
    order = [0, *(np.random.default_rng(seed).permutation(nodes - 2) + 1).tolist(), nodes - 1]
    budget = max(costs[0, nodes - 1], share * sum(costs[a, b] for a, b in pairwise(order))) + 1e-9
    best = _best(order, costs, prizes, budget)
    route, _ = best_selection(np.array(order), costs, prizes, budget, 0.0)
    if best <= 0.0:
        assert len(route) == 0
        return
    assert [order.index(node) for node in route] == sorted(order.index(node) for node in route)
    assert (route[0], route[-1]) == (0, nodes - 1)
    assert sum(costs[a, b] for a, b in pairwise(route)) <= budget
    assert prizes[route[1:-1]].sum() == pytest.approx(best)
    assert len(best_selection(np.array(order), costs, prizes, budget, best + 1e-9)[0]) == 0


def test_other_nodes_lie_where_they_are_the_least_detour() -> None:
    places = np.array([[0, 0], [1, 0], [2, 0], [1, 0.1], [0.4, 0], [3, 0]], dtype=float)
    costs = np.linalg.norm(places[:, None] - places, axis=2)
    prizes = np.array([0, 1, 1, 1, 1, 0.0])
    nodes, place = np.array([0, 1, 2, 5, 0, 0]), np.array([0, 1, 2, -1, -1, 3])
    assert ordered(nodes, 4, place, costs, prizes, 9.0).tolist() in ([0, 4, 1, 3, 2, 5], [0, 4, 3, 1, 2, 5])
    assert least_detour(nodes, 4, costs, 4) == (0, pytest.approx(0.0))
    prizes[3] = 0.0  # nothing to win there
    assert ordered(nodes, 4, place, costs, prizes, 9.0).tolist() == [0, 4, 1, 2, 5]


def test_labels_that_run_out_leave_a_route_that_fits() -> None:
    """Thousands of choices are nearly as good; the best route at the price of cost keeps the limit already."""
    rng = np.random.default_rng(1)
    places = rng.random((400, 2))
    costs = np.linalg.norm(places[:, None] - places, axis=2)
    prizes, order = rng.random(400), np.argsort(places[:, 0])
    worth, legs = prizes[order], costs[np.ix_(order, order)]
    worth[[0, -1]] = 0.0
    rest, price, way = selection._priced(legs, worth, worth.sum(), 3.0)
    assert sum(legs[a, b] for a, b in pairwise(way)) <= 3.0
    assert not selection._longest(legs, worth, 3.0, rest, price, 0.0)[1]
    route, _ = best_selection(order, costs, prizes, 3.0, 0.0)
    assert sum(costs[a, b] for a, b in pairwise(route)) <= 3.0
    assert prizes[route[1:-1]].sum() >= worth[way].sum() > 30


def test_a_huge_prize_beside_small_ones_changes_nothing_for_them() -> None:
    rng = np.random.default_rng(2)
    places = rng.random((30, 2))
    costs = np.linalg.norm(places[:, None] - places, axis=2)
    prizes, order = rng.random(30), np.argsort(places[:, 0])
    prizes[order[15]] = 1e6
    worth, legs = prizes[order], costs[np.ix_(order, order)]
    worth[[0, -1]] = 0.0
    _, price, _ = selection._priced(legs, worth, worth.sum(), 2.0)
    worth[15] = 50.0
    assert price == pytest.approx(selection._priced(legs, worth, worth.sum(), 2.0)[1], rel=0.01)
