"""Workers on a Ray cluster: an actor for each, on whichever machine has a core free.

Actors end with the server. One whose machine is lost is gone like a process that died: the job is tried once more, by
another actor.
"""

import asyncio
import os
import queue
import signal
import threading
from collections import deque
from importlib.util import find_spec
from typing import Any

from orienteer.model.errors import MissingExtra
from orienteer.search.engines.cluster import import_ray, join
from orienteer.search.processes import THREADS
from orienteer.service.engine import Link
from orienteer.service.settings import Settings


class Cluster:
    """The engine of a Ray cluster: that of an address, or one that is started on this machine."""

    def __init__(self, settings: Settings):
        if find_spec("ray") is None:  # a quick look; the import takes a second
            raise MissingExtra("--engine ray", "cluster")
        self.settings = settings
        self.ray: Any = None

    async def open(self) -> int:
        """Joins the cluster, and says how many cores it has.

        Ray takes SIGTERM for itself, and ends the process 3 s later; the handlers from before are set again.
        """
        workers = await asyncio.to_thread(self._open)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.getsignal(one))
        return workers

    def _open(self) -> int:
        self.ray = import_ray()
        join(self.ray, self.settings.address, self.settings.workers or None)
        has = self.ray.cluster_resources()
        self.gpus = has.get("GPU", 0) >= 1
        return max(1, int(has.get("CPU", 1)))

    def link(self, number: int, quick: bool, batches: bool) -> Link:
        options = {"num_cpus": 0 if quick else 1, "num_gpus": int(batches and self.gpus), "max_concurrency": 4}
        make = self.ray.remote(_Seat).options(**options).remote
        return _Actor(self.ray, lambda: make(self.settings.public, batches))

    async def close(self) -> None:
        await asyncio.to_thread(self.ray.shutdown)


class _Actor:
    """A worker on the cluster, seen from the server."""

    def __init__(self, ray: Any, make: Any):
        self.ray, self.make = ray, make
        self.actor: Any = None
        self.killed = False
        self.heard: deque[tuple[Any, ...]] = deque()
        self.how = ""

    def start(self) -> None:
        self.actor = self.make()
        if self.killed:
            self.kill()

    def send(self, message: tuple[Any, ...]) -> None:
        try:
            self.actor.tell.remote(message)
        except Exception as error:
            raise OSError(_why(error)) from error

    def receive(self) -> tuple[Any, ...]:
        while not self.heard:
            try:
                self.heard += self.ray.get(self.actor.heard.remote())
            except Exception as error:
                self.how = _why(error)
                raise EOFError from error
        return self.heard.popleft()

    def kill(self) -> None:
        self.killed = True
        if self.actor is not None and self.ray.is_initialized():
            self.ray.kill(self.actor)

    def end(self) -> str:
        self.kill()  # where it cannot be reached, it may be alive
        return self.how


def _why(error: Exception) -> str:
    return f"a worker on the cluster was lost ({type(error).__name__})"


class _Seat:
    """A worker on the cluster: a thread that works, and calls that bring and fetch messages."""

    def __init__(self, settings: Settings, batches: bool):
        os.environ.update(dict.fromkeys(THREADS, "1"))
        from orienteer.service.worker import work

        self.line = _Line()
        threading.Thread(target=work, args=(self.line, settings, batches), daemon=True).start()

    def tell(self, message: tuple[Any, ...]) -> None:
        """Brings a message."""
        self.line.inside.put(message)

    def heard(self) -> list[tuple[Any, ...]]:
        """Waits for a message, and gives all that there are."""
        found = [self.line.outside.get()]
        while not self.line.outside.empty():
            found.append(self.line.outside.get())
        return found


class _Line:
    """The worker's end of a connection, for a worker in the same process."""

    def __init__(self) -> None:
        self.inside: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.outside: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()

    def send(self, message: tuple[Any, ...]) -> None:
        self.outside.put(message)

    def recv(self) -> tuple[Any, ...]:
        return self.inside.get()
