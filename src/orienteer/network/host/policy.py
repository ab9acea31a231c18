"""The policy and value network on a CPU, with numpy and numba alone."""

from functools import cache
from pathlib import Path

import numpy as np

from orienteer.kernel import Floats, Singles
from orienteer.kernel.lanes import WIDEST
from orienteer.network.config import PolicyConfig
from orienteer.network.host.arrange import arranged, rounded, shape_of, tensor_shapes
from orienteer.network.host.forward import lay_out, look
from orienteer.network.host.paths import PartialPaths
from orienteer.network.weights import POLICY_METHODS, Header, Method, Tensors, build, open_weights, read_tensors

CACHE_LINE = 16
"""Numbers in a line of the processor's cache."""


class HostPolicy:
    """The network's answers about partial paths, with numpy and numba alone; threads may share the object."""

    def __init__(self, config: PolicyConfig, tensors: Tensors):
        self.config = config
        self._shape, self._weights = shape_of(config), arranged(config, tensors)

    def evaluate(self, paths: PartialPaths, ways: Floats) -> tuple[Singles, Singles]:
        """(path, node) q(s, v) = V(s) + beta log pi(v | s), -inf where a node may not be next, and (path,) V(s).

        In units of prize, or, where the goal is cost, negative, in units of what is left of the limit. `ways` are the
        problems' (problem, node, node) cheapest ways. Arrays are contiguous and may be written to: else numba compiles
        the loops once more.
        """
        action = np.full(paths.visited.shape, -np.inf, dtype=np.float32)
        value = np.zeros(len(action), dtype=np.float32)
        beta, to_cost = np.float32(self.config.beta), self.config.goal == "cost"
        nodes = paths.visited.shape[1]
        node, opened = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.bool_)
        room = self._room(nodes, bool(paths.symmetric.all()))
        look(paths, ways, self._weights, self._shape, beta, to_cost, node, opened, room, action, value)
        return action, value

    def _room(self, tokens: int, alike: bool) -> Singles:
        """Memory for the tables of a path of at most `tokens` tokens; `alike`: costs are equal in both directions."""
        tables = lay_out(self._shape, tokens, rounded(tokens, WIDEST), not alike)
        room = np.empty(tables.end + CACHE_LINE, dtype=np.float32)
        return room[-(room.ctypes.data // 4) % CACHE_LINE :]  # lanes are not to cross lines of the processor's cache


def load_policy(name: str | Path, methods: tuple[Method, ...] = POLICY_METHODS) -> tuple[HostPolicy, Header]:
    """The policy network of a shipped name or a file; `methods` are those whose weights the caller takes."""
    header = open_weights(name, methods)
    config = build(header, lambda fields: PolicyConfig(**fields))
    return HostPolicy(config, read_tensors(header, tensor_shapes(config))), header


@cache
def compile_policy() -> None:
    """Compiles the forward pass, or loads it from where compiled kernels are kept."""
    config = PolicyConfig(8, 1, 1, 1)
    tensors = {name: np.zeros(shape, dtype=np.float32) for name, shape in tensor_shapes(config).items()}
    costs = 1.0 - np.eye(2)[None]
    paths = PartialPaths(
        costs=costs,
        relative=costs.astype(np.float32),
        to_end=np.zeros((1, 2)),
        prizes=np.ones((1, 2)),
        budget=np.ones(1),
        divisor=np.ones(1),
        end=np.ones(1, dtype=np.int64),
        instance=np.zeros(1, dtype=np.int64),
        last=np.zeros(1, dtype=np.int64),
        visited=np.ones((1, 2), dtype=np.bool_),
        cost=np.zeros(1),
        symmetric=np.ones(1, dtype=np.bool_),
    )
    HostPolicy(config, tensors).evaluate(paths, costs)
