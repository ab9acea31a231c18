"""The flagship looks at paths on the cores of the host."""

import threading

from orienteer.beam.problems import Array
from orienteer.beam.states import States
from orienteer.network.host.paths import PartialPaths
from orienteer.network.host.policy import HostPolicy, load_policy
from orienteer.network.weights import Header


class HostLook:
    """A network's forward pass on the host; threads may share it."""

    def __init__(self, policy: HostPolicy):
        self.policy = policy
        self.passes = 0
        self._counting = threading.Lock()

    def __call__(self, states: States) -> tuple[Array, Array]:
        with self._counting:
            self.passes += len(states)
        return self.policy.evaluate(_paths(states), states.problems.cheapest_ways)

    def reachable(self, states: States) -> Array:
        ways = states.problems.cheapest_ways
        return states.feasible(states.cost[:, None] + ways[states.instance, states.last])


def host_look(header: Header) -> HostLook:
    """The network of a weights file."""
    return HostLook(load_policy(header.path)[0])


def _paths(states: States) -> PartialPaths:
    problems = states.problems
    return PartialPaths(
        problems.costs, problems.relative_costs, problems.to_end, problems.prizes, problems.budget, problems.divisor,
        problems.end, states.instance, states.last, states.visited, states.cost, problems.symmetric,
    )  # fmt: skip
