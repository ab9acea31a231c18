"""Minimum cuts beside all subsets."""

import itertools

import numpy as np
import pytest

from orienteer.exact.flow import adjacency, max_flow, sink_side, source_side, spread
from orienteer.exact.separate.subtour import components


def random_graph(seed: int, size: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(size), 2)))
    chosen = pairs[rng.random(len(pairs)) < 0.5]
    return chosen[:, 0], chosen[:, 1], rng.integers(1, 9, len(chosen)) / 4


@pytest.mark.parametrize("seed", range(40))
def test_flow_is_the_least_cut(seed: int) -> None:
    low, high, weight = random_graph(seed)
    size, sink = 7, 1 + seed % 6
    cuts = {}
    for others in itertools.product([False, True], repeat=size):
        inside = np.array(others)
        if inside[sink] and not inside[0]:
            cuts[others] = float(weight[inside[low] != inside[high]].sum())
    graph = adjacency(size, low, high)
    capacity = spread(size, low, high, weight)
    least = min(cuts.values())
    assert max_flow(*graph, capacity, 0, sink, 1e9) == pytest.approx(least)
    smallest = sink_side(*graph, capacity, sink)
    assert cuts[tuple(smallest.tolist())] == pytest.approx(least)
    largest = ~source_side(graph[0], graph[1], capacity, 0)
    assert cuts[tuple(largest.tolist())] == pytest.approx(least)
    for inside, cut in cuts.items():
        if cut < least + 1e-9:
            assert (smallest <= np.array(inside)).all()
            assert (np.array(inside) <= largest).all()


def test_flow_ends_when_it_is_enough() -> None:
    low, high, weight = random_graph(3)
    graph = adjacency(7, low, high)
    assert max_flow(*graph, spread(7, low, high, weight), 0, 6, 0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
def test_components(seed: int) -> None:
    low, high, _ = random_graph(seed, size=9)
    low, high = low[::3], high[::3]
    near = np.eye(9, dtype=bool)
    near[low, high] = near[high, low] = True
    for _ in range(9):
        near = near @ near
    assert components(9, low, high).tolist() == near.argmax(axis=1).tolist()
