"""The policy and value network: a Transformer over the nodes that still matter, whose every layer sees their costs.

Three heads read its vectors: the next node, which nodes the rest of a good route visits, and the prize to go. The prize
to go is the sum of the prizes weighted by the second head, and a correction: so it grows with the problem.

For tours, which visit every node at the least cost, the second head says what leaving each node will cost, and the
third is the cost to go: the sum of these costs, and a correction. The network does not see the limit: routes in lessons
nearly use theirs up, and a network that saw it would answer with what is left of it.
"""

from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from orienteer.network.columns import (
    BASE_FEATURES,
    BASE_STEPS,
    CURRENT,
    DETOUR,
    GLOBAL_COUNT,
    GLOBAL_FEATURES,
    GLOBAL_WAY_HOME,
    LEG,
    NODE_FEATURES,
    PRIZE,
)
from orienteer.network.config import LONGEST, PolicyConfig
from orienteer.network.edge_attention import EdgeAttention, Layout, compute_dtype
from orienteer.network.estimate import Estimate
from orienteer.network.features import Tokens


@dataclass(frozen=True)
class Outlook:
    """What the network says about sub-problems."""

    logits: Tensor  # (state, token) logits of the next node; meaningless where a token is no choice
    visit: Tensor  # (state, token) logits of being visited later, or the logarithm of the cost of leaving the node
    value: Tensor  # (state,) the prize to go in units of the mean prize at hand, or the cost to go in typical steps


