"""How many cores of this machine solvers may use side by side."""

import os

_wanted: int | None = None


def set_cores(count: int) -> None:
    """Lets batches be worked on by at most `count` threads side by side, from now on."""
    global _wanted
    _wanted = count


def cores() -> int:
    """How many threads may work side by side: the count of `set_cores`, or one for each core of this process."""
    if _wanted is not None:
        return _wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
