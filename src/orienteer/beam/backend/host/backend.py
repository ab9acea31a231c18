"""The host: numpy arrays, and loops that run on one core without holding Python's lock."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from orienteer.beam.backend.host.exchange import exchanged
from orienteer.beam.backend.host.expand import HostExpander
from orienteer.beam.backend.host.meet import best_meeting
from orienteer.beam.backend.host.paths import HostLog
from orienteer.beam.backend.host.problems import HostProblems
from orienteer.beam.backend.host.queues import BITS, HostQueues, keep_of_each
from orienteer.beam.backend.host.timed import TimedExpander
from orienteer.beam.backend.host.timed_exchange import exchanged_in_time
from orienteer.beam.backend.host.timed_problems import TimedProblems
from orienteer.beam.backend.protocol import Ends, Over, Queues
from orienteer.beam.candidates import REMEMBERED, Candidates, Offspring
from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.expand import Expander, ScoreBy, Watch
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.model.instance import Instance
from orienteer.search.cores import cores

BATCH_BYTES = 128 * 2**20
"""Working set of a batch: beyond this, caches suffer and nothing is gained."""
ALL_BYTES = 8 * BATCH_BYTES
"""Working set of all batches together."""
FEWEST = 8
"""Instances of a batch from which on two batches side by side are faster than one."""


Change = Callable[..., tuple[npt.NDArray[np.int64], float, float]]
"""Exchanges stretches of a route: `exchanged`, or `exchanged_in_time`."""


class HostBackend:
    """Beam searches on the cores of the host."""

    name = "cpu"
    compiles_ahead = True
    cells = sys.maxsize  # memory alone bounds a batch

    def __init__(self, batch_bytes: int = BATCH_BYTES, remembered: int = REMEMBERED):
        """`batch_bytes` is the working set of a batch; `remembered` is how many expanded paths of an instance are
        remembered, a power of two.
        """
        self.batch_bytes, self.remembered = batch_bytes, remembered

    def problems(self, instances: Sequence[Instance], directions: int = 1) -> Problems:
        return HostProblems.from_instances(instances, directions)

    def expander(
        self, problems: Problems, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"
    ) -> Expander:
        kind = TimedExpander if isinstance(problems, TimedProblems) else HostExpander
        return kind(self, HostLog(problems), scorer, branch, score_by)

    def recorded(
        self, problems: Problems, scorer: Scorer, config: CostLevelConfig, tau: Array, watch: Watch
    ) -> Expander | None:
        return None

    def queues(self, problems: Problems, width: int | None, tau: Array, spread: float, lag: float | None) -> Queues:
        return HostQueues(problems, width, tau, spread, lag, self.remembered)

    def keep_best(self, children: Offspring, width: int | None) -> Candidates:
        packed, instance = children.candidates.packed, children.instance
        kept = np.empty_like(packed)
        batch, nodes = int(instance.max()) + 1, 1  # with one node, `keep_of_each` takes no price for a shared last node
        count = keep_of_each(packed, instance, batch, width or len(packed), nodes, *BITS, kept)
        return Candidates(kept[:count], np)

    def best_pairs(self, ends: Ends) -> Array:
        paths = ends.paths
        columns = (paths.last, paths.cost, paths.prize, paths.stops)
        best = np.full((2, len(ends.front)), -1, dtype=np.int64)
        for at, (front, back) in enumerate(zip(ends.front, ends.back, strict=True)):
            ahead, behind = (slice(paths.first[row], paths.first[row + 1]) for row in (front, back))
            sides = [column[own] for own in (ahead, behind) for column in columns]
            arguments: list[Any] = [*sides, ends.costs[front], ends.budget[at], ends.least[at], front == back]
            from_start, from_end = best_meeting(*arguments)
            if from_start >= 0:
                best[:, at] = paths.number[ahead][from_start], paths.number[behind][from_end]
        return best

    def exchanged(
        self,
        problems: Problems,
        paths: SortedPaths,
        directions: int,
        routes: list[list[int]],
        chosen: Array,
        over: Over,
    ) -> list[list[int]]:
        better = []
        for number, route in enumerate(routes):
            row = number * directions
            begin, own = paths.first[row], slice(paths.first[row], paths.first[row + directions])
            tree = np.maximum(paths.parent[own] - begin, -1), paths.last[own]
            prize, ahead, costs, prizes = (
                paths.prize[own], paths.first[row + 1] - begin, problems.costs[row], problems.prizes[row],
            )  # fmt: skip
            change: Change
            logged: tuple[Any, ...]
            if isinstance(problems, TimedProblems):
                change, logged = exchanged_in_time, (*tree, prize, ahead, costs, prizes, problems.clock)
            else:
                bounds = problems.safe_budget[row], problems.symmetric[row]
                logged = *tree, paths.cost[own], prize, paths.stops[own], ahead, costs, prizes, *bounds
                change = exchanged
            bases = chosen[number]
            better.append(_best_exchanged(route, bases[bases >= 0] - begin, over, change, logged) if route else route)
        return better

    def free_memory(self, batches: int) -> int:
        return min(self.batch_bytes, ALL_BYTES // batches)

    def turn(self) -> AbstractContextManager[None]:
        return nullcontext()

    def workers(self, instances: int) -> int:
        return max(1, min(cores(), instances // FEWEST))

    def worker(self, number: int) -> AbstractContextManager[None]:
        return nullcontext()


def _best_exchanged(
    route: list[int], bases: npt.NDArray[np.int64], over: Over, change: Change, logged: tuple[Any, ...]
) -> list[int]:
    """The best route that `change` makes of a route and of the routes along the `bases`, until `over()` is true."""
    best, best_prize, best_cost = np.array(route), -np.inf, np.inf
    for base in (-1, *bases.tolist()):
        if over():
            break
        made, prize, cost = change(np.array(route), base, *logged)
        if prize > best_prize or (prize == best_prize and cost < best_cost):
            best, best_prize, best_cost = made, prize, cost
    made_nodes: list[int] = best.tolist()
    return made_nodes
