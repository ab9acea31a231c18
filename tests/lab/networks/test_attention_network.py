"""The attention network: equivariance, padding, batches, units."""

import numpy as np
import pytest
import torch

from network_examples import CONFIGS, beginning, seen, shaken, some_instance
from orienteer import Instance
from orienteer.beam.backend.cuda.problems import cheapest_ways
from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.network.batching import evaluate, in_parts
from orienteer.network.features import to_nodes

names = pytest.mark.parametrize("name", CONFIGS)


def _by_node(network: torch.nn.Module, *instances: Instance, more: int = 0) -> torch.Tensor:
    states = beginning(*instances)
    given = seen(states, more)
    return to_nodes(given, network(given).action, states.problems.nodes, -torch.inf)


@names
def test_numbering_nodes_otherwise_numbers_scores_otherwise(name: str) -> None:
    network = shaken(AttentionNetwork(CONFIGS[name]))
    instance = some_instance(9, 7, symmetric=False, end=4)
    order = np.random.default_rng(1).permutation(9)
    place = np.argsort(order)
    other = Instance(
        instance.costs[np.ix_(order, order)],
        instance.prizes[order],
        instance.limit,
        int(place[instance.start]),
        int(place[instance.end]),
    )
    one, two = _by_node(network, instance)[0], _by_node(network, other)[0]
    torch.testing.assert_close(one[torch.tensor(order)], two, rtol=1e-9, atol=1e-9)


@names
def test_padding_and_company_change_nothing(name: str) -> None:
    network = shaken(AttentionNetwork(CONFIGS[name]))
    small, large = some_instance(5, 1), some_instance(11, 2, symmetric=False)
    alone = _by_node(network, small)[0]
    together = _by_node(network, large, small, more=3)[1]
    torch.testing.assert_close(alone, together[:5], rtol=1e-5, atol=1e-6)  # inputs are float32
    assert torch.isinf(together[5:]).all()


@names
def test_scores_scale_with_prizes_and_ignore_the_unit_of_costs(name: str) -> None:
    network = shaken(AttentionNetwork(CONFIGS[name]))
    instance = some_instance(8, 5)
    other = instance.replace(
        prizes=instance.prizes * 50, costs=instance.costs * 0.01, limit=instance.limit * 0.01, coords=None
    )
    factor = 1 if name == "actor" else 50
    torch.testing.assert_close(_by_node(network, instance) * factor, _by_node(network, other), rtol=1e-4, atol=1e-4)


def test_e_is_the_largest_q_and_dueling_values_are_its_scale() -> None:
    network = shaken(AttentionNetwork(CONFIGS["tuned"]))
    given = seen(beginning(some_instance(9, 3)))
    estimate = network(given)
    advantage = estimate.action - given.nodes[:, :, 0] * given.unit[:, None]
    centre = (advantage * given.choice).sum(1) / given.choice.sum(1)
    torch.testing.assert_close(centre, estimate.value)


@names
def test_parts_of_similar_size_give_what_one_batch_gives(name: str) -> None:
    network = AttentionNetwork(CONFIGS[name]).eval()
    states = beginning(*(some_instance(3 + n, n, symmetric=n % 2 == 0) for n in range(9)))
    ways = cheapest_ways(states.problems.costs)
    (whole, value), (parts, value_parts) = (evaluate([network], states, ways, part)[0] for part in (100, 2))
    torch.testing.assert_close(whole, parts, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(value, value_parts, rtol=1e-4, atol=1e-5)
    assert torch.equal(whole > -torch.inf, states.feasible())
    widths = [given.node.shape[1] for _, given in in_parts(states, ways, 2)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_the_network_of_the_paper_is_the_default() -> None:
    config = NetworkConfig()
    assert (config.hidden, config.heads, config.graph_heads, config.layers) == (32, 8, 8, 4)
    assert (config.head, config.rich, config.edge_bias, config.pre_norm) == ("linear", False, False, False)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("hidden", 0, "hidden must be at least 1, got 0"),
        ("heads", 5, "hidden must be a multiple of heads 5, got 32"),
        ("head", "cubic", "head must be one of linear, dueling, actor-critic, got 'cubic'"),
    ],
)
def test_impossible_shapes_are_refused(field: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NetworkConfig(**{field: value})  # type: ignore[arg-type]


def test_bfloat16_gives_nearly_the_same() -> None:
    network = AttentionNetwork(CONFIGS["tuned"]).eval()
    given = seen(beginning(some_instance(12, 4)), dtype=torch.float32)
    exact = network(given).action
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = network(given).action
    assert rough.dtype == torch.float32
    torch.testing.assert_close(exact, rough, rtol=0.05, atol=0.05)
