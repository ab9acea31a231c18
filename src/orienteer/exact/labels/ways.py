"""A search for the best way along a route by labels, in pieces of work between which the caller may stop it."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.exact.labels.extend import (
    BEST,
    BLOCK,
    EVERY,
    FULL,
    KEPT,
    MORE,
    ROUNDING,
    WHOLE,
    Far,
    Front,
    Labels,
    State,
    Waiting,
    advance,
)
from orienteer.exact.labels.graph import Floats, Graph, Side, Words, as_words, walks

PIECE = 2_000
"""Labels extended between two questions whether to stop."""
AT_ONCE = 1e-9
"""The share of a route's time that counts as no time."""
FIRST_LABELS = 1 << 12
FIRST_ROOM = 64
"""Labels that there is room for at first, in all and in the front of each node."""
MOMENTS = 2048
"""At how many times it is known what a way from the other end can collect at most."""


class Ways(NamedTuple):
    """What a search by labels found."""

    profit: float
    """The most profit of any route that the nodes' memory allows; minus infinity where none has what was asked for."""
    paths: list[tuple[float, list[int]]]
    """The best route over each last place, by falling profit: its profit and its places."""
    far: Far
    """The labels, as bounds for a search from the other end."""
    used: npt.NDArray[np.bool_]
    """(m + 2, m + 2) the legs that routes of `beat` may use, where something was known about the other end."""
    soonest: Floats
    """(m + 2,) when such a route begins a visit at the soonest; infinite where none comes, and at the end."""


class Purses(NamedTuple):
    """Budgets of a route's places: (m + 2, budgets) weights, and (budgets,) the most of each."""

    weights: Floats
    room: Floats


def nothing_known(side: Side, budgets: int) -> Far:
    """What a first search knows about the other end."""
    size, words = len(side.ahead.leg), side.ahead.rivals.shape[1]
    none = np.zeros(0)
    first = np.zeros(size + 1, dtype=np.int64)
    barred, weights = np.zeros((0, words), dtype=np.uint64), np.zeros((0, budgets))
    return Far(first, none, none, barred, weights, none, np.zeros((0, 0)), 0.0, 0.0, False, False)


def first_memory(side: Side, count: int) -> Words:
    """(m + 2, words) the `count` places of each place to which going and coming back takes least time, and itself.

    Places from which the way back takes no time are remembered too: routes round them would have no end.
    """
    leg = np.minimum(side.ahead.leg[1:-1, 1:-1], side.back.leg[1:-1, 1:-1].T)  # each may lack legs of the other
    size = len(leg)
    member = np.zeros((size + 2, size), dtype=np.bool_)
    if size:
        trip = leg + leg.T
        np.fill_diagonal(trip, -1.0)
        order = np.argsort(trip, axis=1, kind="stable")[:, : count + 1]
        rows = np.arange(size)[:, None]
        member[rows + 1, order] = np.isfinite(np.take_along_axis(trip, order, axis=1))
        walk = walks(leg)
        member[1:-1] |= walk + walk.T <= AT_ONCE * side.horizon
    return as_words(member)


def best_ways(
    graph: Graph,
    near: Words,
    profits: Floats,
    purses: Purses,
    far: Far,
    beat: float,
    apart: bool,
    horizon: float,
    ended: Callable[[], bool],
    most_labels: int,
    mode: int = BEST,
    prices: Floats | None = None,
) -> Ways | None:
    """The best routes of at least `beat`; None if `ended` said to stop, or there were more than `most_labels`.

    `horizon` is the latest end. The profits of routes are those of their visits less the `prices` of these, and the
    sum of all prices; in mode `WHOLE`, which needs `far` at the same prices, routes are without cycles and prices do
    not count. In mode `EVERY` the routes are all that visit different sets of places, in any order.
    """
    prices = np.zeros(len(profits)) if prices is None else prices
    priced = profits - prices
    gains = profits if mode == WHOLE else priced
    state = _first(graph, len(purses.room), near.shape[1], gains, float(prices.sum()) * (1 + ROUNDING))
    weights, room = purses
    mask = np.zeros(near.shape[1], dtype=np.uint64)
    while True:
        code = advance(graph, near, gains, prices, weights, room, far, beat, mode, state, mask, PIECE)
        if code == FULL:
            if max(len(state.labels.time), len(state.waiting.time)) >= most_labels:
                return None
            state = _longer(state, len(graph.leg))
        elif code != MORE:
            break
        if ended():
            return None
    labels, count = state.labels, int(state.counts[KEPT])
    labels = Labels._make(array[:count] for array in labels)
    soonest = np.full(len(graph.leg), np.inf)
    np.minimum.at(soonest, labels.node, labels.time)
    known = _far(labels, len(graph.leg), priced, horizon, apart)
    if mode == EVERY:
        return Ways(-np.inf, _every_path(graph, labels, horizon, beat), known, state.used, soonest)
    ends = np.flatnonzero(state.end_label >= 0)
    ends = ends[np.argsort(-state.end_profit[ends], kind="stable")]
    paths = [(float(state.end_profit[end]), _path(labels, int(state.end_label[end]))) for end in ends.tolist()]
    return Ways(paths[0][0] if paths else -np.inf, paths, known, state.used, soonest)


