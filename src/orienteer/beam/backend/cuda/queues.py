"""One bounded queue of paths for every instance and every level of cost."""

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.seen import Seen
from orienteer.beam.backend.cuda.selection import Crowd, keep_best, select
from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS, REMEMBERED, Candidates, Offspring
from orienteer.beam.cost_level import count_levels
from orienteer.beam.problems import Problems

ROOM_AT_FIRST = 16
"""Slots of a queue without bound before it grows."""

EMPTY = int(torch.tensor(-torch.inf, dtype=torch.float64).view(torch.int64))
"""The score of a slot without a path: minus infinity."""


class TensorQueues:
    """Paths of cost c wait in level ceil(c / tau) of their instance, at most `width` in each (None: any number)."""

    def __init__(
        self,
        problems: Problems,
        width: int | None,
        tau: Tensor,
        spread: float = 0.0,
        lag: float | None = None,
        remembered: int = REMEMBERED,
    ):
        """`tau` is (batch,) the width of a level in units of cost; `spread` and `lag` are those of `Backend.queues`."""
        self.problems, self.width, self.tau = problems, width, tau
        self.count = count_levels(problems, tau)
        self.groups = problems.batch * self.count
        if self.groups > MOST_GROUPS or self.groups * problems.nodes > MOST_SPOTS:
            raise ValueError(f"{problems.batch} instances of {self.count} levels are too many for one batch")
        self._price = None if width is None or not spread else spread * problems.mean_prize
        self._lag = problems.lag(lag)
        self._slots = self._empty(width or ROOM_AT_FIRST)  # (group, slot, 4)
        # The score that a path must reach to enter a full queue. The last entry belongs to no queue: scores that no
        # queue needs are written there.
        self._worst = torch.full((self.groups + 1,), -torch.inf, dtype=torch.float64, device=problems.prizes.device)
        # Which queues hold paths: the slots would tell, but there are too many to look through at every step.
        self._filled = torch.zeros(self.groups, dtype=torch.uint8, device=problems.prizes.device)
        # (batch,) the queue of level 0
        self._first = torch.arange(0, self.groups, self.count, device=problems.prizes.device)
        self._seen = Seen(problems.batch, problems.prizes.device, remembered)

    def put(self, children: Offspring) -> None:
        """Merges children into their queues; full queues keep the best."""
        instance, candidates = children.instance, children.candidates
        level = torch.ceil(candidates.cost / self.tau.index_select(0, instance)).to(torch.int64)
        group = instance * self.count + level
        if self.width is not None:
            able = (candidates.score >= self._worst.index_select(0, group)).nonzero().squeeze(1)
            instance, group = instance.index_select(0, able), group.index_select(0, able)
            candidates = select(candidates, able)
        new = self._seen.new(instance, candidates)
        if len(new):
            self._merge(select(candidates, new), group.index_select(0, new))

    def pop(self) -> Candidates:
        """All paths worth expanding of each instance's cheapest level that has any; none when all queues are empty.

        Instances need not wait for one another, and each reads its levels in the same order as if it were alone: no leg
        costs less than nothing, so that no path falls back behind the one that it came from.
        """
        while True:
            cheapest = self._filled.view(self.problems.batch, self.count).argmax(1)  # the first of equals
            group = cheapest + self._first
            queue = self._slots.index_select(0, group)
            score = queue[..., 0].contiguous().view(torch.float64)
            if not (score > -torch.inf).any():
                return Candidates(queue.view(-1, 4)[:0], torch)
            worth = (score > -torch.inf) & ~(score < score.amax(1, keepdim=True) - self._lag[:, None])
            instance, slot = worth.nonzero(as_tuple=True)
            paths = Candidates(queue.view(-1, 4).index_select(0, instance * queue.shape[1] + slot), torch)
            self._slots[group, :, 0] = EMPTY
            self._worst[group] = -torch.inf
            self._filled[group] = 0
            new = self._seen.new(instance, paths)
            paths = select(paths, new)
            if len(paths):
                self._seen.add(instance.index_select(0, new), paths)
                return paths

    def _merge(self, candidates: Candidates, group: Tensor) -> None:
        touched = torch.zeros(self.groups, dtype=torch.bool, device=group.device)
        touched[group] = True
        touched = touched.nonzero().squeeze(1)
        waiting = self._slots.index_select(0, touched)
        taken, slot = (waiting[..., 0] != EMPTY).nonzero(as_tuple=True)
        waiting = waiting.view(-1, 4).index_select(0, taken * waiting.shape[1] + slot)
        candidates = Candidates(torch.cat((waiting, candidates.packed)), torch)
        group = torch.cat((touched.index_select(0, taken), group))
        kept = keep_best(candidates, group, self.width, self._crowd(candidates, group))
        if self.width is None:
            self._make_room(int(kept.place.max()) + 1)
        self._slots[touched, :, 0] = EMPTY
        self._slots[kept.group, kept.place] = select(candidates, kept.index).packed
        self._filled[kept.group] = 1
        if self.width is not None:
            full = torch.where(kept.place == self.width - 1, kept.group, self.groups)
            self._worst.scatter_(0, full, kept.score)

    def _make_room(self, room: int) -> None:
        more = room - self._slots.shape[1]
        if more > 0:
            self._slots = torch.cat((self._slots, self._empty(more)), 1)

    def _crowd(self, candidates: Candidates, group: Tensor) -> Crowd | None:
        if self._price is None:
            return None
        nodes = self.problems.nodes
        return Crowd(candidates.trail % nodes, self._price.index_select(0, group // self.count), nodes)

    def _empty(self, room: int) -> Tensor:
        slots = torch.zeros(self.groups, room, 4, dtype=torch.int64, device=self.problems.prizes.device)
        slots[..., 0] = EMPTY
        return slots
