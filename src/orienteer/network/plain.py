"""Networks by plain tensors of torch: for training where there is no GPU, and as the reference for kernels."""

import torch
from torch import Tensor

from orienteer.beam.states import States
from orienteer.network.edge_attention import Layout, Padded
from orienteer.network.features import Kit, Tokens, make_tokens, take


class PlainKit:
    """Tokens in rows with padding."""

    multiple = 1

    def gather(self, index: Tensor, states: States, reach: Tensor, keep: Tensor, width: int, total: int) -> Tokens:
        return make_tokens(take(states, index), reach[index], keep[index], width, total, self)

    def layout(self, tokens: Tokens, dtype: torch.dtype, heads: int, size: int) -> Layout:
        return Padded(tokens, dtype, one_way=bool(tokens.symmetric.all()))

    def packs(self, tokens: Tokens, heads: int, size: int) -> bool:
        return False


PLAIN: Kit = PlainKit()
