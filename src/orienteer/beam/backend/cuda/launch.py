"""How kernels are launched."""


def warps_for(lanes: int) -> int:
    """How many warps of a GPU share the work of a kernel's program on `lanes` numbers."""
    return max(1, min(8, lanes // 64))
