"""Label setting: all ways along a graph that may still belong to a better route, worse ones left out.

A label is a way to a node: when its visit begins, what it collects, perhaps at prices for the visits, and which places
it must not visit again, as far as they are remembered. Each node remembers the places of its own set (ng-routes:
Baldacci, Mingozzi and Roberti 2011), so that a route may come back to a place only after nodes that forget it; with
all places in all sets no route does. A label gives way to another of its node that begins no later, collects no less
and bars no place that the label could still visit.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.exact.labels.graph import Floats, Graph, Ints, Words
from orienteer.kernel import inlined, lean
from orienteer.kernel.clock import begin_at

DONE, MORE, FULL = 0, 1, 2
"""What `advance` returns: no label waits, `pops` labels were taken, some arrays are too short."""
BEST, EVERY, RUSH, WHOLE = 0, 1, 2, 3
"""Modes of `advance`."""
KEPT, WAITING, WIDEST = 0, 1, 2
"""Places of `State.counts`: labels kept, labels that wait, labels in the longest front."""
ROUNDING = 1e-12
"""Added to the sum of all prices as a share, so that rounding loses no route."""
CROWD, AFTER = 256, 64
"""A label that waits joins a front of fewer than `CROWD` labels, and is compared with `AFTER` of less profit there."""
GONE = -np.inf
"""What is left of a label that gave way while it waited."""
BLOCK = 32
"""Ways from the other end whose earliest is known."""


class Labels(NamedTuple):
    """All labels that were extended, by rising time."""

    time: Floats
    profit: Floats
    node: Ints
    before: Ints
    """The label that was extended, -1 for the first."""
    barred: Words
    """(labels, words) places that were visited and are remembered, and their rivals."""
    weights: Floats
    """(labels, budgets) the weights of the visited places."""


class Waiting(NamedTuple):
    """Labels that were not extended yet."""

    time: Floats
    profit: Floats
    rest: Floats
    """What prices may add at most on the rest of the route."""
    node: Ints
    before: Ints
    barred: Words
    weights: Floats
    heap: Ints
    """The labels in a heap by time, and after them the numbers that are free."""


class Front(NamedTuple):
    """For each node, row by row, the labels to which others may give way, by falling profit.

    Those that were extended, and those that wait as long as the row is short.
    """

    sizes: Ints
    """(nodes,) how many they are."""
    profit: Floats
    time: Floats
    slot: Ints
    """The label that waits; -1 once it was extended."""
    barred: Words
    weights: Floats


class State(NamedTuple):
    """A search between two calls of `advance`."""

    labels: Labels
    waiting: Waiting
    front: Front
    end_profit: Floats
    end_label: Ints
    """(nodes,) the best way to the end over each last node, and its label before the end; -1 where there is none."""
    used: npt.NDArray[np.bool_]
    """(nodes, nodes) the legs that a route of `beat` may use; noted where the other end is known."""
    counts: Ints


class Far(NamedTuple):
    """Ways from each node to the other end, by falling profit; the ways of node i stand from first[i] on.

    The profits are without those of the nodes themselves.
    """

    first: Ints
    time: Floats
    profit: Floats
    barred: Words
    weights: Floats
    soonest: Floats
    """The least time of each `BLOCK` ways of all."""
    most: Floats
    """(nodes, moments) the most profit of the ways that begin up to a moment."""
    pace: float
    """How many moments there are in a unit of time."""
    horizon: float
    known: bool
    """Whether there are such ways; if not, nothing is known about the other end."""
    apart: bool
    """Whether ways that bar the same place never meet. With groups they may: both may have visited rivals of it."""


@lean
def advance(
    graph: Graph,
    near: Words,
    profits: Floats,
    prices: Floats,
    weights: Floats,
    room: Floats,
    far: Far,
    beat: float,
    mode: int,
    state: State,
    mask: Words,
    pops: int,
) -> int:
    """Extends labels by rising time until none waits.

    A way that cannot end with a profit of `beat` is left out, where a way's profit and what the prices may add on the
    rest of the route count together.

    `near`, (nodes, words), is what each node remembers; `weights`, (nodes, budgets), and `room` are the budgets. In
    mode `EVERY` the label that begins first is kept for every set of places that a route could visit. In mode `RUSH`
    sets are not compared: most routes are lost, but good ones found soon. In mode `WHOLE` profits are without prices,
    those of `far` with them: the prices of the places that a way can still reach are added. In modes `EVERY` and
    `WHOLE` nodes must remember all places.
    """
    labels, waiting, front, counts = state.labels, state.waiting, state.front, state.counts
    size, words, budgets = len(graph.leg), near.shape[1], len(room)
    one = np.uint64(1)
    spare = prices.sum() * ROUNDING
    for _ in range(pops):
        if counts[WAITING] == 0:
            return DONE
        if counts[KEPT] == len(labels.time) or counts[WAITING] + size > len(waiting.time):
            return FULL
        if counts[WIDEST] == front.profit.shape[1]:
            return FULL
        slot = _pop(waiting, counts)
        here = counts[KEPT]
        i, now, profit, rest = waiting.node[slot], waiting.time[slot], waiting.profit[slot], waiting.rest[slot]
        if rest == GONE:
            continue
        labels.time[here], labels.profit[here] = now, profit
        labels.node[here], labels.before[here] = i, waiting.before[slot]
        for b in range(budgets):
            labels.weights[here, b] = waiting.weights[slot, b]
        for w in range(words):
            labels.barred[here, w] = waiting.barred[slot, w]
            mask[w] = labels.barred[here, w]
        if mode != EVERY:
            _add_late(graph, i, now, mask)
        own, held = labels.barred[here], labels.weights[here]
        if here:
            if not _settle(front, waiting, i, slot, mask, own, mode):
                continue
            counts[WIDEST] = max(counts[WIDEST], front.sizes[i])
            if mode == WHOLE:
                rest = spare + _outside(prices, mask)
            if far.known and not _completes(far, i, now, profit + rest, own, held, weights[i], room, beat):
                continue
        counts[KEPT] += 1
        for edge in range(graph.next_first[i], graph.next_first[i + 1]):
            j = graph.next[edge]
            if j < size - 1 and (labels.barred[here, (j - 1) >> 6] >> np.uint64((j - 1) & 63)) & one:
                continue
            begin = begin_at(graph, j, now + graph.leg[i, j])
            if begin == np.inf:
                continue
            total = profit + profits[j]
            if j == size - 1:
                ended = total if mode == WHOLE else total + rest
                if ended >= beat:
                    state.used[i, j] = True
                    if ended > state.end_profit[i]:
                        state.end_profit[i], state.end_label[i] = ended, here
                continue
            left = rest - prices[j] if mode == WHOLE else rest
            # The price of a place that is visited was among those of the places within reach.
            if far.known and total + left + far.most[j, int((far.horizon - begin) * far.pace)] < beat:
                continue
            fresh = waiting.heap[counts[WAITING]]
            fits = True
            for b in range(budgets):
                waiting.weights[fresh, b] = labels.weights[here, b] + weights[j, b]
                fits = fits and waiting.weights[fresh, b] <= room[b]
            if not fits:
                continue
            own, held = waiting.barred[fresh], waiting.weights[fresh]
            for w in range(words):
                waiting.barred[fresh, w] = (labels.barred[here, w] | graph.rivals[j, w]) & near[j, w]
                mask[w] = waiting.barred[fresh, w]
            if far.known and not state.used[i, j]:
                if not _completes(far, j, begin, total + left, own, held, weights[j], room, beat):
                    continue
                state.used[i, j] = True
            if mode != EVERY:
                _add_late(graph, j, begin, mask)
            place = _place(front, j, begin, total, mask, held, mode)
            if place < 0:
                continue
            if mode == EVERY or front.sizes[j] < CROWD:
                _stand(front, waiting, j, place, begin, total, own, held, mode, fresh)
            counts[WIDEST] = max(counts[WIDEST], front.sizes[j])
            waiting.time[fresh], waiting.profit[fresh], waiting.rest[fresh] = begin, total, left
            waiting.node[fresh], waiting.before[fresh] = j, here
            _push(waiting, counts)
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
def _outside(prices: Floats, mask: Words) -> float:
    """The sum of the prices of all places that are not in a set."""
    total = 0.0
    for place in range(len(prices) - 2):
        if not (mask[place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            total += prices[place + 1]
    return total


@inlined
def _place(front: Front, node: int, now: float, profit: float, mask: Words, weights: Floats, mode: int) -> int:
    """Where a label stands in its node's front, after all of no less profit; -1 where it gives way to one of them.

    `mask` are the places that the label cannot visit any more. In mode `EVERY` it gives way to a label of the same set
    only, whose profit is the same but for rounding.
    """
    least = profit - 1e-9 * (1 + abs(profit)) if mode == EVERY else profit
    place = 0
    for at in range(front.sizes[node]):
        if front.profit[node, at] < least:
            break
        if front.profit[node, at] >= profit:
            place = at + 1
        better = front.time[node, at] <= now
        if better and mode != RUSH:
            for w in range(len(mask)):
                barred = front.barred[node, at, w]
                if barred & ~mask[w] or (mode == EVERY and mask[w] & ~barred):
                    better = False
                    break
        if better:
            for b in range(len(weights)):
                better = better and front.weights[node, at, b] <= weights[b]
            if better:
                return -1
    return place


@lean
def _stand(
    front: Front,
    waiting: Waiting,
    node: int,
    place: int,
    now: float,
    profit: float,
    barred: Words,
    weights: Floats,
    mode: int,
    slot: int,
) -> None:
    """Puts a label into its node's front, and takes out those after it that give way to it."""
    write, count = place, front.sizes[node]
    last = min(count, place + AFTER)
    for at in range(place, last):
        worse = mode != EVERY and front.time[node, at] >= now
        if worse and mode != RUSH:
            for w in range(len(barred)):
                if barred[w] & ~front.barred[node, at, w]:
                    worse = False
                    break
        for b in range(len(weights)):
            worse = worse and weights[b] <= front.weights[node, at, b]
        if not worse:
            _move(front, node, at, write)
            write += 1
        elif front.slot[node, at] >= 0:
            waiting.rest[front.slot[node, at]] = GONE
    if write < last:
        for at in range(last, count):
            _move(front, node, at, write)
            write += 1
    else:
        write = count
    _shift(front.profit[node], place, write)
    _shift(front.time[node], place, write)
    _shift(front.slot[node], place, write)
    _shift_rows(front.barred[node], place, write)
    _shift_rows(front.weights[node], place, write)
    front.profit[node, place], front.time[node, place], front.slot[node, place] = profit, now, slot
    for w in range(len(barred)):
        front.barred[node, place, w] = barred[w]
    for b in range(len(weights)):
        front.weights[node, place, b] = weights[b]
    front.sizes[node] = write + 1


