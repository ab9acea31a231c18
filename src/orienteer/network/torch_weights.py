"""Weights as torch networks: for GPUs, for training, and as the reference for other forward passes."""

from pathlib import Path
from typing import TypeVar

import torch
from torch import nn

from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.weights import POLICY_METHODS, Header, Method, Tensors, build, open_weights, read_tensors

Network = TypeVar("Network", bound=nn.Module)


def load_policy(
    name: str | Path, device: torch.device | str = "cpu", methods: tuple[Method, ...] = POLICY_METHODS
) -> tuple[PolicyNetwork, Header]:
    """The policy network of a shipped name or a file, ready to use; `methods` are those that the caller takes."""
    header = open_weights(name, methods)
    return fill(build(header, lambda config: PolicyNetwork(PolicyConfig(**config))), header, device), header


def fill(network: Network, header: Header, device: torch.device | str = "cpu") -> Network:
    """The network with the tensors of a file, ready to use on `device`."""
    shapes = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    tensors = read_tensors(header, shapes)
    network.load_state_dict({name: torch.from_numpy(value) for name, value in tensors.items()})
    return network.to(device).eval()


def tensors_of(network: nn.Module) -> Tensors:
    """A network's weights as arrays, to be written to a file."""
    state = network.state_dict()
    return {name: value.detach().float().cpu().contiguous().numpy() for name, value in state.items()}
