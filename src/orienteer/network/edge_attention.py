"""Attention between tokens, biased by what it costs to travel between them.

For kernels the tokens of all states lie one after the other (`network.cuda.packed`), for plain tensors in rows with
padding (`Padded`). The layers of a network need not know: they see vectors, and hand the layout on.
"""

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.network.columns import CURRENT, EDGE_FUNCTIONS, EDGE_WEIGHTS
from orienteer.network.features import Tokens, edge_functions

PADDED = -1e6
"""Logit of padding: its weight is exactly zero after a softmax, also after a LeakyReLU has made it a hundredth."""


class Layout(Protocol):
    """How the tokens of a batch of states lie in memory, and the steps of a layer for this layout."""

    dtype: torch.dtype

    def pack(self, padded: Tensor) -> Tensor:
        """The layout's form of a (state, token, ...) tensor."""
        ...

    def unpack(self, packed: Tensor) -> Tensor:
        """(state, token, ...) from the layout's form; values of padding mean nothing."""
        ...

    def current(self, hidden: Tensor) -> Tensor:
        """(state, hidden) the vectors of the current nodes."""
        ...

    def read(self, hidden: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        """Each token's inner product with its state's query, and (state, hidden) the mean of each state's vectors."""
        ...

    def attend(self, parts: Tensor, bias: Tensor) -> Tensor:
        """Attention of (..., 3, head, size) queries, keys and values with (head, EDGE_WEIGHTS) weights of costs."""
        ...

    def add_norm(
        self, stream: Tensor, more: Tensor, norm: nn.LayerNorm, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        """The stream with `more` added, and this sum normalised, in the type `dtype` (None: the layout's type)."""
        ...

    def feed(self, hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
        """The feed-forward part of a layer."""
        ...

    def fuses(self, size: int, inner: int) -> bool:
        """Whether one kernel does all steps of a layer of these sizes after its attention."""
        ...


class Padded:
    """(state, token, ...) tensors as they are; `one_way` says that all edges cost the same in both directions."""

    def __init__(self, tokens: Tokens, dtype: torch.dtype, one_way: bool = False):
        self.tokens, self.dtype, self.one_way = tokens, dtype, one_way
        self.functions = edge_functions(tokens, dtype, self.one_way)

    def pack(self, padded: Tensor) -> Tensor:
        return padded

    def unpack(self, packed: Tensor) -> Tensor:
        return packed

    def current(self, hidden: Tensor) -> Tensor:
        return (hidden * self.tokens.nodes[:, :, CURRENT : CURRENT + 1].to(hidden.dtype)).sum(1)

    def read(self, hidden: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        total = (hidden * self.tokens.present[:, :, None]).sum(1)
        return (hidden @ query[:, :, None])[:, :, 0], total / self.tokens.present.sum(1, keepdim=True)

    def attend(self, parts: Tensor, bias: Tensor) -> Tensor:
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)  # (state, head, token, size)
        if self.one_way:
            bias = bias[:, :EDGE_FUNCTIONS] + bias[:, EDGE_FUNCTIONS:]
        mask = project_edges(bias, self.functions).to(query.dtype)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2)

    def add_norm(
        self, stream: Tensor, more: Tensor, norm: nn.LayerNorm, dtype: torch.dtype | None = None
    ) -> tuple[Tensor, Tensor]:
        stream = stream + more
        return stream, norm(stream)

    def feed(self, hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
        return feed_forward(hidden, widen, narrow)

    def fuses(self, size: int, inner: int) -> bool:
        return False


def feed_forward(hidden: Tensor, widen: nn.Linear, narrow: nn.Linear) -> Tensor:
    out: Tensor = narrow(functional.relu(widen(hidden)))
    return out


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
        """What the heads read, side by side; `parts` are (..., 3 hidden) queries, keys and values."""
        size = parts.shape[-1] // 3
        apart = parts.view(*parts.shape[:-1], 3, self.heads, size // self.heads)
        return where.attend(apart, self.bias).flatten(-2)


def project_edges(weight: Tensor, edges: Tensor) -> Tensor:
    """(state, head, token, token) from a (head, edge) weight and (state, edge + 1, token, token) attributes.

    The last attribute marks padding and has the weight `PADDED` in every head.
    """
    states, count, width, _ = edges.shape
    full = torch.cat((weight, weight.new_full((len(weight), 1), PADDED)), dim=1)
    spread = full.to(edges.dtype).expand(states, -1, -1)
    return torch.bmm(spread, edges.view(states, count, width * width)).view(states, len(weight), width, width)


def compute_dtype(like: Tensor) -> torch.dtype:
    """The type in which large tensors are kept: the type of autocast where autocast is on, else that of `like`."""
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype
