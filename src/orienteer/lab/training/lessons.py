"""Labelled problems on the device, and the countless smaller ones inside them.

Every piece of a good route is itself the good route of a smaller problem: from its first node to its last, without the
nodes that the rest of the route visits, within its own cost and the slack. Walked backwards it is one of the problem
with all costs reversed. A piece of a shortest tour is a shortest way through its own nodes, which are all that is left.
"""

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from orienteer.beam.backend.cuda.problems import CostTable, TensorProblems, cheapest_ways
from orienteer.beam.problems import is_symmetric
from orienteer.beam.states import States
from orienteer.lab.training.labels import Label, Source

Each = Callable[..., Iterable[Any]]
"""`map`, in this process or over several."""

WIDTHS = (112, 208, 304, 512, 1024)
"""Nodes to which problems are padded, so that those of a kind lie in one tensor."""
ROUNDING = 1e-6
"""Limits are this much larger than labels need: costs are kept in float32."""


@dataclass(frozen=True)
class Pieces(TensorProblems):
    """Problems that share matrices of costs, each in one direction or the other.

    They have what networks read, `legs`, `table` and `symmetric`; `costs` are not by problem, so that no search can
    work on them.
    """

    matrix: Tensor  # (batch,) int64, which of the costs, (matrix, node, node), are a problem's
    back: Tensor  # (batch,) bool, whether its costs are those of the way back
    both_ways: Tensor  # (batch,) bool, whether costs are equal in both directions

    def legs(self, instance: Tensor, node: Tensor) -> Tensor:
        return _row(self.costs, self.matrix[instance], node, self.back[instance])

    def table(self, instance: Tensor) -> CostTable:
        return CostTable(self.costs, self.matrix[instance], self.back[instance], torch.ones_like(self.limit[instance]))

    @property
    def symmetric(self) -> Tensor:
        return self.both_ways


@dataclass(frozen=True)
class Lessons:
    """Problems to learn from, and their answers."""

    states: States
    reach: Tensor  # (state, node) bool, what can still be visited
    node: Tensor  # (state,) where to go next
    later: Tensor  # (state, node) bool, what the rest of the route visits
    value: Tensor  # (state,) the prize of the rest of the route
    leave: Tensor  # (state, node) what going on from each node costs on the rest of the route, 0 for other nodes


