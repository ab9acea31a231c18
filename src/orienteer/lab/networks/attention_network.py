"""The attention network (AN): graph attention, Transformer encoding layers, a projection to q(s, v)."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.lab.networks.graph_attention import EdgeGraphAttention
from orienteer.network.columns import (
    BASE_FEATURES,
    CURRENT,
    EDGE_WEIGHTS,
    GLOBAL_FEATURES,
    NODE_FEATURES,
    PAPER_GLOBAL_FEATURES,
    PAPER_NODE_FEATURES,
    PRIZE,
)
from orienteer.network.edge_attention import PADDED, Layout, compute_dtype, project_edges
from orienteer.network.estimate import Estimate
from orienteer.network.features import Tokens, edge_attributes, edge_functions

Head = Literal["linear", "dueling", "actor-critic"]


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of the network; the defaults are the paper's."""

    hidden: int = 32
    """Size of a node's vector."""
    heads: int = 8
    """Heads of every Transformer layer."""
    graph_heads: int = 8
    """Heads of the graph attention."""
    layers: int = 4
    """Stacked Transformer encoding layers."""
    head: Head = "linear"
    """How q is read off: the paper's projection, value plus advantage, or logits and a value apart."""
    rich: bool = False
    """Whether nodes carry their costs from the current node and to the end, beside prize and flags."""
    edge_bias: bool = False
    """Whether costs enter every layer as attention biases, not the graph attention alone."""
    pre_norm: bool = False
    """Whether layers normalise their inputs; the paper's normalise their sums, as the first Transformer did."""

    def __post_init__(self) -> None:
        for field in ("hidden", "heads", "graph_heads", "layers"):
            if getattr(self, field) < 1:
                raise ValueError(f"NetworkConfig.{field} must be at least 1, got {getattr(self, field)}")
        if self.hidden % self.heads:
            raise ValueError(f"NetworkConfig.hidden must be a multiple of heads {self.heads}, got {self.hidden}")
        if self.head not in get_args(Head):
            raise ValueError(f"NetworkConfig.head must be one of {', '.join(get_args(Head))}, got {self.head!r}")


class AttentionNetwork(nn.Module):
    """q(s, v) of every token; e(s) is its maximum over the choices."""

    def __init__(self, config: NetworkConfig | None = None):
        super().__init__()
        self.config = config = NetworkConfig() if config is None else config
        self.encoder = Encoder(config)
        self.advantage = nn.Linear(config.hidden, 1, bias=config.head == "linear")
        if config.head != "linear":
            last = nn.Linear(config.hidden, 1)
            nn.init.zeros_(last.weight)
            self.value = nn.Sequential(nn.Linear(2 * config.hidden, config.hidden), nn.ReLU(), last)
            self.base = nn.Linear(len(BASE_FEATURES), 1, bias=False)
            nn.init.constant_(self.base.weight, 0.5 / len(BASE_FEATURES))
        nn.init.zeros_(self.advantage.weight)

    def forward(self, tokens: Tokens) -> Estimate:
        hidden = self.encoder(tokens)
        with torch.autocast(hidden.device.type, enabled=False):  # values need more digits than bfloat16 has
            hidden = hidden.to(tokens.nodes.dtype)
            action = self.advantage(hidden)[:, :, 0]
            unit = tokens.unit.to(action.dtype)
            if self.config.head == "linear":
                return Estimate(action * unit[:, None], None)
            value = self._value(hidden, tokens)
            if self.config.head == "actor-critic":
                return Estimate(action, value * unit)
            choices = tokens.choice.sum(1, keepdim=True).clamp_min(1)
            centre = (action * tokens.choice).sum(1, keepdim=True) / choices
            prize = tokens.nodes[:, :, PRIZE]
            return Estimate((prize + value[:, None] + action - centre) * unit[:, None], value * unit)

    def _value(self, hidden: Tensor, tokens: Tokens) -> Tensor:
        """(state,) the prize to go in units of the mean prize."""
        count = tokens.present.sum(1, keepdim=True)
        mean = (hidden * tokens.present[:, :, None]).sum(1) / count
        current = (hidden * tokens.nodes[:, :, CURRENT : CURRENT + 1]).sum(1)
        return (self.value(torch.cat((mean, current), dim=1)) + self.base(tokens.base))[:, 0]


