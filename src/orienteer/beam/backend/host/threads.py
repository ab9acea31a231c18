"""One core for each thread: products of small matrices lose more by waiting for each other than they gain."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


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
