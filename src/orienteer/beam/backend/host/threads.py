"""How many cores of the host a search may use."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_wanted: int | None = None


def set_threads(count: int) -> None:
    """From now on batches are worked on by at most `count` threads side by side."""
    global _wanted
    _wanted = count


def threads() -> int:
    """How many threads may work side by side: as was asked for, or one for each core that this process may use."""
    if _wanted is not None:
        return _wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Limit:
    """The threads of the libraries for matrix products, and how many callers ask for one thread alone.

    The last of the callers gives the others back.
    """

    def __init__(self) -> None:
        self._lock, self._asking = threading.Lock(), 0
        self._limits: threadpool_limits | None = None

    def take(self) -> None:
        with self._lock:
            if not self._asking:
                self._limits = threadpool_limits(1)
            self._asking += 1

    def give_back(self) -> None:
        with self._lock:
            self._asking -= 1
            if not self._asking and self._limits is not None:
                self._limits.restore_original_limits()


_limit = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it products of matrices use one core for every thread."""
    _limit.take()
    try:
        yield
    finally:
        _limit.give_back()
