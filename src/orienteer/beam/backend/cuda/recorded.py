"""The cost-level beam search as a recorded step: the host launches steps, and asks the GPU for nothing in between.

A step is a fixed list of kernels over arrays of fixed sizes; how many paths there are, only the GPU knows. A GPU
replays the step as a graph, so that one small problem takes as little of the host's time as the largest batch.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch
import triton
from torch import Tensor

from orienteer.beam.backend.cuda import fused_queues
from orienteer.beam.backend.cuda.expand import TensorExpander
from orienteer.beam.backend.cuda.launch import warps_for
from orienteer.beam.backend.cuda.paths import TensorLog, grown
from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.backend.cuda.queues import EMPTY
from orienteer.beam.cost_level import CostLevelConfig, count_levels
from orienteer.beam.expand import Watch
from orienteer.beam.score import Scorer

WIDEST, MOST_BRANCHES, MOST_LEVELS = 256, 32, 4096
"""The largest beams, numbers of children and numbers of levels for which the kernels are made."""
BEAMS_AT_FIRST = 128
"""Beams for which the log has room at first; most searches need fewer."""
TILE = 32
"""Paths of a queue that are compared with as many others at a time."""


@dataclass(frozen=True)
class Step:
    """The paths that are expanded together, and what a score is to say about them.

    The paths are those of the log from number counters[FIRST] up to, not including, counters[USED].
    """

    problems: TensorProblems
    log: TensorLog
    counters: Tensor  # (COUNTERS,) int64
    most: int  # the number of paths, at most
    action: Tensor  # (most, node) float32, to be written: prize to go after each node; -inf where a path cannot go
    value: Tensor  # (most,) float32, to be written: prize to go


_GETTING_READY = threading.Lock()
"""Held by the thread that compiles and records a step: two threads would compile the same kernels twice, and cannot
record on one stream."""

Launch = Callable[[], None]
"""Launches the kernels that write a step's `action` and `value`."""


class RecordedScorer(Protocol):
    """A score whose kernels can be recorded."""

    def trust(self, problems: TensorProblems) -> Tensor | None:
        """(batch,) how much the last value counts, beside those on the way; None where it alone counts."""
        ...

    def recorded(self, step: Step) -> Launch | None:
        """What launches the kernels for a step; None where there are none."""
        ...

    def looked(self, paths: int) -> None:
        """Counts paths that were scored."""
        ...


def recorded_search(
    backend: Any, problems: TensorProblems, scorer: Scorer, config: CostLevelConfig, tau: Tensor, watch: Watch
) -> TensorExpander | None:
    """The search, done; None where a setting or a score has no kernels."""
    fits = (
        config.beam is not None
        and config.beam <= WIDEST
        and config.branch is not None
        and min(config.branch, problems.nodes) <= MOST_BRANCHES
        and config.score == "parent"
        and hasattr(scorer, "recorded")
        and count_levels(problems, tau) <= MOST_LEVELS
    )
    if not fits:
        return None
    search = RecordedSearch(backend, problems, scorer, config, tau)
    return None if search.look is None else search.run(watch)


