"""A local search on the routes of a batch, when all else is done."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np

from orienteer.beam.meet import MARGIN
from orienteer.core.instance import Instance

MOST_NODES = 3000
"""Larger problems are left as they are: the kernel has a copy of their costs."""
THREADS = 8
"""The most threads that share a batch."""
SHARE = 64
"""Instances that a thread takes at a time; fewer are not worth one."""


def polish(instances: Sequence[Instance], routes: Sequence[list[int]]) -> list[list[int]]:
    """The routes, each as it was or with more prize or less cost; an empty one stays empty."""
    pairs = list(zip(instances, routes, strict=True))
    if len(pairs) < 2 * SHARE:
        return [_polish_one(*pair) for pair in pairs]
    shares = [pairs[at : at + SHARE] for at in range(0, len(pairs), SHARE)]
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        return list(chain.from_iterable(pool.map(lambda some: [_polish_one(*one) for one in some], shares)))


def compile_polish() -> None:
    """Compiles the kernel, or loads it from numba's cache."""
    polish([Instance(1.0 - np.eye(3), [1.0] * 3, 3.0)], [[0, 1, 0]])


def _polish_one(instance: Instance, route: list[int]) -> list[int]:
    from orienteer.kernels.polish import polished

    if not route or instance.size > MOST_NODES:
        return route
    budget = instance.budget * (1 - MARGIN)  # costs are added up in another order on the way
    made: list[int] = polished(np.array(route), instance.costs, instance.prizes, budget, instance.symmetric).tolist()
    return made
