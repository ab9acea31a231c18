"""From paths to all their children: the step that both searches share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from orienteer.beam.candidates import Candidates
from orienteer.beam.device import has_kernels
from orienteer.beam.incumbents import Incumbents, step_on
from orienteer.beam.paths import PathLog
from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer
from orienteer.beam.states import States

ScoreBy = Literal["parent", "child"]

CHILDREN_AT_ONCE = 16384
"""How many child states a scorer looks at in one call."""


@dataclass(frozen=True)
class Offspring:
    """Children of some paths, in no particular order."""

    instance: Tensor  # (child,) int64
    candidates: Candidates  # (child,)


class Expander:
    """Expands paths, logs them and keeps the best closed route of every instance."""

    def __init__(self, problems: Problems, scorer: Scorer, branch: int | None = None, score_by: ScoreBy = "parent"):
        self.problems, self.scorer, self.branch, self.score_by = problems, scorer, branch, score_by
        self.log = PathLog(problems)
        self.best = Incumbents(problems)
        self._kernels = has_kernels(problems.device)
        # A sum of random numbers names a set of nodes, another random number its last node.
        generator = torch.Generator().manual_seed(0)
        keys = torch.randint(-(2**63), 2**63 - 1, (problems.nodes, 2), generator=generator).to(problems.device)
        self._at_end, self._in_set_and_at_end = keys[:, 0].contiguous(), keys.sum(1)

    def begin(self) -> Offspring:
        """The children of the empty paths."""
        states = self.log.begin()
        return self._children(states, torch.zeros_like(states.last))

    def expand(self, chosen: Candidates) -> Offspring:
        """The children of these paths from which the end can still be reached."""
        states = self.log.add(chosen)
        return self._children(states, chosen.stamp - self._at_end.index_select(0, states.last))

    def routes(self) -> list[list[int]]:
        """The best route of each instance; an empty list where none has closed."""
        return self.log.routes(self.best.parent, self.best.last)

    def _children(self, states: States, node_set: Tensor) -> Offspring:
        nodes = self.problems.nodes
        first = self.log.used - len(states)
        arrival, fits, closings = step_on(states)
        self.best.offer(states.instance, first, closings)
        score = self._scores(states, fits)
        cell = self._chosen_cells(score, fits)  # row * nodes + node
        if self._kernels:
            from orienteer.beam.fused_search import fused_pack

            keys = self._in_set_and_at_end
            packed, instance = fused_pack(cell, score, arrival, node_set, keys, states.instance, first)
            return Offspring(instance, Candidates(packed))
        row = cell // nodes
        stamp = node_set.index_select(0, row) + self._in_set_and_at_end.index_select(0, cell - row * nodes)
        candidates = Candidates.pack(
            score.view(-1).index_select(0, cell),
            arrival.view(-1).index_select(0, cell),
            stamp,
            cell + first * nodes,
        )
        return Offspring(states.instance.index_select(0, row), candidates)

    def _scores(self, states: States, fits: Tensor) -> Tensor:
        """(state, node) float64 scores of the children."""
        if self.score_by == "parent":
            children = self.scorer.children(states)
            self.log.remember(children.memory)
            return children.scores.to(torch.float64).contiguous()
        row, node = fits.nonzero(as_tuple=True)
        score = torch.full(fits.shape, -torch.inf, dtype=torch.float64, device=fits.device)
        for begin in range(0, len(row), CHILDREN_AT_ONCE):
            rows, ends = row[begin : begin + CHILDREN_AT_ONCE], node[begin : begin + CHILDREN_AT_ONCE]
            score[rows, ends] = self.scorer.paths(states.extended(rows, ends)).to(torch.float64)
        return score

    def _chosen_cells(self, score: Tensor, fits: Tensor) -> Tensor:
        """Cells of the children that may enter: all that fit and are not barred, or the `branch` best of each path."""
        nodes = self.problems.nodes
        if self.branch is None or self.branch >= nodes:
            return (fits & (score > -torch.inf)).view(-1).nonzero().squeeze(1)
        # Not `topk`: of equals it would take others in a wider batch.
        top, node = score.masked_fill(~fits, -torch.inf).sort(dim=1, descending=True, stable=True)
        top, node = top[:, : self.branch], node[:, : self.branch]
        cell = node + torch.arange(0, len(score) * nodes, nodes, device=score.device)[:, None]
        return cell[top > -torch.inf]


Watch = Callable[[Expander], bool]
"""Called after each expansion; says whether to end the search."""


def never(expander: Expander) -> bool:
    """The watch that lets a search finish."""
    return False
