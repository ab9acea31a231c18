"""Weights in safetensors files, with the network's configuration, the training record and the scores inside."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.model.errors import BadFile
from orienteer.network.policy_network import PolicyConfig, PolicyNetwork

Method = Literal["dqn", "a2c", "at", "pn", "expert", "tour"]
"""How weights were trained; "tour" is expert iteration on tours."""
Model = AttentionNetwork | RouteModel | PolicyNetwork

FORMAT = 1
"""Version of the file's layout; a higher one is from the future."""
SHIPPED = Path(__file__).parent / "shipped"
"""The weights that come with the package: NAME.safetensors."""
_KEY = "orienteer"


@dataclass(frozen=True)
class Header:
    """What a weights file says about itself."""

    name: str
    path: Path
    method: Method
    config: dict[str, Any]
    """Fields of the network's configuration."""
    record: dict[str, Any]
    """How it was trained: preset, settings, minutes, hardware, seed."""
    scores: dict[str, float]
    """Mean prize, or mean cost of a tour, of its greedy policy on each validation set."""


def save_weights(
    path: str | Path, model: Model, method: Method, record: dict[str, Any], scores: dict[str, float]
) -> Path:
    """Writes the file whole or not at all, and returns its path."""
    target = Path(path)
    about = {"format": FORMAT, "method": method, "config": _config(model), "record": record, "scores": scores}
    tensors = {name: value.detach().float().cpu().contiguous() for name, value in model.state_dict().items()}
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(save(tensors, metadata={_KEY: json.dumps(about)}))  # for all to read whom the umask allows
    os.replace(part, target)
    return target


def find_weights(name: str | Path) -> Path:
    """The path of shipped weights by name, or of a file."""
    shipped = SHIPPED / f"{name}.safetensors"
    if shipped.is_file():
        return shipped
    path = Path(name)
    if path.is_file():
        return path
    known = ", ".join(sorted(one.stem for one in SHIPPED.glob("*.safetensors"))) or "none"
    raise BadFile(path, f"there are no such weights: neither a file nor one of the shipped ({known})")


def list_weights() -> list[Header]:
    """What the shipped files say about themselves, by name."""
    return [read_header(path) for path in sorted(SHIPPED.glob("*.safetensors"))]


def read_header(path: str | Path) -> Header:
    """What a file says about itself; `BadFile` where it is no weights file of ours."""
    path = Path(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise BadFile(path, f"cannot be read as safetensors, perhaps cut short: {error}") from error
    if _KEY not in metadata:
        raise BadFile(path, "is a safetensors file, but holds no weights of orienteer")
    try:
        about = json.loads(metadata[_KEY])
        version = about["format"]
        if version > FORMAT:
            raise BadFile(path, f"has format {version}; this version reads up to {FORMAT}: update orienteer")
        if about["method"] not in get_args(Method):
            raise BadFile(path, f"is for the unknown method {about['method']!r}")
        return Header(path.stem, path, about["method"], about["config"], about["record"], about["scores"])
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise BadFile(path, f"has a damaged header: {error}") from error


def load_model(
    name: str | Path, device: torch.device | str = "cpu", methods: tuple[Method, ...] = ()
) -> tuple[Model, Header]:
    """The network of a shipped name or a file, ready to use; `methods` are those that the caller can do with."""
    header = read_header(find_weights(name))
    if methods and header.method not in methods:
        raise BadFile(header.path, f"holds weights of {header.method}, not of {' or '.join(methods)}")
    try:
        model = build_model(header.method, header.config)
    except (TypeError, ValueError, KeyError) as error:
        raise BadFile(header.path, f"describes a network that cannot be built: {error}") from error
    try:
        tensors = load_file(header.path)
    except (SafetensorError, OSError) as error:
        raise BadFile(header.path, f"cannot be read as safetensors, perhaps cut short: {error}") from error
    _check_shapes(header.path, model, tensors)
    model.load_state_dict(tensors)
    return model.to(device).eval(), header


def build_model(method: Method, config: dict[str, Any]) -> Model:
    """A network with fresh weights."""
    if method in ("at", "pn"):
        return RouteModel(RouteConfig.from_dict(config))
    if method in ("expert", "tour"):
        return PolicyNetwork(PolicyConfig(**config))
    return AttentionNetwork(NetworkConfig(**config))


def _config(model: Model) -> dict[str, Any]:
    return asdict(model.config)


def _check_shapes(path: Path, model: Model, tensors: dict[str, torch.Tensor]) -> None:
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    for name, shape in wanted.items():
        if name not in tensors:
            raise BadFile(path, f"lacks the tensor {name}")
        if tuple(tensors[name].shape) != shape:
            raise BadFile(path, f"{name} has shape {tuple(tensors[name].shape)}, its configuration asks for {shape}")
        if not torch.isfinite(tensors[name]).all():
            raise BadFile(path, f"{name} holds a number that is not finite")
    for name in tensors:
        if name not in wanted:
            raise BadFile(path, f"holds the unknown tensor {name}")
