"""One route of a problem as the labels see it: legs that fit, windows, and what can still be reached at which time."""

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.kernel import kernel
from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE
from orienteer.model.reach import with_service

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BEYOND = 1 + 1e-3
"""The share of the tolerance that labels have: a little more than the judge, so that rounding loses no route."""

MOMENTS = 128
"""At how many times, for each node, it is known which places are out of reach from then on."""


class Graph(NamedTuple):
    """Nodes 0 (start), 1 to m (places within reach) and m + 1 (end), on a clock from 0, the route's opening.

    Sets of places are words of 64 bits, place k the bit k - 1.
    """

    leg: Floats
    """(m + 2, m + 2) from the beginning of a visit to the arrival at the next node, infinite where that is too late."""
    next_first: Ints
    next: Ints
    """The nodes that may follow node i stand at next_first[i] to next_first[i + 1] - 1."""
    first: Ints
    opens: Floats
    closes: Floats
    """The windows of node i in order, with the tolerance, stand at first[i] to first[i + 1] - 1."""
    late_first: Ints
    late_time: Floats
    late: Words
    """late[e], (words,), are the places that cannot be reached any more from node i after late_time[e], for e from
    late_first[i] to late_first[i + 1] - 1, by rising time."""
    rivals: Words
    """(m + 2, words) the places that a visit rules out: the place itself and those that share a group with it."""


class Side(NamedTuple):
    """A route's graph in both directions, and which places it has."""

    places: Ints
    """(m,) the instance's nodes 1 to m."""
    ahead: Graph
    back: Graph
    """The same routes from their ends to their starts: the clock is `horizon` minus the beginning of a visit."""
    horizon: float
    """The latest end of the route on its own clock."""

    def narrowed(self, back: bool, used: npt.NDArray[np.bool_], soonest: Floats) -> "Side":
        """The side without legs that are not used and without visits that begin before `soonest`.

        `back` says that legs and times are those of the graph `back`.
        """
        here, there = (self.back, self.ahead) if back else (self.ahead, self.back)
        swap = _swapped(len(soonest))
        mirrored = used.T[np.ix_(swap, swap)]
        soonest = np.append(soonest[:-1], 0.0)  # at the end visits may begin at any time
        latest = self.horizon - soonest[swap]
        one = _graph(
            np.where(used, here.leg, np.inf),
            [
                [(max(a, least), b) for a, b in entry if b >= least]
                for entry, least in zip(_windows(here), soonest.tolist(), strict=True)
            ],
            here.rivals,
        )
        other = _graph(
            np.where(mirrored, there.leg, np.inf),
            [
                [(a, min(b, most)) for a, b in entry if a <= most]
                for entry, most in zip(_windows(there), latest.tolist(), strict=True)
            ],
            there.rivals,
        )
        return self._replace(ahead=other, back=one) if back else self._replace(ahead=one, back=other)

    def route(self, instance: Instance, which: int, inner: list[int]) -> list[int]:
        """A route of these places in the instance's numbers."""
        route = instance.each_route[which]
        nodes = [route.start, *(int(self.places[node - 1]) for node in inner)]
        return nodes if route.end is None else [*nodes, route.end]


def side_of(instance: Instance, which: int, groups: bool = True) -> Side:
    """The graph of one of the instance's routes; places that required places or a budget rule out are left out.

    `groups` says whether a visit rules out the places that share a group with it.
    """
    route = instance.each_route[which]
    fits = instance.reach.fits[which].copy()
    fits[list(instance.ends)] = False
    fits[_barred(instance)] = False
    places = np.flatnonzero(fits)
    size = len(places) + 2
    slack = instance.slack * BEYOND
    horizon = route.limit + slack
    leg = np.full((size, size), np.inf)
    legs = with_service(instance)
    leg[1:-1, 1:-1] = legs[np.ix_(places, places)]
    np.fill_diagonal(leg, np.inf)
    leg[0, 1:-1] = legs[route.start, places]
    if route.end is None:
        leg[1:-1, -1] = 0.0 if instance.service is None else instance.service[places]
        leg[0, -1] = 0.0
    else:
        leg[1:-1, -1] = legs[places, route.end]
        leg[0, -1] = legs[route.start, route.end] if route.start != route.end else 0.0
    windows = [[(0.0, 0.0)]]
    for node in places.tolist():
        entry = None if instance.windows is None else instance.windows[node]
        given = [(0.0, horizon)] if entry is None else [(a - route.opens, b - route.opens + slack) for a, b in entry]
        windows.append([(max(a, 0.0), min(b, horizon)) for a, b in given if b >= 0 and a <= horizon])
    windows.append([(0.0, horizon)])
    rivals = _rivals(instance.groups if groups else (), places)
    swap = _swapped(size)
    mirrored = [[(horizon - b, horizon - a) for a, b in reversed(windows[node])] for node in swap.tolist()]
    ahead = _graph(leg, windows, rivals)
    back = _graph(np.ascontiguousarray(leg.T[np.ix_(swap, swap)]), mirrored, rivals)
    return Side(places, ahead, back, horizon)


def _swapped(size: int) -> Ints:
    """The nodes as the graph of the other direction numbers them."""
    return np.array([size - 1, *range(1, size - 1), 0])


