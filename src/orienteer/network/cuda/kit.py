"""Networks by kernels: how their tokens are gathered and laid out."""

import torch
from torch import Tensor

from orienteer.beam.states import States
from orienteer.network.columns import CLOSEST, FAR
from orienteer.network.cuda.fused import is_power
from orienteer.network.cuda.fused_edges import fused_edges
from orienteer.network.cuda.fused_tokens import Gathering, fused_gather, fused_sizes
from orienteer.network.cuda.packed import Packed
from orienteer.network.edge_attention import Layout, Padded
from orienteer.network.features import Kit, Tokens, problems_of

WIDEST = 1024
"""Tokens that the kernel of attention takes: beyond, its work in small blocks no longer pays."""


class FusedKit:
    """Tokens gathered by kernels, and laid out one after the other where attention has a kernel for their sizes."""

    multiple = 16  # kernels want aligned rows

    def gather(self, index: Tensor, states: States, reach: Tensor, keep: Tensor, width: int, total: int) -> Tokens:
        problems = problems_of(states)
        instance, last = states.instance.index_select(0, index), states.last.index_select(0, index)
        table = problems.table(instance)
        asked = Gathering(
            to_end=problems.to_end,
            prizes=problems.prizes,
            budget=problems.budget,
            divisor=problems.divisor,
            end=problems.end,
            index=index,
            visited=states.visited,
            reach=reach,
            keep=keep,
            cost=states.cost,
            instance=instance,
            last=last,
            legs=problems.legs(instance, last),
            unit=table.unit,
        )
        found = fused_gather(asked, width, FAR)
        edges, nearest = fused_edges(table.costs, table.matrix, table.back, found.factor, found.node, found.count, FAR)
        hops, overall, base = fused_sizes(found, nearest, CLOSEST)
        return Tokens(
            found.node,
            found.present,
            found.choice,
            found.open,
            found.nodes,
            edges,
            overall,
            base,
            hops,
            found.unit,
            problems.symmetric[instance],
            total,
            self,
        )

    def layout(self, tokens: Tokens, dtype: torch.dtype, heads: int, size: int) -> Layout:
        return Packed(tokens, dtype) if self.packs(tokens, heads, size) else Padded(tokens, dtype)

    def packs(self, tokens: Tokens, heads: int, size: int) -> bool:
        return tokens.node.shape[1] <= WIDEST and is_power(heads) and is_power(size)


FUSED: Kit = FusedKit()