class PolicyNetwork(nn.Module):
    """Which node to visit next, and what the rest of the route is worth."""

    def __init__(self, config: PolicyConfig | None = None):
        super().__init__()
        self.config = config = PolicyConfig() if config is None else config
        hidden = config.hidden
        self.enter = nn.Linear(len(NODE_FEATURES) + len(GLOBAL_FEATURES), hidden)
        self.layers = nn.ModuleList(PolicyLayer(config) for _ in range(config.layers))
        self.final = nn.LayerNorm(hidden)
        self.heads = nn.Linear(hidden, 2)
        self.query = nn.Linear(hidden, hidden, bias=False)
        last = nn.Linear(hidden, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.value = nn.Sequential(nn.Linear(2 * hidden + len(BASE_FEATURES), hidden), nn.GELU(), last)
        nn.init.zeros_(self.heads.weight)
        nn.init.zeros_(self.heads.bias)
        nn.init.zeros_(self.query.weight)

    def forward(self, tokens: Tokens) -> Estimate:
        """q(s, v) = V(s) + beta log pi(v | s) and V(s), in prize, or as negative cost in units of what is left."""
        outlook = self.look(tokens)
        log_chance = torch.log_softmax(outlook.logits.masked_fill(~tokens.choice, -torch.inf), dim=1)
        to_cost = self.config.goal == "cost"
        unit = (1 / tokens.hops if to_cost else tokens.unit).to(outlook.value.dtype)
        value = -outlook.value if to_cost else outlook.value
        action = value[:, None] + self.config.beta * log_chance
        return Estimate(action * unit[:, None], value * unit)

    def look(self, tokens: Tokens) -> Outlook:
        """All three heads."""
        if self.config.goal == "cost":
            tokens = _without_limit(tokens)
        width = tokens.nodes.shape[1]
        inputs = torch.cat((tokens.nodes, tokens.overall[:, None].expand(-1, width, -1)), dim=2)
        heads = self.config.heads
        where: Layout = tokens.kit.layout(tokens, compute_dtype(inputs), heads, self.config.hidden // heads)
        stream = self.enter(where.pack(inputs)).to(inputs.dtype)  # sums need more digits than bfloat16 has
        hidden = self._through_layers(stream, where)
        with torch.autocast(hidden.device.type, enabled=False):  # differences of logits need more digits as well
            current = where.current(hidden)
            pointer, mean = where.read(hidden, self.query(current))
            logits, visit = self.heads(hidden).unbind(-1)
            logits, visit = where.unpack(logits + pointer * self.config.hidden**-0.5), where.unpack(visit)
            return Outlook(logits, visit, self._value(mean, current, visit, tokens))

    def _through_layers(self, stream: Tensor, where: Layout) -> Tensor:
        """(token, hidden) the normed vectors after the last layer, with all digits."""
        more = torch.zeros_like(stream, dtype=where.dtype)
        layers = cast(list[PolicyLayer], list(self.layers))
        if torch.is_grad_enabled() or not where.fuses(self.config.hidden, self.config.widen * self.config.hidden):
            for layer in layers:
                stream, more = layer(stream, more, where)
            return where.add_norm(stream, more, self.final, stream.dtype)[1]
        hidden = layers[0].attention.project(where.add_norm(stream, more, layers[0].norm_attention)[1])
        for layer, following in zip(layers, (*layers[1:], None), strict=True):
            stream, hidden = layer.at_once(stream, hidden, where, following, self.final)
        return hidden

    def _value(self, mean: Tensor, current: Tensor, visit: Tensor, tokens: Tokens) -> Tensor:
        """(state,) the prize to go in units of the mean prize, or the cost to go in typical steps."""
        if self.config.goal == "cost":
            expected = (leaving_cost(visit) * to_leave(tokens)).sum(1)
        else:
            expected = (torch.sigmoid(visit) * tokens.nodes[:, :, PRIZE]).sum(1)
        more = self.value(torch.cat((mean, current, tokens.base.log1p()), dim=1))[:, 0]
        return expected + more * tokens.base[:, BASE_STEPS].sqrt()  # errors of a sum of stops grow like its root


def to_leave(tokens: Tokens) -> Tensor:
    """(state, token) bool: the nodes that a tour has still to leave, the current one and those to be visited."""
    return tokens.open | (tokens.nodes[:, :, CURRENT] > 0)


def leaving_cost(visit: Tensor) -> Tensor:
    """(state, token) what leaving each node will cost, in typical steps: the second head of a network for tours."""
    return visit.clamp_max(LONGEST).exp()


_COSTS = slice(LEG, DETOUR + 1)
"""The columns of leg, home and detour, which follow one another: a list of them would have to be sent to a GPU."""


def _without_limit(tokens: Tokens) -> Tokens:
    """The sub-problems with costs in units of a tour of typical steps, whatever is left of the limit."""
    steps = tokens.open.sum(1).to(tokens.hops.dtype) + 1
    factor = tokens.hops / steps
    nodes = tokens.nodes.clone()
    nodes[:, :, _COSTS] *= factor[:, None, None]
    way_home = tokens.overall[:, GLOBAL_WAY_HOME] * factor
    return replace(
        tokens,
        nodes=nodes,
        edges=tokens.edges * factor[:, None, None],
        overall=torch.stack((steps.log1p(), tokens.overall[:, GLOBAL_COUNT], way_home), dim=1),
        base=steps[:, None].expand(-1, len(BASE_FEATURES)),
        hops=steps,
    )


class PolicyLayer(nn.Module):
    """A Transformer layer, normalised at its inputs, with edge-biased attention."""

    def __init__(self, config: PolicyConfig):
        super().__init__()
        hidden = config.hidden
        self.attention = EdgeAttention(hidden, config.heads)
        self.norm_attention = nn.LayerNorm(hidden)
        self.norm_feed = nn.LayerNorm(hidden)
        self.widen = nn.Linear(hidden, config.widen * hidden, bias=False)
        self.narrow = nn.Linear(config.widen * hidden, hidden, bias=False)

    def forward(self, stream: Tensor, more: Tensor, where: Layout) -> tuple[Tensor, Tensor]:
        """The stream after this layer as two summands: the stream so far, and the feed-forward part's result."""
        stream, hidden = where.add_norm(stream, more, self.norm_attention)
        stream, hidden = where.add_norm(stream, self.attention(hidden, where), self.norm_feed)
        return stream, where.feed(hidden, self.widen, self.narrow)

    def at_once(
        self, stream: Tensor, parts: Tensor, where: Layout, following: "PolicyLayer | None", final: nn.LayerNorm
    ) -> tuple[Tensor, Tensor]:
        """The stream after this layer, and the following layer's queries, keys and values, or the final vectors.

        `parts` are the queries, keys and values of this layer.
        """
        from orienteer.network.cuda.fused_layer import fused_rest

        mixed = self.attention.mix(parts, where)
        norm, project = final, None
        if following is not None:
            norm, project = following.norm_attention, following.attention.project.weight
        inner, fixed = (self.widen.weight, self.narrow.weight), not self.training
        return fused_rest(mixed, stream, self.attention.join.weight, self.norm_feed, *inner, norm, project, fixed)