def _windows(graph: Graph) -> list[list[tuple[float, float]]]:
    pairs = list(zip(graph.opens.tolist(), graph.closes.tolist(), strict=True))
    return [pairs[here:there] for here, there in itertools.pairwise(graph.first.tolist())]


def as_words(member: npt.NDArray[np.bool_]) -> Words:
    """(rows, words) sets of places, of (rows, m) whether each place is a member."""
    rows, size = member.shape
    words = max(1, -(-size // 64))
    padded = np.zeros((rows, words * 64), dtype=np.uint64)
    padded[:, :size] = member
    bits = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
    return np.ascontiguousarray((padded.reshape(rows, words, 64) * bits).sum(axis=2, dtype=np.uint64))


def _barred(instance: Instance) -> list[int]:
    """Nodes that no plan can visit beside the required ones and the ends."""
    always = sorted(instance.ends.union(instance.required))
    barred = set[int]()
    for budget in instance.budgets:
        room = budget.most * (1 + TOLERANCE * BEYOND) - float(budget.weights[always].sum())
        barred.update(np.flatnonzero(budget.weights > room).tolist())
    for group in instance.groups:
        if not set(group).isdisjoint(always):
            barred.update(group)
    return sorted(barred.difference(always))


def _rivals(groups: tuple[tuple[int, ...], ...], places: Ints) -> Words:
    size = len(places)
    table = np.zeros((size + 2, size), dtype=np.bool_)
    table[np.arange(1, size + 1), np.arange(size)] = True
    number = {int(node): place for place, node in enumerate(places)}
    for group in groups:
        members = np.array([number[node] for node in group if node in number], dtype=np.int64)
        table[np.ix_(members + 1, members)] = True
    return as_words(table)


def _graph(leg: Floats, windows: list[list[tuple[float, float]]], rivals: Words) -> Graph:
    """The graph of these legs; windows and legs that no route from node 0 to the last node can use are left out."""
    size = len(leg)
    count = np.array([len(entry) for entry in windows])
    first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    flat = np.array([pair for entry in windows for pair in entry]).reshape(-1, 2)
    opens, closes = np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
    soonest = _soonest(leg, first, opens, closes)
    last = np.array([entry[-1][1] if entry else -np.inf for entry in windows])
    walk = walks(leg)
    with np.errstate(invalid="ignore"):
        fits = soonest[:, None] + leg <= last[None, :]
        until = last[None, :] - walk  # (i, k) when node i must be begun for place k to be reached
    fits[:, 0] = fits[-1, :] = False
    kept = np.where(fits, leg, np.inf)
    rows, columns = np.nonzero(fits)
    next_first = np.searchsorted(rows, np.arange(size + 1)).astype(np.int64)
    until = np.ascontiguousarray(until[:, 1:-1])
    order = np.argsort(until, axis=1, kind="stable")
    ranks = np.unique(np.linspace(0, size - 3, min(MOMENTS, size - 2)).astype(np.int64))
    moments = np.take_along_axis(until, order[:, ranks], axis=1)
    return Graph(
        leg=kept,
        next_first=next_first,
        next=columns.astype(np.int64),
        first=first,
        opens=opens,
        closes=closes,
        late_first=np.arange(size + 1, dtype=np.int64) * len(ranks),
        late_time=np.ascontiguousarray(moments.ravel()),
        late=_late(order, ranks, rivals.shape[1]),
        rivals=rivals,
    )


@kernel
def _late(order: Ints, ranks: Ints, words: int) -> Words:
    """(nodes * ranks, words) for each node and rank, the places of `order` up to that rank."""
    size, count = len(order), len(ranks)
    late = np.zeros((size * count, words), dtype=np.uint64)
    for node in range(size):
        place = 0
        for number in range(count):
            row = node * count + number
            if number:
                for w in range(words):
                    late[row, w] = late[row - 1, w]
            while place <= ranks[number]:
                late[row, order[node, place] >> 6] |= np.uint64(1) << np.uint64(order[node, place] & 63)
                place += 1
    return late


@kernel
def _soonest(leg: Floats, first: Ints, opens: Floats, closes: Floats) -> Floats:
    """(m + 2,) the earliest beginning at each node, along walks that may repeat nodes."""
    size = len(leg)
    soonest = np.full(size, np.inf)
    soonest[0] = 0.0
    done = np.zeros(size, dtype=np.bool_)
    for _ in range(size):
        here = -1
        for v in range(size):
            if not done[v] and soonest[v] < np.inf and (here < 0 or soonest[v] < soonest[here]):
                here = v
        if here < 0:
            break
        done[here] = True
        for v in range(size):
            arrive = soonest[here] + leg[here, v]
            for place in range(first[v], first[v + 1]):
                if arrive <= closes[place]:
                    soonest[v] = min(soonest[v], max(arrive, opens[place]))
                    break
    return soonest


@kernel
def walks(leg: Floats) -> Floats:
    """(m + 2, m + 2) the cost of the cheapest walk between any two nodes (Floyd and Warshall)."""
    size = len(leg)
    walk = leg.copy()
    for v in range(size):
        walk[v, v] = 0.0
    for k in range(size):
        for i in range(size):
            through = walk[i, k]
            if through < np.inf:
                for j in range(size):
                    walk[i, j] = min(walk[i, j], through + walk[k, j])
    return walk
