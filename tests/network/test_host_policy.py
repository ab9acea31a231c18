"""The forward pass on a CPU against the network in torch."""

import numpy as np
import numpy.typing as npt
import pytest
import torch

from network_examples import shaken, some_instance, wandering
from orienteer.beam.backend.cuda.problems import TensorProblems, cheapest_ways
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.network.batching import evaluate
from orienteer.network.config import PolicyConfig
from orienteer.network.features import reachable, relevant, take
from orienteer.network.host.arrange import tensor_shapes
from orienteer.network.host.paths import PartialPaths
from orienteer.network.host.policy import HostPolicy, load_policy
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.torch_weights import load_policy as load_torch_policy
from orienteer.network.torch_weights import tensors_of

CONFIGS = [
    PolicyConfig(16, 2, 2),
    PolicyConfig(64, 4, 3, 2),
    PolicyConfig(20, 2, 1, 3),  # no size is a multiple of what loops take at once
    PolicyConfig(6, 6, 1, 1, beta=2.0),
    PolicyConfig(16, 2, 2, goal="cost"),
]
Scores = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def given_of(states: States) -> PartialPaths:
    """The states as the loops read them."""
    problems = states.problems
    tensors = (
        problems.costs, problems.relative_costs, problems.to_end, problems.prizes, problems.budget, problems.divisor,
        problems.end, states.instance, states.last, states.visited, states.cost, problems.symmetric,
    )  # fmt: skip
    return PartialPaths(*(np.ascontiguousarray(one.numpy()) for one in tensors))


def by_host(policy: HostPolicy, states: States) -> Scores:
    ways = cheapest_ways(states.problems.costs).numpy()
    return policy.evaluate(given_of(states), ways)


def assert_alike(policy: HostPolicy, network: PolicyNetwork, states: States) -> None:
    ways = cheapest_ways(states.problems.costs)
    action, value = (one.numpy() for one in evaluate([network], states, ways, 16)[0])
    found, worth = by_host(policy, states)
    assert (np.isfinite(found) == np.isfinite(action)).all()
    choices = np.isfinite(action)
    for one, other in ((found[choices], action[choices]), (worth, value)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * float(np.abs(other).max(initial=0.0)))


def pair(config: PolicyConfig) -> tuple[HostPolicy, PolicyNetwork]:
    network = shaken(PolicyNetwork(config)).float()
    assert isinstance(network, PolicyNetwork)
    return HostPolicy(config, tensors_of(network)), network


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_tensors_have_the_shapes_of_the_networks(config: PolicyConfig) -> None:
    shapes = {name: tuple(one.shape) for name, one in PolicyNetwork(config).state_dict().items()}
    assert tensor_shapes(config) == shapes


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("costs", ["euclidean", "xasy", "tmat"])
@pytest.mark.parametrize("apart", [False, True])
def test_any_network_says_the_same(config: PolicyConfig, costs: str, apart: bool) -> None:
    some = [*generate(40, "uniform", costs, count=2, seed=3, separate_end=apart), *generate(9, "constant", costs)]
    states = wandering(*some, steps=6)
    sizes = relevant(states, reachable(states, cheapest_ways(states.problems.costs))).sum(1)
    assert int(sizes.max()) > 16 >= int(sizes.min())  # more than lanes, and fewer
    assert_alike(*pair(config), states)


@pytest.mark.parametrize("name", ["flagship-small", "flagship", "tsp"])
def test_the_shipped_networks_say_the_same(name: str) -> None:
    (policy, header), (network, _) = load_policy(name), load_torch_policy(name)
    assert header.name == name
    some = [*generate(60, "distance", count=2, seed=1), *generate(25, "uniform", "xasy", count=2, seed=2)]
    assert_alike(policy, network, wandering(*some, steps=12))


def test_problems_of_both_kinds_may_come_together() -> None:
    """Costs that are the same in both directions, and others, nodes out of reach, legs that do not exist."""
    torn = some_instance(12, 4, symmetric=False)
    costs = torn.costs.copy()
    costs[np.random.default_rng(0).random(costs.shape) < 0.5] = np.inf
    costs[0, 0] = 0.0
    instances = [some_instance(30, 1), some_instance(20, 2, symmetric=False), torn.replace(costs=costs)]
    assert_alike(*pair(CONFIGS[0]), wandering(*instances))


def test_nothing_left_and_nothing_to_win() -> None:
    """A limit next to zero, prizes of zero, nodes in one place, a node alone."""
    nowhere = Instance.from_coords([(0, 0), (0, 0), (1, 0)], [0.0, 0.0, 2.0], 1e-300)
    alone = Instance(np.zeros((1, 1)), [1.0], 1.0)
    states = States.initial(TensorProblems.from_instances([nowhere, alone]))
    for config in CONFIGS:
        assert_alike(*pair(config), states)
    none = take(states, torch.arange(0))
    action, value = by_host(pair(CONFIGS[0])[0], none)
    assert action.shape == (0, 3)
    assert value.shape == (0,)


def test_company_changes_nothing_at_all() -> None:
    policy, _ = pair(CONFIGS[1])
    states = wandering(some_instance(50, 1), some_instance(18, 2, symmetric=False))
    action, value = by_host(policy, states)
    for index in ([3], [1, 0], list(range(len(states) - 1, -1, -2))):
        alone = by_host(policy, take(states, torch.tensor(index)))
        np.testing.assert_array_equal(alone[0], action[index])
        np.testing.assert_array_equal(alone[1], value[index])


def test_numbering_nodes_otherwise_numbers_scores_otherwise() -> None:
    instance = some_instance(19, 7, symmetric=False, end=4)
    order = np.random.default_rng(1).permutation(19)
    place = np.argsort(order)
    start, end = int(place[instance.start]), int(place[instance.end])
    other = Instance(instance.costs[np.ix_(order, order)], instance.prizes[order], instance.limit, start, end)
    policy, _ = pair(CONFIGS[0])
    (one, worth), (two, again) = (
        by_host(policy, States.initial(TensorProblems.from_instances([each]))) for each in (instance, other)
    )
    np.testing.assert_allclose(one[0, order], two[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(worth, again, rtol=1e-5)