def _every_path(graph: Graph, labels: Labels, horizon: float, beat: float) -> list[tuple[float, list[int]]]:
    fits = labels.time + graph.leg[labels.node, -1] <= horizon
    chosen = np.flatnonzero(fits & (labels.profit >= beat))
    return [(float(labels.profit[label]), _path(labels, label)) for label in chosen.tolist()]


def _first(graph: Graph, budgets: int, words: int, profits: Floats, rest: float) -> State:
    """A search that begins with the label of the start."""
    size = len(graph.leg)
    count = max(FIRST_LABELS, 2 * size)
    words_of, weights_of = (count, words), (count, budgets)
    labels = Labels(
        time=np.zeros(count),
        profit=np.zeros(count),
        node=np.zeros(count, dtype=np.int64),
        before=np.full(count, -1),
        barred=np.zeros(words_of, dtype=np.uint64),
        weights=np.zeros(weights_of),
    )
    waiting = Waiting(
        time=np.zeros(count),
        profit=np.zeros(count),
        rest=np.zeros(count),
        node=np.zeros(count, dtype=np.int64),
        before=np.full(count, -1),
        barred=np.zeros(words_of, dtype=np.uint64),
        weights=np.zeros(weights_of),
        heap=np.arange(count),
    )
    front = _front(size, FIRST_ROOM, words, budgets)
    waiting.profit[0], waiting.rest[0] = profits[0], rest
    ends, last = np.full(size, -np.inf), np.full(size, -1)
    used = np.zeros((size, size), dtype=np.bool_)
    return State(labels, waiting, front, ends, last, used, np.array([0, 1, 0]))


def _front(size: int, room: int, words: int, budgets: int) -> Front:
    return Front(
        sizes=np.zeros(size, dtype=np.int64),
        profit=np.zeros((size, room)),
        time=np.zeros((size, room)),
        slot=np.zeros((size, room), dtype=np.int64),
        barred=np.zeros((size, room, words), dtype=np.uint64),
        weights=np.zeros((size, room, budgets)),
    )


def _longer(state: State, size: int) -> State:
    """The search with twice the room wherever there is little."""
    labels, waiting, front = state.labels, state.waiting, state.front
    kept, waits, widest = state.counts.tolist()
    if kept == len(labels.time):
        labels = Labels._make(map(_doubled, labels))
    if waits + size > len(waiting.time):
        heap = np.concatenate([waiting.heap, np.arange(len(waiting.heap), 2 * len(waiting.heap))])
        waiting = Waiting._make(map(_doubled, waiting))._replace(heap=heap)
    if widest == front.profit.shape[1]:
        wider = _front(len(front.sizes), 2 * widest, front.barred.shape[2], front.weights.shape[2])
        for old, new in zip(front[1:], wider[1:], strict=True):
            new[:, :widest] = old
        front = wider._replace(sizes=front.sizes)
    return state._replace(labels=labels, waiting=waiting, front=front)


def _doubled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array with as many zeros after it."""
    return np.concatenate([array, np.zeros_like(array)])


def _path(labels: Labels, last: int) -> list[int]:
    """The places of a label's way."""
    path = []
    while labels.before[last] >= 0:
        path.append(int(labels.node[last]))
        last = int(labels.before[last])
    return path[::-1]


def _far(labels: Labels, size: int, priced: Floats, horizon: float, apart: bool) -> Far:
    """The labels as bounds on what a way to a node can still collect at these profits."""
    order = np.lexsort((-labels.profit, labels.node))
    node, time = labels.node[order], labels.time[order]
    profit = labels.profit[order] - priced[node]
    first = np.searchsorted(node, np.arange(size + 1))
    moments = horizon / MOMENTS * np.arange(1, MOMENTS + 2) * (1 + 1e-12)
    most = np.full((size, MOMENTS + 1), -np.inf)
    for i, (here, there) in enumerate(itertools.pairwise(first.tolist())):
        if here < there:
            sooner = here + np.argsort(time[here:there], kind="stable")
            best = np.concatenate([[-np.inf], np.maximum.accumulate(profit[sooner])])
            most[i] = best[np.searchsorted(time[sooner], moments, side="right")]
    return Far(
        first,
        time,
        profit,
        labels.barred[order],
        labels.weights[order],
        np.minimum.reduceat(time, np.arange(0, len(time), BLOCK)),
        most,
        MOMENTS / horizon if horizon > 0 else 0.0,
        horizon,
        True,
        apart,
    )
