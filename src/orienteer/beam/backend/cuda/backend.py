"""A GPU: torch tensors and Triton kernels."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.expand import TensorExpander
from orienteer.beam.backend.cuda.fused_exchange import fused_exchange, walk
from orienteer.beam.backend.cuda.fused_meet import fused_meet
from orienteer.beam.backend.cuda.paths import TensorLog
from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.backend.cuda.queues import TensorQueues
from orienteer.beam.backend.cuda.recorded import recorded_search
from orienteer.beam.backend.cuda.selection import keep_best, select
from orienteer.beam.backend.protocol import Ends, Over, Queues
from orienteer.beam.candidates import REMEMBERED, Candidates, Offspring
from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.expand import Expander, ScoreBy, Watch
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems
from orienteer.beam.score import Scorer
from orienteer.model.instance import Instance

STREAMS = 3
"""Batches at once: while some are searched, the host makes ready the next batch and polishes the routes of another."""
SEARCHES = 2
"""Batches that are searched at once: while few paths are left of one, the other keeps the GPU busy."""
SPARE = 16
"""How many times the memory of queues and logs must be free: a pass of the network takes several times as much."""
ENOUGH_FOR_STREAMS = 512
"""Instances from which on there is more than one batch: in smaller batches steps cost nearly as much time as in large
ones."""


class CudaBackend:
    """Beam searches on a GPU, or on a CPU where Triton's interpreter runs the kernels."""

    name = "cuda"
    compiles_ahead = False  # kernels depend on sizes
    cells = 2**16

    def __init__(self, device: str = "cuda", memory: int | None = None, remembered: int = REMEMBERED):
        """`memory` is how many bytes searches may take, by default what the GPU has free.

        `remembered` is how many expanded paths of an instance are remembered, a power of two.
        """
        self.device, self.memory, self.remembered = torch.device(device), memory, remembered
        self._searching = threading.BoundedSemaphore(SEARCHES)

    def problems(self, instances: Sequence[Instance], directions: int = 1) -> Problems:
        return TensorProblems.from_instances(instances, self.device, directions)

    def expander(
        self, problems: Problems, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"
    ) -> Expander:
        return TensorExpander(self, TensorLog(problems), scorer, branch, score_by)

    def recorded(
        self, problems: Problems, scorer: Scorer, config: CostLevelConfig, tau: Array, watch: Watch
    ) -> Expander | None:
        assert isinstance(problems, TensorProblems)
        return recorded_search(self, problems, scorer, config, tau, watch)

    def queues(self, problems: Problems, width: int | None, tau: Array, spread: float, lag: float | None) -> Queues:
        return TensorQueues(problems, width, tau, spread, lag, self.remembered)

    def keep_best(self, children: Offspring, width: int | None) -> Candidates:
        return select(children.candidates, keep_best(children.candidates, children.instance, width).index)

    def best_pairs(self, ends: Ends) -> Tensor:
        return fused_meet(ends)

    def exchanged(
        self,
        problems: Problems,
        paths: SortedPaths,
        directions: int,
        routes: list[list[int]],
        chosen: Tensor,
        over: Over,
    ) -> list[list[int]]:
        room = problems.nodes + 1
        known = [number for number, route in enumerate(routes) if route]
        if not known:
            return routes
        instance = torch.tensor(known, device=self.device)
        chosen = chosen[instance]
        walked, sizes = walk(problems, paths, directions, chosen[chosen >= 0])
        filled = [routes[number] + [0] * (room - len(routes[number])) for number in known]
        lengths = [len(routes[number]) for number in known]
        nodes = torch.cat((torch.tensor(filled, device=self.device), walked))
        size = torch.cat((torch.tensor(lengths, device=self.device), sizes))
        owner = torch.cat((instance, instance[:, None].expand_as(chosen)[chosen >= 0]))
        prize, cost = fused_exchange(problems, paths, directions, owner * directions, nodes, size, over)
        order = cost.argsort(stable=True)
        order = order[prize[order].argsort(descending=True, stable=True)]
        order = order[owner[order].argsort(stable=True)]
        order = order[torch.searchsorted(owner[order], instance)]  # the first, best route of each instance
        better = list(routes)
        for number, row, length in zip(known, nodes[order].tolist(), size[order].tolist(), strict=True):
            better[number] = row[:length]
        return better

    def free_memory(self, batches: int) -> int:
        free = torch.cuda.mem_get_info(self.device)[0] if self.memory is None else self.memory
        return int(free // (SPARE * batches))

    @contextmanager
    def turn(self) -> Iterator[None]:
        with self._searching:
            yield

    def workers(self, instances: int) -> int:
        return STREAMS if instances >= ENOUGH_FOR_STREAMS else 1

    @contextmanager
    def worker(self, number: int) -> Iterator[None]:
        """A CUDA stream of its own for this thread."""
        index = torch.cuda.current_device()
        with torch.cuda.device(index), torch.cuda.stream(_stream(index, number)):
            yield


@cache
def _stream(index: int, number: int) -> torch.cuda.Stream:
    """The same stream at every call: torch keeps memory for each stream."""
    return torch.cuda.Stream(torch.device("cuda", index))  # type: ignore[no-untyped-call, no-any-return, unused-ignore]
