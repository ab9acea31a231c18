"""Jobs: from the store to workers and back, with news for those who watch."""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from orienteer.service.errors import Refused
from orienteer.service.pool import Died, Pool, Worker
from orienteer.service.settings import Settings
from orienteer.service.store import TRIES, Claim, Event, Job, Store, Word
from orienteer.service.work import Reply, Task

RECORDINGS = 60
"""How often, a second apart, it is tried to record what became of a job, beside the time in which the store is away."""
KEEP_ALIVE = 15.0
"""Seconds after which a silent stream of events sends a comment, so that proxies keep it open."""
PURGE = 60.0
"""Seconds between two looks for jobs to forget."""
CANCEL_WAIT = 2.0
"""Seconds that a client waits at most for a search to end when it cancels a job."""

TOGETHER, LATER = 0.02, 0.1
"""Seconds in which news are collected, to be written at once: the first news of a search, and later ones."""

_log = logging.getLogger("orienteer")


class Jobs:
    """Hands queued jobs to workers, and records what becomes of them."""

    def __init__(self, store: Store, pool: Pool, settings: Settings):
        self.store, self.pool, self.settings = store, pool, settings
        self.arrived = {"job": asyncio.Event(), "batch": asyncio.Event()}
        self.draining = self.hung_up = False
        self.running: dict[str, Worker] = {}
        """The workers of running jobs, by the jobs' ids, until what became of the jobs is recorded."""
        self.searching: dict[str, Worker] = {}
        """The same, until the searches have ended."""
        self.cancelled: set[str] = set()
        self.watchers: dict[str, set[_Watcher]] = defaultdict(set)
        self.tasks: list[asyncio.Task[None]] = []
        self.ended = 0
        store.listen(self._heard)

    def start(self) -> None:
        """Begins to hand out jobs: for each worker one job is searched while the next one waits for it."""
        for event in self.arrived.values():
            event.set()
        self.tasks = [asyncio.create_task(self._hand_out("job")) for _ in range(2 * self.pool.count)]
        self.tasks.append(asyncio.create_task(self._hand_out("batch")))
        self.tasks.append(asyncio.create_task(self._purge()))

    def drain(self) -> None:
        """Hands out no more jobs; those that wait stay in the store for the next start."""
        self.draining = True

    def hang_up(self) -> None:
        """Ends all streams of events; clients come back with the number of the last event that they have seen."""
        self.hung_up = True
        for id in list(self.watchers):
            self.notify(id)

    async def stop(self) -> None:
        """Queues the running jobs again and ends."""
        self.draining = True
        self.pool.close()  # so that who waits for a worker is told at once
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5.0):
                while self.running:
                    await asyncio.sleep(0.02)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def wake(self) -> None:
        """Called when a job was added."""
        for arrived in self.arrived.values():  # whichever worker may search the job by then
            arrived.set()

    async def cancel(self, id: str) -> Job | None:
        """The job, after its search has ended with the best plan so far, or soon will."""
        job = await self.store.cancel(id)
        if job is None or job.status != "running":
            self.notify(id)
            return job
        self._cancel_here(id)
        with self.watching(id) as watcher, contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_WAIT):
                while job is not None and job.status == "running":
                    await watcher.changed.wait()
                    watcher.changed.clear()
                    job = await self.store.get(id)
        return await self.store.get(id)

    def _cancel_here(self, id: str) -> None:
        """Ends the search of a job, where it is this server that searches it."""
        if id in self.running and id not in self.cancelled:
            self.cancelled.add(id)
            self._cancel_search(id)

    def _heard(self, word: Word, id: str) -> None:
        """Takes in what the store tells of other servers."""
        if word == "added":
            self.wake()
        elif word == "changed":
            for watched in (id,) if id else tuple(self.watchers):
                self.notify(watched)
        else:  # what a search that this server has lost still finds does not count
            self._cancel_here(id)

    @contextlib.contextmanager
    def watching(self, id: str) -> Iterator["_Watcher"]:
        """A context with a watcher that is told whenever something happens to a job."""
        watcher = _Watcher()
        self.watchers[id].add(watcher)
        try:
            yield watcher
        finally:
            self.watchers[id].discard(watcher)
            if not self.watchers[id]:
                del self.watchers[id]

    def notify(self, id: str, news: Sequence[Event] = ()) -> None:
        """Tells those who watch a job its news, or else that they must look into the store."""
        for watcher in self.watchers.get(id, ()):
            watcher.tell(news)

    async def stream(self, job: Job, after: int) -> AsyncIterator[bytes]:
        """The events of a job behind the number `after`, as server-sent events; ends with the job."""
        with self.watching(job.id) as watcher:
            while True:
                watcher.changed.clear()
                events, ended = watcher.taken(), None
                if watcher.must_look:
                    events, ended = await self._look(job, after, watcher)
                parts = [_sent(*event) for event in events if event.number > after]  # some were read and told
                after = max(after, events[-1].number) if events else after
                if ended is not None:
                    parts.append(_sent(after + 1, "end", job_json(ended)))
                if parts:
                    yield b"".join(parts)
                if ended is not None or self.hung_up:
                    return
                try:
                    await asyncio.wait_for(watcher.changed.wait(), KEEP_ALIVE)
                except TimeoutError:
                    watcher.must_look = True  # in case that a word of another server was lost
                    yield b": still here\n\n"

    async def _look(self, job: Job, after: int, watcher: "_Watcher") -> tuple[list[Event], Job | None]:
        """What the store knows; where the store is away, the watcher will look again in a moment."""
        watcher.must_look = False
        try:
            return await self.store.events(job.number, after)
        except Refused as refused:
            asyncio.get_running_loop().call_later(refused.retry_after or 1, watcher.tell, ())
            return [], None

    async def _hand_out(self, purpose: Any) -> None:
        """Takes queued jobs to a worker, one after the other, until the server stops."""
        arrived = self.arrived[purpose]
        while not self.draining:
            await arrived.wait()
            try:
                await self._hand_out_next(purpose)
            except Exception as error:
                _complain(error, "a job could not be handed out")
                await asyncio.sleep(1.0)
                arrived.set()  # the look that failed is taken again

    async def _hand_out_next(self, purpose: Any) -> None:
        async with self.pool.lease(purpose) as worker:
            if self.draining:
                return
            self.arrived[purpose].clear()  # before the look, since a job may be added right after it
            claims = await self.store.claim(together=purpose == "batch" if self.pool.batches else None)
            if claims:
                self.arrived[purpose].set()  # there may be more
                self._begin(worker, claims)
                if purpose == "batch":
                    others = await self._companions(claims[0])
                    self._begin(worker, others)
                    claims += others
                reply = await self._searched(worker, claims, together=purpose == "batch")
                for claim in claims:  # what is cancelled from here on is not the worker's next task
                    self.searching.pop(claim.id, None)
        if claims:  # the worker has its next task by now
            await self._record(claims, reply)

    def _begin(self, worker: Worker, claims: Sequence[Claim]) -> None:
        for claim in claims:
            self.running[claim.id] = self.searching[claim.id] = worker

    async def _companions(self, first: Claim) -> list[Claim]:
        """Jobs that wait together with a job and can be searched together with it."""
        await asyncio.sleep(self.settings.batch_ms / 1000)
        try:
            return await self.store.claim(self.settings.batch_most - 1, batch=first.batch)
        except Exception as error:
            _complain(error, "job %s is searched alone", first.id)
            return []

    async def _searched(self, worker: Worker, claims: Sequence[Claim], together: bool) -> Reply | Died:
        if all(claim.id in self.cancelled for claim in claims):
            return Died("cancelled before the search began")
        first, grace = claims[0], self.settings.grace_seconds
        try:
            if not together:
                with _News(self, first) as news:
                    return await worker.run(Task("job", first.body), first.seconds + grace, news)
            task = Task("batch", b"", parts=tuple(claim.body for claim in claims))
            return await worker.run(task, self.settings.job_most + grace)
        except Died as died:
            return died

    def _cancel_search(self, id: str) -> None:
        """Ends the search of a job; those that are searched together end together."""
        worker = self.searching.get(id)
        together = [other for other, its in self.searching.items() if its is worker]
        if worker is not None and all(other in self.cancelled for other in together):
            task = worker.task
            worker.cancel()

            def insist() -> None:
                if self.searching.get(id) is worker and worker.task == task:
                    worker.kill("a worker did not end a cancelled search")

            asyncio.get_running_loop().call_later(self.settings.grace_seconds, insist)

    async def _record(self, claims: Sequence[Claim], reply: Reply | Died) -> None:
        replies: Sequence[Reply | Died] = [reply] * len(claims)
        if isinstance(reply, Reply) and reply.parts:
            replies = reply.parts
        for claim, own in zip(claims, replies, strict=True):
            try:
                await self._insist_on_recording(claim, own)
            finally:
                self.running.pop(claim.id, None)
                self.cancelled.discard(claim.id)
                self.notify(claim.id)

    async def _insist_on_recording(self, claim: Claim, reply: Reply | Died) -> None:
        """Records what became of a job, again and again where the store does not take it: else the job never ends."""
        left = RECORDINGS
        while left:
            try:
                return await self._record_one(claim, reply)
            except Exception as error:
                _complain(error, "job %s could not be recorded", claim.id)
                left -= not isinstance(
                    error, Refused
                )  # a store that is away comes back, and the result is kept till then
                await asyncio.sleep(1.0)
        return None

    async def _record_one(self, claim: Claim, reply: Reply | Died) -> None:
        if isinstance(reply, Reply):
            if reply.status == 200:
                if reply.news is not None:
                    await self.store.note(claim, [("improvement", reply.news)])
                await self.store.finish(claim, "done", reply.content, None)
            else:
                await self.store.finish(claim, "failed", None, json.loads(reply.content)["detail"])
        elif claim.id in self.cancelled:
            await self.store.finish(claim, "cancelled", None, None)
        elif self.draining:
            await self.store.requeue(claim, forgive=True)
        elif claim.tries < TRIES:
            _log.warning("job %s is tried once more: %s", claim.id, reply)
            await self.store.requeue(claim)
            self.wake()
        else:
            await self.store.finish(claim, "failed", None, f"tried {TRIES} times; {reply}")
        self.ended += 1

    async def _purge(self) -> None:
        while True:
            try:
                await self.store.purge()
            except Exception as error:
                _complain(error, "old jobs could not be forgotten")
            await asyncio.sleep(min(PURGE, max(1.0, self.settings.keep_seconds)))


