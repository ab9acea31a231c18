"""Label setting: all ways along a graph that may still belong to a better route, worse ones left out.

A label is a way to a node: when its visit begins, what it collects, and which places it must not visit again, as far as
they are remembered. What it collects are two sums: its profit, which may be at prices for the visits, and its worth,
which is not. Each node remembers the places of its own set (ng-routes: Baldacci, Mingozzi and Roberti 2011), so
that a route may come back to a place only after nodes that forget it; with all places in all sets no route does. A
label gives way to another of its node that begins no later, collects no less of both sums and bars no place that the
label could still visit.
"""

from typing import NamedTuple

import numpy as np

from orienteer.exact.labels.graph import Floats, Graph, Ints, Words
from orienteer.kernel import inlined, kernel
from orienteer.kernel.clock import begin_at

DONE, MORE, FULL = 0, 1, 2
"""What `advance` returns: no label is left, `pops` labels were taken, the arrays are too short."""
BEST, EVERY, RUSH = 0, 1, 2
"""Modes of `advance`."""
GIVES_WAY = -2


class Labels(NamedTuple):
    """All labels so far, and those that wait, in a heap by time."""

    time: Floats
    profit: Floats
    worth: Floats
    node: Ints
    before: Ints
    """The label that was extended, -1 for the first."""
    next: Ints
    """The next label of the node, by falling profit; -1 after the last."""
    barred: Words
    """(labels, words) places that were visited and are remembered, and their rivals."""
    weights: Floats
    """(labels, budgets) the weights of the visited places."""
    heap: Ints
    head: Ints
    """(nodes,) the label of largest profit of each node; -1 where there is none."""
    end_profit: Floats
    end_label: Ints
    """(nodes,) the best way to the end over each last node, and its label before the end; -1 where there is none."""
    counts: Ints
    """Labels, and labels in the heap."""


class Far(NamedTuple):
    """Ways from each node to the other end, by falling profit; the ways of node i stand from first[i] on."""

    first: Ints
    time: Floats
    profit: Floats
    worth: Floats
    barred: Words
    weights: Floats
    by_time: Floats
    most: Floats
    """The times of each node's ways in rising order, and the most profit of all ways up to each of these times."""
    horizon: float
    known: bool
    """Whether there are such ways; if not, nothing is known about the other end."""
    apart: bool
    """Whether ways that bar the same place never meet. With groups they may: both may have visited rivals of it."""


