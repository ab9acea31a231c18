"""The networks of all methods, and their weights' files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.torch_weights import fill, tensors_of
from orienteer.network.weights import POLICY_METHODS, Header, Method, build, open_weights, write_weights

Model = AttentionNetwork | RouteModel | PolicyNetwork


def build_model(method: Method, config: dict[str, Any]) -> Model:
    """A network with fresh weights."""
    if method in ("at", "pn"):
        return RouteModel(RouteConfig.from_dict(config))
    if method in POLICY_METHODS:
        return PolicyNetwork(PolicyConfig(**config))
    return AttentionNetwork(NetworkConfig(**config))


def load_model(
    name: str | Path, device: torch.device | str = "cpu", methods: tuple[Method, ...] = ()
) -> tuple[Model, Header]:
    """The network of a shipped name or a file, ready to use; `methods` are those that the caller takes."""
    header = open_weights(name, methods)
    return fill(build(header, lambda config: build_model(header.method, config)), header, device), header


def save_weights(
    path: str | Path, model: Model, method: Method, record: dict[str, Any], scores: dict[str, float]
) -> Path:
    """Writes the file whole or not at all, and returns its path."""
    return write_weights(path, tensors_of(model), method, asdict(model.config), record, scores)
