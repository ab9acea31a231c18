"""The workers of a server: handed out, watched, replaced when they die."""

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

from orienteer.service.engine import Engine, Link
from orienteer.service.errors import Refused
from orienteer.service.settings import Settings
from orienteer.service.work import Reply, Task

Purpose = Literal["answer", "batch", "job"]
"""What a worker is wanted for: an answer that a client waits for, jobs that are searched together, a job."""
OnNews = Callable[[str, bytes], None]

SMALL = 32 * 1024
"""Bytes of a task that a connection takes at once; a longer one is sent by a thread, since the worker must read it."""
LONGEST_PAUSE = 10.0
"""The most seconds between two starts of a worker that cannot start."""

_log = logging.getLogger("orienteer")


class Died(Exception):
    """A worker died, or was killed, before it had done its task; the message says why."""


class Worker:
    """A worker that does one task at a time, seen from the server."""

    def __init__(self, number: int, settings: Settings, link: Link, quick: bool, batches: bool, pool: "Pool"):
        self.number, self.settings, self.link, self.pool = number, settings, link, pool
        self.purposes: tuple[Purpose, ...] = ("answer",) if quick else ("answer", "job")
        self.batches = batches
        self.loop = asyncio.get_running_loop()
        self.device = ""
        self.reason = ""
        self.task = 0
        self.on_news: OnNews | None = None
        self.reply: asyncio.Future[Reply] | None = None
        self.sending = asyncio.Lock()
        self.sends: set[asyncio.Task[None]] = set()
        self.gone = False
        threading.Thread(target=self._live, daemon=True).start()

    async def run(self, task: Task, seconds: float, on_news: OnNews | None = None) -> Reply:
        """The reply to a task; `Died` if the worker dies or has not answered after that many seconds.

        Where nobody waits for the answer any more, the worker is asked to end, and killed if it does not.
        """
        if self.gone:  # died while it was handed out
            raise Died(self.reason)
        self.task += 1
        reply: asyncio.Future[Reply] = self.loop.create_future()
        self.on_news, self.reply = on_news, reply
        timer = self.loop.call_later(seconds, self.kill, f"a worker took longer than {seconds:g} s")
        reply.add_done_callback(lambda _: timer.cancel())
        self._send("task", self.task, task, size=len(task.body) + sum(map(len, task.parts)))
        try:
            return await asyncio.shield(reply)
        except asyncio.CancelledError:
            self.cancel()
            insist = self.loop.call_later(
                self.settings.grace_seconds, self.kill, "a worker went on with what nobody waits for"
            )
            reply.add_done_callback(lambda _: insist.cancel())
            raise
        finally:
            self.on_news = None

    def when_free(self, call: Callable[[], None]) -> None:
        """Calls when the worker has no task: a task may go on after the one who asked for it has gone."""
        if self.reply is None or self.reply.done():
            call()
        else:
            self.reply.add_done_callback(lambda _: call())

    def cancel(self) -> None:
        """Asks the worker to end its search with the best plan so far."""
        self._send("cancel", self.task)

    def _send(self, *message: Any, size: int = 0) -> None:
        """Sends in the background: a message that was begun is sent whole, whatever becomes of who sends it."""
        task = self.loop.create_task(self._sent(message, size))
        self.sends.add(task)
        task.add_done_callback(self.sends.discard)

    async def _sent(self, message: tuple[Any, ...], size: int) -> None:
        async with self.sending:
            with contextlib.suppress(OSError):  # the worker is dead, as `_live` will tell
                if size <= SMALL:
                    self.link.send(message)
                else:
                    await asyncio.to_thread(self.link.send, message)

    def kill(self, reason: str) -> None:
        """Kills the worker; who waits for it is told the reason."""
        self.reason = self.reason or reason
        with contextlib.suppress(ValueError, AttributeError, OSError):
            self.link.kill()

    def _live(self) -> None:
        """Starts the worker and passes on what it sends until it dies; in a thread of its own."""
        try:
            self.link.start()
            while True:
                self._tell(self._hear, self.link.receive())
        except (EOFError, OSError):
            pass
        except Exception as error:
            self.kill(f"a worker could not be understood: {error}")
        self._tell(self._die, self.link.end())

    def _tell(self, call: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(call, *arguments)

    def _hear(self, message: tuple[Any, ...]) -> None:
        if message[0] == "ready":
            self.device = message[1]["device"]
            if self.batches and (self.device == "cuda" or self.settings.batching == "on"):
                self.purposes = ("answer", "batch", "job")
            self.pool.ready(self)
        elif message[1] != self.task:
            return  # of an earlier task
        elif message[0] == "news":
            if self.on_news is not None:
                self.on_news(message[2], message[3])
        elif self.reply is not None and not self.reply.done():
            self.reply.set_result(message[2])

    def _die(self, how: str) -> None:
        self.gone = True
        self.reason = self.reason or how
        if self.reply is not None and not self.reply.done():
            self.reply.set_exception(Died(self.reason))
        self.pool.dead(self)


class Pool:
    """Workers that are handed out: those for all work, and quick ones for answers that clients wait for.

    Answers come before jobs. The first worker is the one that has a GPU, and so can search jobs together.
    """

    def __init__(self, settings: Settings, engine: Engine, workers: int):
        self.settings, self.engine, self.count = settings, engine, workers
        self.workers: dict[int, Worker] = {}
        self.idle: list[Worker] = []
        self.lines: dict[Purpose, deque[asyncio.Future[Worker]]] = {"answer": deque(), "batch": deque(), "job": deque()}
        self.restarts = self.failures = 0
        self.closed = False

    @property
    def is_ready(self) -> bool:
        """Whether a worker has warmed up."""
        return any(worker.device for worker in self.workers.values())

    @property
    def batches(self) -> bool:
        """Whether a worker searches jobs together."""
        return any("batch" in worker.purposes for worker in self.workers.values())

    @property
    def busy(self) -> int:
        """How many workers have a task."""
        return sum(bool(worker.device) for worker in self.workers.values()) - len(self.idle)

    def start(self) -> None:
        """Starts the first worker; the others follow when it is warm, since then everything is compiled."""
        self._start(0)

    def close(self) -> None:
        """Kills all workers."""
        self.closed = True
        for worker in list(self.workers.values()):
            worker.kill("the server stopped")

    @contextlib.asynccontextmanager
    async def lease(self, purpose: Purpose, seconds: float | None = None) -> AsyncIterator[Worker]:
        """A context with a worker that nobody else has; `Refused` where none is free within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                worker = await self._take(purpose)
        except TimeoutError:
            raise Refused(429, "busy", f"no worker was free within {seconds:g} s", retry_after=10) from None
        try:
            yield worker
        finally:
            worker.when_free(lambda: self._give(worker))

    async def _take(self, purpose: Purpose) -> Worker:
        fitting = [worker for worker in self.idle if purpose in worker.purposes]
        if fitting:
            worker = max(fitting, key=lambda worker: worker.number)  # the quick ones are last
            self.idle.remove(worker)
            return worker
        turn: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self.lines[purpose].append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give(turn.result())
            raise

    def _give(self, worker: Worker) -> None:
        """Hands a worker to who waits longest, or puts it with the idle ones; a worker that is not alive is lost."""
        if self.workers.get(worker.number) is not worker or worker.reason:
            return
        for purpose in worker.purposes:
            while self.lines[purpose]:
                turn = self.lines[purpose].popleft()
                if not turn.done():
                    turn.set_result(worker)
                    return
        self.idle.append(worker)

    def ready(self, worker: Worker) -> None:
        """Called when a worker has warmed up."""
        self.failures = 0
        self._give(worker)
        for number in range(self.count + self.settings.quick):
            if number not in self.workers:
                self._start(number)

    def dead(self, worker: Worker) -> None:
        """Called when a worker has died; another takes its place, after a pause if it could not even start."""
        if worker in self.idle:
            self.idle.remove(worker)
        if self.closed:
            self.workers.pop(worker.number, None)
            return
        self.restarts += 1
        self.failures = 0 if worker.device else self.failures + 1
        _log.warning("worker %d is replaced: %s", worker.number, worker.reason)
        pause = min(LONGEST_PAUSE, 0.5 * 2**self.failures) if self.failures else 0.0
        asyncio.get_running_loop().call_later(pause, self._start, worker.number)

    def _start(self, number: int) -> None:
        if not self.closed:
            quick, batches = number >= self.count, number == 0 and self.settings.batching != "off"
            link = self.engine.link(number, quick, batches)
            self.workers[number] = Worker(number, self.settings, link, quick, batches, self)


async def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether a condition came true within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(0.02)
    return True
