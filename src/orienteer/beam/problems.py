"""Many instances as padded arrays, numpy's on the host and torch's on a GPU.

Whatever both backends share is written once, with operators and functions that numpy and torch have in common (`xp`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE

Array = Any
"""An array of numpy on the host, a tensor of torch on a GPU."""

MARGIN = 1e-11
"""The limit is lowered by this share for a route whose legs are not added from start to end: the share is more than the
order of a sum can change by rounding, and far less than the tolerance."""
BLOCK = 2**19
"""Costs that are padded together: few enough to stay in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Problems(ABC):
    """A batch of instances, padded to the largest with nodes that nothing reaches.

    Costs and prizes stay in float64: a search may round inside its scores, never in what it accepts. Prizes lie on a
    grid of about their sum / 2**52, where sums are exact: the same nodes in another order have the same prize.
    """

    costs: Array  # (batch, node, node) float64, inf to and from padding
    prizes: Array  # (batch, node) float64, 0 for padding
    limit: Array  # (batch,) float64
    start: Array  # (batch,) int64
    end: Array  # (batch,) int64
    to_end: Array  # (batch, node) float64, cheapest way to the end through any nodes, inf for padding

    @property
    @abstractmethod
    def xp(self) -> Any:
        """The module of these arrays, numpy or torch."""

    @abstractmethod
    def arange(self, count: int) -> Array:
        """(count,) the numbers from 0 on, in the memory that holds the problems."""

    @abstractmethod
    def full(self, shape: tuple[int, ...], value: int) -> Array:
        """An int64 array of `value`, in the memory that holds the problems."""

    @abstractmethod
    def zeros(self, shape: tuple[int, ...]) -> Array:
        """A float64 array of zeros, in the memory that holds the problems."""

    @abstractmethod
    def take(self, table: Array, index: Array) -> Array:
        """(index, ...) rows of a table."""

    @abstractmethod
    def order(self, values: Array, falling: bool = False) -> Array:
        """(value,) the places of the values from lowest to highest, or `falling`; equal values keep their order."""

    @abstractmethod
    def repeated(self, values: Array, counts: Array, total: int) -> Array:
        """(total,) each value as often as its count says."""

    @abstractmethod
    def bits(self, sets: Array) -> Array:
        """(set, word) int64: the bits of (set, node) bool."""

    @abstractmethod
    def largest(self, values: Array, place: int) -> Array:
        """(row, 1) the value of each row that is the `place`-th from the top."""

    @property
    @abstractmethod
    def cheapest_ways(self) -> Array:
        """(batch, node, node) cost of the cheapest way between any two nodes, through any others; kept.

        Large problems, where this would take too long, get the costs themselves: for distances both are equal.
        """

    @property
    def batch(self) -> int:
        """How many instances there are."""
        return int(self.prizes.shape[0])

    @property
    def nodes(self) -> int:
        """The padded number of nodes."""
        return int(self.prizes.shape[1])

    def legs(self, instance: Array, node: Array) -> Array:
        """(state, node) what leaving `node` for each other node costs, in the problem `instance` of each state."""
        return self.take(self.costs.reshape(-1, self.nodes), instance * self.nodes + node)

    @cached_property
    def budget(self) -> Array:
        """(batch,) the limit with the tolerance added."""
        return self.limit * (1 + TOLERANCE)

    @cached_property
    def safe_budget(self) -> Array:
        """(batch,) the most that a route may cost whose legs are not added from start to end."""
        return self.limit * ((1 - MARGIN) * (1 + TOLERANCE))

    @cached_property
    def straight(self) -> Array:
        """(batch, node) cost of the direct leg to the end, the only one that closes a route; 0 from the end itself."""
        rows = self.arange(self.batch)
        legs = self.costs[rows, :, self.end]  # a copy
        legs[rows, self.end] = 0.0
        return legs

    @cached_property
    def relative_costs(self) -> Array:
        """(batch, node, node) the costs in units of the limit, in float32: for scores, which may round."""
        return self.xp.asarray(self.costs / self.divisor[:, None, None], dtype=self.xp.float32)

    @cached_property
    def divisor(self) -> Array:
        """(batch,) the limit, or the least float above zero where it is zero."""
        return self.limit.clip(np.finfo(np.float64).tiny)

    @cached_property
    def symmetric(self) -> Array:
        """(batch,) bool: whether every leg costs the same in both directions."""
        return is_symmetric(self.costs)

    @cached_property
    def mean_prize(self) -> Array:
        """(batch,) mean of the prizes above zero: what a stop is worth, roughly."""
        return self.prizes.sum(1) / (self.prizes > 0).sum(1).clip(1)

    def lag(self, lag: float | None) -> Array:
        """(batch,) a number of mean prizes, infinite where it is None."""
        return (math.inf if lag is None else lag) * (self.mean_prize + math.ulp(0.0))

    @cached_property
    def alike(self) -> Array:
        """(batch,) bool: whether all prizes above zero are the same."""
        least = self.xp.amin(self.xp.where(self.prizes > 0, self.prizes, math.inf), 1)
        return least == self.xp.amax(self.prizes, 1)

    @cached_property
    def any_alike(self) -> bool:
        """Whether any instance has prizes that are all the same."""
        return bool(self.alike.any())

    @cached_property
    def closeness(self) -> tuple[Array, Array]:
        """(batch, node, node) exp(-cost / typical), alike in both directions, and (batch,) the typical cost of a leg.

        Typical is the mean cost to the nearest node.
        """
        xp, nodes = self.xp, self.arange(self.nodes)
        costs = xp.where(nodes[:, None] == nodes, math.inf, self.costs)
        nearest = xp.amin(costs, 2)
        real = nearest < math.inf
        typical = xp.where(real, nearest, 0.0).sum(1) / real.sum(1).clip(1)
        typical = xp.maximum(typical, 1e-9 * self.limit)
        costs /= -typical[:, None, None]  # in place: matrices may be most of the memory
        near = xp.exp(costs, out=costs)
        return 0.5 * (near + near.swapaxes(1, 2)), typical


