"""The flagship looks at paths on the cores of the host."""

import threading

from orienteer.beam.problems import Array
from orienteer.beam.states import States
from orienteer.network.config import PolicyConfig
from orienteer.network.host.policy import HostPolicy
from orienteer.network.host.tokens import Given
from orienteer.network.weights import Header, build, read_tensors


class HostLook:
    """A network's forward pass on the host; threads may share it."""

    def __init__(self, policy: HostPolicy):
        self.policy = policy
        self.passes = 0
        self._counting = threading.Lock()

    def __call__(self, states: States) -> tuple[Array, Array]:
        with self._counting:
            self.passes += len(states)
        return self.policy.evaluate(_given(states), states.problems.cheapest_ways)

    def reachable(self, states: States) -> Array:
        ways = states.problems.cheapest_ways
        return states.feasible(states.cost[:, None] + ways[states.instance, states.last])


def host_look(header: Header) -> HostLook:
    """The network of a weights file."""
    config = build(header, lambda fields: PolicyConfig(**fields))
    return HostLook(HostPolicy(config, read_tensors(header, HostPolicy.shapes(config))))


def _given(states: States) -> Given:
    problems = states.problems
    return Given(
        problems.costs, problems.relative_costs, problems.to_end, problems.prizes, problems.budget, problems.divisor,
        problems.end, states.instance, states.last, states.visited, states.cost,
    )  # fmt: skip
