"""The replay memory: the last transitions, each with its own copy of the instance it belongs to."""

from typing import Any

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.states import States

_PROBLEM = ("costs", "prizes", "limit", "start", "end", "to_end")
_STATE = ("last", "visited", "cost", "prize")


class Replay:
    """A ring of transitions (s, v, r, s', whether s' is an end)."""

    def __init__(self, capacity: int):
        if capacity < 1:
            raise ValueError(f"Replay.capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        self.filled = self.next = 0
        self.data: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return self.filled

    def push(self, before: States, node: Tensor, reward: Tensor, done: Tensor, after: States, ways: Tensor) -> None:
        """Adds transitions; the oldest go where there is no room."""
        rows = before.instance
        new = {name: getattr(before.problems, name)[rows] for name in _PROBLEM}
        new |= {"ways": ways[rows], "node": node, "reward": reward, "done": done}
        new |= {f"before.{name}": getattr(before, name) for name in _STATE}
        new |= {f"after.{name}": getattr(after, name) for name in _STATE}
        count = len(node)
        if count > self.capacity:
            new = {name: value[count - self.capacity :] for name, value in new.items()}
            count = self.capacity
        if not self.data:
            self.data = {
                name: torch.zeros((self.capacity, *value.shape[1:]), dtype=value.dtype, device=value.device)
                for name, value in new.items()
            }
        place = (self.next + torch.arange(count, device=node.device)) % self.capacity
        for name, value in new.items():
            self.data[name][place] = value
        self.next = (self.next + count) % self.capacity
        self.filled = min(self.capacity, self.filled + count)

    def sample(self, count: int, generator: torch.Generator) -> tuple[States, Tensor, Tensor, Tensor, States, Tensor]:
        """Transitions drawn with replacement: before, node, reward, done, after, and the instances' cheapest ways."""
        place = torch.randint(self.filled, (count,), generator=generator, device=generator.device)
        drawn = {name: value[place] for name, value in self.data.items()}
        problems = TensorProblems(**{name: drawn[name] for name in _PROBLEM})
        rows = torch.arange(count, device=place.device)
        before, after = (
            States(problems, rows, score=drawn["reward"], **{name: drawn[f"{when}.{name}"] for name in _STATE})
            for when in ("before", "after")
        )
        return before, drawn["node"], drawn["reward"], drawn["done"], after, drawn["ways"]

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on."""
        return {"filled": self.filled, "next": self.next, "data": self.data}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.filled, self.next, self.data = saved["filled"], saved["next"], saved["data"]
