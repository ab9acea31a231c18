"""Schedules over the share of a run that has passed."""

import math


def linear(passed: float, first: float, last: float, share: float) -> float:
    """A line from `first` to `last` over the first `share` of the run, and `last` from there on."""
    return last if passed >= share else first + (last - first) * passed / share


def cosine(passed: float, warm: float = 0.02) -> float:
    """A short rise from 0 to 1, then half a cosine down to 0."""
    if passed < warm:
        return max(passed, 1e-3) / warm
    return 0.5 * (1 + math.cos(math.pi * (passed - warm) / (1 - warm)))
