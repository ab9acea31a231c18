"""The paper's networks alone: the best child of each path, and a step-by-step beam search."""

from dataclasses import dataclass

from orienteer.beam.solvers import StepSolver
from orienteer.beam.step import StepConfig
from orienteer.network.solver import LearnedSolver
from orienteer.network.weights import Method


@dataclass(frozen=True)
class GreedyConfig:
    """Settings of a greedy policy: a step-by-step beam search of one path."""

    device: str = "auto"
    """"cpu", "cuda", or "auto": a GPU where there is one."""
    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""

    @property
    def beam(self) -> int:
        """The width of the beam: one path."""
        return 1

    @property
    def branch(self) -> None:
        """None: all children of the path are looked at."""


@dataclass(frozen=True)
class BeamConfig(StepConfig):
    """Settings of the step-by-step beam search with a learned score."""

    weights: str = ""
    """Shipped weights by name, or a file; empty for the method's own."""


class GreedySolver(LearnedSolver[GreedyConfig], StepSolver[GreedyConfig]):
    """The best child of each path, step by step."""

    config_class = GreedyConfig


class StepBeamSolver(LearnedSolver[BeamConfig], StepSolver[BeamConfig]):
    """The step-by-step beam search with a learned score."""

    config_class = BeamConfig


def both(kind: str, name: str, *methods: Method) -> tuple[type[GreedySolver], type[StepBeamSolver]]:
    """The greedy policy and the beam search of a network; `name` is also that of its weights."""
    shared = {"weights": name, "methods": methods, "__module__": __name__}
    greedy = type(f"{kind}Greedy", (GreedySolver,), {"name": name, **shared})
    return greedy, type(f"{kind}Beam", (StepBeamSolver,), {"name": f"{name}-beam", **shared})


DqnGreedy, DqnBeam = both("Dqn", "an-dqn", "dqn", "expert")
A2cGreedy, A2cBeam = both("A2c", "an-a2c", "a2c")
AttentionGreedy, AttentionBeam = both("Attention", "an-at", "at")
PointerGreedy, PointerBeam = both("Pointer", "an-pn", "pn")