class Pool:
    """Labelled problems of one padded width, on a device."""

    def __init__(self, costs: Tensor, prizes: Tensor, limit: Tensor):
        self.costs, self.prizes, self.limit = costs, prizes, limit
        self.symmetric = torch.cat([is_symmetric(some) for some in torch.split(costs, 4096)])
        self.ways = torch.cat([cheapest_ways(some) for some in torch.split(costs, 4096)])
        empty = torch.zeros(0, dtype=torch.int64, device=costs.device)
        self.problem, self.given, self.length, self.until = empty, empty, empty, empty
        self.steps = 0
        self.route = torch.zeros(0, 2, dtype=torch.int64, device=costs.device)

    def teach(self, problem: Sequence[int], routes: Sequence[Sequence[int]], given: Sequence[int]) -> None:
        """Adds routes, each of a problem by its row."""
        device = self.costs.device
        width = max(len(route) for route in routes)
        table = np.zeros((len(routes), width), dtype=np.int64)
        for row, route in enumerate(routes):
            table[row, : len(route)] = route
        self.route = torch.from_numpy(table).to(device)
        self.problem = torch.tensor(problem, device=device)
        self.given = torch.tensor(given, device=device)
        self.length = torch.tensor([len(route) for route in routes], device=device)
        steps = np.array([len(route) - 1 - first for route, first in zip(routes, given, strict=True)], dtype=np.int64)
        self.steps = int(steps.sum())
        self.until = torch.from_numpy(steps.cumsum()).to(device)

    def join(self, other: "Pool") -> None:
        """Takes another pool's labels as well."""
        width = max(self.route.shape[1], other.route.shape[1])
        routes = [functional.pad(one.route, (0, width - one.route.shape[1])) for one in (self, other)]
        self.problem = torch.cat((self.problem, other.problem + len(self.costs)))
        self.route = torch.cat(routes)
        self.until = torch.cat((self.until, other.until + self.steps))
        self.steps += other.steps
        for name in ("costs", "symmetric", "ways", "prizes", "limit", "given", "length"):
            setattr(self, name, torch.cat((getattr(self, name), getattr(other, name))))

    def __len__(self) -> int:
        return len(self.problem)

    def draw(self, count: int, generator: torch.Generator, pieces: float) -> Lessons:
        """Random pieces of random routes; a share of `pieces` ends before its route does.

        Every step of a route is as likely to be next as any other.
        """
        uniform = torch.rand(5, count, generator=generator, device=generator.device)
        step = (uniform[0].double() * self.steps).long().clamp_max(self.steps - 1)
        label = torch.searchsorted(self.until, step, right=True)
        row, route, length = self.problem[label], self.route[label], self.length[label]
        back, cut = uniform[1] < 0.5, uniform[2] < pieces
        first, last = _piece(self.given[label] - 1, length - 1, back, cut, uniform[3], uniform[4])

        nodes = self.costs.shape[1]
        place = torch.arange(route.shape[1], device=route.device)
        inside = (place > first[:, None]) & (place < last[:, None])
        cells = (row[:, None] * nodes + route[:, :-1]) * nodes + route[:, 1:]
        legs = self.costs.view(-1)[cells]
        spent = torch.where(place[None, 1:] < length[:, None], legs, 0.0).cumsum(1)
        spent = functional.pad(spent, (1, 0))
        slack = (self.limit[row] - spent[:, -1]).clamp_min(0.0) * torch.where(cut, uniform[4], 1.0)
        limit = (spent.gather(1, last[:, None]) - spent.gather(1, first[:, None]))[:, 0] + slack

        ends = torch.stack((first, last), 1)
        start, end = route.gather(1, torch.where(back[:, None], ends.flip(1), ends)).unbind(1)
        follow = torch.where(back, last - 1, first + 1)
        later = _marked(route, inside, nodes)
        taken = _marked(route, (place < length[:, None]) & ~inside, nodes)
        to_end = _row(self.ways, row, end, ~back)
        prizes = self.prizes[row]
        problems = Pieces(
            self.costs, prizes, limit * (1 + ROUNDING), start, end, to_end, row, back, self.symmetric[row]
        )
        zero = torch.zeros_like(limit)
        states = States(problems, torch.arange(count, device=row.device), start, taken, zero, zero, zero)
        reach = states.feasible(_row(self.ways, row, start, back))
        node = route.gather(1, follow[:, None])[:, 0]
        leave = functional.pad(legs, (0, 1)).where(~back[:, None], functional.pad(legs, (1, 0)))
        from_here = inside | (place == torch.where(back, last, first)[:, None])
        leaving = _marked(route, from_here, nodes, leave)
        return Lessons(states, reach, node, later, (prizes * later).sum(1), leaving)


