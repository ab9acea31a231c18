"""Models that encode an instance once and then choose node after node: the paper's rivals AN-at and AN-pn.

Both put a published decoder on our encoder. Their authors' encoders read coordinates, from which a decoder can tell how
far a node is; ours reads costs, so the decoder is also shown, for every node, its cost from the last node and to the
end (the "dynamic elements" of Nazari et al.; Kool et al. add such projections to keys and values in their vehicle
routing). With `shown=False` it is left without, as the paper seems to have done.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import Encoder, NetworkConfig
from orienteer.network.columns import FAR
from orienteer.network.features import Tokens

DecoderKind = Literal["attention", "pointer"]
STEP_FEATURES = 6
CLIP = 10.0
"""The attention decoder's logits are clipped to this by a tanh (Kool et al. 2018)."""


@dataclass(frozen=True)
class RouteConfig:
    """The shape of an encoder with a decoder."""

    decoder: DecoderKind = "attention"
    """The attention decoder of Kool et al. or the pointer network of Nazari et al."""
    shown: bool = True
    """Whether the decoder sees the costs from the last node and to the end."""
    encoder: NetworkConfig = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        if self.decoder not in get_args(DecoderKind):
            raise ValueError(
                f"RouteConfig.decoder must be one of {', '.join(get_args(DecoderKind))}, got {self.decoder!r}"
            )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RouteConfig":
        """The inverse of `asdict`."""
        return cls(**{**values, "encoder": NetworkConfig(**values["encoder"])})

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Encoded:
    """Instances as their nodes' vectors."""

    nodes: Tensor  # (instance, node, hidden), zero for nodes that no route can reach
    mean: Tensor  # (instance, hidden)
    shared: Tensor  # (instance, node, any) what the decoder computes once an instance
    hops: Tensor  # (instance,) the limit in units of the typical step


@dataclass(frozen=True)
class Decoded:
    """The next node's logits and what the model remembers."""

    logits: Tensor  # (state, node), -inf where a node may not be next
    memory: Tensor | None  # (state, hidden)


class RouteModel(nn.Module):
    """An encoder and a decoder."""

    def __init__(self, config: RouteConfig | None = None):
        super().__init__()
        self.config = config = RouteConfig() if config is None else config
        self.encoder = Encoder(config.encoder)
        hidden, heads = config.encoder.hidden, config.encoder.heads
        self.decoder: AttentionDecoder | PointerDecoder
        if config.decoder == "attention":
            self.decoder = AttentionDecoder(hidden, heads, config.shown)
        else:
            self.decoder = PointerDecoder(hidden, config.shown)

    def encode(self, problems: Problems, parts: Sequence[tuple[Tensor, Tokens]]) -> Encoded:
        """The instances' vectors, from the tokens of their initial states (`orienteer.network.batching.in_parts`)."""
        rows, columns, vectors, order, hops = [], [], [], [], []
        for index, tokens in parts:
            rows.append(index[:, None].expand_as(tokens.node)[tokens.present])
            columns.append(tokens.node[tokens.present])
            vectors.append(self.encoder(tokens)[tokens.present])
            order.append(index)
            hops.append(tokens.hops)
        hidden = torch.cat(vectors).float()
        empty = hidden.new_zeros(problems.batch, problems.nodes, hidden.shape[1])
        nodes = empty.index_put((torch.cat(rows), torch.cat(columns)), hidden)
        place = torch.cat(order)
        count = torch.zeros(problems.batch, device=hidden.device).index_add(
            0, torch.cat(rows), torch.ones(len(hidden), device=hidden.device)
        )
        scale = torch.zeros(problems.batch, device=hidden.device).index_copy(0, place, torch.cat(hops))
        mean = nodes.sum(1) / count[:, None]
        return Encoded(nodes, mean, self.decoder.share(nodes), scale)

    def decode(self, encoded: Encoded, states: States) -> Decoded:
        """The logits of every path's next node, its memory of the path read from and handed on by `states`."""
        feasible = states.feasible()
        shown, overall = step_features(states, encoded.hops)
        decoded = self.decoder(encoded, states.instance, states.last, shown, overall, feasible, states.memory)
        return Decoded(decoded.logits.float().masked_fill(~feasible, -torch.inf), decoded.memory)


