"""Checkpoints that survive being killed at any moment: written beside, then renamed. Tensors and plain values only."""

import os
import pickle
from pathlib import Path
from typing import Any

import torch

from orienteer.model.errors import BadFile

FORMAT = 1


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Writes the file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with part.open("wb") as file:
        torch.save({"format": FORMAT, **content}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def load_checkpoint(path: Path, method: str, device: torch.device) -> dict[str, Any]:
    """What `save_checkpoint` wrote for `method`, its tensors on `device`."""
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError as error:
        raise BadFile(path, "there is no such checkpoint") from error
    except (RuntimeError, OSError, EOFError, pickle.UnpicklingError) as error:
        raise BadFile(path, f"cannot be read as a checkpoint: {error}") from error
    if not isinstance(content, dict) or "format" not in content or "method" not in content:
        raise BadFile(path, "is no checkpoint of orienteer")
    if content["format"] > FORMAT:
        raise BadFile(path, f"has format {content['format']}; this version reads up to {FORMAT}: update orienteer")
    if content["method"] != method:
        raise BadFile(path, f"is a checkpoint of {content['method']}, not of {method}")
    return content
