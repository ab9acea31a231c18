"""Expanded paths, remembered to drop a later and dearer path through the same nodes in another order."""

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.fused_search import fused_known
from orienteer.beam.backend.cuda.paths import grown
from orienteer.beam.candidates import Candidates


class Seen:
    """Remembers paths by their stamp: a dearer path with the same nodes and the same last node leads nowhere new.

    Every instance has slots of its own, so that what is forgotten does not depend on the batch.
    """

    def __init__(self, batch: int, device: torch.device, slots: int):
        """`slots` is how many paths of an instance are remembered, a power of two."""
        self.slots = slots
        # (slot,) the row of `stamp` and `cost` that holds its path, -1 if empty
        self.holder = torch.full((batch * slots,), -1, dtype=torch.int64, device=device)
        self.stamp = torch.empty(4 * batch, dtype=torch.int64, device=device)
        self.cost = torch.empty(4 * batch, dtype=torch.float64, device=device)
        self.used = 0

    def add(self, instance: Tensor, paths: Candidates) -> None:
        """Remembers paths that are being expanded."""
        self.make_room(len(paths))
        first, self.used = self.used, self.used + len(paths)
        self.stamp[first : self.used] = paths.stamp
        self.cost[first : self.used] = paths.cost
        row = torch.arange(first, self.used, device=instance.device)
        slot = instance * self.slots + (paths.stamp & (self.slots - 1))
        self.holder.scatter_reduce_(0, slot, row, "amax")

    def make_room(self, more: int) -> None:
        """Makes room for `more` paths."""
        if self.used + more > len(self.stamp):
            room = max(self.used + more, 2 * len(self.stamp))
            self.stamp, self.cost = grown(self.stamp, room), grown(self.cost, room)

    def new(self, instance: Tensor, paths: Candidates) -> Tensor:
        """(new,) rows of the paths for which no path with the same stamp is remembered that costs no more."""
        known = fused_known(paths.packed, instance, self.holder, self.stamp, self.cost, self.slots)
        return (~known).nonzero().squeeze(1)
