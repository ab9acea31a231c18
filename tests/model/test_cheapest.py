"""Cheapest paths: many problems at once against Dijkstra's algorithm and against hand-checked values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.model.cheapest import ROUNDS, cheapest_to, dijkstra


def test_ways_through_others_by_hand() -> None:
    """To node 0: from node 1 straight, from node 2 through node 1, and from node 3 there is no path."""
    inf = np.inf
    costs = np.array([[0, 9, 9, 9], [1, 0, 9, 9], [5, 2, 0, 9], [inf, inf, inf, 0]])
    assert cheapest_to(costs[None], np.array([0])).tolist() == [[0, 1, 3, inf]]
    best, before = dijkstra(costs.T, 0)
    assert best.tolist() == [0, 1, 3, inf]
    assert before[:3].tolist() == [0, 0, 1]


@given(
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(0, 99),
    st.sampled_from(["free", "points", "ties", "holes", "dear"]),
)
def test_all_problems_at_once_as_dijkstra_finds_them_one_by_one(count: int, size: int, seed: int, kind: str) -> None:
    """Equal to the last bit: whether a node is within the limit must not depend on how its instance was made."""
    rng = np.random.default_rng(seed)
    costs = rng.random((count, size, size))
    if kind == "points":
        points = rng.integers(0, 4, (count, size, 2)) / 3  # many in line, where sums of distances are rounded
        costs = np.sqrt(((points[:, :, None] - points[:, None]) ** 2).sum(-1))
    elif kind == "ties":
        costs = rng.integers(0, 4, costs.shape).astype(float)
    elif kind == "holes":
        costs[rng.random(costs.shape) < 0.5] = np.inf
    elif kind == "dear":
        costs = costs * 1.7e308
    nodes = rng.integers(0, size, count)
    for tables in (costs, costs.swapaxes(1, 2)):
        found = cheapest_to(tables, nodes)
        for row in range(count):
            np.testing.assert_array_equal(found[row], dijkstra(tables[row].T, int(nodes[row]))[0])


@pytest.mark.parametrize("size", [2 * ROUNDS, 700])
def test_ways_of_many_legs(size: int) -> None:
    """Along a line where a leg costs the square of its length, the cheapest way stops at every node."""
    spots = np.arange(float(size))
    costs = (spots[:, None] - spots) ** 2
    both = np.stack([costs, np.sqrt(costs)])  # in the second problem, straight is as cheap
    np.testing.assert_array_equal(cheapest_to(both, np.array([0, 3])), [spots, np.abs(spots - 3)])
