"""The queues of a cost-level search as numpy arrays, filled and read by loops."""

import numpy as np
import numpy.typing as npt

from orienteer.beam.candidates import (
    COST,
    MOST_GROUPS,
    MOST_SPOTS,
    REMEMBERED,
    SCORE,
    STAMP,
    TRAIL,
    Candidates,
    Offspring,
    bits_for_score,
)
from orienteer.beam.cost_level import count_levels
from orienteer.beam.problems import Array, Problems
from orienteer.kernel import ZERO, Floats, Ints, copy, kernel, ranked

Bytes = npt.NDArray[np.uint8]

_LAST: int = np.int64(2**63 - 1)  # type: ignore[assignment]

BITS = bits_for_score(MOST_GROUPS), bits_for_score(MOST_SPOTS)
EMPTY = int(np.array(-np.inf).view(np.int64))
"""The score of a slot without a path: minus infinity."""
ROOM_AT_FIRST = 16
"""Slots of a queue without bound before it grows."""


class HostQueues:
    """Paths of cost c wait in level ceil(c / tau) of their instance, at most `width` in each (None: any number)."""

    def __init__(
        self,
        problems: Problems,
        width: int | None,
        tau: Array,
        spread: float = 0.0,
        lag: float | None = None,
        remembered: int = REMEMBERED,
    ):
        self.problems, self.bounded, self.tau = problems, width is not None, tau
        self.count = count_levels(problems, tau)
        groups = problems.batch * self.count
        if groups > MOST_GROUPS or groups * problems.nodes > MOST_SPOTS:
            raise ValueError(f"{problems.batch} instances of {self.count} levels are too many for one batch")
        self._price = (spread if self.bounded else 0.0) * problems.mean_prize
        self._lag = problems.lag(lag)
        self._slots = _empty(groups, width or ROOM_AT_FIRST)  # (group, slot, 4)
        self._worst = np.full(groups, -np.inf)  # what a path must reach to enter a full queue
        self._filled = np.zeros(groups, dtype=np.uint8)  # which queues hold paths
        # Expanded paths by their stamp: a dearer path with the same nodes and the same last node leads nowhere new.
        # Every instance has slots of its own, so that what is forgotten does not depend on the batch.
        self._holder = np.full(problems.batch * remembered, -1, dtype=np.int64)  # row of `_stamp` and `_cost`
        self._stamp, self._cost = np.empty(0, dtype=np.int64), np.empty(0)
        self._seen = 0

    def put(self, children: Offspring) -> None:
        """Merges children into their queues; full queues keep the best."""
        packed, instance = children.candidates.packed, children.instance
        if not self.bounded:
            self._make_room(longest_queue(packed, instance, self.tau, self._slots, EMPTY, self.count))
        fill(
            packed, instance, self.tau, self._price, self.problems.nodes, *BITS, self.bounded,
            self._slots, EMPTY, self._worst, self._filled, self.count, self._holder, self._stamp, self._cost,
        )  # fmt: skip

    def pop(self) -> Candidates:
        """All paths worth expanding of each instance's cheapest level that has any; none when all queues are empty.

        Instances need not wait for one another, and each reads its levels in the same order as if it were alone: no leg
        costs less than nothing, so that no path falls back behind the one that it came from.
        """
        out = np.empty((self.problems.batch * self._slots.shape[1], 4), dtype=np.int64)
        if self._seen + len(out) > len(self._stamp):
            room = max(self._seen + len(out), 2 * len(self._stamp))
            self._stamp, self._cost = np.resize(self._stamp, room), np.resize(self._cost, room)
        found = read(
            self._slots, EMPTY, self._worst, self._filled, self.count, self._holder, self._stamp, self._cost,
            self._seen, self._lag, out,
        )  # fmt: skip
        self._seen += found
        return Candidates(out[:found], np)

    def waiting(self, row: int) -> list[Candidates]:
        """The paths that wait in each level of an instance, the best first."""
        own = self._slots[row * self.count : (row + 1) * self.count]
        return [Candidates(queue[queue[:, SCORE] != EMPTY], np) for queue in own]

    def _make_room(self, room: int) -> None:
        more = room - self._slots.shape[1]
        if more > 0:
            self._slots = np.concatenate((self._slots, _empty(len(self._slots), max(more, self._slots.shape[1]))), 1)


