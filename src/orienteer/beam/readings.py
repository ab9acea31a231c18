"""Tells a listener what the queues of a search hold after every reading: for pictures of the search."""

import math

import numpy as np

from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.host.queues import HostQueues
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander, Watch
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.model.errors import Unsupported
from orienteer.model.levels import OnReading, Reading


def told_search(
    backend: Backend, problems: Problems, scorer: Scorer, config: CostLevelConfig, watch: Watch, listen: OnReading
) -> Expander:
    """As `cost_level_search`, on the host; the listener hears of the queues of the first row of the batch."""
    if not isinstance(backend, HostBackend):
        raise Unsupported(f"levels are shown of a search on the CPU: device must be 'cpu', got {backend.name!r}")
    keeper = _QueueKeeper(backend.batch_bytes, backend.remembered)
    return cost_level_search(keeper, problems, scorer, config, _Telling(keeper, watch, listen, config.beam))


class _QueueKeeper(HostBackend):
    """A host that keeps the queues of its last search at hand."""

    kept: HostQueues

    def queues(self, problems: Problems, width: int | None, tau: Array, spread: float, lag: float | None) -> HostQueues:
        self.kept = HostQueues(problems, width, tau, spread, lag, self.remembered)
        return self.kept


class _Telling:
    """A watch that tells the listener of every reading, and leaves the rest to another watch."""

    pace = 1

    def __init__(self, keeper: _QueueKeeper, watch: Watch, listen: OnReading, beam: int | None):
        self.keeper, self.watch, self.listen, self.beam = keeper, watch, listen, beam
        self.logged = 0

    def __call__(self, expander: Expander, steps: int = 1) -> bool:
        log, queues = expander.log, self.keeper.kept
        new = np.arange(self.logged, log.used)
        new = new[(log.instance[new] == 0) & (log.trail[new] >= 0)]
        self.logged = log.used
        if len(new):
            self.listen(self._reading(expander, queues, new))
        return self.watch(expander, steps)

    def _reading(self, expander: Expander, queues: HostQueues, new: Array) -> Reading:
        log, problems = expander.log, expander.problems
        tau, start = float(queues.tau[0]), int(problems.start[0])
        waiting = []
        for paths in queues.waiting(0):
            parent, last = paths.trail // problems.nodes, paths.trail % problems.nodes
            waiting.append(tuple((log.prize[parent] + problems.prizes[0, last]).tolist()))
        return Reading(
            math.ceil(float(log.cost[new[0]]) / tau),
            tuple((start, *stops) for stops in log.stops(new)),
            tuple(log.prize[new].tolist()),
            tuple(waiting),
            tuple(expander.routes()[0]),
            tau,
            self.beam,
        )
