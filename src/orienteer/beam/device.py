"""Where a search runs and how much of that machine's memory it may use."""

import torch

CPU_BYTES = 128 * 2**20
"""Working set of a batch on a CPU: beyond this, caches suffer and nothing is gained."""


def choose_device(name: str) -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is a GPU where there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device must be 'auto' or 'cpu': this machine has no CUDA device")
    return torch.device(name)


def memory_budget(device: torch.device) -> int:
    """Bytes that the tensors of one batch may take."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 4
    return CPU_BYTES