class RecordedSearch:
    """One search: its arrays, and the kernels of a step."""

    def __init__(
        self,
        backend: Any,
        problems: TensorProblems,
        scorer: Any,
        config: CostLevelConfig,
        tau: Tensor,
        beams: int = BEAMS_AT_FIRST,
    ):
        """`beams` is for how many full beams of each instance the log has room at first."""
        assert config.beam is not None
        assert config.branch is not None
        batch = problems.batch
        self.problems, self.scorer, self.tau, self.width = problems, scorer, tau, config.beam
        self.branch = min(config.branch, problems.nodes)
        self.levels = count_levels(problems, tau)
        self.most, self.slots = batch * self.width, backend.remembered
        self.log = log = TensorLog(problems, batch + self.most * beams)
        self.expander = TensorExpander(backend, log, scorer, config.branch)
        self.queued = batch * self.levels * self.width  # slots of all queues; the rows for children follow
        rows, children = self.queued + self.most * self.branch, self.most * self.branch
        self.table = self._new(rows, 4)
        self.table[: self.queued, 0] = EMPTY
        self.dropped, self.place = self._new(rows, dtype=torch.uint8), self._new(rows, dtype=torch.int32)
        self.adjusted = self._new(rows, dtype=torch.float64)
        self.worst = self._new(batch * self.levels, dtype=torch.float64, fill=-torch.inf)
        self.filled = self._new(batch * self.levels, dtype=torch.uint8, fill=0)
        self.holder = self._new(batch * self.slots, fill=-1)
        self.begin, self.many = problems.arange(batch), self._new(batch, fill=1)
        self.closing = [self._new(self.most, dtype=kind) for kind in (torch.float64, torch.float64, torch.int64)]
        self.level_of, self.order = self._new(children, dtype=torch.int32), self._new(children)
        self.stamp, self.score = self._new(log.room), self._new(log.room, dtype=torch.float64)
        self.lag = problems.lag(config.lag)
        self.price = config.spread * problems.mean_prize
        trust = scorer.trust(problems)
        self.trust = torch.ones_like(problems.limit) if trust is None else trust.to(torch.float64)
        self.counters = self._new(fused_queues.COUNTERS, fill=0)
        action = self._new(self.most, problems.nodes, dtype=torch.float32)
        value = self._new(self.most, dtype=torch.float32)
        self.look: Launch | None = scorer.recorded(Step(problems, log, self.counters, self.most, action, value))
        self.action, self.value = action, value

    def run(self, watch: Watch) -> TensorExpander:
        """The expander with the log and the best routes, when all queues are empty or `watch` says to end.

        While the GPU works on the steps between two calls of `watch`, the host launches as many more.
        """
        pace = watch.pace
        with _GETTING_READY:
            self._begin()
            self._launch()
            launches = [self._recorded()]
        marks = [self._mark()]
        while True:
            if self._make_room((pace + 1) * (len(marks) + 1)):
                with _GETTING_READY:
                    launches.append(self._recorded())  # the graphs before may still be at work
            for _ in range(pace):
                launches[-1]()
            marks.append(self._mark())
            busy = True
            while len(marks) > (pace > 1):  # at a pace of 1 somebody wants to know after every step
                busy = self._read(marks.pop(0))
            if watch(self.expander, pace) or not busy:
                break
        for mark in marks:
            self._read(mark)
        self.scorer.looked(self.log.used)
        return self.expander

    def _begin(self) -> None:
        """Expands the empty path of every instance; this compiles kernels where that is still to be done."""
        states = self.log.begin()
        self.score[: len(states)] = 0.0
        self.stamp[: len(states)] = 0
        self.counters[0] = len(states)
        self._expand()

    def _launch(self) -> None:
        """A whole step."""
        problems, log = self.problems, self.log
        fused_queues.begin_step[(1,)](self.counters, num_warps=1)
        fused_queues.pop[(problems.batch,)](
            self.table, self.worst, self.filled, self.holder, self.counters, log.trail, log.cost, self.stamp,
            self.score, log.instance, self.begin, self.many, self.lag, self.levels, self.slots, self.width,
            LEVELS=triton.next_power_of_2(self.levels), WIDTH=triton.next_power_of_2(self.width), num_warps=1,
        )  # fmt: skip
        self._expand()

    def _expand(self) -> None:
        """Expands the paths that were logged last, and merges their children into the queues."""
        problems, log, best = self.problems, self.log, self.expander.best
        room, nodes = triton.next_power_of_2(problems.nodes), problems.nodes
        visited = log.visited.view(torch.uint8)
        fused_queues.enter_paths[(self.most,)](
            self.counters, log.trail, log.instance, log.prize, log.cost, visited, problems.costs, problems.to_end,
            problems.straight, problems.prizes, problems.budget, problems.start, *self.closing, nodes,
            ROOM=room, num_warps=warps_for(room),
        )  # fmt: skip
        assert self.look is not None
        self.look()
        keys = self.expander.last_key, self.expander.both_keys
        fused_queues.choose_children[(self.most,)](
            self.counters, self.action, self.value, self.trust, log.trail, log.instance, log.prize, log.cost,
            self.stamp, self.score, problems.costs, problems.start, *keys, self.tau, self.table, self.level_of,
            self.worst, self.holder, self.levels, self.slots, nodes, self.queued,
            ROOM=room, BRANCH=self.branch, CHOICES=triton.next_power_of_2(self.branch), num_warps=warps_for(room),
        )  # fmt: skip
        width = triton.next_power_of_2(self.width)
        fused_queues.deal[(problems.batch,)](
            self.counters, self.begin, self.many, *self.closing, best.prize, best.cost, best.parent, best.last,
            self.level_of, self.order, BRANCH=self.branch, WIDTH=width, TILE=TILE, num_warps=2,
        )  # fmt: skip
        fused_queues.merge[(problems.batch, self.levels)](
            self.counters, self.begin, self.many, self.level_of, self.order, self.table, self.worst, self.filled,
            self.dropped, self.adjusted, self.place, self.price, self.levels, nodes, self.width, self.queued,
            BRANCH=self.branch, WIDTH=width, TILE=TILE, num_warps=2,
        )  # fmt: skip

    def _recorded(self) -> Launch:
        """What launches a step: on a GPU as a graph, whose kernels are ready to go."""
        if self.problems.device.type != "cuda":
            return self._launch
        graph, stream = torch.cuda.CUDAGraph(), _recording_stream(self.problems.device)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            self._launch()
            graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        return graph.replay

    def _mark(self) -> tuple[Tensor, Any]:
        """A copy of the counters on its way to the host, and the event that tells of its arrival."""
        if self.problems.device.type != "cuda":
            return self.counters.clone(), None
        copy = torch.empty(self.counters.shape, dtype=torch.int64, pin_memory=True)
        copy.copy_(self.counters, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call, unused-ignore]
        event.record()
        return copy, event

    def _read(self, mark: tuple[Tensor, Any]) -> bool:
        """Waits for a mark, and says whether any queue had paths then."""
        counters, event = mark
        if event is not None:
            event.synchronize()
        self.log.used = int(counters[fused_queues.USED.value])
        return int(counters[fused_queues.BUSY.value]) > 0

    def _make_room(self, steps: int) -> bool:
        """Makes room in the log for `steps` steps beyond the last mark that was read; whether arrays were changed."""
        room = self.log.used + steps * self.most
        if room <= self.log.room:
            return False
        self.log.grow(max(room, 2 * self.log.room))
        self.stamp, self.score = grown(self.stamp, self.log.room), grown(self.score, self.log.room)
        return True

    def _new(self, *shape: int, dtype: torch.dtype = torch.int64, fill: float | None = None) -> Tensor:
        made = torch.empty(shape, dtype=dtype, device=self.problems.device)
        return made if fill is None else made.fill_(fill)


@cache
def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Always the same stream: torch has 32, gives them out in turn, and would one day give that of another thread."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call, no-any-return, unused-ignore]
