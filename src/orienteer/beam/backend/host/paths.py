"""The log of expanded paths as numpy arrays, filled by a loop."""

import numpy as np
import numpy.typing as npt

from orienteer.beam.candidates import COST, TRAIL, Candidates
from orienteer.beam.paths import PathLog
from orienteer.beam.problems import Array, Problems
from orienteer.beam.states import States
from orienteer.kernel import Floats, Ints, kernel

Flags = npt.NDArray[np.bool_]


class HostLog(PathLog):
    """A log in arrays that grow; states are views of the last rows."""

    last: Array  # (path,) int64

    def __init__(self, problems: Problems):
        super().__init__(problems)
        self._make_room(4 * problems.batch)

    def begin(self) -> States:
        states = States.initial(self.problems)
        rows = slice(0, len(states))
        self.used = len(states)
        self.trail[rows], self.instance[rows], self.last[rows] = -1, states.instance, states.last
        self.prize[rows], self.cost[rows], self.visited[rows] = states.prize, states.cost, states.visited
        return states

    def add(self, chosen: Candidates) -> States:
        first, self.used = self.used, self.used + len(chosen)
        if self.used > len(self.trail):
            self._make_room(max(self.used, 2 * len(self.trail)))
        append_paths(
            chosen.packed, first, self.problems.prizes, self.trail, self.instance, self.last, self.prize, self.cost,
            self.visited,
        )  # fmt: skip
        rows = slice(first, self.used)
        memory = None
        if self.memory is not None:
            memory = self.memory[self.trail[rows] // self.problems.nodes]
        return States(
            self.problems, self.instance[rows], self.last[rows], self.visited[rows], self.cost[rows],
            self.prize[rows], chosen.score, memory,
        )  # fmt: skip

    def stops(self, number: Array) -> list[list[int]]:
        return [self._stops_of(one) for one in number.tolist()]

    def _stops_of(self, number: int) -> list[int]:
        backwards = []
        trail = int(self.trail[number]) if number >= 0 else -1
        while trail >= 0:
            number, node = divmod(trail, self.problems.nodes)
            backwards.append(node)
            trail = int(self.trail[number])
        return backwards[::-1]

    def _make_room(self, room: int) -> None:
        shapes = {"trail": np.int64, "instance": np.int64, "last": np.int64, "prize": np.float64, "cost": np.float64}
        for name, kind in shapes.items():
            self._grow(name, np.empty(room, dtype=kind))
        self._grow("visited", np.empty((room, self.problems.nodes), dtype=np.bool_))

    def _grow(self, name: str, larger: Array) -> None:
        if self.used:
            old = getattr(self, name)
            larger[: len(old)] = old
        setattr(self, name, larger)


@kernel
def append_paths(
    packed: Ints, first: int, prizes: Floats, trail: Ints, instance: Ints, last: Ints, prize: Floats, cost: Floats,
    visited: Flags,
) -> None:  # fmt: skip
    """Writes candidates into the log from row `first` on."""
    nodes = prizes.shape[1]
    for one in range(len(packed)):
        row, here = first + one, packed[one, TRAIL]
        parent = here // nodes
        node, owner = here - parent * nodes, instance[parent]
        trail[row], instance[row], last[row] = here, owner, node
        prize[row] = prize[parent] + prizes[owner, node]
        cost[row] = packed[one, COST : COST + 1].view(np.float64)[0]
        visited[row] = visited[parent]
        visited[row, node] = True
