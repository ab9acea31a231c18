"""How kernels are launched."""


def warps_for(numbers: int) -> int:
    """How many warps of a GPU share the work of a kernel's program on `numbers` numbers."""
    return max(1, min(8, numbers // 64))
