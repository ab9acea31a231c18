"""Compiling ahead what the product's solvers need: for images, and for the first call to be fast."""

import numpy as np

from orienteer.kernel.cache import writable_place
from orienteer.kernel.prepare import OnTask, compile_kernels, no_task_news
from orienteer.model.errors import MissingExtra
from orienteer.model.instance import Instance
from orienteer.search.registry import REGISTRY, make_solver

OURS = "orienteer."
LABORATORY = "orienteer.lab."


def tasks() -> list[str]:
    """The compilation tasks of all our solvers but the laboratory's, for symmetric costs and for others."""
    symmetric = Instance(1.0 - np.eye(4), np.ones(4), 3.0)
    costs = symmetric.costs.copy()
    costs[0, 1] = 2.0
    found: dict[str, None] = {}
    for name, entry in REGISTRY.items():
        if not entry.target.startswith(OURS) or entry.target.startswith(LABORATORY):
            continue
        try:
            solver = make_solver(name)
        except MissingExtra:
            continue
        for instance in (symmetric, symmetric.replace(costs=costs)):
            found |= dict.fromkeys(solver.kernels(instance))
    return list(found)


def warm_up(on_task: OnTask = no_task_news) -> int:
    """Compiles what all our solvers need, or finds it compiled; says how many tasks that were."""
    needed = tasks()
    compile_kernels(needed, on_task=on_task)
    return len(needed)


def kept_at() -> str:
    """Where compiled code is kept, in words."""
    place = writable_place()
    return "nowhere, since no directory can be written" if place is None else str(place)
