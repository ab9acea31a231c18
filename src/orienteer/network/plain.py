"""Networks by plain tensors of torch: for training where there is no GPU, and as what kernels are compared with."""

import torch
from torch import Tensor

from orienteer.beam.states import States
from orienteer.network.edge_attention import Layout, Padded
from orienteer.network.features import Kit, Tokens, take, tokens


class PlainKit:
    """Tokens in rows with padding."""

    multiple = 1

    def gather(self, index: Tensor, states: States, reach: Tensor, keep: Tensor, width: int, total: int) -> Tokens:
        return tokens(take(states, index), reach[index], keep[index], width, total, self)

    def layout(self, given: Tokens, dtype: torch.dtype, heads: int, size: int) -> Layout:
        return Padded(given, dtype, one_way=bool(given.symmetric.all()))

    def packs(self, given: Tokens, heads: int, size: int) -> bool:
        return False


PLAIN: Kit = PlainKit()
