"""Cost-level beam search CS(K, tau): Algorithm 1 of Liu, Xu, Su, Xiao and Yang 2021, batched.

Paths wait in queues by what they have cost so far, K in a queue; queues are worked off from cheap to dear. A short leg
may lead into the queue it came from, so that a queue is read again until it stays empty. Every instance of a batch goes
through its queues at its own pace.
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from orienteer.beam.candidates import WIDEST
from orienteer.beam.expand import Expander, ScoreBy, Watch, never
from orienteer.beam.levels import CostLevels
from orienteer.beam.problems import Problems
from orienteer.beam.score import PrizeScore, Scorer

LEVELS = 80
"""Levels of a problem by default: the paper's tau of 0.05 at its limit of 4."""
MOST_BY_LOOPS = 2**17
"""Children of a reading up to which a CPU puts them into queues by loops: with more, tensors are sorted as fast."""


@dataclass(frozen=True)
class CostLevelConfig:
    """Settings of the cost-level beam search."""

    beam: int | None = 20
    """K, the most paths in a queue; None keeps them all, which is exact."""
    tau: float | None = None
    """Width of a level in units of cost; None is the limit / 80."""
    branch: int | None = None
    """Only so many best children of a path enter the queues; None is all of them."""
    spread: float = 1.0
    """A path's rank falls by so many mean prizes for each better path of its queue that ends at the same node."""
    score: ScoreBy = "parent"
    """Rank a child by one look at its parent ("parent") or by a look at the child itself ("child", as in the paper)."""
    both: bool = False
    """Search from both ends, each with half of the beam, where a problem is not the same backwards: where costs differ
    by direction, or the end is not the start. A beam of 1 or without bound is not divided."""
    recombine: bool = True
    """Make better routes of the paths when the search is over: put them together from both ends, and exchange parts of
    the best for parts of others. Off, this is the paper's search."""
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
        if self.score not in ("parent", "child"):
            raise ValueError(f"CostLevelConfig.score must be 'parent' or 'child', got {self.score!r}")


@torch.no_grad()
def cost_level_search(problems: Problems, scorer: Scorer, config: CostLevelConfig, watch: Watch = never) -> Expander:
    """Every instance's best route, held by the expander that found it; `watch` may end the search early."""
    expander = Expander(problems, scorer, config.branch, config.score)
    tau = problems.limit / LEVELS if config.tau is None else torch.full_like(problems.limit, config.tau)
    queues = _queues(problems, config, tau)
    queues.put(expander.begin())
    while len(paths := queues.pop()):
        queues.put(expander.expand(paths))
        if watch(expander):
            break
    return expander


def _queues(problems: Problems, config: CostLevelConfig, tau: Tensor) -> CostLevels:
    """Empty queues, of the kind that is fastest where the problems are and for as many children as they may have."""
    nodes = problems.nodes
    if config.beam is not None and problems.device.type == "cpu":
        children = problems.batch * config.beam * min(nodes, config.branch or nodes)
        if children <= MOST_BY_LOOPS:
            from orienteer.beam.host_levels import HostLevels

            return HostLevels(problems, config.beam, tau, config.spread)
    return CostLevels(problems, config.beam, tau, config.spread)


@cache
def compile_queues(device: torch.device) -> None:
    """Compiles the loops of a CPU, or loads them from numba's cache."""
    if device.type == "cpu":
        problems = Problems.smallest()
        queues = _queues(problems, CostLevelConfig(1), problems.limit)
        queues.put(Expander(problems, PrizeScore()).begin())
        queues.pop()
