"""A local search on the routes of a batch, the last step of a solver."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

import numpy as np

from orienteer.beam.backend.protocol import Over
from orienteer.beam.problems import MARGIN
from orienteer.beam.recombine import never_over
from orienteer.model.instance import Instance
from orienteer.model.view import View, view_of

MOST_NODES = 3000
"""Routes of larger problems are not polished: the kernel would need a copy of their costs."""
CHANGE_WORK = 2**28
"""Changes that are tried on a route, times nodes squared, at most: some tenths of a second of a core with 500 nodes or
more, two seconds where costs differ by direction. With 100 nodes about 150 changes are enough, 3 to 8 ms."""
ORDER_WORK = 2**25
"""Orders along which stops are chosen anew, times nodes squared, at most: with 100 nodes about five orders are enough;
the bound is a third of a second with 1,000 nodes, a second with 2,000."""
FEW_BARS, BARS = np.array((0.7, 0.45)), np.array((1.15, 0.8, 0.6, 0.4, 0.3))
"""The bars of `polished`, for quick problems and for others."""
SHARE = 64
"""Instances that a thread takes at a time where no changes are tried: fewer are not worth the hand-over."""


def polish(
    instances: Sequence[Instance],
    routes: Sequence[list[int]],
    quick: int = 0,
    threads: int = 1,
    over: Over = never_over,
    most_nodes: int = MOST_NODES,
    share: int = SHARE,
) -> list[list[int]]:
    """The routes, each as it was or with more prize or less cost; an empty one stays empty.

    On problems of up to `quick` nodes no changes are tried: a route of 100 nodes then takes a millisecond. Once
    `over()` is true, routes are only shortened and filled up: a third of a millisecond with 100 nodes, a third of a
    second with 2,000. Routes of problems
    with more than `most_nodes` stay as they are. Each of the `threads` takes `share` quick routes at a time.
    """
    pairs = list(zip(instances, routes, strict=True))
    at_a_time = max(1, min(share, -(-len(pairs) // threads))) if all(one.size <= quick for one in instances) else 1
    shares = [pairs[at : at + at_a_time] for at in range(0, len(pairs), at_a_time)]

    def polished_share(tasks: list[_Task]) -> list[list[int]]:
        return [task.polished(over()) for task in tasks]

    if threads == 1 or len(shares) < 2:
        return [_Task.of(instance, route, quick, most_nodes).polished(over()) for instance, route in pairs]
    pool = ThreadPoolExecutor(threads)
    try:
        # Views are made in this thread: Python lets one thread at a time do that, and several would wait in turn.
        waiting = [
            pool.submit(polished_share, [_Task.of(instance, route, quick, most_nodes) for instance, route in part])
            for part in shares
        ]
        return list(chain.from_iterable(future.result() for future in waiting))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C nobody waits for the routes that are left


@dataclass(frozen=True)
class _Task:
    """A route to be polished; without a view it stays as it is."""

    instance: Instance
    route: list[int]
    view: View | None
    quick: bool

    @classmethod
    def of(cls, instance: Instance, route: list[int], quick: int, most_nodes: int) -> "_Task":
        """A task with a view that is not kept: the views of a batch would take twice the memory of its costs."""
        view = view_of(instance, near=0) if route and instance.size <= most_nodes else None
        return cls(instance, route, view, instance.size <= quick)

    def polished(self, over: bool) -> list[int]:
        """The route after the local search; if `over`, only shortened and filled up."""
        if self.view is None:
            return self.route
        from orienteer.local_search.polish import polished
        from orienteer.local_search.shorten import shorten_for

        size, view = self.instance.size, self.view
        budget = self.instance.budget * (1 - MARGIN)  # costs are added up in another order on the way
        looks = 0 if over else max(1, ORDER_WORK // size**2)
        trials = 0 if over or self.quick else CHANGE_WORK // size**2
        bars, shorten = FEW_BARS if self.quick else BARS, shorten_for(view.symmetric)
        return view.route(polished(view.numbers(self.route), view, budget, looks, bars, trials, shorten))
