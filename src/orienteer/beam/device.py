"""Where a search runs, how much of that machine's memory it may use, and how a GPU is kept busy."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Task = TypeVar("Task")
Answer = TypeVar("Answer")

LANES = 2
"""Batches at once on a GPU: while one asks for sizes and waits, another computes."""
ENOUGH_FOR_LANES = 256
"""Instances from which on that pays."""

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


def lanes_for(device: torch.device, count: int) -> int:
    """How many batches of so many instances are worked on at once."""
    return LANES if device.type == "cuda" and count >= ENOUGH_FOR_LANES else 1


@contextmanager
def lane(device: torch.device) -> Iterator[None]:
    """A queue of the GPU for this thread alone; elsewhere nothing."""
    if device.type != "cuda":
        yield
        return
    with torch.cuda.stream(torch.cuda.Stream(device)):  # type: ignore[no-untyped-call]
        yield


def in_lanes(work: Callable[[Task], Answer], tasks: Sequence[Task], lanes: int) -> Iterator[Answer]:
    """The answers in the order of the tasks, worked on by so many threads."""
    if lanes == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(lanes) as pool:
        yield from pool.map(work, tasks)