def _empty(groups: int, room: int) -> Array:
    slots = np.zeros((groups, room, 4), dtype=np.int64)
    slots[..., 0] = EMPTY
    return slots


@kernel
def read(
    slots: Ints, empty: int, worst: Floats, filled: Bytes, count: int,
    holder: Ints, seen_stamp: Ints, seen_cost: Floats, seen: int, lag: Floats, out: Ints,
) -> int:  # fmt: skip
    """Takes all paths of each instance's cheapest level that has any; returns how many are worth expanding.

    Not worth it are those known already, and those whose score is more than `lag` below the best of their queue.

    The paths worth expanding are written to `out` and remembered behind the `seen` paths that are remembered already.
    """
    batch = len(filled) // count
    size = len(holder) // batch
    owner = np.empty(len(out), dtype=np.int64)
    while True:
        found, waiting = 0, False
        for instance in range(batch):
            group = -1
            for level in range(instance * count, (instance + 1) * count):
                if filled[level]:
                    group = level
                    break
            if group < 0:
                continue
            waiting = True
            score = slots[group, :, SCORE].copy().view(np.float64)
            least = score.max() - lag[instance]  # not a number where both are infinite: then nothing is below
            for slot in range(slots.shape[1]):
                path = slots[group, slot]
                if path[SCORE] == empty:
                    continue
                if not score[slot] < least and not _known(path, instance * size, size, holder, seen_stamp, seen_cost):
                    copy(path, out[found])
                    owner[found] = instance
                    found += 1
                path[SCORE] = empty
            worst[group] = -np.inf
            filled[group] = 0
        if found or not waiting:
            break
    for number in range(found):
        row = seen + number
        seen_stamp[row] = out[number, STAMP]
        seen_cost[row] = out[number, COST : COST + 1].view(np.float64)[0]
        holder[owner[number] * size + (out[number, STAMP] & (size - 1))] = row
    return found


@kernel
def _known(path: Ints, first: int, size: int, holder: Ints, stamps: Ints, costs: Floats) -> bool:
    """Whether an expanded path with the same nodes and the same last node is remembered that cost no more."""
    row = holder[first + (path[STAMP] & (size - 1))]
    return row >= 0 and stamps[row] == path[STAMP] and costs[row] <= path[COST : COST + 1].view(np.float64)[0]


