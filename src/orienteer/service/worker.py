"""A worker process: it warms up, then does one task after the other, as the server hands them out."""

import contextlib
import os
import queue
import resource
import signal
import threading
from typing import Any, Protocol

from orienteer.service.settings import Settings
from orienteer.service.work import Task, failure, perform

OUT_OF_MEMORY = 66
"""The exit status of a worker that had too little memory."""


class Line(Protocol):
    """The worker's end of a connection to the server."""

    def send(self, message: tuple[Any, ...]) -> None:
        """Sends a message; an `OSError` where the server is gone."""

    def recv(self) -> tuple[Any, ...]:
        """Waits for the next message; an `EOFError` or `OSError` where the server is gone."""


def run(connection: Line, settings: Settings, batches: bool) -> None:
    """The life of a worker process of this machine; it ends when the server ends or closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server alone decides when to stop
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _limit_memory(settings.memory_mb)
    work(connection, settings, batches)


def work(connection: Line, settings: Settings, batches: bool) -> None:
    """What a worker does, for ever.

    The server sends ("task", number, Task) and ("cancel", number); the worker sends ("ready", facts), and for a task
    ("news", number, event, data) and at last ("done", number, Reply). With `batches` it searches on a GPU, if any.
    """
    device = _warm(settings, batches)
    inbox = _Inbox(connection)
    inbox.send("ready", {"device": device})
    while True:
        number, task = inbox.tasks.get()
        try:
            reply = perform(
                task,
                settings,
                device,
                lambda kind, data, number=number: inbox.send("news", number, kind, data),  # type: ignore[misc]
                lambda number=number: number in inbox.cancelled,  # type: ignore[misc]
            )
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # whatever lacks memory may be half done
        except Exception as error:
            reply = failure(error)
        inbox.send("done", number, reply)


class _Inbox:
    """What the server sends, received by a thread, so that a search can be cancelled."""

    def __init__(self, connection: Line):
        self.connection = connection
        self.tasks: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
        self.cancelled: set[int] = set()
        threading.Thread(target=self._receive, daemon=True).start()

    def send(self, *message: Any) -> None:
        try:
            self.connection.send(message)
        except OSError:
            os._exit(0)  # the server is gone

    def _receive(self) -> None:
        while True:
            try:
                message = self.connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            if message[0] == "task":
                self.tasks.put((message[1], message[2]))
            else:
                self.cancelled.add(message[1])


def _limit_memory(megabytes: int) -> None:
    """Bounds what this process may allocate; what is only reserved, as by drivers of GPUs, does not count."""
    size = megabytes * 2**20
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def _warm(settings: Settings, batches: bool) -> str:
    """Compiles and loads what searches need; returns the device of searches."""
    import numpy as np

    from orienteer.model.errors import MissingExtra
    from orienteer.model.instance import Instance
    from orienteer.search.front import solve
    from orienteer.search.registry import make_solver
    from orienteer.search.stop import MaxSteps
    from orienteer.search.warmup import warm_up

    names = []
    for name in settings.allowed:
        with contextlib.suppress(MissingExtra):
            make_solver(name)
            names.append(name)
    warm_up(names)
    points = np.random.default_rng(0).random((12, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    plain = Instance(distances, np.arange(12.0), 2.0)
    for name in names:
        solve(plain, name, MaxSteps(20))
    if "auto" in names:
        solve(plain.replace(windows={3: (0.0, 1.0)}), "auto", MaxSteps(20))
        solve(Instance(np.random.default_rng(0).random((12, 12)), plain.prizes, 1.0), "auto", MaxSteps(20))
    on_gpu = batches and "cs-l" in names and make_solver("cs-l", device="auto").on_gpu()
    return "cuda" if on_gpu else "cpu"