class _Watcher:
    """Somebody who follows a job: told its news as they are written, so that the store need not be read for them."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.must_look = True
        self.news: list[Event] = []

    def tell(self, news: Sequence[Event]) -> None:
        """Takes in news, or that something else happened."""
        self.news += news
        self.must_look = self.must_look or not news
        self.changed.set()

    def taken(self) -> list[Event]:
        """The news since the last call."""
        news, self.news = self.news, []
        return news


class _News:
    """Records the news of a search, those of a moment together; a second try tells only what is better than the first.

    A context: at its end everything is on its way to the store, before whatever is recorded next.
    """

    def __init__(self, jobs: Jobs, claim: Claim):
        self.jobs, self.claim = jobs, claim
        self.before = _rank(claim.best) if claim.best is not None else None
        self.waiting: list[tuple[str, bytes]] = []
        self.timer: asyncio.TimerHandle | None = None
        self.writes: set[asyncio.Future[list[Event]]] = set()
        self.pause = TOGETHER

    def __enter__(self) -> "_News":
        return self

    def __exit__(self, *error: object) -> None:
        self._write()

    def __call__(self, kind: str, data: bytes) -> None:
        if self.before is not None and _rank(data) <= self.before:
            return
        self.before = None
        self.waiting.append((kind, data))
        if self.timer is None:
            self.timer = asyncio.get_running_loop().call_later(self.pause, self._write)
            self.pause = LATER

    def _write(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.waiting:
            write = self.jobs.store.note(self.claim, self.waiting)
            self.waiting = []
            self.writes.add(write)
            write.add_done_callback(self._written)

    def _written(self, write: asyncio.Future[list[Event]]) -> None:
        self.writes.discard(write)
        if write.cancelled():
            return
        if write.exception() is not None:
            _log.error("news of job %s could not be recorded: %s", self.claim.id, write.exception())
        elif write.result():
            self.jobs.notify(self.claim.id, write.result())


def _complain(error: Exception, text: str, *values: str) -> None:
    """Logs an error, unless the store is away, which the store itself logs once."""
    if not isinstance(error, Refused):
        _log.error(text, *values, exc_info=error)


def _rank(data: bytes) -> tuple[float, float]:
    """Orders news, the best last."""
    news = json.loads(data)
    if news["prize"] is None:
        return float("-inf"), 0.0
    return news["prize"], -news["cost"]


def _sent(number: int, kind: str, data: bytes) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (kind.encode(), number, data)


def job_json(job: Job) -> bytes:
    """A job as it goes to clients."""
    head = {
        "id": job.id,
        "status": job.status,
        "created": _time(job.created),
        "started": _time(job.started),
        "finished": _time(job.finished),
        "reason": job.reason,
    }
    tail = b', "best": %s, "result": %s}' % (job.best or b"null", job.result or b"null")
    return json.dumps(head).encode()[:-1] + tail


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def found(job: Job | None, id: str) -> Job:
    """The job, or `Refused` where there is none."""
    if job is None:
        raise Refused(404, "not-found", f"there is no job {id[:100]!r}; results are kept for a while only", "id")
    return job
