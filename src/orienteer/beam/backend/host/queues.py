"""The queues of a cost-level search as numpy arrays, filled and read by loops."""

import numpy as np

from orienteer.beam.backend.host.queue_loops import fill, longest_queue, read
from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS, REMEMBERED, Candidates, Offspring, bits_for_score
from orienteer.beam.cost_level import count_levels
from orienteer.beam.problems import Array, Problems

BITS = bits_for_score(MOST_GROUPS), bits_for_score(MOST_SPOTS)
EMPTY = int(np.array(-np.inf).view(np.int64))
"""The score of a slot without a path: minus infinity."""
ROOM_AT_FIRST = 16
"""Slots of a queue without bound before it grows."""


class HostQueues:
    """Paths of cost c wait in level ceil(c / tau) of their instance, at most `width` in each (None: any number)."""

    def __init__(
        self, problems: Problems, width: int | None, tau: Array, spread: float = 0.0, remembered: int = REMEMBERED
    ):
        self.problems, self.bounded, self.tau = problems, width is not None, tau
        self.count = count_levels(problems, tau)
        groups = problems.batch * self.count
        if groups > MOST_GROUPS or groups * problems.nodes > MOST_SPOTS:
            raise ValueError(f"{problems.batch} instances of {self.count} levels are too many for one batch")
        self._price = (spread if self.bounded else 0.0) * problems.mean_prize
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
            self._seen, out,
        )  # fmt: skip
        self._seen += found
        return Candidates(out[:found], np)

    def _make_room(self, room: int) -> None:
        more = room - self._slots.shape[1]
        if more > 0:
            self._slots = np.concatenate((self._slots, _empty(len(self._slots), max(more, self._slots.shape[1]))), 1)


def _empty(groups: int, room: int) -> Array:
    slots = np.zeros((groups, room, 4), dtype=np.int64)
    slots[..., 0] = EMPTY
    return slots
