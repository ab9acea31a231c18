"""A local search on the routes of a batch, when all else is done."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np

from orienteer.beam.backend.protocol import Over
from orienteer.beam.problems import MARGIN
from orienteer.beam.recombine import never_over
from orienteer.model.instance import Instance
from orienteer.model.view import view_of

MOST_NODES = 3000
"""Larger problems are left as they are: the kernel has a copy of their costs."""
MOST_WORK = 2**28
"""Changes that are tried on a route, times nodes squared, at most: some tenths of a second of a core with 500 nodes or
more, two seconds where costs differ by direction. With 100 nodes some 150 are enough, 3 to 8 ms."""
MOST_LOOKS = 2**25
"""Orders along which stops are chosen anew, times nodes squared, at most: with 100 nodes some five are enough, with
1,000 it is a third of a second, with 2,000 a second."""
FEW_BARS, BARS = np.array((0.7, 0.45)), np.array((1.15, 0.8, 0.6, 0.4, 0.3))
"""In these orders the nodes lie well whose prize for their detour is that share of what cost is worth to the route."""
SHARE = 64
"""Instances that a thread takes at a time; fewer are not worth one where no changes are tried."""


def polish(
    instances: Sequence[Instance],
    routes: Sequence[list[int]],
    quick: int = 0,
    threads: int = 1,
    over: Over = never_over,
) -> list[list[int]]:
    """The routes, each as it was or with more prize or less cost; an empty one stays empty.

    With up to `quick` nodes no changes are tried, which takes a millisecond with 100. Once it is `over`, routes are
    only shortened and filled up: a third of a millisecond, and a third of a second with 2,000 nodes.
    """
    pairs = list(zip(instances, routes, strict=True))
    share = SHARE if all(one.size <= quick for one in instances) else 1
    shares = [pairs[at : at + share] for at in range(0, len(pairs), share)]

    def work(some: list[tuple[Instance, list[int]]]) -> list[list[int]]:
        return [_polish_one(instance, route, over(), instance.size <= quick) for instance, route in some]

    if threads == 1 or len(shares) < 2:
        return work(pairs)
    pool = ThreadPoolExecutor(threads)
    try:
        return list(chain.from_iterable(pool.map(work, shares)))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C the rest does not count


def compile_polish() -> None:
    """Compiles the kernel, or loads it from numba's cache."""
    polish([Instance(1.0 - np.eye(3), [1.0] * 3, 3.0)], [[0, 1, 0]])


def _polish_one(instance: Instance, route: list[int], over: bool, quick: bool) -> list[int]:
    from orienteer.local_search.polish import polished

    if not route or instance.size > MOST_NODES:
        return route
    budget = instance.budget * (1 - MARGIN)  # costs are added up in another order on the way
    looks = 0 if over else max(1, MOST_LOOKS // instance.size**2)
    trials = 0 if over or quick else MOST_WORK // instance.size**2
    view = view_of(instance)  # not kept: the views of a batch would take twice the memory of its costs
    return view.route(polished(view.numbers(route), view, budget, looks, FEW_BARS if quick else BARS, trials))
