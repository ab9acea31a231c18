"""What the host asks the device of its kernels: a GPU, or the CPU where Triton's interpreter runs them."""

import sys

import torch


def is_power(number: int) -> bool:
    """Whether a number is a power of two, as sizes of blocks must be."""
    return number & (number - 1) == 0


def room_on_chip(device: torch.device) -> int:
    """Bytes of a multiprocessor's own memory that a block may take; where there is none, more than anyone asks for."""
    if device.type != "cuda":
        return sys.maxsize
    return int(getattr(torch.cuda.get_device_properties(device), "shared_memory_per_block_optin", 0))


def queue_of(device: torch.device) -> int:
    """The number of the GPU's queue that this thread puts its work into; elsewhere there is one, of number 0."""
    return torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