def is_symmetric(costs: Array) -> Array:
    """(matrix,) bool: whether every leg of (matrix, node, node) costs is the same in both directions."""
    return (costs == costs.swapaxes(1, 2)).reshape(len(costs), -1).all(1)


@dataclass(frozen=True)
class Padded:
    """Instances as numpy arrays but for their costs, which come in blocks: the first step to `Problems`."""

    instances: Sequence[Instance]
    limit: npt.NDArray[np.float64]  # (instance,)

    @classmethod
    def of(cls, instances: Sequence[Instance], directions: int) -> "Padded":
        """Every instance once, or twice in a row: as it is, and turned round."""
        limit = np.array([one.limit for one in instances])
        if directions == 1:
            return cls(instances, limit)
        both = [row for one in instances for row in (one, one.turned())]
        return cls(both, np.stack((limit, limit * (1 - MARGIN)), 1).reshape(-1))

    @property
    def nodes(self) -> int:
        """The number of nodes of the largest instance."""
        return max(one.size for one in self.instances)

    def by_node(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """(instance, node) prizes and costs of the cheapest ways to the end."""
        prizes = np.zeros((len(self.instances), self.nodes))
        to_end = np.full(prizes.shape, np.inf)
        for row, one in enumerate(self.instances):
            prizes[row, : one.size] = _on_grid(one)
            to_end[row, : one.size] = one.to_end
        return prizes, to_end

    def ends(self) -> npt.NDArray[np.int64]:
        """(2, instance) starts and ends."""
        return np.array([[one.start for one in self.instances], [one.end for one in self.instances]], dtype=np.int64)

    def cost_blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Rows and their (row, node, node) costs; all go through one small array: fresh memory is slow to write."""
        nodes, count = self.nodes, len(self.instances)
        step = max(1, BLOCK // nodes**2)
        block = np.empty((min(step, count), nodes, nodes))
        for first in range(0, count, step):
            group = self.instances[first : first + step]
            block.fill(np.inf)
            for row, one in enumerate(group):
                block[row, : one.size, : one.size] = one.costs
            yield slice(first, first + len(group)), block[: len(group)]


def _on_grid(instance: Instance) -> npt.NDArray[np.float64]:
    """The prizes, rounded to multiples of a power of two so large that no sum of them needs rounding.

    Only prizes within reach are ever added: a huge prize beyond reach must not make the grid too coarse for them.
    """
    prizes, reachable = instance.prizes, instance.reachable
    total = float(prizes[reachable].sum())
    if total == 0:
        return prizes
    grid = max(2.0 ** (math.ceil(math.log2(total)) - 52), math.ulp(0.0))
    rounded = prizes.copy()
    rounded[reachable] = np.round(prizes[reachable] / grid) * grid
    return rounded
