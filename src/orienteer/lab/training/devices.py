"""Where a network is trained."""

import torch


def choose_device(name: str) -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is a GPU where there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}")
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ValueError("device must be 'auto' or 'cpu': this machine has no CUDA device")
    return torch.device("cuda" if there and name != "cpu" else "cpu")
