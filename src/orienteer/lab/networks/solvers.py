"""The paper's networks alone: the best child of each path, and a step-by-step beam search."""

from orienteer.network.solvers import GreedySolver, StepBeamSolver
from orienteer.network.weights import Method


def both(kind: str, name: str, *methods: Method) -> tuple[type[GreedySolver], type[StepBeamSolver]]:
    """The greedy policy and the beam search of a network: its name, which its weights have too, and whose it takes."""
    shared = {"weights": name, "methods": methods, "__module__": __name__}
    greedy = type(f"{kind}Greedy", (GreedySolver,), {"name": name, **shared})
    return greedy, type(f"{kind}Beam", (StepBeamSolver,), {"name": f"{name}-beam", **shared})


DqnGreedy, DqnBeam = both("Dqn", "an-dqn", "dqn", "expert")
A2cGreedy, A2cBeam = both("A2c", "an-a2c", "a2c")
AttentionGreedy, AttentionBeam = both("Attention", "an-at", "at")
PointerGreedy, PointerBeam = both("Pointer", "an-pn", "pn")
