"""The flagship's pass over the paths of a recorded step: arrays of fixed sizes, and no question to the GPU."""

from dataclasses import dataclass
from typing import cast

import torch
import triton
from torch import Tensor

from orienteer.beam.backend.cuda.fused_queues import TOKENS
from orienteer.beam.backend.cuda.launch import warps_for
from orienteer.beam.backend.cuda.recorded import Step
from orienteer.network import columns
from orienteer.network.cuda import fused_attention, fused_heads, fused_layer, fused_steady
from orienteer.network.cuda.fused import is_power
from orienteer.network.policy_network import PolicyLayer, PolicyNetwork

ALIGNED = 16
"""Rows of costs between tokens are multiples of this."""
INPUTS = 16
"""Columns of the first matrix, filled up: smaller blocks cannot be multiplied."""
STATES, CHUNK = 32, 32
"""Paths, and entries of their vectors, that a program asks for."""


def takes(network: object, device: torch.device) -> bool:
    """Whether there are kernels for all parts of a network."""
    if not isinstance(network, PolicyNetwork) or network.config.goal != "prize":
        return False
    config = network.config
    size = config.hidden // config.heads
    fits = is_power(config.heads) and is_power(size) and size >= fused_attention.LEAST and config.hidden % CHUNK == 0
    return fits and fused_layer.takes(config.hidden, config.widen * config.hidden, device)


@dataclass(frozen=True)
class Weights:
    """A network's weights as the kernels read them: large matrices rounded, the first filled up."""

    network: PolicyNetwork
    enter: Tensor  # (hidden, INPUTS)
    project: list[Tensor]  # of each layer, as the following four
    join: list[Tensor]
    widen: list[Tensor]
    narrow: list[Tensor]
    bias: list[Tensor]

    @classmethod
    def of(cls, network: PolicyNetwork, dtype: torch.dtype) -> "Weights":
        """The weights of a network, large matrices in that type."""
        layers = cast(list[PolicyLayer], list(network.layers))

        def rounded(matrix: Tensor) -> Tensor:
            return matrix.detach().to(dtype).contiguous()

        first = network.enter.weight.detach()
        filled = torch.nn.functional.pad(first, (0, INPUTS - first.shape[1]))
        return cls(
            network,
            rounded(filled),
            [rounded(layer.attention.project.weight) for layer in layers],
            [rounded(layer.attention.join.weight) for layer in layers],
            [rounded(layer.widen.weight) for layer in layers],
            [rounded(layer.narrow.weight) for layer in layers],
            [layer.attention.bias.detach().float().contiguous() for layer in layers],
        )


