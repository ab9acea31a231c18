"""Sub-problems to try networks on."""

from dataclasses import fields, replace

import numpy as np
import torch

from orienteer import Instance
from orienteer.beam.backend.cuda.problems import TensorProblems, cheapest_ways
from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import NetworkConfig
from orienteer.network.batching import join
from orienteer.network.features import Tokens, make_tokens, reachable, relevant
from orienteer.network.plain import PLAIN

CONFIGS = {
    "paper": NetworkConfig(hidden=16, heads=4, graph_heads=4, layers=2),
    "tuned": NetworkConfig(16, 4, 2, 2, "dueling", rich=True, edge_bias=True, pre_norm=True),
    "actor": NetworkConfig(16, 4, 2, 2, "actor-critic", rich=True, edge_bias=True, pre_norm=True),
}


def some_instance(size: int, seed: int, symmetric: bool = True, end: int = 0) -> Instance:
    """A random instance on the plane, or one with asymmetric costs and no triangle inequality."""
    rng = np.random.default_rng(seed)
    prizes = np.round(rng.random(size), 2)
    if symmetric:
        return Instance.from_coords(rng.random((size, 2)), prizes, 1.5, end=end)
    costs = rng.random((size, size))
    return Instance(costs, prizes, max(0.8, float(costs[0, end])), end=end)


def beginning(*instances: Instance) -> States:
    """The paths that have only left their starts."""
    return States.initial(TensorProblems.from_instances(instances))


def wandering(*instances: Instance, steps: int = 4, device: str = "cpu") -> States:
    """Paths that have gone on at random, some of every length up to that many steps."""
    generator = torch.Generator().manual_seed(0)
    parts = [States.initial(TensorProblems.from_instances(instances, device))]
    for _ in range(steps):
        row, node = parts[-1].feasible().nonzero(as_tuple=True)
        chosen = torch.randperm(len(row), generator=generator)[:17].to(device)
        parts.append(parts[-1].extended(row[chosen], node[chosen]))
    return join(parts)


def seen(states: States, more: int = 0, dtype: torch.dtype = torch.float64) -> Tokens:
    """The states' tokens in double precision, with some padding beyond what is needed."""
    reach = reachable(states, cheapest_ways(states.problems.costs))
    keep = relevant(states, reach)
    given = make_tokens(states, reach, keep, int(keep.sum(1).max()) + more, int(keep.sum()), PLAIN)
    values = {field.name: getattr(given, field.name) for field in fields(given)}
    floats = {name: x for name, x in values.items() if isinstance(x, torch.Tensor) and x.dtype == torch.float32}
    return replace(given, **{name: x.to(dtype) for name, x in floats.items()})


def moved(given: Tokens, device: str) -> Tokens:
    """The tokens on another device."""
    values = {field.name: getattr(given, field.name) for field in fields(given)}
    return replace(given, **{name: x.to(device) for name, x in values.items() if isinstance(x, torch.Tensor)})


def shaken(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """The model in double precision with every weight random, so that nothing is zero by its initial choice."""
    generator = torch.Generator().manual_seed(seed)
    for weight in model.parameters():
        noise = torch.randn(weight.shape, generator=generator)
        weight.data = noise / max(1, weight.shape[-1]) ** 0.5
    return model.double().eval()


def own_costs(problems: TensorProblems, row: int) -> torch.Tensor:
    """All costs of one problem."""
    nodes = torch.arange(problems.nodes)
    return problems.legs(torch.full_like(nodes, row), nodes)
