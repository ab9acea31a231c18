"""The queues of a cost-level search on a CPU, by loops in place of many small tensors."""

import torch
from torch import Tensor

from orienteer.beam.backend.host.levels import fill, read
from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS, Candidates, bits_for_score
from orienteer.beam.expand import Offspring
from orienteer.beam.levels import EMPTY, CostLevels
from orienteer.beam.problems import Problems

BITS = bits_for_score(MOST_GROUPS), bits_for_score(MOST_SPOTS)


class HostLevels(CostLevels):
    """Bounded queues with the same paths as `CostLevels`."""

    def __init__(self, problems: Problems, width: int, tau: Tensor, spread: float = 0.0):
        super().__init__(problems, width, tau, spread)
        self._room = torch.empty(problems.batch * width, 4, dtype=torch.int64)
        self._prices = (torch.zeros_like(tau) if self._price is None else self._price).numpy()
        self._queues = (self._slots.numpy(), EMPTY, self._worst.numpy(), self._filled.numpy(), self.count)

    def put(self, children: Offspring) -> None:
        known = self._seen
        fill(
            children.candidates.packed.numpy(), children.instance.numpy(), self.tau.numpy(), self._prices,
            self.problems.nodes, *BITS, *self._queues,  # type: ignore[arg-type]
            known.holder.numpy(), known.stamp.numpy(), known.cost.numpy(),
        )  # fmt: skip

    def pop(self) -> Candidates:
        known = self._seen
        known.make_room(len(self._room))
        remembered = known.holder.numpy(), known.stamp.numpy(), known.cost.numpy()
        found = read(*self._queues, *remembered, known.used, self._room.numpy())
        known.used += found
        return Candidates(self._room[:found].clone())