@kernel
def advance(
    graph: Graph,
    near: Words,
    profits: Floats,
    worths: Floats,
    weights: Floats,
    room: Floats,
    far: Far,
    beat: float,
    least: float,
    mode: int,
    labels: Labels,
    pops: int,
) -> int:
    """Extends labels by rising time until none is left.

    A way that cannot end with a profit of `beat` and a worth of `least` is left out.

    `near`, (nodes, words), is what each node remembers; `weights`, (nodes, budgets), and `room` are the budgets. In
    mode `EVERY` the label that begins first is kept for every set of places that a route could visit; nodes must
    remember all places then. In mode `RUSH` sets are not compared: most routes are lost, but good ones found soon.
    """
    size = len(graph.leg)
    words, budgets = near.shape[1], len(room)
    mask = np.zeros(words, dtype=np.uint64)
    barred = np.zeros(words, dtype=np.uint64)
    one = np.uint64(1)
    for _ in range(pops):
        if labels.counts[1] == 0:
            return DONE
        if labels.counts[0] + size > len(labels.time):
            return FULL
        here = _pop(labels)
        i, now, profit, worth = labels.node[here], labels.time[here], labels.profit[here], labels.worth[here]
        for w in range(words):
            mask[w] = labels.barred[here, w]
        if mode != EVERY:
            _add_late(graph, i, now, mask)
        if here and _place(labels, here, i, now, profit, worth, mask, labels.weights[here], mode) == GIVES_WAY:
            _take_out(labels, i, here)
            continue
        for place in range(graph.next_first[i], graph.next_first[i + 1]):
            j = graph.next[place]
            if j < size - 1 and (labels.barred[here, (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & one:
                continue
            begin = begin_at(graph, j, now + graph.leg[i, j])
            if begin == np.inf:
                continue
            total, value = profit + profits[j], worth + worths[j]
            if j == size - 1:
                if total >= beat and value >= least and total > labels.end_profit[i]:
                    labels.end_profit[i], labels.end_label[i] = total, here
                continue
            fresh = labels.counts[0]
            fits = True
            for b in range(budgets):
                labels.weights[fresh, b] = labels.weights[here, b] + weights[j, b]
                fits = fits and labels.weights[fresh, b] <= room[b]
            if not fits:
                continue
            for w in range(words):
                barred[w] = (labels.barred[here, w] | graph.rivals[j, w]) & near[j, w]
                mask[w] = barred[w]
            used = labels.weights[fresh]
            if far.known and not _completes(far, j, begin, profit, worth, barred, used, weights[j], room, beat, least):
                continue
            if mode != EVERY:
                _add_late(graph, j, begin, mask)
            before = _place(labels, fresh, j, begin, total, value, mask, used, mode)
            if before == GIVES_WAY:
                continue
            if before < 0:
                labels.next[fresh], labels.head[j] = labels.head[j], fresh
            else:
                labels.next[fresh], labels.next[before] = labels.next[before], fresh
            labels.time[fresh], labels.profit[fresh], labels.worth[fresh] = begin, total, value
            labels.node[fresh], labels.before[fresh] = j, here
            for w in range(words):
                labels.barred[fresh, w] = barred[w]
            labels.counts[0] += 1
            _push(labels, fresh)
    return MORE


@inlined
def _add_late(graph: Graph, node: int, now: float, mask: Words) -> None:
    """Adds the places that are out of reach from a node at this time."""
    low, high = graph.late_first[node], graph.late_first[node + 1]
    base = low
    while low < high:
        middle = (low + high) >> 1
        if graph.late_time[middle] < now:
            low = middle + 1
        else:
            high = middle
    if low > base:
        for w in range(len(mask)):
            mask[w] |= graph.late[low - 1, w]


@inlined
def _place(
    labels: Labels,
    label: int,
    node: int,
    now: float,
    profit: float,
    worth: float,
    mask: Words,
    weights: Floats,
    mode: int,
) -> int:
    """The label after which `label` stands in its node's list, -1 for the first place; `GIVES_WAY` where it does.

    `mask` are the places that the label cannot visit any more. In mode `EVERY` it gives way to a label of the same set
    only, whose profit is the same but for rounding.
    """
    before, other = -1, labels.head[node]
    least = profit - 1e-9 * (1 + abs(profit)) if mode == EVERY else profit
    while other >= 0 and labels.profit[other] >= least:
        better = labels.time[other] <= now and labels.worth[other] >= worth and other != label
        if better and mode != RUSH:
            for w in range(len(mask)):
                if labels.barred[other, w] & ~mask[w] or (mode == EVERY and mask[w] & ~labels.barred[other, w]):
                    better = False
                    break
        if better:
            for b in range(len(weights)):
                better = better and labels.weights[other, b] <= weights[b]
            if better:
                return GIVES_WAY
        if labels.profit[other] >= profit:
            before = other
        other = labels.next[other]
    return before


@kernel
def _take_out(labels: Labels, node: int, label: int) -> None:
    """Takes a label out of its node's list."""
    before, other = -1, labels.head[node]
    while other != label:
        before, other = other, labels.next[other]
    if before < 0:
        labels.head[node] = labels.next[label]
    else:
        labels.next[before] = labels.next[label]


@inlined
def _completes(
    far: Far,
    node: int,
    begin: float,
    profit: float,
    worth: float,
    barred: Words,
    weights: Floats,
    own: Floats,
    room: Floats,
    beat: float,
    least: float,
) -> bool:
    """Whether a way from the other end meets the way to this node for `beat` and `least`.

    The node's own profit and worth are in those of the other way.
    """
    low, high = far.first[node], far.first[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if begin + far.by_time[middle] <= far.horizon:
            low = middle + 1
        else:
            high = middle
    if low == far.first[node] or profit + far.most[low - 1] < beat:
        return False
    word, bit = (node - 1) >> 6, np.uint64(1) << np.uint64((node - 1) & 63)
    for place in range(far.first[node], far.first[node + 1]):
        if profit + far.profit[place] < beat:
            return False
        if begin + far.time[place] > far.horizon or worth + far.worth[place] < least:
            continue
        meets = True
        for w in range(len(barred) if far.apart else 0):
            both = barred[w] & far.barred[place, w]
            if w == word:
                both &= ~bit
            if both:
                meets = False
                break
        if meets:
            for b in range(len(room)):
                meets = meets and weights[b] + far.weights[place, b] - own[b] <= room[b]
            if meets:
                return True
    return False


@kernel
def _sooner(labels: Labels, a: int, b: int) -> bool:
    if labels.time[a] != labels.time[b]:
        return labels.time[a] < labels.time[b]
    return labels.profit[a] > labels.profit[b]


@kernel
def _push(labels: Labels, label: int) -> None:
    place = labels.counts[1]
    labels.counts[1] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if not _sooner(labels, label, labels.heap[parent]):
            break
        labels.heap[place] = labels.heap[parent]
        place = parent
    labels.heap[place] = label


@kernel
def _pop(labels: Labels) -> int:
    top = labels.heap[0]
    labels.counts[1] -= 1
    count = labels.counts[1]
    if count:
        label, place = labels.heap[count], 0
        while True:
            child = 2 * place + 1
            if child >= count:
                break
            if child + 1 < count and _sooner(labels, labels.heap[child + 1], labels.heap[child]):
                child += 1
            if not _sooner(labels, labels.heap[child], label):
                break
            labels.heap[place] = labels.heap[child]
            place = child
        labels.heap[place] = label
    return int(top)
