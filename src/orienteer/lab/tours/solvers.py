"""Tours by the searches and networks of the orienteering problem, never worse than the quick tour."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.beam.solvers import CostLevelSolver
from orienteer.data.text import FilePath
from orienteer.lab.networks.solvers import BeamConfig, GreedyConfig, GreedySolver, StepBeamSolver
from orienteer.lab.tours.instance import known_route, read_tour_problem
from orienteer.model.errors import BadFile, OrienteerError
from orienteer.model.instance import Instance
from orienteer.network.score import NetworkScore
from orienteer.network.solver import LearnedConfig, LearnedLevelConfig, LearnedSolver
from orienteer.network.weights import find_weights


class TourSolver(LearnedSolver[LearnedConfig]):
    """A beam search for the shortest route through every node, scored by a network for tours.

    Made for instances of `tour_problem`. On others it is honest but weak: once a node is out of reach, a path ends.
    """

    shortest = True
    bars_nothing = False
    weights, methods = "tsp", ("tour",)

    @classmethod
    def read(cls, path: FilePath, **how: Any) -> Instance:
        """The tour through all places of a file."""
        for name in ("limit", "end", "routes", "free_end", "require", "avoid", "budgets", "speed", "unit"):
            if how.pop(name, None) is not None:
                raise ValueError(f"{name} does not go with a tour, which visits everything and ends where it starts")
        return read_tour_problem(path, **how)

    def fallback(self, instance: Instance) -> list[int] | None:
        return known_route(instance)

    def scorer(self) -> NetworkScore:
        if not self.config.weights:
            try:
                find_weights(self.weights)
            except BadFile as missing:
                raise OrienteerError(HOW_TO_TRAIN.format(self.name)) from missing
        return super().scorer()

    def prepare(self, instance: Instance) -> None:
        super().prepare(instance)
        known_route(Instance(1.0 - np.eye(4), [1.0] * 4, 4.0))  # compiles the kernels


HOW_TO_TRAIN = (
    "{} needs weights, and none are installed: `orienteer labels --problem tsp --out tours.npz`, then "
    "`orienteer train expert --problem tsp --labels tours.npz`, then --weights out/train/best.safetensors"
)


@dataclass(frozen=True)
class TourLevelConfig(LearnedLevelConfig):
    """Settings of the cost-level beam search for tours; prizes in them are mean steps of a tour."""

    beam: int | None = 100
    """K, the most paths in a queue; None keeps them all, which is exact without `branch`."""
    both: bool = False
    """Search from both ends, each with half of the beam, where costs differ by direction."""
    recombine: bool = False
    """Look for more prize when the search is over: tours have it all."""
    weights: str = ""
    """Weights of a network for tours; empty for the shipped ones."""


class TourGreedy(TourSolver[GreedyConfig], GreedySolver):
    """The child with the least expected cost of the whole tour, step by step."""

    name = "tsp-greedy"


class TourBeam(TourSolver[BeamConfig], StepBeamSolver):
    """Step-by-step beam search by the expected cost of the whole tour."""

    name = "tsp-beam"


class TourCostLevelSearch(TourSolver[TourLevelConfig], CostLevelSolver[TourLevelConfig]):
    """CS(K, tau) by the expected cost of the whole tour."""

    name, config_class = "tsp-cs", TourLevelConfig
