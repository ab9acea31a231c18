"""Step-by-step beam search: after k steps only the best paths of k nodes go on."""

from dataclasses import dataclass

from orienteer.beam.backend.protocol import Backend
from orienteer.beam.candidates import WIDEST
from orienteer.beam.expand import Expander, Watch, never
from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer


@dataclass(frozen=True)
class StepConfig:
    """Settings of the step-by-step beam search."""

    beam: int | None = 100
    """The most paths that go on after a step; None keeps them all, which is exact."""
    branch: int | None = None
    """How many of a path's children, the best ones, are looked at; None is all of them."""
    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""

    def __post_init__(self) -> None:
        for field in ("beam", "branch"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise ValueError(f"StepConfig.{field} must be at least 1 or None, got {value}")
            if value is not None and value > WIDEST:
                raise ValueError(f"StepConfig.{field} must be at most {WIDEST} or None, got {value}")


def step_search(
    backend: Backend, problems: Problems, scorer: Scorer, config: StepConfig, watch: Watch = never
) -> Expander:
    """Every instance's best route, held by the expander that found it; `watch` may end the search early."""
    expander = backend.expander(problems, scorer, config.branch)
    children = expander.begin()
    while len(children.candidates) and not watch(expander):
        children = expander.expand(backend.keep_best(children, config.beam))
    return expander
