"""How processes that search are started."""

import contextlib
import os
import signal
from collections.abc import Iterator

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextlib.contextmanager
def single_threaded() -> Iterator[None]:
    """A context in which new processes start with one thread for each library.

    Libraries read these variables once, when they are loaded, so nothing changes for this process.
    """
    before = {key: os.environ.get(key) for key in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@contextlib.contextmanager
def unsignalled() -> Iterator[None]:
    """A context in which new processes start with Ctrl-C blocked: only this process decides what Ctrl-C does."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
