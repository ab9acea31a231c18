"""Whether kernels can be compiled for the GPU at hand, and for which sizes."""

import os
from functools import cache
from importlib.util import find_spec


@cache
def triton_is_there() -> bool:
    """Whether kernels can be compiled for the GPU; ORIENTEER_FUSED=0 says not to."""
    return os.environ.get("ORIENTEER_FUSED") != "0" and find_spec("triton") is not None


def is_power(number: int) -> bool:
    """Whether it is a power of two, as sizes of blocks must be."""
    return number & (number - 1) == 0