class Library:
    """Pools of labelled problems."""

    def __init__(self, pools: Sequence[Pool]):
        self.pools = [pool for pool in pools if len(pool)]
        if not self.pools:
            raise ValueError("labels hold nothing to learn from")

    @classmethod
    def build(cls, labels: Sequence[Label], device: torch.device, processes: int = 1) -> "Library":
        """The labels' problems, generated anew by several processes, on `device`."""
        useful = [label for label in labels if len(label.nodes) - label.given >= 2]
        grouped: dict[int, list[Label]] = {}
        for label in useful:
            grouped.setdefault(usual_width(label.source.n + 2), []).append(label)
        if processes == 1 or len(useful) < 5000:
            return cls([_pool(some, width, device, map) for width, some in sorted(grouped.items())])
        # Spawned, not forked: a process with a GPU and threads must not be copied.
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as workers:
            return cls([_pool(some, width, device, workers.map) for width, some in sorted(grouped.items())])

    def add(self, other: "Library") -> None:
        """Takes the labels of another library as well; pools of the same width become one."""
        for pool in other.pools:
            own = next((one for one in self.pools if one.costs.shape[1] == pool.costs.shape[1]), None)
            if own is None:
                self.pools.append(pool)
            else:
                own.join(pool)

    def __len__(self) -> int:
        return sum(len(pool) for pool in self.pools)

    def draw(self, count: int, generator: torch.Generator, pieces: float) -> list[Lessons]:
        """About `count` lessons, from each pool in proportion to its steps."""
        total = sum(pool.steps for pool in self.pools)
        shares = [max(1, round(count * pool.steps / total)) for pool in self.pools]
        return [pool.draw(share, generator, pieces) for pool, share in zip(self.pools, shares, strict=True)]


def _piece(low: Tensor, high: Tensor, back: Tensor, cut: Tensor, one: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
    """Places of the first and last node of a piece of at least three, between places `low` and `high`.

    Forwards it begins anywhere and, unless `cut`, reaches to the end; backwards the other way round.
    """
    span = high - low - 1  # places where a piece of three can begin
    step = torch.minimum((one * span).long(), span - 1)
    begin, stop = low + step, high - step  # the free side of either direction
    first = torch.where(back, low, begin)
    last = torch.where(back, stop, high)
    spare = last - first - 1
    shift = torch.where(cut, torch.minimum((two * spare).long(), spare - 1), 0)
    return torch.where(back, first + shift, first), torch.where(back, last, last - shift)


def _row(costs: Tensor, matrix: Tensor, node: Tensor, back: Tensor) -> Tensor:
    """(state, node) a row of each state's matrix, or a column where `back`."""
    size = costs.shape[1]
    others = torch.arange(size, device=costs.device)
    first = torch.where(back, node, node * size) + matrix * size**2
    return costs.view(-1)[first[:, None] + others * torch.where(back, size, 1)[:, None]]


def _marked(route: Tensor, where: Tensor, nodes: int, values: Tensor | None = None) -> Tensor:
    """(row, node) the values of the route's nodes at the given places, 0 for other nodes; without values, bool."""
    if values is None:
        values = torch.ones_like(where)
    table = torch.zeros(len(route), nodes + 1, dtype=values.dtype, device=route.device)
    return table.scatter_(1, torch.where(where, route, nodes), values)[:, :nodes]


def usual_width(size: int) -> int:
    """The number of nodes to which a problem of this size is padded."""
    return next((width for width in WIDTHS if width >= size), size)


def _pool(labels: Sequence[Label], width: int, device: torch.device, each: Each) -> Pool:
    sources = list(dict.fromkeys(label.source for label in labels))
    row = {source: number for number, source in enumerate(sources)}
    pieces = [(sources[first : first + 256], width) for first in range(0, len(sources), 256)]
    made = [[torch.from_numpy(part).to(device) for part in parts] for parts in each(_generated, pieces)]
    costs, prizes, limit = (torch.cat(parts) for parts in zip(*made, strict=True))
    pool = Pool(costs, prizes, limit)
    pool.teach([row[label.source] for label in labels], [one.nodes for one in labels], [one.given for one in labels])
    return pool


def _generated(task: tuple[Iterable[Source], int]) -> list[npt.NDArray[np.float32]]:
    """Costs, prizes and limits of problems, padded with nodes that no route can reach."""
    sources, width = list(task[0]), task[1]
    costs = np.full((len(sources), width, width), np.inf, dtype=np.float32)
    prizes = np.zeros((len(sources), width), dtype=np.float32)
    limit = np.array([source.limit for source in sources], dtype=np.float32)
    for row, source in enumerate(sources):
        instance = source.instance()
        costs[row, : instance.size, : instance.size] = instance.costs
        prizes[row, : instance.size] = instance.prizes
    return [costs, prizes, limit]
