"""Pricing: which pairs of nodes that are no links of a partial model yet would earn something.

All pairs are looked at, so that a bound counts every link there is. What a pair earns before any cut charges for it
takes one addition; only the few pairs that earn something then are looked up in the sets of the cuts.
"""

from typing import NamedTuple

import numpy as np

from orienteer.exact.cut import Sets, charged
from orienteer.exact.model import Ints, Model, possible
from orienteer.kernel import kernel
from orienteer.model.numbers import Array

MOST_PAIRS = 1_000_000
"""The most pairs that are listed at a time."""


class Pairs(NamedTuple):
    """Links that a model does not have yet."""

    tail: Ints
    head: Ints
    costs: Array
    """As shares of the limit."""
    earnings: Array
    """What each link earns at the prices that were asked about."""

    def some(self, chosen: Ints) -> "Pairs":
        """Those of these numbers."""
        return Pairs(self.tail[chosen], self.head[chosen], self.costs[chosen], self.earnings[chosen])


NO_PAIRS = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))


def others(
    model: Model, out: Array, back: Array, unit: float, sets: Sets, prices: Array, floor: float = 0.0
) -> tuple[Pairs, float]:
    """(pairs, sum): pairs that are not links of the model and earn more than `floor`, and what all of these earn.

    `out` and `back` are the prices of leaving and of entering each node, `unit` that of the whole limit, `prices` those
    of the cuts of `sets`. The sum is of all pairs that earn more than 0; at most `MOST_PAIRS` are listed.
    """
    if not model.partial:
        return NO_PAIRS, 0.0
    instance = model.instance
    tail, head, earn, total = _earning(
        instance.view.costs,
        model.directed,
        *_rows(model),
        out,
        back,
        unit / instance.limit,
        sets.first,
        sets.of_node,
        prices,
        floor,
        MOST_PAIRS,
    )
    kept = possible(instance, tail, head)
    total -= float(np.maximum(earn[~kept], 0.0).sum())
    tail, head = tail[kept], head[kept]
    return Pairs(tail, head, instance.view.costs[tail, head] / instance.limit, earn[kept]), total


def _rows(model: Model) -> tuple[Ints, Ints]:
    """(first, heads): the heads of the links of tail v are heads[first[v] : first[v + 1]]."""
    order = np.argsort(model.tail, kind="stable")
    return np.searchsorted(model.tail[order], np.arange(model.size + 1)), model.head[order]


@kernel
def _earning(
    costs: Array,
    directed: bool,
    first_head: Ints,
    heads: Ints,
    out: Array,
    back: Array,
    unit: float,
    first: Ints,
    of_node: Ints,
    prices: Array,
    floor: float,
    most: int,
) -> tuple[Ints, Ints, Array, float]:
    """(tail, head, earn, sum) of the pairs that are not among the links of `heads` and earn more than `floor`.

    At most `most` pairs are listed; the sum is of what all earn, where that is more than 0.
    """
    size, total = len(out), 0.0
    known = np.full(size, -1)
    tails, ends, earns = [0 for _ in range(0)], [0 for _ in range(0)], [0.0 for _ in range(0)]
    for i in range(size):
        for a in range(first_head[i], first_head[i + 1]):
            known[heads[a]] = i
        here = -out[i] - floor
        for j in range(0 if directed else i + 1, size):
            if here - back[j] - unit * costs[i, j] > 0 and known[j] != i and i != j:
                earn = charged(first, of_node, prices, i, j, -out[i] - back[j] - unit * costs[i, j], floor)
                total += max(0.0, earn)
                if earn > floor and len(tails) < most:
                    tails.append(i)
                    ends.append(j)
                    earns.append(earn)
    return np.array(tails), np.array(ends), np.array(earns), total
