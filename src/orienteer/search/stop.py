"""Stop criteria: they read a snapshot of the search and hold no state, so they can be shared or sent to a worker."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from orienteer.model.plan import Plan


@dataclass(frozen=True)
class Progress:
    """A snapshot of a running search."""

    seconds: float
    """Wall-clock seconds since the search began."""
    steps: int
    """Steps done; the solver's documentation says what a step is."""
    since_best: int
    """Steps since the prize last rose."""
    prize: float
    """The best prize so far."""
    bound: float = math.inf
    """No route can collect more than this; infinite where no bound is known."""
    fraction: float = math.nan
    """The share of the allowance that is used, from 0 to 1, for listeners; NaN where the stop criterion cannot know."""
    plan: Plan | None = None
    """The best plan so far; None while there is none."""


OnProgress = Callable[[Progress], None]


def ignore(now: Progress) -> None:
    """An `OnProgress` that does nothing."""


class Stop:
    """A stop criterion: called with the progress of a search, it says whether to end.

    `fraction` tells how much of the allowance is used (0 to 1, or NaN where the criterion cannot know), so that a
    search can cool down in time. `steps_left` and `seconds_left` tell how long the next piece of work may be; they are
    infinite where the criterion has no such limit. `reads_prize` says whether prizes matter to the criterion: a GPU has
    to be asked for them, which takes time.
    """

    @property
    def reads_prize(self) -> bool:
        return True

    def __call__(self, now: Progress) -> bool:
        raise TypeError(f"{type(self).__name__} must define __call__")

    def fraction(self, now: Progress) -> float:
        return math.nan

    def steps_left(self, now: Progress) -> float:
        return math.inf

    def seconds_left(self, now: Progress) -> float:
        return math.inf


@dataclass(frozen=True)
class MaxSeconds(Stop):
    """Ends after `seconds` of wall-clock time."""

    seconds: float

    def __post_init__(self) -> None:
        _at_least("MaxSeconds.seconds", self.seconds, 0)

    @property
    def reads_prize(self) -> bool:
        return False

    def __call__(self, now: Progress) -> bool:
        return now.seconds >= self.seconds

    def fraction(self, now: Progress) -> float:
        return min(1.0, now.seconds / self.seconds) if self.seconds else 1.0

    def seconds_left(self, now: Progress) -> float:
        return max(0.0, self.seconds - now.seconds)


@dataclass(frozen=True)
class MaxSteps(Stop):
    """Ends after `steps` steps: runs with equal seeds give equal results."""

    steps: int

    def __post_init__(self) -> None:
        _at_least("MaxSteps.steps", self.steps, 0)

    @property
    def reads_prize(self) -> bool:
        return False

    def __call__(self, now: Progress) -> bool:
        return now.steps >= self.steps

    def fraction(self, now: Progress) -> float:
        return min(1.0, now.steps / self.steps) if self.steps else 1.0

    def steps_left(self, now: Progress) -> float:
        return max(0, self.steps - now.steps)


@dataclass(frozen=True)
class NoImprovement(Stop):
    """Ends after `steps` steps in a row without a better route."""

    steps: int

    def __post_init__(self) -> None:
        _at_least("NoImprovement.steps", self.steps, 1)

    def __call__(self, now: Progress) -> bool:
        return now.since_best >= self.steps

    def steps_left(self, now: Progress) -> float:
        return max(0, self.steps - now.since_best)


@dataclass(frozen=True)
class TargetPrize(Stop):
    """Ends as soon as a route collects `prize` or more."""

    prize: float

    def __post_init__(self) -> None:
        if math.isnan(self.prize):
            raise ValueError("TargetPrize.prize must be a number, got nan")

    def __call__(self, now: Progress) -> bool:
        return now.prize >= self.prize


@dataclass(frozen=True)
class Never(Stop):
    """Never ends a search: the solver ends by itself."""

    @property
    def reads_prize(self) -> bool:
        return False

    def __call__(self, now: Progress) -> bool:
        return False


@dataclass(frozen=True)
class When(Stop):
    """Ends when `condition`, any function of the progress, returns True.

    A condition to which prizes do not matter may say so by an attribute `reads_prize`.
    """

    condition: Callable[[Progress], bool]

    @property
    def reads_prize(self) -> bool:
        return bool(getattr(self.condition, "reads_prize", True))

    def __call__(self, now: Progress) -> bool:
        return bool(self.condition(now))


@dataclass(frozen=True, init=False)
class AnyOf(Stop):
    """Ends as soon as any of several criteria does."""

    criteria: tuple[Stop, ...]

    def __init__(self, *criteria: Stop | Callable[[Progress], bool]) -> None:
        object.__setattr__(self, "criteria", tuple(as_stop(criterion) for criterion in criteria))

    @property
    def reads_prize(self) -> bool:
        return any(criterion.reads_prize for criterion in self.criteria)

    def __call__(self, now: Progress) -> bool:
        return any(criterion(now) for criterion in self.criteria)

    def fraction(self, now: Progress) -> float:
        known = [part for part in (criterion.fraction(now) for criterion in self.criteria) if not math.isnan(part)]
        return max(known, default=math.nan)

    def steps_left(self, now: Progress) -> float:
        return min((criterion.steps_left(now) for criterion in self.criteria), default=math.inf)

    def seconds_left(self, now: Progress) -> float:
        return min((criterion.seconds_left(now) for criterion in self.criteria), default=math.inf)


@dataclass(frozen=True)
class PartOf(Stop):
    """Ends when a part of another criterion's allowance is used, so that something is left for what comes after.

    A criterion that cannot tell how much is used holds as it is.
    """

    stop: Stop
    part: float

    @property
    def reads_prize(self) -> bool:
        return self.stop.reads_prize

    def __call__(self, now: Progress) -> bool:
        return self.stop(now) or self.stop.fraction(now) >= self.part

    def fraction(self, now: Progress) -> float:
        used = self.stop.fraction(now)
        return used if math.isnan(used) else min(1.0, used / self.part)

    def steps_left(self, now: Progress) -> float:
        return self._left(now.steps, self.stop.steps_left(now), now)

    def seconds_left(self, now: Progress) -> float:
        return self._left(now.seconds, self.stop.seconds_left(now), now)

    def _left(self, used: float, left: float, now: Progress) -> float:
        known = not math.isnan(self.stop.fraction(now))
        return max(0.0, self.part * (used + left) - used) if known else left


def at_most(seconds: float | None = None, steps: float | None = None) -> Stop:
    """Ends after `seconds` or after `steps`, whichever comes first; None or infinity for no such limit."""
    limits: list[Stop] = []
    if seconds is not None and seconds != math.inf:
        limits.append(MaxSeconds(seconds))
    if steps is not None and steps != math.inf:
        limits.append(MaxSteps(int(steps)))
    return AnyOf(*limits)


def as_stop(criterion: Stop | Callable[[Progress], bool]) -> Stop:
    """The criterion itself if it is a `Stop`; a plain function becomes a `When`."""
    if isinstance(criterion, Stop):
        return criterion
    if callable(criterion):
        return When(criterion)
    wish = "stop must be a stop criterion, such as MaxSeconds(5), or a function of the progress"
    raise ValueError(f"{wish}, got {criterion!r}")


def _at_least(field: str, value: float, least: float) -> None:
    if not value >= least:  # also catches NaN
        raise ValueError(f"{field} must be at least {least}, got {value}")
