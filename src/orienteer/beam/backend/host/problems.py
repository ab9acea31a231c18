"""Problems as numpy arrays."""

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType

import numpy as np

from orienteer.beam.problems import Array, Padded, Problems
from orienteer.kernel import Floats, kernel
from orienteer.model.instance import Instance

MOST_FOR_WAYS = 1000
"""Nodes up to which the cheapest ways between all nodes are computed: nodes**3 steps, here a second."""


class HostProblems(Problems):
    """A batch in the memory of the host."""

    @classmethod
    def from_instances(cls, instances: Sequence[Instance], directions: int = 1) -> "HostProblems":
        """The batch in which every instance has a row for each direction: as it is, and turned round."""
        padded = Padded.of(instances, directions)
        costs = np.empty((len(padded.instances), padded.nodes, padded.nodes))
        for rows, block in padded.cost_blocks():
            costs[rows] = block
        prizes, to_end = padded.by_node()
        start, end = padded.ends()
        return cls(costs, prizes, padded.limit, start, end, to_end)

    @property
    def xp(self) -> ModuleType:
        return np

    @cached_property
    def cheapest_ways(self) -> Array:
        return ways_or_costs(self.costs)

    def arange(self, count: int) -> Array:
        return np.arange(count)

    def full(self, shape: tuple[int, ...], value: int) -> Array:
        return np.full(shape, value, dtype=np.int64)

    def zeros(self, shape: tuple[int, ...]) -> Array:
        return np.zeros(shape)

    def take(self, table: Array, index: Array) -> Array:
        return table[index]

    def order(self, values: Array, falling: bool = False) -> Array:
        return np.argsort(-values if falling else values, kind="stable")

    def repeated(self, values: Array, counts: Array, total: int) -> Array:
        return np.repeat(values, counts)

    def bits(self, sets: Array) -> Array:
        octets = np.packbits(np.pad(sets, ((0, 0), (0, -sets.shape[1] % 64))), axis=1, bitorder="little")
        return octets.view(np.int64)

    def largest(self, values: Array, place: int) -> Array:
        return np.partition(values, -place, axis=1)[:, -place, None]


def ways_or_costs(costs: Array, most_nodes: int = MOST_FOR_WAYS) -> Array:
    """(batch, node, node) the cheapest ways, or in problems of more than `most_nodes` nodes the costs themselves."""
    return cheapest_ways(costs) if costs.shape[1] <= most_nodes else costs


@kernel
def cheapest_ways(costs: Floats) -> Floats:
    """(batch, node, node) cost of the cheapest way between any two nodes, through any others (Floyd and Warshall)."""
    ways = costs.copy()
    nodes = costs.shape[1]
    for row in range(len(ways)):
        own = ways[row]
        for node in range(nodes):
            own[node, node] = 0.0
        for via in range(nodes):
            for here in range(nodes):
                first = own[here, via]
                for there in range(nodes):
                    own[here, there] = min(own[here, there], first + own[via, there])
    return ways
