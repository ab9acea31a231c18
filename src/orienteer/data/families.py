"""Random places and the costs between them, with a function for each family of costs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from orienteer.data.draws import Draws
from orienteer.data.streets import street_times
from orienteer.model.distances import euclidean, manhattan, pairwise
from orienteer.model.numbers import Array


@dataclass(frozen=True)
class Places:
    """Random places: their positions, if they have any, and their costs, unless these are Euclidean distances."""

    coords: Array | None
    costs: Array | None

    def costs_from(self, node: int) -> Array:
        """(n,) the costs from the node to each node."""
        if self.costs is not None:
            return self.costs[node]
        assert self.coords is not None
        return euclidean(self.coords[node], self.coords)


def euclidean_places(draws: Draws, size: int) -> Places:
    """Uniform in the unit square; costs are straight lines."""
    return Places(draws.uniform(size, 2), None)


def manhattan_places(draws: Draws, size: int) -> Places:
    """Uniform in the unit square; costs run along the axes."""
    coords = draws.uniform(size, 2)
    return Places(coords, pairwise(coords, manhattan))


def tmat_places(draws: Draws, size: int) -> Places:
    """Random costs that obey the triangle inequality, scaled to a largest of 1 (GREAT, arXiv 2408.16717).

    They are whole numbers up to 10**6 before, each replaced by the cost of the cheapest path.
    """
    costs = draws.integers(1, 1_000_000, size, size)
    np.fill_diagonal(costs, 0.0)
    for middle in range(size):  # Floyd and Warshall: the closure that repeated min-plus products reach
        np.minimum(costs, costs[:, middle, None] + costs[middle], out=costs)
    return Places(None, costs / costs.max() if size > 1 else costs)


def xasy_places(draws: Draws, size: int) -> Places:
    """Every arc uniform in [0, 1): no symmetry, no triangle inequality (GREAT, arXiv 2408.16717)."""
    costs = draws.uniform(size, size)
    np.fill_diagonal(costs, 0.0)
    return Places(None, costs)


def road_places(draws: Draws, size: int) -> Places:
    """Crossings of a random street network; costs are the shortest times between them, by one-way streets too."""
    return Places(*street_times(draws, size))


FAMILIES: dict[str, Callable[[Draws, int], Places]] = {
    "euclidean": euclidean_places,
    "manhattan": manhattan_places,
    "tmat": tmat_places,
    "xasy": xasy_places,
    "road": road_places,
}
"""The families by name. A family's place in the list is part of its seeds: new families go to the end."""
