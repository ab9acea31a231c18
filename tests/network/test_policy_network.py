"""The policy and value network: what it must not depend on, and what its heads mean."""

import numpy as np
import pytest
import torch

from network_examples import beginning, seen, shaken, some_instance
from orienteer import Instance
from orienteer.network.config import PolicyConfig
from orienteer.network.features import to_nodes
from orienteer.network.policy_network import PolicyNetwork

CONFIG = PolicyConfig(16, 2, 2)


def _network() -> PolicyNetwork:
    network = shaken(PolicyNetwork(CONFIG))
    assert isinstance(network, PolicyNetwork)
    return network


def _by_node(network: PolicyNetwork, *instances: Instance, more: int = 0) -> torch.Tensor:
    states = beginning(*instances)
    given = seen(states, more)
    return to_nodes(given, network(given).action, states.problems.nodes, -torch.inf)


def test_numbering_nodes_otherwise_numbers_scores_otherwise() -> None:
    instance = some_instance(9, 7, symmetric=False, end=4)
    order = np.random.default_rng(1).permutation(9)
    place = np.argsort(order)
    start, end = int(place[instance.start]), int(place[instance.end])
    other = Instance(instance.costs[np.ix_(order, order)], instance.prizes[order], instance.limit, start, end)
    one, two = _by_node(_network(), instance)[0], _by_node(_network(), other)[0]
    torch.testing.assert_close(one[torch.tensor(order)], two, rtol=1e-5, atol=1e-5)


def test_padding_and_company_change_nothing() -> None:
    small, large = some_instance(5, 1), some_instance(11, 2, symmetric=False)
    alone = _by_node(_network(), small)[0]
    together = _by_node(_network(), large, small, more=3)[1]
    torch.testing.assert_close(alone, together[:5], rtol=1e-5, atol=1e-5)
    assert torch.isinf(together[5:]).all()


def test_scores_scale_with_prizes_and_ignore_the_unit_of_costs() -> None:
    instance = some_instance(8, 5)
    other = instance.replace(
        prizes=instance.prizes * 50, costs=instance.costs * 0.01, limit=instance.limit * 0.01, coords=None
    )
    torch.testing.assert_close(_by_node(_network(), instance) * 50, _by_node(_network(), other), rtol=1e-4, atol=1e-4)


def test_scores_are_the_value_and_log_chances() -> None:
    given = seen(beginning(some_instance(9, 3)))
    network = _network()
    outlook, estimate = network.look(given), network(given)
    chances = torch.softmax(outlook.logits.masked_fill(~given.choice, -torch.inf), 1)
    wanted = (outlook.value[:, None] + CONFIG.beta * chances.log()) * given.unit[:, None]
    torch.testing.assert_close(estimate.action[given.choice], wanted[given.choice].to(estimate.action.dtype))
    torch.testing.assert_close(estimate.value, (outlook.value * given.unit).to(estimate.value.dtype))


def test_a_fresh_network_expects_half_of_what_is_left() -> None:
    """All heads begin at zero: every node is visited with even chances, every choice is as likely."""
    given = seen(beginning(some_instance(9, 3)), dtype=torch.float32)
    outlook = PolicyNetwork(CONFIG).look(given)
    torch.testing.assert_close(outlook.value, (given.nodes[:, :, 0] * given.open).sum(1) / 2)
    assert (outlook.logits[given.choice].diff().abs() < 1e-6).all()


@pytest.mark.parametrize("wrong", [{"hidden": 0}, {"layers": 0}, {"hidden": 30, "heads": 4}])
def test_configurations_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="PolicyConfig"):
        PolicyConfig(**wrong)
