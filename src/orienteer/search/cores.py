"""How many cores of this machine solvers may use side by side."""

import os

_wanted: int | None = None


def set_cores(count: int) -> None:
    """From now on batches are worked on by at most `count` threads side by side."""
    global _wanted
    _wanted = count


def cores() -> int:
    """How many threads may work side by side: as was asked for, or one for each core that this process may use."""
    if _wanted is not None:
        return _wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
