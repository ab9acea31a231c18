"""Step-by-step beam search: after k steps only the best paths of k nodes go on."""

from dataclasses import dataclass

import torch

from orienteer.beam.candidates import WIDEST, keep_best
from orienteer.beam.expand import Expander, Watch, never
from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer


@dataclass(frozen=True)
class StepConfig:
    """Settings of the step-by-step beam search."""

    beam: int | None = 100
    """The most paths that go on after a step; None keeps them all, which is exact."""
    branch: int | None = None
    """Only so many best children of a path are looked at; None is all of them."""
    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""

    def __post_init__(self) -> None:
        for field in ("beam", "branch"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise ValueError(f"StepConfig.{field} must be at least 1 or None, got {value}")
            if value is not None and value > WIDEST:
                raise ValueError(f"StepConfig.{field} must be at most {WIDEST} or None, got {value}")


@torch.no_grad()
def step_search(problems: Problems, scorer: Scorer, config: StepConfig, watch: Watch = never) -> Expander:
    """Every instance's best route, held by the expander that found it; `watch` may end the search early."""
    expander = Expander(problems, scorer, config.branch)
    children = expander.begin()
    while len(children.candidates) and not watch(expander):
        kept = keep_best(children.candidates, children.instance, config.beam)
        children = expander.expand(children.candidates[kept.index])
    return expander
