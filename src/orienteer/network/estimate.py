"""What a network says about sub-problems, whichever network it is."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Estimate:
    """What each choice is worth, and the whole sub-problem."""

    action: Tensor  # (state, token) q in prize, or logits of an actor; only choices are meant
    value: Tensor | None  # (state,) the prize to go, where the network has a head for it
