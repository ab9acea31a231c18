"""The graph attention layer against its slow twin."""

import torch

from network_examples import beginning, seen, shaken, some_instance
from network_twin import slow_graph_attention
from orienteer.lab.networks.graph_attention import EdgeGraphAttention
from orienteer.network.features import edge_attributes


def test_equals_the_three_equations_written_as_loops() -> None:
    given = seen(beginning(some_instance(6, 3, symmetric=False, end=2)))
    layer = shaken(EdgeGraphAttention(given.nodes.shape[2], given.overall.shape[1], hidden=5, heads=3))
    assert isinstance(layer, EdgeGraphAttention)
    edges = edge_attributes(given, torch.float64)
    fast = layer(given.nodes, edges, given.overall)[0]
    slow = slow_graph_attention(layer, given.nodes[0], edges[0, :2], given.overall[0])
    torch.testing.assert_close(fast, torch.tensor(slow, dtype=torch.float64), rtol=1e-12, atol=1e-12)


def test_padding_has_no_weight_at_all() -> None:
    given = seen(beginning(some_instance(6, 4)), more=5)
    layer = shaken(EdgeGraphAttention(given.nodes.shape[2], given.overall.shape[1], hidden=5, heads=3))
    edges = edge_attributes(given, torch.float64)
    real = int(given.present.sum())
    padded = layer(given.nodes, edges, given.overall)[:, :real]
    without = layer(given.nodes[:, :real], edges[:, :, :real, :real].contiguous(), given.overall)
    torch.testing.assert_close(padded, without, rtol=1e-13, atol=1e-13)
