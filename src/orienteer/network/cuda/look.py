"""A network of torch looks at paths: on a GPU, or wherever its tensors lie."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from orienteer.beam.states import States
from orienteer.network.batching import Network, evaluate
from orienteer.network.features import Kit, reachable
from orienteer.network.policy_network import PolicyNetwork

if TYPE_CHECKING:
    from orienteer.beam.backend.cuda.recorded import Launch, Step

CELLS, MOST_STATES = 2**27, 16384
"""Pairs of tokens, and states, that go through a network at a time on a GPU."""
CELL_BYTES = 512
"""Bytes that a pair of tokens takes, generously."""
SHARES = 2
"""Batches that may work on a GPU at once."""
FEW_CELLS, FEW_STATES = 2**18, 128
"""Pairs of tokens, and states, at a time without a GPU: what the caches of a CPU hold."""


class TensorLook:
    """A network and its tokens' kit; threads may share it."""

    def __init__(self, network: Network, kit: Kit | None = None, part: int | None = None):
        """`part` is how many states go through the network at a time; by default as many as suit the device."""
        self.network, self.kit, self.part = network, kit, part
        self.passes = 0
        self._counting = threading.Lock()

    def __call__(self, states: States) -> tuple[Tensor, Tensor]:
        with self._counting:
            self.passes += len(states)
        part = self.part or part_for(states)
        return evaluate([self.network], states, states.problems.cheapest_ways, part, self.kit)[0]

    def recorded(self, step: Step) -> Launch | None:
        """What launches a pass over the paths of a recorded step; None where the network has no kernels for it."""
        # Imported here: the module needs Triton, which torch for CPUs, enough for training, does not bring.
        from orienteer.network.cuda.steady import SteadyPass, Weights, takes

        if not takes(self.network, step.action.device):
            return None
        network = cast(PolicyNetwork, self.network)
        dtype = torch.bfloat16 if step.action.device.type == "cuda" else torch.float32
        return SteadyPass(Weights.of(network, dtype), step)

    def reachable(self, states: States) -> Tensor:
        return reachable(states, states.problems.cheapest_ways)


def part_for(states: States) -> int:
    """How many states go through a network at a time."""
    device, nodes = states.last.device, states.problems.nodes
    if device.type != "cuda":
        return max(1, min(FEW_STATES, FEW_CELLS // nodes**2))
    memory = torch.cuda.get_device_properties(device).total_memory
    return max(1, min(MOST_STATES, CELLS // nodes**2, memory // (CELL_BYTES * SHARES * nodes**2)))
