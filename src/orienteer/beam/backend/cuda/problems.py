"""Problems as torch tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import torch
from torch import Tensor
from torch.nn import functional

from orienteer.beam.problems import Padded, Problems
from orienteer.model.instance import Instance

_GATHER = 0x0102040810204080
"""A product with this number brings the lowest bits of eight bytes together in the highest byte."""


@dataclass(frozen=True)
class CostTable:
    """Where each state reads the costs of its problem, for scores, which may round."""

    costs: Tensor  # (matrix, node, node) float32
    matrix: Tensor  # (state,) int64, which matrix of `costs`
    back: Tensor | None  # (state,) bool, where rows and columns are exchanged; None: nowhere
    unit: Tensor  # (state,) the unit in which `costs` are given


class TensorProblems(Problems):
    """A batch in the memory of a device."""

    @classmethod
    def from_instances(
        cls, instances: Sequence[Instance], device: torch.device | str = "cpu", directions: int = 1
    ) -> "TensorProblems":
        """The batch on `device` in which every instance has a row for each direction: as it is, and turned round."""
        padded = Padded.of(instances, directions)
        costs = torch.empty(len(padded.instances), padded.nodes, padded.nodes, dtype=torch.float64, device=device)
        for rows, block in padded.cost_blocks():
            costs[rows] = torch.from_numpy(block)
        prizes, to_end = padded.by_node()
        by_row = (torch.from_numpy(one).to(device) for one in (prizes, padded.limit, *padded.ends(), to_end))
        return cls(costs, *by_row)

    @property
    def xp(self) -> ModuleType:
        return torch

    @property
    def device(self) -> torch.device:
        """Where the tensors lie."""
        device: torch.device = self.prizes.device
        return device

    @cached_property
    def divisor(self) -> Tensor:
        least: Tensor = self.limit.clip(torch.finfo(self.limit.dtype).tiny)
        return least

    @cached_property
    def cheapest_ways(self) -> Tensor:
        return cheapest_ways(self.costs)

    def table(self, instance: Tensor) -> CostTable:
        """The cost table of states whose problems are the rows `instance`."""
        return CostTable(self.relative_costs, instance, None, self.divisor.index_select(0, instance))

    def arange(self, count: int) -> Tensor:
        return torch.arange(count, device=self.device)

    def full(self, shape: tuple[int, ...], value: int) -> Tensor:
        return torch.full(shape, value, dtype=torch.int64, device=self.device)

    def zeros(self, shape: tuple[int, ...]) -> Tensor:
        return torch.zeros(shape, dtype=torch.float64, device=self.device)

    def take(self, table: Tensor, index: Tensor) -> Tensor:
        return table.index_select(0, index)

    def order(self, values: Tensor, falling: bool = False) -> Tensor:
        return values.argsort(descending=falling, stable=True)

    def repeated(self, values: Tensor, counts: Tensor, total: int) -> Tensor:
        return torch.repeat_interleave(values, counts, output_size=total)

    def bits(self, sets: Tensor) -> Tensor:
        count, nodes = sets.shape
        octets = functional.pad(sets, (0, -nodes % 64)).view(torch.uint8).view(torch.int64)  # (set, 8 nodes)
        return ((octets * _GATHER) >> 56).to(torch.uint8).view(count, -1).view(torch.int64)

    def largest(self, values: Tensor, place: int) -> Tensor:
        return values.topk(place).values[:, -1:]


def cheapest_ways(costs: Tensor) -> Tensor:
    """(batch, node, node) cost of the cheapest way between any two nodes, through any others (Floyd and Warshall)."""
    ways = costs.clone()
    ways.diagonal(dim1=1, dim2=2).fill_(0.0)
    through = torch.empty_like(ways)  # made once: large memory is slow to get and to give back
    for via in range(ways.shape[1]):
        torch.add(ways[:, :, via, None], ways[:, None, via, :], out=through)
        torch.minimum(ways, through, out=ways)
    return ways
