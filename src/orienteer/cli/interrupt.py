"""Ctrl-C: the first one ends the search with its best route so far, the second aborts the program."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

from orienteer.search.stop import Progress


def _nothing() -> None:
    """The default of `Interrupt`: nothing else happens at the first Ctrl-C."""


class Interrupt:
    """A stop criterion, and a context: inside, the first Ctrl-C makes the criterion end searches.

    `on_press` is called then too.
    """

    reads_prize = False

    def __init__(self, on_press: Callable[[], None] = _nothing):
        self.pressed = False
        self._on_press = on_press
        self._before: signal.Handlers | Callable[[int, FrameType | None], object] | int | None = None

    def __call__(self, now: Progress) -> bool:
        return self.pressed

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():  # Python delivers signals nowhere else
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            for child in multiprocessing.active_children():
                child.terminate()
            raise KeyboardInterrupt
        self.pressed = True
        self._on_press()
        if (
            sys.stderr is not None and sys.stderr.isatty()
        ):  # a handler may come in the middle of another print, so it writes past the buffers
            os.write(sys.stderr.fileno(), b"\norienteer: stopping; press Ctrl-C again to abort\n")