@lean
def _settle(front: Front, waiting: Waiting, node: int, slot: int, mask: Words, barred: Words, mode: int) -> bool:
    """Says whether a label that stands in its node's front is extended now, and does not give way to another.

    All others are extended later or were extended before, so that those of less profit may go whose places are barred
    to this label too.
    """
    own, count = 0, front.sizes[node]
    while own < count and front.slot[node, own] != slot:
        own += 1
    if own == count:
        now, profit, weights = waiting.time[slot], waiting.profit[slot], waiting.weights[slot]
        own = _place(front, node, now, profit, mask, weights, mode)
        if own < 0:
            return False
        _stand(front, waiting, node, own, now, profit, barred, weights, mode, slot)
        count = front.sizes[node]
    weights = front.weights[node, own]
    given = False
    least = front.profit[node, own] - (1e-9 * (1 + abs(front.profit[node, own])) if mode == EVERY else 0.0)
    for at in range(count if mode == EVERY else own):
        given = at != own and front.profit[node, at] >= least and front.time[node, at] <= front.time[node, own]
        for w in range(len(mask) if given and mode != RUSH else 0):
            given = given and not front.barred[node, at, w] & ~mask[w]
            given = given and not (mode == EVERY and mask[w] & ~front.barred[node, at, w])
        for b in range(len(weights) if given else 0):
            given = given and front.weights[node, at, b] <= weights[b]
        if given:
            break
    write = own if given else own + 1
    front.slot[node, own] = -1
    for at in range(own + 1, count):
        worse = mode != EVERY and not given
        for w in range(len(mask) if worse and mode != RUSH else 0):
            worse = worse and not barred[w] & ~front.barred[node, at, w]
        for b in range(len(weights) if worse else 0):
            worse = worse and weights[b] <= front.weights[node, at, b]
        if not worse:
            _move(front, node, at, write)
            write += 1
        elif front.slot[node, at] >= 0:
            waiting.rest[front.slot[node, at]] = GONE
    front.sizes[node] = write
    return not given