class Encoder(nn.Module):
    """(state, token, hidden) a vector for every token of sub-problems."""

    def __init__(self, config: NetworkConfig):
        super().__init__()
        self.config = config
        self.node_inputs = len(NODE_FEATURES) if config.rich else PAPER_NODE_FEATURES
        self.global_inputs = len(GLOBAL_FEATURES) if config.rich else PAPER_GLOBAL_FEATURES
        self.graph = EdgeGraphAttention(self.node_inputs, self.global_inputs, config.hidden, config.graph_heads)
        self.direct = nn.Linear(self.node_inputs + self.global_inputs, config.hidden) if config.rich else None
        self.layers = nn.ModuleList(EncodingLayer(config) for _ in range(config.layers))
        self.final = nn.LayerNorm(config.hidden) if config.pre_norm else nn.Identity()

    def forward(self, tokens: Tokens) -> Tensor:
        nodes = tokens.nodes[:, :, : self.node_inputs]
        overall = tokens.overall[:, : self.global_inputs]
        dtype = compute_dtype(nodes)
        with torch.autocast(nodes.device.type, enabled=False):  # inputs keep their digits; see EdgeGraphAttention
            hidden = self.graph(nodes, edge_attributes(tokens, dtype), overall)
            if self.direct is not None:
                spread = overall[:, None].expand(-1, nodes.shape[1], -1)
                hidden = hidden + self.direct(torch.cat((nodes, spread), dim=2))
        if self._packs(tokens):
            heads = self.config.heads
            where = tokens.kit.layout(tokens, dtype, heads, self.config.hidden // heads)
            return self._through_packed(hidden, where)
        if self.config.edge_bias:
            functions = edge_functions(tokens, dtype)
        else:
            functions = torch.where(tokens.present, 0.0, PADDED).to(dtype)[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, functions)
        return self.final(hidden)

    def _packs(self, tokens: Tokens) -> bool:
        """Whether the layers go through kernels: in a search, where nothing is learned."""
        config = self.config
        suited = config.edge_bias and config.pre_norm and not torch.is_grad_enabled()
        return suited and tokens.kit.packs(tokens, config.heads, config.hidden // config.heads)

    def _through_packed(self, hidden: Tensor, where: Layout) -> Tensor:
        """The layers on the tokens of all states one after the other, by kernels."""
        stream = where.pack(hidden)
        more = torch.zeros_like(stream, dtype=where.dtype)
        for layer in cast(list[EncodingLayer], list(self.layers)):
            stream, more = layer.packed(stream, more, where)
        return where.unpack(where.add_norm(stream, more, cast(nn.LayerNorm, self.final), stream.dtype)[1])


class EncodingLayer(nn.Module):
    """A Transformer encoding layer without positions, optionally biased by edge costs."""

    def __init__(self, config: NetworkConfig):
        super().__init__()
        hidden = config.hidden
        self.heads, self.pre_norm = config.heads, config.pre_norm
        self.project = nn.Linear(hidden, 3 * hidden)
        self.join = nn.Linear(hidden, hidden)
        self.widen = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)
        self.norm_attention = nn.LayerNorm(hidden)
        self.norm_feed = nn.LayerNorm(hidden)
        self.bias = nn.Parameter(torch.zeros(config.heads, EDGE_WEIGHTS)) if config.edge_bias else None

    def forward(self, hidden: Tensor, functions: Tensor) -> Tensor:
        if self.pre_norm:
            hidden = hidden + self._attend(self.norm_attention(hidden), functions)
            return hidden + self._feed(self.norm_feed(hidden))
        hidden = self.norm_attention(hidden + self._attend(hidden, functions))
        return self.norm_feed(hidden + self._feed(hidden))

    def packed(self, stream: Tensor, more: Tensor, where: Layout) -> tuple[Tensor, Tensor]:
        """The stream after this layer as two summands: the stream so far, and the feed-forward part's result."""
        assert self.bias is not None
        stream, hidden = where.add_norm(stream, more, self.norm_attention)
        parts = self.project(hidden).view(len(hidden), 3, self.heads, -1)
        mixed = where.attend(parts, self.bias).flatten(1)
        stream, hidden = where.add_norm(stream, self.join(mixed), self.norm_feed)
        return stream, self._feed(hidden)

    def _attend(self, hidden: Tensor, functions: Tensor) -> Tensor:
        states, width, size = hidden.shape
        parts = self.project(hidden).view(states, width, 3, self.heads, size // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)  # (state, head, token, size)
        # Without edge costs these are the logits themselves, the same from every token.
        bias = functions if self.bias is None else project_edges(self.bias, functions)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias.to(query.dtype))
        return self.join(mixed.transpose(1, 2).reshape(states, width, size))

    def _feed(self, hidden: Tensor) -> Tensor:
        return self.narrow(functional.relu(self.widen(hidden)))
