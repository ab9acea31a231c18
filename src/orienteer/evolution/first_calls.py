"""First calls of the genetic algorithm's kernels, on a tiny problem, so that they are compiled before a search."""

import numpy as np

from orienteer.evolution.evolve import breed, improve, plant
from orienteer.evolution.population import Population, new_population
from orienteer.kernel import seed_state
from orienteer.local_search.shorten import shorten_for
from orienteer.model.instance import Instance
from orienteer.model.view import View


def kernels_for(symmetric: bool) -> list[str]:
    """The calls that compile what symmetric or other costs need, the one that takes longest first."""
    calls = ("improve_symmetric" if symmetric else "improve_directed", "breed_two", "plant_one")
    return [f"{__name__}:{call}" for call in calls]


def improve_symmetric() -> None:
    """Compiles `improve` for symmetric costs."""
    improve(*_tiny(), 0, 2, shorten_for(True), True)


def improve_directed() -> None:
    """Compiles `improve` for costs that differ by direction."""
    improve(*_tiny(), 0, 2, shorten_for(False), True)


def breed_two() -> None:
    """Compiles `breed`."""
    breed(*_tiny(), 2, 1.0, 0.5, 1, seed_state(0))


def plant_one() -> None:
    """Compiles `plant`."""
    plant(*_tiny(), 0, 1, 0.5, seed_state(0))


def _tiny() -> tuple[View, Population]:
    """A problem of three nodes, and two routes from its start straight to its end."""
    view = Instance(1.0 - np.eye(3), np.ones(3), 2.5).view
    population = new_population(2, len(view.nodes))
    population.routes[:, 1] = len(view.nodes) - 1
    population.sizes[:] = 2
    return view, population