@inlined
def _shift(row: npt.NDArray[Any], first: int, end: int) -> None:
    for at in range(end, first, -1):
        row[at] = row[at - 1]


@inlined
def _shift_rows(rows: npt.NDArray[Any], first: int, end: int) -> None:
    for at in range(end, first, -1):
        for k in range(rows.shape[1]):
            rows[at, k] = rows[at - 1, k]


@inlined
def _move(front: Front, node: int, old: int, new: int) -> None:
    if old != new:
        front.profit[node, new], front.time[node, new] = front.profit[node, old], front.time[node, old]
        front.slot[node, new] = front.slot[node, old]
        for w in range(front.barred.shape[2]):
            front.barred[node, new, w] = front.barred[node, old, w]
        for b in range(front.weights.shape[2]):
            front.weights[node, new, b] = front.weights[node, old, b]


@inlined
def _completes(
    far: Far,
    node: int,
    begin: float,
    profit: float,
    barred: Words,
    weights: Floats,
    own: Floats,
    room: Floats,
    beat: float,
) -> bool:
    """Whether a way from the other end meets the way to this node for `beat`."""
    place, last = far.first[node], far.first[node + 1]
    word, bit = (node - 1) >> 6, np.uint64(1) << np.uint64((node - 1) & 63)
    while place < last:
        if profit + far.profit[place] < beat:
            return False
        end = min(last, (place // BLOCK + 1) * BLOCK)
        if begin + far.soonest[place // BLOCK] > far.horizon:
            place = end
            continue
        while place < end:
            if profit + far.profit[place] < beat:
                return False
            meets = begin + far.time[place] <= far.horizon
            if meets and far.apart:
                for w in range(len(barred)):
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
            place += 1
    return False


@inlined
def _sooner(waiting: Waiting, a: int, b: int) -> bool:
    if waiting.time[a] != waiting.time[b]:
        return waiting.time[a] < waiting.time[b]
    return waiting.profit[a] > waiting.profit[b]


@lean
def _push(waiting: Waiting, counts: Ints) -> None:
    """Puts the first free label into the heap."""
    heap, place = waiting.heap, counts[WAITING]
    label = heap[place]
    counts[WAITING] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if not _sooner(waiting, label, heap[parent]):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = label


@lean
def _pop(waiting: Waiting, counts: Ints) -> int:
    """Takes the first label out of the heap; its number is free then."""
    heap = waiting.heap
    top = heap[0]
    counts[WAITING] -= 1
    count = counts[WAITING]
    label, place = heap[count], 0
    heap[count] = top
    while count:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _sooner(waiting, heap[child + 1], heap[child]):
            child += 1
        if not _sooner(waiting, heap[child], label):
            break
        heap[place] = heap[child]
        place = child
    if count:
        heap[place] = label
    return int(top)
