"""Where workers run: processes of this machine, or a Ray cluster (`cluster.py`)."""

import multiprocessing
import signal
from typing import Any, Protocol

from orienteer.search.cores import cores
from orienteer.search.processes import single_threaded, unsignalled
from orienteer.service.settings import Settings
from orienteer.service.worker import OUT_OF_MEMORY, run


class Link(Protocol):
    """A worker that lives elsewhere, and the words that go to and fro; `worker.work` says which."""

    def start(self) -> None:
        """Starts the worker; may take its time."""

    def send(self, message: tuple[Any, ...]) -> None:
        """Sends a message; an `OSError` where the worker is gone."""

    def receive(self) -> tuple[Any, ...]:
        """Waits for the next message; an `EOFError` or `OSError` where the worker is gone."""

    def kill(self) -> None:
        """Ends the worker, whatever it does; as often as one likes, at any time."""

    def end(self) -> str:
        """Waits until the worker that is gone has left nothing behind, and says how it ended."""


class Engine(Protocol):
    """What starts workers."""

    async def open(self) -> int:
        """Makes ready, and says how many workers suit the place."""

    def link(self, number: int, quick: bool, batches: bool) -> Link:
        """A worker, not started yet: a `quick` one is beyond that number; one with `batches` may use a GPU."""

    async def close(self) -> None:
        """Leaves nothing behind."""


class Processes:
    """The engine of this machine: a process for each worker."""

    def __init__(self, settings: Settings):
        self.settings = settings

    async def open(self) -> int:
        return cores()

    def link(self, number: int, quick: bool, batches: bool) -> Link:
        return _Process(number, self.settings, batches)

    async def close(self) -> None:
        pass  # the processes end with this one


class _Process:
    """A worker in a process of this machine, and a pipe to it."""

    def __init__(self, number: int, settings: Settings, batches: bool):
        self.settings = settings
        spawn = multiprocessing.get_context("spawn")
        self.connection, self.theirs = spawn.Pipe()
        self.process = spawn.Process(
            target=run, args=(self.theirs, settings.public, batches), daemon=True, name=f"orienteer-worker-{number}"
        )

    def start(self) -> None:
        with single_threaded(), unsignalled():
            self.process.start()
        self.theirs.close()

    def send(self, message: tuple[Any, ...]) -> None:
        self.connection.send(message)

    def receive(self) -> tuple[Any, ...]:
        return self.connection.recv()

    def kill(self) -> None:
        if self.process.pid is not None:
            self.process.kill()

    def end(self) -> str:
        self.process.join(1.0)
        self.process.kill()
        self.process.join()
        self.connection.close()
        code = self.process.exitcode
        if code == OUT_OF_MEMORY:
            return f"a worker needed more than its {self.settings.memory_mb} MB of memory"
        if code is not None and code < 0:
            return f"a worker was killed by {signal.Signals(-code).name}"
        return f"a worker ended with status {code}"


def make_engine(settings: Settings) -> Engine:
    """The engine that settings name, not opened yet."""
    if settings.engine == "processes":
        return Processes(settings)
    from orienteer.service.cluster import Cluster

    return Cluster(settings)
