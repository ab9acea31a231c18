"""The answer of any network about sub-problems."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Estimate:
    """What each choice is worth, and what the whole sub-problem is worth."""

    action: Tensor  # (state, token) q in prize, or logits of an actor; meaningless where a token is no choice
    value: Tensor | None  # (state,) the prize to go, where the network has a head for it
