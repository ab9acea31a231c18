"""The log of expanded paths as tensors."""

import torch
from torch import Tensor

from orienteer.beam.candidates import Candidates
from orienteer.beam.paths import PathLog
from orienteer.beam.problems import Problems
from orienteer.beam.states import States


class TensorLog(PathLog):
    """A log in tensors that grow."""

    def __init__(self, problems: Problems, room: int | None = None):
        """`room` is for how many paths there is memory at first."""
        super().__init__(problems)
        room, device = 4 * problems.batch if room is None else room, problems.prizes.device
        self.trail = torch.empty(room, dtype=torch.int64, device=device)
        self.instance = torch.empty(room, dtype=torch.int64, device=device)
        self.prize = torch.empty(room, dtype=torch.float64, device=device)
        self.cost = torch.empty(room, dtype=torch.float64, device=device)
        self.visited = torch.empty(room, problems.nodes, dtype=torch.bool, device=device)

    def begin(self) -> States:
        states = States.initial(self.problems)
        self._append(torch.full_like(states.last, -1), states)
        return states

    def add(self, chosen: Candidates) -> States:
        nodes = self.problems.nodes
        parent = chosen.trail // nodes
        last = chosen.trail - parent * nodes
        instance = self.instance.index_select(0, parent)
        visited = self.visited.index_select(0, parent)
        visited.scatter_(1, last[:, None], True)
        prize = self.prize.index_select(0, parent)
        prize += self.problems.prizes.reshape(-1).index_select(0, instance * nodes + last)
        memory = None if self.memory is None else self.memory.index_select(0, parent)
        states = States(self.problems, instance, last, visited, chosen.cost.contiguous(), prize, chosen.score, memory)
        self._append(chosen.trail, states)
        return states

    def stops(self, number: Tensor) -> list[list[int]]:
        """All paths are followed together on the GPU, a node at a time: the log is too large to copy to the host."""
        backwards = []
        while True:
            trail = torch.where(number >= 0, self.trail[number.clamp_min(0)], -1)
            if not (trail >= 0).any():
                break
            number = torch.where(trail >= 0, trail // self.problems.nodes, -1)
            backwards.append(torch.where(trail >= 0, trail % self.problems.nodes, -1))
        if not backwards:
            return [[]] * len(number)
        return [[node for node in row if node >= 0] for row in torch.stack(backwards[::-1], 1).tolist()]

    def _append(self, trail: Tensor, states: States) -> None:
        first, self.used = self.used, self.used + len(states)
        if self.used > self.room:
            self.grow(max(self.used, 2 * self.room))
        rows = slice(first, self.used)
        self.trail[rows] = trail
        self.instance[rows] = states.instance
        self.prize[rows] = states.prize
        self.cost[rows] = states.cost
        self.visited[rows] = states.visited

    @property
    def room(self) -> int:
        """For how many paths there is memory."""
        return len(self.trail)

    def grow(self, room: int) -> None:
        """Makes memory for `room` paths."""
        for name in ("trail", "instance", "prize", "cost", "visited"):
            setattr(self, name, grown(getattr(self, name), room))


def grown(tensor: Tensor, room: int) -> Tensor:
    """A copy with `room` rows; the new rows are not set."""
    larger = tensor.new_empty(room, *tensor.shape[1:])
    larger[: len(tensor)] = tensor
    return larger
