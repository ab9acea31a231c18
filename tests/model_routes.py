"""Every route of a tiny problem, as points of its model."""

import itertools
from dataclasses import dataclass

import numpy as np

from orienteer import InfeasibleTour, Instance, Tour, check_tour
from orienteer.exact.model import Model, reduce


@dataclass(frozen=True)
class Known:
    """A route with its links and nodes in the model."""

    tour: Tour
    units: float
    x: np.ndarray
    y: np.ndarray


def all_tours(instance: Instance) -> list[Tour]:
    """Every feasible route, by trying all orders."""
    inner = [node for node in range(instance.size) if node not in (instance.start, instance.end)]
    found = []
    for count in range(len(inner) + 1):
        for order in itertools.permutations(inner, count):
            try:
                found.append(check_tour(instance, (instance.start, *order, instance.end)))
            except InfeasibleTour:
                continue
    return found


def is_trivial(model: Model, tour: Tour) -> bool:
    """Whether the model leaves the route to `offer_trivial`."""
    return len(tour) < (4 if model.closed and not model.directed else 3)


def model_and_routes(instance: Instance) -> tuple[Model, list[Known]]:
    """The model and all its routes."""
    model = reduce(instance)
    known = []
    for tour in all_tours(instance):
        if is_trivial(model, tour):
            continue
        links = model.links_of(tour.nodes)
        assert len(links), f"{tour} is not in the model"
        x, y = np.zeros(len(model.tail)), np.zeros(model.size)
        x[links] = 1.0
        y[np.isin(model.nodes, tour.nodes)] = 1.0
        known.append(Known(tour, float(model.units.prizes @ y), x, y))
    return model, known
