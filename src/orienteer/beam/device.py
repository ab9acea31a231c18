"""Where a search runs, how much of that machine's memory it may use, and how a GPU is kept busy."""

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from queue import SimpleQueue
from typing import TypeVar

import torch

Task = TypeVar("Task")
Answer = TypeVar("Answer")

LANES = 2
"""Batches at once on a GPU: while one asks for sizes and waits, another computes."""
ENOUGH_FOR_LANES = 16384
"""Instances from which on there is more than one batch. Fewer are better off in a single one: a step costs the host
about the same for any number of them."""

CPU_BYTES = 128 * 2**20
"""Working set of a batch on a CPU: beyond this, caches suffer and nothing is gained."""
MOST_CPU_BYTES = 8 * CPU_BYTES
"""Of all batches together."""
FEWEST = 8
"""Instances of a batch on a CPU from which on two batches side by side are faster than one."""


def choose_device(name: str) -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is a GPU where there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device must be 'auto' or 'cpu': this machine has no CUDA device")
    return torch.device(name)


@cache
def triton_is_there() -> bool:
    """Whether kernels can be compiled for the GPU; ORIENTEER_FUSED=0 says not to."""
    return os.environ.get("ORIENTEER_FUSED") != "0" and find_spec("triton") is not None


def has_kernels(device: torch.device) -> bool:
    """Whether kernels of our own run there."""
    return device.type == "cuda" and triton_is_there()


MOST_LANES = 4096
"""Numbers of a state that a kernel of one program a state may hold, one for each node."""


def warps_for(lanes: int) -> int:
    """How many warps of a GPU share the work of a kernel's program on so many numbers."""
    return max(1, min(8, lanes // 64))


def memory_budget(device: torch.device, lanes: int = 1) -> int:
    """Bytes that the tensors of one batch may take, where there are so many at once."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // (4 * lanes)
    return min(CPU_BYTES, MOST_CPU_BYTES // lanes)


def lanes_for(device: torch.device, count: int) -> int:
    """How many batches of so many instances are worked on at once."""
    return LANES if device.type == "cuda" and count >= ENOUGH_FOR_LANES else 1


class _Threads:
    """Torch's threads on a CPU, and how many ask for one alone: the last of them gives the others back."""

    def __init__(self) -> None:
        self._lock, self._asking, self._before = threading.Lock(), 0, 1

    def take(self) -> int:
        """One thread for this one and those that it starts; how many there are otherwise."""
        with self._lock:
            if not self._asking:
                self._before = torch.get_num_threads()
            self._asking += 1
            torch.set_num_threads(1)
            return self._before

    def give_back(self) -> None:
        """As many as before."""
        with self._lock:
            self._asking -= 1
            torch.set_num_threads(self._before)


_threads = _Threads()


@contextmanager
def one_thread() -> Iterator[int]:
    """Within it torch uses one core for this thread and those that it starts; yields how many it used before."""
    threads = _threads.take()
    try:
        yield threads
    finally:
        _threads.give_back()


def in_lanes(
    work: Callable[[Task], Answer], tasks: Sequence[Task], lanes: int, device: torch.device, halt: threading.Event
) -> Generator[Answer, None, None]:
    """The answers in the order of the tasks, worked on by so many threads, each with a queue of the GPU of its own.

    When the caller gives up, by Ctrl-C or an error, `halt` is set, and the tasks in hand are to end soon.
    """
    if lanes == 1:
        yield from map(work, tasks)
        return
    index = torch.cuda.current_device() if device.type == "cuda" else None  # threads begin with the first GPU
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(lanes):
        free.put(number)

    def in_lane(task: Task) -> Answer:
        number = free.get()
        try:
            with _lane(index, number):
                return work(task)
        finally:
            free.put(number)

    with ThreadPoolExecutor(lanes) as pool:
        try:
            yield from pool.map(in_lane, tasks)
        except BaseException:
            halt.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _lane(index: int | None, number: int) -> Iterator[None]:
    """One of a GPU's queues for this thread; elsewhere nothing."""
    if index is None:
        yield
        return
    with torch.cuda.device(index), torch.cuda.stream(_stream(index, number)):
        yield


@cache
def _stream(index: int, number: int) -> torch.cuda.Stream:
    """The same queue at every call: memory is kept for each."""
    return torch.cuda.Stream(torch.device("cuda", index))  # type: ignore[no-untyped-call, no-any-return, unused-ignore]
