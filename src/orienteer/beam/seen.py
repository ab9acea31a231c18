"""Paths that have been expanded, to tell when another order of the same nodes comes later and dearer."""

import torch
from torch import Tensor

from orienteer.beam.candidates import Candidates
from orienteer.beam.device import has_kernels

SLOTS = 2**14
"""Paths that are remembered of an instance; a newer one takes the slot of an older."""


class Seen:
    """Remembers paths by their stamp: a dearer one with the same nodes and the same last node leads nowhere new.

    Every instance has slots of its own, so that what is forgotten does not depend on the batch.
    """

    def __init__(self, batch: int, device: torch.device):
        self._holder = torch.full((batch * SLOTS,), -1, dtype=torch.int64, device=device)  # row below
        self._stamp = torch.empty(4 * batch, dtype=torch.int64, device=device)
        self._cost = torch.empty(4 * batch, dtype=torch.float64, device=device)
        self._used = 0

    def add(self, instance: Tensor, paths: Candidates) -> None:
        """Remembers paths that are being expanded."""
        first, self._used = self._used, self._used + len(paths)
        if self._used > len(self._stamp):
            room = max(self._used, 2 * len(self._stamp))
            self._stamp, self._cost = grown(self._stamp, room), grown(self._cost, room)
        self._stamp[first : self._used] = paths.stamp
        self._cost[first : self._used] = paths.cost
        row = torch.arange(first, self._used, device=instance.device)
        self._holder.scatter_reduce_(0, _slot(instance, paths), row, "amax")

    def new(self, instance: Tensor, paths: Candidates) -> Tensor:
        """(new,) rows of the paths that no remembered one makes useless."""
        if has_kernels(instance.device):
            from orienteer.beam.fused_search import fused_known

            known = fused_known(paths.packed, instance, self._holder, self._stamp, self._cost, SLOTS)
            return (~known).nonzero().squeeze(1)
        row = self._holder.index_select(0, _slot(instance, paths))
        held = row.clamp(min=0)
        useless = self._stamp.index_select(0, held) == paths.stamp
        useless &= self._cost.index_select(0, held) <= paths.cost
        useless &= row >= 0
        return (~useless).nonzero().squeeze(1)


def grown(tensor: Tensor, room: int) -> Tensor:
    """A copy with room for so many rows; the new ones are not set."""
    larger = tensor.new_empty(room, *tensor.shape[1:])
    larger[: len(tensor)] = tensor
    return larger


def _slot(instance: Tensor, paths: Candidates) -> Tensor:
    return instance * SLOTS + (paths.stamp & (SLOTS - 1))
