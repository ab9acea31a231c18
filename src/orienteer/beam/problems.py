"""Many instances as tensors on one device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from orienteer.model.instance import TOLERANCE, Array, Instance

COSTS_AT_ONCE = 2**19
"""Costs that are brought to a device together: few enough to stay in a processor's cache."""


@dataclass(frozen=True)
class CostTable:
    """Where the costs of some states' problems are to be read, for scores, which may round."""

    costs: Tensor  # (matrix, node, node) float32
    matrix: Tensor  # (state,) int64, which of them
    back: Tensor | None  # (state,) bool, where rows and columns are exchanged; None: nowhere
    unit: Tensor  # (state,) what costs are multiples of


@dataclass(frozen=True)
class Problems:
    """A batch of instances, padded to the largest with nodes that nothing reaches.

    Costs and prizes stay in float64: a search may round inside its scores, never in what it accepts. Prizes lie on a
    grid of about their sum / 2**52, where sums are exact: the same nodes in another order have the same prize.
    """

    costs: Tensor  # (batch, node, node) float64, inf to and from padding
    prizes: Tensor  # (batch, node) float64, 0 for padding
    limit: Tensor  # (batch,) float64
    start: Tensor  # (batch,) int64
    end: Tensor  # (batch,) int64
    to_end: Tensor  # (batch, node) float64, cheapest way to the end through any nodes, inf for padding

    @classmethod
    def from_instances(cls, instances: Sequence[Instance], device: torch.device | str = "cpu") -> "Problems":
        """The batch of these instances on `device`."""
        nodes = max(instance.size for instance in instances)
        prizes = np.zeros((len(instances), nodes))
        to_end = np.full((len(instances), nodes), np.inf)
        for row, instance in enumerate(instances):
            prizes[row, : instance.size] = _on_grid(instance.prizes, instance.reachable)
            to_end[row, : instance.size] = instance.to_end
        return cls(
            costs=_costs(instances, nodes, device),
            prizes=torch.from_numpy(prizes).to(device),
            limit=torch.tensor([one.limit for one in instances], dtype=torch.float64, device=device),
            start=torch.tensor([one.start for one in instances], device=device),
            end=torch.tensor([one.end for one in instances], device=device),
            to_end=torch.from_numpy(to_end).to(device),
        )

    @classmethod
    def smallest(cls) -> "Problems":
        """A problem of three nodes on the CPU, to compile kernels with."""
        return cls.from_instances([Instance(1.0 - np.eye(3), [1.0] * 3, 2.0)])

    @property
    def batch(self) -> int:
        """How many instances there are."""
        return self.prizes.shape[0]

    @property
    def nodes(self) -> int:
        """The padded number of nodes."""
        return self.prizes.shape[1]

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.prizes.device

    def legs(self, instance: Tensor, node: Tensor) -> Tensor:
        """(state, node) what leaving `node` for each other node costs, in the problem `instance` of each state."""
        return self.costs.reshape(-1, self.nodes).index_select(0, instance * self.nodes + node)

    def table(self, instance: Tensor) -> CostTable:
        """The costs of the problems of some states."""
        return CostTable(self.relative_costs, instance, None, self.divisor.index_select(0, instance))

    @cached_property
    def budget(self) -> Tensor:
        """(batch,) the limit with the tolerance added."""
        return self.limit * (1 + TOLERANCE)

    @cached_property
    def straight(self) -> Tensor:
        """(batch, node) cost of the direct leg to the end, the only one that closes a route; 0 from the end itself."""
        rows = torch.arange(self.batch, device=self.device)
        legs = self.costs[rows, :, self.end].clone()
        legs[rows, self.end] = 0.0
        return legs

    @cached_property
    def relative_costs(self) -> Tensor:
        """(batch, node, node) the costs in units of the limit, in float32: for scores, which may round."""
        return (self.costs / self.divisor[:, None, None]).to(torch.float32).contiguous()

    @cached_property
    def divisor(self) -> Tensor:
        """(batch,) the limit, or the least float above zero where it is zero."""
        return self.limit.clamp_min(torch.finfo(self.limit.dtype).tiny)

    @cached_property
    def symmetric(self) -> Tensor:
        """(batch,) bool: whether every leg costs the same in both directions."""
        return is_symmetric(self.costs)

    @cached_property
    def mean_prize(self) -> Tensor:
        """(batch,) mean of the prizes above zero: what a stop is worth, roughly."""
        return self.prizes.sum(1) / (self.prizes > 0).sum(1).clamp(min=1)

    @cached_property
    def alike(self) -> Tensor:
        """(batch,) bool: whether all prizes above zero are the same."""
        least = torch.where(self.prizes > 0, self.prizes, torch.inf).amin(1)
        return least == self.prizes.amax(1)

    @cached_property
    def any_alike(self) -> bool:
        """Whether that holds for any instance."""
        return bool(self.alike.any())

    @cached_property
    def closeness(self) -> tuple[Tensor, Tensor]:
        """(batch, node, node) exp(-cost / typical), alike in both directions, and (batch,) the typical cost of a leg.

        Typical is the mean cost to the nearest node.
        """
        itself = torch.eye(self.nodes, dtype=torch.bool, device=self.device)
        costs = self.costs.masked_fill(itself, torch.inf)
        nearest = costs.amin(2)
        real = nearest < torch.inf
        typical = nearest.masked_fill(~real, 0.0).sum(1) / real.sum(1).clamp(min=1)
        typical = typical.maximum(1e-9 * self.limit)
        near = costs.div_(-typical[:, None, None]).exp_()  # in place: matrices may be most of what there is
        return near.add(near.mT).mul_(0.5), typical


def is_symmetric(costs: Tensor) -> Tensor:
    """(matrix,) bool: whether every leg of (matrix, node, node) costs is the same in both directions."""
    return (costs == costs.mT).flatten(1).all(1)


def _costs(instances: Sequence[Instance], nodes: int, device: torch.device | str) -> Tensor:
    """(instance, node, node) costs, padded; all go through one small array, since fresh memory is slow to write."""
    costs = torch.empty(len(instances), nodes, nodes, dtype=torch.float64, device=device)
    some = max(1, COSTS_AT_ONCE // nodes**2)
    part = np.empty((min(some, len(instances)), nodes, nodes))
    for at in range(0, len(instances), some):
        group = instances[at : at + some]
        part.fill(np.inf)
        for row, instance in enumerate(group):
            part[row, : instance.size, : instance.size] = instance.costs
        costs[at : at + some] = torch.from_numpy(part[: len(group)])
    return costs


def _on_grid(prizes: Array, reachable: npt.NDArray[np.bool_]) -> Array:
    """The prizes, rounded to multiples of a power of two so large that no sum of them needs rounding.

    Only those within reach are ever added: a huge one beyond must not round them away.
    """
    total = float(prizes[reachable].sum())
    if total == 0:
        return prizes
    grid = max(2.0 ** (math.ceil(math.log2(total)) - 52), math.ulp(0.0))
    rounded = prizes.copy()
    rounded[reachable] = np.round(prizes[reachable] / grid) * grid
    return rounded
