"""The children of paths, by kernels over all states at once."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from orienteer.beam.backend.cuda.fused_search import fused_legs, fused_pack
from orienteer.beam.candidates import Candidates, Offspring
from orienteer.beam.expand import Expander
from orienteer.beam.states import States


class TensorExpander(Expander):
    """Expands paths on a GPU. No step asks how many paths there are: the GPU would have to wait for the host."""

    def _placed(self, numbers: npt.NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(numbers).to(self.problems.prizes.device)

    def _step_on(self, states: States, first: int) -> tuple[Tensor, Tensor]:
        arrival, fits, prize, cost, last = fused_legs(states)
        self._offer(states.instance, first, prize, cost, last)
        return arrival, fits

    def _offer(self, instance: Tensor, first: int, closing: Tensor, total: Tensor, node: Tensor) -> None:
        """Takes each instance's best closed route into the incumbents, where it is better.

        `closing`, `total` and `node` are (state,) prize, cost and last node of the best route that closes each state.
        """
        best, states = self.best, len(instance)
        prize = best.prize.scatter_reduce(0, instance, closing, "amax")
        cost = torch.where(prize > best.prize, torch.inf, best.cost)
        most = (closing == prize.index_select(0, instance)) & (closing > -torch.inf)
        cost = cost.scatter_reduce(0, instance, torch.where(most, total, torch.inf), "amin")
        better = (prize > best.prize) | (cost < best.cost)
        wins = most & (total == cost.index_select(0, instance)) & better.index_select(0, instance)
        row = torch.where(wins, torch.arange(states, device=instance.device), states)
        winner = torch.full_like(best.parent, states).scatter_reduce(0, instance, row, "amin")
        chosen = winner.clamp_max(states - 1)
        best.prize, best.cost = prize, cost
        best.parent = torch.where(better, first + chosen, best.parent)
        best.last = torch.where(better, node.index_select(0, chosen), best.last)

    def _chosen(self, states: States, node_set: Tensor, arrival: Tensor, fits: Tensor, score: Tensor) -> Offspring:
        score = score.contiguous()
        cell = self._cells(score, fits)
        first = self.log.used - len(states)
        packed, owner = fused_pack(cell, score, arrival, node_set, self.both_keys, states.instance, first)
        return Offspring(owner, Candidates(packed, torch))

    def _cells(self, score: Tensor, fits: Tensor) -> Tensor:
        """(child,) row * nodes + node of the chosen children."""
        nodes, able = self.problems.nodes, fits & (score > -torch.inf)
        if self.branch == nodes:
            return able.view(-1).nonzero().squeeze(1)
        # Not `topk`: which of equal scores it takes depends on the width of the batch.
        top, node = score.masked_fill(~able, -torch.inf).sort(dim=1, descending=True, stable=True)
        top, node = top[:, : self.branch], node[:, : self.branch]
        cell = node + torch.arange(0, len(score) * nodes, nodes, device=score.device)[:, None]
        return cell[top > -torch.inf]
