"""Tokens of all states one after the other, without padding, for the kernels."""

import torch
from torch import Tensor, nn

from orienteer.network.columns import CURRENT
from orienteer.network.cuda.fused_attention import fused_attention
from orienteer.network.cuda.fused_feed import fused_feed
from orienteer.network.cuda.fused_feed import takes as takes_feed
from orienteer.network.cuda.fused_layer import takes as takes_layer
from orienteer.network.cuda.fused_norm import fused_add_norm
from orienteer.network.cuda.fused_read import fused_read
from orienteer.network.cuda.fused_tokens import fused_places
from orienteer.network.edge_attention import feed_forward
from orienteer.network.features import Tokens

ROUND = 1024
"""The number of packed tokens is a multiple of this, or a power of two below."""
FEWEST = 64
"""The least number of packed tokens: fewer do not fill a block of a kernel."""


class Packed:
    """(token, ...) tensors of all states' real tokens, and fillers at the end that make their number round.

    The fewer different numbers of tokens come up, the less often matrix products are planned anew.
    """

    def __init__(self, tokens: Tokens, dtype: torch.dtype):
        self.width = tokens.node.shape[1]
        size = packed_size(tokens.total)
        self.dtype = dtype
        self.count = tokens.present.sum(1)
        self.first = self.count.cumsum(0) - self.count
        self.flat = fused_places(self.count, self.first, self.width, size)
        self.now = self.first + tokens.nodes[:, :, CURRENT].argmax(1)
        self.edges = tokens.edges.to(torch.float16).contiguous()
        self.hops = tokens.hops.to(torch.float32).contiguous()
        self.few = self.count.to(torch.int32)
        self.alike = tokens.symmetric.to(torch.int32)

    def pack(self, padded: Tensor) -> Tensor:
        rows = padded.flatten(0, 1)
        return rows[self.flat.clamp_max(len(rows) - 1)]

    def unpack(self, packed: Tensor) -> Tensor:
        states, shape = len(self.count), packed.shape[1:]
        table = torch.zeros(states * self.width + 1, *shape, dtype=packed.dtype, device=packed.device)
        return table.index_put((self.flat,), packed)[:-1].view(states, self.width, *shape)

    def current(self, hidden: Tensor) -> Tensor:
        return hidden.index_select(0, self.now)

    def read(self, hidden: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        return fused_read(hidden, query, self.first, self.few)

    def attend(self, parts: Tensor, bias: Tensor) -> Tensor:
        return fused_attention(parts, self.edges, self.hops, self.alike, self.first, self.few, bias)

    def add_norm(
        self, stream: Tensor, more: Tensor, norm: nn.LayerNorm, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        return fused_add_norm(stream, more, norm.weight, norm.bias, norm.eps, dtype or self.dtype)

    def feed(self, hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
        assert widen.bias is None
        assert narrow.bias is None
        if not takes_feed(widen.in_features, widen.out_features, hidden.dtype, hidden.device):
            return feed_forward(hidden, widen, narrow)
        return fused_feed(hidden, widen.weight, narrow.weight)

    def fuses(self, size: int, inner: int) -> bool:
        return takes_layer(size, inner, self.count.device)


def packed_size(total: int) -> int:
    """The round number of tokens for which `Packed` has room if `total` are real."""
    if total > ROUND:
        return -(-total // ROUND) * ROUND
    return max(FEWEST, 1 << (total - 1).bit_length())