class SteadyPass:
    """The kernels of a pass, and the arrays between them."""

    def __init__(self, weights: Weights, step: Step):
        self.weights, self.step = weights, step
        config, most, device = weights.network.config, step.most, step.action.device
        self.width = -(-step.problems.nodes // ALIGNED) * ALIGNED
        self.tokens = most * self.width
        self.symmetric = bool(step.problems.symmetric.all())
        dtype, hidden = weights.enter.dtype, config.hidden

        def new(*shape: int, kind: torch.dtype = torch.float32) -> Tensor:
            return torch.empty(shape, dtype=kind, device=device)

        self.node, self.owner = new(self.tokens, kind=torch.int32), new(self.tokens, kind=torch.int32)
        self.features, self.choice = new(self.tokens, len(columns.NODE_FEATURES)), new(self.tokens, kind=torch.uint8)
        self.nearest, self.logits = new(self.tokens), new(self.tokens)
        self.stream, self.after = new(self.tokens, hidden), new(self.tokens, hidden)
        self.parts, self.mixed = new(self.tokens, 3 * hidden, kind=dtype), new(self.tokens, hidden, kind=dtype)
        self.edges = new(most, self.width, self.width, kind=torch.float16)
        self.count, self.alike = new(most, kind=torch.int32), new(most, kind=torch.int32)
        self.first, self.now = new(most, kind=torch.int64), new(most, kind=torch.int64)
        self.unit, self.opened, self.factor, self.way_home, self.hops = (new(most) for _ in range(5))
        self.overall, self.base = new(most, len(columns.GLOBAL_FEATURES)), new(most, len(columns.BASE_FEATURES))
        self.mean, self.query, self.more = new(most, hidden), new(most, hidden), new(most, hidden // CHUNK)

    def __call__(self) -> None:
        """Launches the pass."""
        self._lay_out()
        self._enter()
        last = len(self.weights.project) - 1
        for number in range(last + 1):
            self._attend(number)
            self._rest(number, last)
        self._answer()

    def _lay_out(self) -> None:
        step, problems, log = self.step, self.step.problems, self.step.log
        room = triton.next_power_of_2(problems.nodes)
        fused_steady.lay_out[(step.most,)](
            step.counters, log.trail, log.instance, log.cost, log.visited.view(torch.uint8), problems.cheapest_ways,
            problems.costs, problems.to_end, problems.prizes, problems.budget, problems.divisor, problems.start,
            problems.end, problems.symmetric.view(torch.uint8), self.node, self.owner, self.features, self.choice,
            self.count, self.first, self.now, self.unit, self.opened, self.factor, self.way_home, self.alike,
            step.action, problems.nodes, ROOM=room, num_warps=warps_for(room),
        )  # fmt: skip
        fused_steady.gather_edges[(step.most, triton.cdiv(self.width, 16))](
            step.counters, log.instance, problems.relative_costs, self.factor, self.node, self.count, self.first,
            self.edges, self.nearest, problems.nodes, self.width, ROWS=16, COLUMNS=64, num_warps=4,
        )  # fmt: skip
        fused_steady.measure[(step.most,)](
            self.nearest, self.count, self.first, self.opened, self.way_home, self.hops, self.overall, self.base,
            ROOM=triton.next_power_of_2(self.width), num_warps=1,
        )  # fmt: skip

    def _enter(self) -> None:
        network = self.weights.network
        norm = cast(PolicyLayer, network.layers[0]).norm_attention
        fused_steady.enter[(triton.cdiv(self.tokens, 64),)](
            self.step.counters, self.owner, self.features, self.overall, self.weights.enter, network.enter.bias,
            norm.weight, norm.bias, self.weights.project[0], self.stream, self.parts, norm.eps,
            SIZE=network.config.hidden, INPUTS=INPUTS, ROWS=64, CHUNK=32, num_warps=4,
        )  # fmt: skip

    def _attend(self, number: int) -> None:
        config = self.weights.network.config
        size, bias = config.hidden // config.heads, self.weights.bias[number]
        if config.heads == fused_heads.HEADS:
            fused_heads.attend(
                self.parts, self.edges, self.hops, self.first, self.count, bias, self.mixed, size**-0.5, self.symmetric
            )
            return
        fused_attention.attend(
            self.parts, self.edges, self.hops, self.alike, self.first, self.count, bias, self.mixed, size**-0.5,
            config.heads, size,
        )  # fmt: skip

    def _rest(self, number: int, last: int) -> None:
        weights, network = self.weights, self.weights.network
        layers = cast(list[PolicyLayer], list(network.layers))
        final = number == last
        following = network.final if final else layers[number + 1].norm_attention
        matrices = weights.join[number], weights.widen[number], weights.narrow[number]
        fused_layer.rest(
            self.mixed, self.stream, matrices, layers[number].norm_feed, following,
            None if final else weights.project[number + 1], self.stream, self.after if final else self.parts,
            self.step.counters[TOKENS.value :],
        )  # fmt: skip

    def _answer(self) -> None:
        step, network = self.step, self.weights.network
        hidden, config = self.after, network.config
        judge, last = network.value[0], network.value[2]
        fused_steady.sum_up[(step.most,)](
            hidden, self.count, self.first, self.mean, SIZE=config.hidden, ROWS=16, num_warps=4
        )
        fused_steady.ask[(triton.cdiv(step.most, STATES), config.hidden // CHUNK)](
            step.counters, hidden, self.now, self.mean, self.base, network.query.weight, judge.weight, judge.bias,
            last.weight, self.query, self.more, SIZE=config.hidden, STATES=STATES, CHUNK=CHUNK, num_warps=4,
        )  # fmt: skip
        fused_steady.answer[(step.most,)](
            hidden, self.query, self.more, last.bias, self.base, network.heads.weight, network.heads.bias,
            self.features, self.choice, self.node, self.count, self.first, self.unit, self.logits, step.action,
            step.value, step.problems.nodes, config.beta,
            SIZE=config.hidden, PIECES=config.hidden // CHUNK, ROWS=16, num_warps=4,
        )  # fmt: skip
