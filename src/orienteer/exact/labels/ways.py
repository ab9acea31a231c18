"""A search for the best way along a route by labels, in pieces of work between which the caller may stop it."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from orienteer.exact.labels.extend import BEST, EVERY, FULL, MORE, Far, Labels, advance
from orienteer.exact.labels.graph import Floats, Graph, Ints, Side, Words, as_words, walks

PIECE = 2_000
"""Labels extended between two questions whether to stop."""
AT_ONCE = 1e-9
"""The share of a route's time that counts as no time."""
FIRST_LABELS = 1 << 14


class Ways(NamedTuple):
    """What a search by labels found."""

    profit: float
    """The most profit of any route that the nodes' memory allows; minus infinity where none has what was asked for."""
    paths: list[tuple[float, list[int]]]
    """The best route over each last place, by falling profit: its profit and its places."""
    far: Far
    """The labels, as bounds for a search from the other end."""


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
    return Far(first, none, none, none, barred, weights, none, none, 0.0, False, False)


def first_memory(side: Side, count: int) -> Words:
    """(m + 2, words) the `count` places of each place to which going and coming back takes least time, and itself.

    Places from which the way back takes no time are remembered too: routes round them would have no end.
    """
    leg = side.ahead.leg[1:-1, 1:-1]
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
    worths: Floats | None = None,
    least: float = -np.inf,
) -> Ways | None:
    """The best routes of at least `beat`; None if `ended` said to stop, or there were more than `most_labels`.

    `horizon` is the latest end. With `worths` routes have a worth of at least `least` too. In mode
    `EVERY` the routes are all that visit different sets of places, in any order.
    """
    labels = _first(graph, len(purses.room), near.shape[1], profits)
    worths = np.zeros(len(profits)) if worths is None else worths
    weights, room = purses
    while True:
        code = advance(graph, near, profits, worths, weights, room, far, beat, least, mode, labels, PIECE)
        if code == FULL:
            if len(labels.time) >= most_labels:
                return None
            labels = _longer(labels)
        elif code != MORE:
            break
        if ended():
            return None
    known = _far(labels, horizon, apart)
    if not worths.any():
        known = known._replace(worth=np.full(len(known.time), np.inf))  # nobody knows: so it rules out nothing
    if mode == EVERY:
        return Ways(-np.inf, _every_path(graph, labels, horizon, beat), known)
    ends = np.flatnonzero(labels.end_label >= 0)
    ends = ends[np.argsort(-labels.end_profit[ends], kind="stable")]
    paths = [(float(labels.end_profit[end]), _path(labels, int(labels.end_label[end]))) for end in ends.tolist()]
    return Ways(paths[0][0] if paths else -np.inf, paths, known)


def _every_path(graph: Graph, labels: Labels, horizon: float, beat: float) -> list[tuple[float, list[int]]]:
    order = _extended(labels)[0]
    fits = labels.time[order] + graph.leg[labels.node[order], -1] <= horizon
    chosen = order[fits & (labels.profit[order] >= beat)]
    return [(float(labels.profit[label]), _path(labels, label)) for label in chosen.tolist()]


def _first(graph: Graph, budgets: int, words: int, profits: Floats) -> Labels:
    size = len(graph.leg)
    count = max(FIRST_LABELS, 2 * size)
    labels = Labels(
        time=np.zeros(count),
        profit=np.zeros(count),
        worth=np.zeros(count),
        node=np.zeros(count, dtype=np.int64),
        before=np.full(count, -1),
        next=np.full(count, -1),
        barred=np.zeros((count, words), dtype=np.uint64),
        weights=np.zeros((count, budgets)),
        heap=np.zeros(count, dtype=np.int64),
        head=np.full(size, -1),
        end_profit=np.full(size, -np.inf),
        end_label=np.full(size, -1),
        counts=np.array([1, 1]),
    )
    labels.profit[0] = profits[0]
    labels.head[0] = 0
    return labels


def _longer(labels: Labels) -> Labels:
    """The labels in arrays of twice the length."""
    grown = {}
    for name in ("time", "profit", "worth", "node", "before", "next", "barred", "weights", "heap"):
        old = getattr(labels, name)
        new = np.zeros((2 * len(old), *old.shape[1:]), dtype=old.dtype)
        new[: len(old)] = old
        grown[name] = new
    grown["next"][len(labels.next) :] = -1
    return labels._replace(**grown)


def _path(labels: Labels, last: int) -> list[int]:
    """The places of a label's way."""
    path = []
    while labels.before[last] >= 0:
        path.append(int(labels.node[last]))
        last = int(labels.before[last])
    return path[::-1]


def _extended(labels: Labels) -> tuple[Ints, Ints]:
    """The labels that were extended, node by node, and where those of each node begin."""
    chosen, first = [], [0]
    for top in labels.head.tolist():
        label = top
        while label >= 0:
            chosen.append(label)
            label = int(labels.next[label])
        first.append(len(chosen))
    return np.array(chosen, dtype=np.int64), np.array(first)


def _far(labels: Labels, horizon: float, apart: bool) -> Far:
    order, first = _extended(labels)
    by_time, most = labels.time[order], labels.profit[order]
    for here, there in itertools.pairwise(first.tolist()):
        sooner = np.argsort(by_time[here:there], kind="stable")
        by_time[here:there] = by_time[here:there][sooner]
        most[here:there] = np.maximum.accumulate(most[here:there][sooner])
    return Far(
        first,
        labels.time[order],
        labels.profit[order],
        labels.worth[order],
        labels.barred[order],
        labels.weights[order],
        by_time,
        most,
        horizon,
        True,
        apart,
    )
