"""Attention between tokens, biased by what it costs to travel between them.

On a GPU tokens of all states lie one after the other (`Packed`), elsewhere in rows with padding (`Padded`). The layers
of a network need not know: they see vectors, and hand the layout on.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.beam.device import has_kernels
from orienteer.network.columns import CURRENT, EDGE_FUNCTIONS, EDGE_WEIGHTS
from orienteer.network.cuda.fused import is_power
from orienteer.network.features import Tokens, edge_functions

WIDEST_FUSED = 1024
"""Tokens that the fused kernel takes: beyond, its work in small blocks no longer pays."""
ROUND = 1024
"""The number of packed tokens is a multiple of this, or a power of two below."""
FEWEST_PACKED = 64
"""The least of these powers: fewer tokens do not fill a block of a kernel."""
PADDED = -1e6
"""Logit of padding: its weight is exactly zero after a softmax, also after a LeakyReLU has made it a hundredth."""


class Padded:
    """(state, token, ...) tensors as they are."""

    def __init__(self, given: Tokens, dtype: torch.dtype):
        self.given, self.dtype = given, dtype
        self.one_way = not given.edges.is_cuda and bool(given.symmetric.all())  # a GPU would have to be asked
        self.functions = edge_functions(given, dtype, self.one_way)

    def pack(self, padded: Tensor) -> Tensor:
        """The layout's form of a (state, token, ...) tensor."""
        return padded

    def unpack(self, packed: Tensor) -> Tensor:
        """(state, token, ...) from the layout's form; what padding gets, nobody asks for."""
        return packed

    def current(self, hidden: Tensor) -> Tensor:
        """(state, hidden) the vectors of the current nodes."""
        return (hidden * self.given.nodes[:, :, CURRENT : CURRENT + 1].to(hidden.dtype)).sum(1)

    def read(self, hidden: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        """Each token's inner product with its state's query, and (state, hidden) the mean of each state's vectors."""
        total = (hidden * self.given.present[:, :, None]).sum(1)
        return (hidden @ query[:, :, None])[:, :, 0], total / self.given.present.sum(1, keepdim=True)

    def attend(self, parts: Tensor, bias: Tensor) -> Tensor:
        """Attention of (..., 3, head, size) queries, keys and values with (head, EDGE_WEIGHTS) weights of costs."""
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)  # (state, head, token, size)
        if self.one_way:
            bias = bias[:, :EDGE_FUNCTIONS] + bias[:, EDGE_FUNCTIONS:]
        mask = project_edges(bias, self.functions).to(query.dtype)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2)

    def add_norm(
        self, stream: Tensor, more: Tensor, norm: nn.LayerNorm, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        """The stream with something added, and that normalised, in that type or in the layout's; here in its own."""
        stream = stream + more
        return stream, norm(stream)

    def feed(self, hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
        """The feed-forward part of a layer."""
        return _feed(hidden, widen, narrow)

    def fuses(self, size: int, inner: int) -> bool:
        """Whether a kernel does all that a layer of these sizes does to single tokens."""
        return False


class Packed:
    """(token, ...) tensors of all states' real tokens, and a few more at the end to make their number a round one.

    The fewer numbers of tokens there are, the less often matrix products are planned anew.
    """

    def __init__(self, given: Tokens, dtype: torch.dtype):
        from orienteer.network.cuda.fused_tokens import fused_places

        self.width = given.node.shape[1]
        size = packed_size(given.total)
        self.dtype = dtype
        self.count = given.present.sum(1)
        self.first = self.count.cumsum(0) - self.count
        self.flat = fused_places(self.count, self.first, self.width, size)
        self.now = self.first + given.nodes[:, :, CURRENT].argmax(1)
        self.edges = given.edges.to(torch.float16).contiguous()
        self.hops = given.hops.to(torch.float32).contiguous()
        self.few = self.count.to(torch.int32)
        self.alike = given.symmetric.to(torch.int32)

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
        from orienteer.network.cuda.fused_read import fused_read

        return fused_read(hidden, query, self.first, self.few)

    def attend(self, parts: Tensor, bias: Tensor) -> Tensor:
        from orienteer.network.cuda.fused_attention import fused_attention

        return fused_attention(parts, self.edges, self.hops, self.alike, self.first, self.few, bias)

    def add_norm(
        self, stream: Tensor, more: Tensor, norm: nn.LayerNorm, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        from orienteer.network.cuda.fused_norm import fused_add_norm

        return fused_add_norm(stream, more, norm.weight, norm.bias, norm.eps, dtype or self.dtype)

    def feed(self, hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
        from orienteer.network.cuda.fused_feed import fused_feed, takes

        assert widen.bias is None
        assert narrow.bias is None
        if not takes(widen.in_features, widen.out_features, hidden.dtype, hidden.device):
            return _feed(hidden, widen, narrow)
        return fused_feed(hidden, widen.weight, narrow.weight)

    def fuses(self, size: int, inner: int) -> bool:
        from orienteer.network.cuda.fused_layer import takes

        return takes(size, inner, self.count.device)


Layout = Padded | Packed


def packed_size(total: int) -> int:
    """The round number of tokens for which `Packed` has room if `total` are real."""
    if total > ROUND:
        return -(-total // ROUND) * ROUND
    return max(FEWEST_PACKED, 1 << (total - 1).bit_length())


def _feed(hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
    out: Tensor = narrow(functional.relu(widen(hidden)))
    return out


def layout(given: Tokens, dtype: torch.dtype, heads: int, size: int) -> Layout:
    """How to lay out the tokens where they are, for attention with so many heads of that size."""
    return Packed(given, dtype) if packs(given, heads, size) else Padded(given, dtype)


def packs(given: Tokens, heads: int, size: int) -> bool:
    """Whether there is a kernel for attention between these tokens with so many heads of that size."""
    fits = given.node.shape[1] <= WIDEST_FUSED and is_power(heads) and is_power(size)
    return fits and has_kernels(given.edges.device)


class EdgeAttention(nn.Module):
    """Multi-head self-attention; each head adds to its logits a mixture of functions of the cost there and back."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(hidden, 3 * hidden, bias=False)  # the norm before it has a shift
        self.join = nn.Linear(hidden, hidden, bias=False)
        self.bias = nn.Parameter(torch.zeros(heads, EDGE_WEIGHTS))

    def forward(self, hidden: Tensor, where: Layout) -> Tensor:
        return self.join(self.mix(self.project(hidden), where))

    def mix(self, parts: Tensor, where: Layout) -> Tensor:
        """What the heads read, side by side, given (..., 3 hidden) queries, keys and values."""
        size = parts.shape[-1] // 3
        apart = parts.view(*parts.shape[:-1], 3, self.heads, size // self.heads)
        return where.attend(apart, self.bias).flatten(-2)


def project_edges(weight: Tensor, edges: Tensor) -> Tensor:
    """(state, head, token, token) from a (head, edge) weight and (state, edge + 1, token, token) attributes.

    The last attribute marks padding and has the same weight in every head.
    """
    states, count, width, _ = edges.shape
    full = torch.cat((weight, weight.new_full((len(weight), 1), PADDED)), dim=1)
    spread = full.to(edges.dtype).expand(states, -1, -1)
    return torch.bmm(spread, edges.view(states, count, width * width)).view(states, len(weight), width, width)


def compute_dtype(like: Tensor) -> torch.dtype:
    """The type in which large tensors are kept: that of autocast where it is on."""
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype
