"""Cost-level beam search CS(K, tau): Algorithm 1 of Liu, Xu, Su, Xiao and Yang 2021, batched.

Paths wait in queues by what they have cost so far, K in a queue; queues are worked off from cheap to dear. A short leg
may lead into the queue that its path came from, so that a queue is read again until it stays empty. Every instance of
a batch goes through its queues at its own pace.
"""

from dataclasses import dataclass

import numpy as np

from orienteer.beam.backend.protocol import Backend
from orienteer.beam.candidates import WIDEST
from orienteer.beam.expand import Expander, ScoreBy, Watch, never
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer

LEVELS = 80
"""Levels of a problem by default: the paper's tau of 0.05 at its limit of 4."""
MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class CostLevelConfig:
    """Settings of the cost-level beam search."""

    beam: int | None = 20
    """K, the most paths in a queue; None keeps them all, which is exact."""
    tau: float | None = None
    """Width of a level in units of cost; None is the limit / 80, or / 320 by the clock (`timed`)."""
    branch: int | None = None
    """How many of a path's children, the best ones, enter the queues; None is all of them."""
    spread: float = 1.0
    """How many mean prizes a path's rank falls for each better path of its queue that ends at the same node."""
    lag: float | None = None
    """How many mean prizes a path's score may be below the best of its queue for the path to be expanded; None is any
    number. Without effect where the beam has no bound."""
    score: ScoreBy = "parent"
    """Rank a child by one look at its parent ("parent") or by a look at the child itself ("child", as in the paper)."""
    both: bool | None = None
    """Search from both ends, each with half of the beam, where a problem is not the same backwards: where costs differ
    by direction, the end is not the start, or places have opening hours. None is only where places have opening hours
    or must be visited. A beam of 1 or without bound is not divided."""
    recombine: bool = True
    """Make better routes of the logged paths after the search: join two paths, one from each end, and exchange
    stretches of the best routes for stretches of paths. Off, and with a spread of 0, this is the paper's search."""
    alternatives: int = 1
    """How many good routes to return, each different from the others in at least a quarter of its nodes."""
    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""

    def __post_init__(self) -> None:
        if self.alternatives < 1:
            raise ValueError(f"CostLevelConfig.alternatives must be at least 1, got {self.alternatives}")
        for field in ("beam", "branch"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise ValueError(f"CostLevelConfig.{field} must be at least 1 or None, got {value}")
            if value is not None and value > WIDEST:
                raise ValueError(f"CostLevelConfig.{field} must be at most {WIDEST} or None, got {value}")
        if self.tau is not None and not 0 < self.tau < float("inf"):
            raise ValueError(f"CostLevelConfig.tau must be positive or None, got {self.tau}")
        if not self.spread >= 0:
            raise ValueError(f"CostLevelConfig.spread must be at least 0, got {self.spread}")
        if self.lag is not None and not self.lag >= 0:
            raise ValueError(f"CostLevelConfig.lag must be at least 0 or None, got {self.lag}")
        if self.score not in ("parent", "child"):
            raise ValueError(f"CostLevelConfig.score must be 'parent' or 'child', got {self.score!r}")


def cost_level_search(
    backend: Backend, problems: Problems, scorer: Scorer, config: CostLevelConfig, watch: Watch = never
) -> Expander:
    """Every instance's best route, held by the expander that found it; `watch` may end the search early."""
    tau = problems.limit / LEVELS if config.tau is None else problems.xp.full_like(problems.limit, config.tau)
    check_levels(problems, tau)
    done = backend.recorded(problems, scorer, config, tau, watch)
    if done is not None:
        return done
    expander = backend.expander(problems, scorer, config.branch, config.score)
    queues = backend.queues(problems, config.beam, tau, config.spread, None if config.beam is None else config.lag)
    queues.put(expander.begin())
    while len(paths := queues.pop()):
        queues.put(expander.expand(paths))
        if watch(expander):
            break
    return expander


def check_levels(problems: Problems, tau: Array) -> None:
    """Raises a ValueError if `tau` makes more than `MOST_LEVELS` levels."""
    with np.errstate(over="ignore"):  # infinitely many levels are too many, as they should be
        count = float((problems.budget / tau).max()) + 2
    if count > MOST_LEVELS:
        least = float(tau.min())
        raise ValueError(f"tau must make at most {MOST_LEVELS} levels, got {least:g}, which makes {count:g}")


def count_levels(problems: Problems, tau: Array) -> int:
    """How many levels the dearest routes of a batch need."""
    return int(float(problems.xp.ceil(problems.budget / tau).max())) + 1
