"""The shape of the policy and value network; torch, the host's loops and training all read it."""

from dataclasses import dataclass
from typing import Literal, get_args

Goal = Literal["prize", "cost"]
LONGEST = 8.0
"""Where the goal is cost, a leg is estimated at no more than exp(LONGEST) typical steps: exponentials stay finite."""


@dataclass(frozen=True)
class PolicyConfig:
    """The shape of the network."""

    hidden: int = 128
    """Size of a node's vector."""
    heads: int = 4
    layers: int = 6
    widen: int = 4
    """Inner size of the layers' feed-forward parts, in units of `hidden`."""
    beta: float = 0.6
    """Weight of a choice's log probability beside the value to go, in mean prizes, or in typical steps of a tour."""
    goal: Goal = "prize"
    """What is estimated: the most prize to go, or the least cost of visiting everything."""

    def __post_init__(self) -> None:
        if self.goal not in get_args(Goal):
            raise ValueError(f"PolicyConfig.goal must be one of {', '.join(get_args(Goal))}, got {self.goal!r}")
        for field in ("hidden", "heads", "layers", "widen"):
            if getattr(self, field) < 1:
                raise ValueError(f"PolicyConfig.{field} must be at least 1, got {getattr(self, field)}")
        if self.hidden % self.heads:
            raise ValueError(f"PolicyConfig.hidden must be a multiple of heads {self.heads}, got {self.hidden}")
