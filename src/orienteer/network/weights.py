"""Weights in safetensors files, with the network's configuration, the training record and the scores inside."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save

from orienteer.model.errors import BadFile

Method = Literal["dqn", "a2c", "at", "pn", "expert", "tour"]
"""How weights were trained; "tour" is expert iteration on tours."""
POLICY_METHODS: tuple[Method, ...] = ("expert", "tour")
"""The methods that train the policy network."""
Tensors = dict[str, npt.NDArray[np.float32]]
Built = TypeVar("Built")

FORMAT = 1
"""Version of the file's layout; a higher version is of a later orienteer."""
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
    """How the network was trained: preset, settings, minutes, hardware, seed."""
    scores: dict[str, float]
    """Mean prize, or mean cost of a tour, of the network's greedy policy on each validation set."""


def write_weights(
    path: str | Path,
    tensors: Tensors,
    method: Method,
    config: dict[str, Any],
    record: dict[str, Any],
    scores: dict[str, float],
) -> Path:
    """Writes the file whole or not at all, and returns its path."""
    target = Path(path)
    about = {"format": FORMAT, "method": method, "config": config, "record": record, "scores": scores}
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Plain bytes, so that all may read the file whom the umask allows.
    part.write_bytes(save(tensors, metadata={_KEY: json.dumps(about)}))
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
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
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


def open_weights(name: str | Path, methods: tuple[Method, ...] = ()) -> Header:
    """What the weights of a shipped name or a file say about themselves.

    `methods` are those whose weights the caller takes; () is all methods.
    """
    header = read_header(find_weights(name))
    if methods and header.method not in methods:
        raise BadFile(header.path, f"holds weights of {header.method}, not of {' or '.join(methods)}")
    return header


def build(header: Header, make: Callable[[dict[str, Any]], Built]) -> Built:
    """What `make` makes of the configuration in a header; `BadFile` where it cannot."""
    try:
        return make(header.config)
    except (TypeError, ValueError, KeyError) as error:
        raise BadFile(header.path, f"describes a network that cannot be built: {error}") from error


def read_tensors(header: Header, shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    """All tensors of a file; `BadFile` unless they are those of `shapes`, by name, and finite."""
    path = header.path
    try:
        tensors: Tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from error
    for name, shape in shapes.items():
        if name not in tensors:
            raise BadFile(path, f"lacks the tensor {name}")
        if tensors[name].shape != shape:
            raise BadFile(path, f"{name} has shape {tensors[name].shape}, its configuration asks for {shape}")
        if tensors[name].dtype != np.float32:
            raise BadFile(path, f"{name} is of {tensors[name].dtype}, must be of float32")
        if not np.isfinite(tensors[name]).all():
            raise BadFile(path, f"{name} holds a number that is not finite")
    for name in tensors:
        if name not in shapes:
            raise BadFile(path, f"holds the unknown tensor {name}")
    return tensors


def _unreadable(path: Path, error: Exception) -> BadFile:
    return BadFile(path, f"cannot be read as safetensors, perhaps cut short: {error}")