@kernel
def fill(
    children: Ints, instance: Ints, tau: Floats, price: Floats, nodes: int, group_bits: int, spot_bits: int,
    bounded: bool,
    slots: Ints, empty: int, worst: Floats, filled: Bytes, count: int,
    holder: Ints, seen_stamp: Ints, seen_cost: Floats,
) -> None:  # fmt: skip
    """Merges children into their queues; a full queue keeps its best paths."""
    batch = len(filled) // count
    size, width = len(holder) // batch, slots.shape[1]
    group = np.empty(len(children), dtype=np.int64)
    score, cost = children[:, SCORE].copy().view(np.float64), children[:, COST].copy().view(np.float64)
    for child in range(len(children)):
        row = instance[child]
        group[child] = row * count + np.int64(np.ceil(cost[child] / tau[row]))
        known = _known(children[child], row * size, size, holder, seen_stamp, seen_cost)
        if score[child] < worst[group[child]] or known:
            group[child] = -1
    order = ranked(group)
    room = np.empty((len(children) + width, 4), dtype=np.int64)
    at = ZERO
    while at < len(order) and group[order[at]] < 0:
        at += 1
    while at < len(order):
        mine, used = group[order[at]], 0
        for slot in range(width):
            if slots[mine, slot, SCORE] != empty:
                copy(slots[mine, slot], room[used])
                slots[mine, slot, SCORE] = empty
                used += 1
        while at < len(order) and group[order[at]] == mine:
            copy(children[order[at]], room[used])
            used += 1
            at += 1
        kept, last = _keep(room[:used], slots[mine], nodes, price[mine // count], group_bits, spot_bits)
        filled[mine] = 1
        if bounded and kept == width:
            worst[mine] = last


@kernel
def _keep(paths: Ints, queue: Ints, nodes: int, price: float, group_bits: int, spot_bits: int) -> tuple[int, float]:
    """Writes the best of the paths into an empty queue, from best to worst; returns their number and the last score.

    Of paths with the same nodes and the same last node the cheapest stays. A score falls by `price` for each better
    path with the same last node: better by the first `spot_bits` bits of the score. The lowered scores are compared by
    their first `group_bits` bits; among equals the cheaper path comes first.
    """
    # The bits of costs sort as the costs do: none is negative.
    paths = _rows(paths, ranked(paths[:, COST].copy()))
    used = len(paths)
    score = paths[:, SCORE].copy().view(np.float64)
    rank, twin, ending = np.empty(used, dtype=np.int64), np.zeros(used, dtype=np.bool_), np.zeros(nodes, dtype=np.int64)
    by_stamp = ranked(paths[:, STAMP].copy())
    for place in range(1, used):
        twin[by_stamp[place]] = paths[by_stamp[place], STAMP] == paths[by_stamp[place - 1], STAMP]
    for path in range(used):
        rank[path] = _falling(paths[path, SCORE], spot_bits)
    for path in ranked(rank):
        if not twin[path]:
            node = paths[path, TRAIL] % nodes
            score[path] -= ending[node] * price
            ending[node] += 1
    bits = score.view(np.int64)
    for path in range(used):
        rank[path] = _LAST if twin[path] else _falling(bits[path], group_bits)
    order = ranked(rank)
    kept, last = 0, -np.inf
    for path in order:  # twins come last
        if twin[path] or kept == len(queue):
            break
        copy(paths[path], queue[kept])
        last = score[path]
        kept += 1
    return kept, last


@kernel
def _rows(paths: Ints, order: Ints) -> Ints:
    """Paths in an order."""
    rows = np.empty((len(order), paths.shape[1]), dtype=np.int64)
    for at in range(len(order)):
        copy(paths[order[at]], rows[at])
    return rows


@kernel
def _falling(bits: int, kept: int) -> int:
    """A number that falls as a float64 rises, from the float's first `kept` bits."""
    rising: int = bits ^ ((bits >> 63) & _LAST)
    return ~rising >> (64 - kept)


@kernel
def longest_queue(children: Ints, instance: Ints, tau: Floats, slots: Ints, empty: int, count: int) -> int:
    """How many paths the longest queue may hold once the children have entered."""
    length = np.zeros(len(slots), dtype=np.int64)
    cost = children[:, COST].copy().view(np.float64)
    longest = ZERO
    for child in range(len(children)):
        row = instance[child]
        group = row * count + np.int64(np.ceil(cost[child] / tau[row]))
        if length[group] == 0:
            while length[group] < slots.shape[1] and slots[group, length[group], SCORE] != empty:
                length[group] += 1
        length[group] += 1
        longest = max(longest, int(length[group]))
    return longest


@kernel
def keep_of_each(
    children: Ints, instance: Ints, batch: int, width: int, nodes: int, group_bits: int, spot_bits: int, out: Ints
) -> int:
    """Writes the `width` best children of each instance, from best to worst; returns how many were written."""
    order = ranked(instance)
    kept, at = ZERO, ZERO
    for row in range(batch):
        begin = at
        while at < len(order) and instance[order[at]] == row:
            at += 1
        if at > begin:
            own = _rows(children, order[begin:at])
            kept += _keep(own, out[kept : kept + min(width, at - begin)], nodes, 0.0, group_bits, spot_bits)[0]
    return kept
