"""Small tour problems, and the truth about them by trying every order."""

import itertools

import numpy as np

from instances import shortest
from orienteer import Instance
from orienteer.lab.tours.instance import tour_problem


def small_costs(family: str, size: int, seed: int) -> np.ndarray:
    """A random cost matrix: plane, asymmetric (with a triangle inequality), nonmetric or holes (ways are missing)."""
    rng = np.random.default_rng([size, seed])
    if family == "plane":
        points = rng.random((size, 2))
        return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    costs = rng.random((size, size))
    np.fill_diagonal(costs, 0.0)
    if family == "asymmetric":
        return shortest(costs)
    if family == "holes":
        ring = np.roll(np.arange(size), -1)
        holes = rng.random((size, size)) < 0.2
        holes[np.arange(size), ring] = False
        costs[holes] = np.inf
    return costs


def some_problems(count: int, sizes: tuple[int, ...] = (3, 5, 7), families: tuple[str, ...] = ()) -> list[Instance]:
    """`count` tour problems of each family, sizes in turn, not all from node 0."""
    return [
        tour_problem(small_costs(family, sizes[seed % len(sizes)], seed), start=seed % 3)
        for family in families or ("plane", "asymmetric", "nonmetric", "holes")
        for seed in range(count)
    ]


def least_cost(costs: np.ndarray, start: int, end: int) -> float:
    """The cost of the shortest route through every node, by trying all of them."""
    inner = [node for node in range(len(costs)) if node not in (start, end)]
    orders = ((start, *order, end) for order in itertools.permutations(inner))
    return min(sum(float(costs[a, b]) for a, b in itertools.pairwise(order) if a != b) for order in orders)