class AttentionDecoder(nn.Module):
    """The decoder of Kool et al. (2018): a glimpse at the nodes, then one attention whose logits choose."""

    def __init__(self, hidden: int, heads: int, shown: bool):
        super().__init__()
        self.heads, self.hidden = heads, hidden
        self.once = nn.Linear(hidden, 3 * hidden, bias=False)
        self.step = nn.Linear(STEP_FEATURES, 3 * hidden, bias=False) if shown else None
        self.direct = nn.Linear(STEP_FEATURES, 1, bias=False) if shown else None
        self.mean = nn.Linear(hidden, hidden, bias=False)
        self.context = nn.Linear(hidden + 2, hidden, bias=False)
        self.join = nn.Linear(hidden, hidden, bias=False)

    def memories(self, encoded: Encoded, steps: Sequence[States]) -> None:
        """What the decoder remembers of paths before each of their steps: nothing."""

    def share(self, nodes: Tensor) -> Tensor:
        """(instance, node, 3 hidden) keys, values and keys of the last attention."""
        out: Tensor = self.once(nodes)
        return out

    def forward(
        self,
        encoded: Encoded,
        instance: Tensor,
        last: Tensor,
        shown: Tensor,
        overall: Tensor,
        feasible: Tensor,
        memory: Tensor | None,
    ) -> Decoded:
        parts = encoded.shared[instance]
        if self.step is not None:
            parts = parts + self.step(shown)
        key, value, choice = parts.chunk(3, dim=2)  # (state, node, hidden)
        here = encoded.nodes[instance, last]
        query = self.mean(encoded.mean)[instance] + self.context(torch.cat((here, overall), dim=1))
        states, size, hidden = key.shape
        split = (states, size, self.heads, hidden // self.heads)
        # A path with no choice looks everywhere: its logits are never read, and no row may be empty.
        seen = (feasible | ~feasible.any(1, keepdim=True))[:, None, None, :]
        glimpse = functional.scaled_dot_product_attention(
            query.view(states, 1, self.heads, -1).transpose(1, 2),
            key.reshape(split).transpose(1, 2),
            value.reshape(split).transpose(1, 2),
            attn_mask=seen,
        )
        final = self.join(glimpse.transpose(1, 2).reshape(states, hidden))
        logits = (choice @ final[:, :, None])[:, :, 0] / hidden**0.5
        if self.direct is not None:
            logits = logits + self.direct(shown)[:, :, 0]
        return Decoded(CLIP * torch.tanh(logits.float()), None)


class PointerDecoder(nn.Module):
    """The decoder of Nazari et al. (2018): a recurrent memory of the path, a glimpse, and a pointer."""

    def __init__(self, hidden: int, shown: bool):
        super().__init__()
        self.hidden = hidden
        self.once = nn.Linear(hidden, 2 * hidden, bias=False)
        self.step = nn.Linear(STEP_FEATURES, 2 * hidden, bias=False) if shown else None
        self.direct = nn.Linear(STEP_FEATURES, 1, bias=False) if shown else None
        self.remember = nn.GRUCell(hidden + 2, hidden)
        self.mean = nn.Linear(hidden, hidden)
        self.look = nn.Linear(hidden, hidden)
        self.point = nn.Linear(2 * hidden, hidden)
        self.look_weight = nn.Linear(hidden, 1, bias=False)
        self.point_weight = nn.Linear(hidden, 1, bias=False)

    def memories(self, encoded: Encoded, steps: Sequence[States]) -> list[Tensor]:
        """(state, hidden) by step: what the decoder remembers of paths before each of their steps."""
        memory = self.mean(encoded.mean)[steps[0].instance]
        out = []
        for states in steps:
            out.append(memory)
            overall = step_features(states, encoded.hops)[1]
            memory = self.advance(encoded, states.instance, states.last, overall, memory)
        return out

    def share(self, nodes: Tensor) -> Tensor:
        """(instance, node, 2 hidden) the nodes' shares in the two attentions."""
        out: Tensor = self.once(nodes)
        return out

    def forward(
        self,
        encoded: Encoded,
        instance: Tensor,
        last: Tensor,
        shown: Tensor,
        overall: Tensor,
        feasible: Tensor,
        memory: Tensor | None,
    ) -> Decoded:
        memory = self.advance(encoded, instance, last, overall, memory)
        parts = encoded.shared[instance]
        if self.step is not None:
            parts = parts + self.step(shown)
        look, point = parts.chunk(2, dim=2)  # (state, node, hidden)
        seen = feasible | ~feasible.any(1, keepdim=True)
        glance = self.look_weight(torch.tanh(look + self.look(memory)[:, None]))[:, :, 0]
        weights = torch.softmax(glance.float().masked_fill(~seen, -torch.inf), dim=1)
        nodes = encoded.nodes[instance]
        context = (weights[:, None].to(nodes.dtype) @ nodes)[:, 0]
        mixed = self.point(torch.cat((context, memory.to(context.dtype)), dim=1))
        logits = self.point_weight(torch.tanh(point + mixed[:, None]))[:, :, 0]
        if self.direct is not None:
            logits = logits + self.direct(shown)[:, :, 0]
        return Decoded(logits, memory)

    def advance(
        self, encoded: Encoded, instance: Tensor, last: Tensor, overall: Tensor, memory: Tensor | None
    ) -> Tensor:
        """(state, hidden) the memory after the path's last node."""
        if memory is None:
            memory = self.mean(encoded.mean)[instance]
        with torch.autocast(last.device.type, enabled=False):
            seen = torch.cat((encoded.nodes[instance, last], overall), dim=1).float()
            out: Tensor = self.remember(seen, memory.float())
        return out


def step_features(states: States, hops: Tensor) -> tuple[Tensor, Tensor]:
    """(state, node, STEP_FEATURES) costs as the path sees them now, and (state, 2) how far it has come."""
    problems, row = states.problems, states.instance
    limit = problems.limit[row]
    left = torch.maximum(limit - states.cost, limit * 1e-9)
    leg = (states.leg / left[:, None]).clamp_max(FAR).float()
    home = (problems.to_end[row] / left[:, None]).clamp_max(FAR).float()
    share = (left / limit).float()
    steps = hops[row] * share  # what is left, in typical steps
    prizes = problems.prizes[row].float()
    mean = prizes.sum(1) / (prizes > 0).sum(1).clamp_min(1)
    worth = prizes / torch.where(mean > 0, mean, 1.0)[:, None]
    shown = torch.stack(
        (
            leg,
            home,
            torch.exp(-8 * leg),
            torch.exp(-leg * steps[:, None]),
            worth,
            worth * torch.exp(-leg * steps[:, None]),
        ),
        dim=2,
    )
    return shown, torch.stack((share, steps.log1p()), dim=1)
