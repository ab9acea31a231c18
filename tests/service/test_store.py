"""The contract of stores, over both: what is accepted stays, nothing is done twice."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orienteer.model.errors import OrienteerError
from orienteer.service import sqlite
from orienteer.service.engine import Processes
from orienteer.service.errors import Refused
from orienteer.service.jobs import Jobs
from orienteer.service.pool import Pool
from orienteer.service.settings import Settings
from orienteer.service.sqlite import SqliteStore
from orienteer.service.store import MOST_EVENTS, TRIES, Event, Job, NewJob, Store, make_store
from postgres import Postgres, postgres

JOB = NewJob("client", b"{}", b"digest", 1.0)
Test = Callable[[Any], Awaitable[None]]


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The settings of an empty store, of each kind in turn."""
    if request.param == "sqlite":
        return {"store": str(tmp_path / "jobs.sqlite3")}
    return {"jobs": request.getfixturevalue("database").fresh(), "lease_seconds": 0.5}


def with_store(place: dict[str, Any], test: Test, **settings: Any) -> None:
    """Runs a test with a store that is opened before and closed after it."""

    async def run() -> None:
        store = make_store(Settings(**place, **settings))
        await store.open()
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(run())


async def known(store: Store, id: str) -> Job:
    """A job that the store has."""
    job = await store.get(id)
    assert job is not None
    return job


async def status(store: Store, id: str, wanted: str) -> Job:
    """The job, as soon as it has a status: a shared store takes its time to find out that a server died."""
    async with asyncio.timeout(60):
        while (job := await known(store, id)).status != wanted:
            await asyncio.sleep(0.02)
    return job


def test_jobs_are_claimed_once_in_order(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        added = [await store.add(JOB) for _ in range(20)]
        assert await store.counts() == (20, 0)
        claims = await asyncio.gather(*(store.claim() for _ in range(25)))
        assert sorted((claim.number, claim.id) for found in claims for claim in found) == [job[:2] for job in added]
        assert await store.counts() == (0, 20)

    with_store(place, test)


def test_a_job_ends_once(place: dict[str, Any]) -> None:
    """A worker that was thought dead may still answer: its try is over, and its answer does not count."""

    async def test(store: Store) -> None:
        job = await store.add(JOB)
        (first,) = await store.claim()
        await store.requeue(first)
        await store.finish(first, "done", b"1", None)
        assert (await known(store, job.id)).status == "queued"
        (second,) = await store.claim()
        await store.note(first, [("improvement", b"late")])
        await store.finish(second, "done", b"2", None)
        await store.finish(second, "failed", b"3", "late")
        found = await store.get(job.id)
        assert found is not None
        assert (found.status, found.result, found.best, second.tries) == ("done", b"2", None, 2)

    with_store(place, test)


def test_a_try_that_is_forgiven_does_not_count(place: dict[str, Any]) -> None:
    """A server that stops gives its jobs back, and the next one begins as if nothing had been."""

    async def test(store: Store) -> None:
        job = await store.add(JOB)
        (first,) = await store.claim()
        await store.requeue(first, forgive=True)
        assert ((await known(store, job.id)).status, (await known(store, job.id)).started) == ("queued", None)
        (again,) = await store.claim()
        assert (first.tries, again.tries) == (1, 1)

    with_store(place, test)


def test_jobs_are_claimed_by_their_batch(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        for batch in ("a", None, "b", "a"):
            await store.add(NewJob("client", b"{}", b"digest", 1.0, batch=batch))
        (first,) = await store.claim(together=True)
        (other,) = await store.claim(5, batch=first.batch)
        assert (first.batch, other.batch, other.number - first.number) == ("a", "a", 3)
        (alone,) = await store.claim(5, together=False)
        assert alone.batch is None
        await store.requeue(first)  # what failed together is searched alone
        assert [claim.batch for claim in await store.claim(5, together=None)] == [None, "b"]

    with_store(place, test)


def test_running_jobs_are_queued_again_when_the_server_died(place: dict[str, Any]) -> None:
    async def begin(store: Store) -> None:
        waiting, stopped = await store.add(JOB), await store.add(JOB)
        await store.claim(2)
        await store.cancel(stopped.id)
        ids.extend((waiting.id, stopped.id))

    async def again(store: Store) -> None:
        await status(store, ids[0], "queued")
        await status(store, ids[1], "cancelled")
        assert len(await store.claim()) == 1

    async def at_last(store: Store) -> None:
        found = await status(store, ids[0], "failed")
        assert found.tries == TRIES
        assert found.reason == "the server ended 2 times while this job ran"

    ids: list[str] = []
    for test in (begin, again, at_last):
        with_store(place, test)


def test_a_refused_job_does_not_touch_those_written_with_it(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        outcomes = await asyncio.gather(*(store.add(JOB) for _ in range(5)), return_exceptions=True)
        assert sum(isinstance(one, Refused) for one in outcomes) == 2
        assert (await store.counts()).queued == 3

    with_store(place, test, queue=3)


def test_cancelled_jobs_are_not_begun_again(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        assert (await store.cancel(job.id)).status == "running"  # type: ignore[union-attr]
        await store.requeue(claim)
        assert (await known(store, job.id)).status == "cancelled"
        assert await store.claim() == []
        assert await store.cancel("unknown") is None

    with_store(place, test)


def test_events_are_numbered_and_bounded(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        for number in range(0, MOST_EVENTS + 5, 5):
            await store.note(claim, [("improvement", b"%d" % (number + place)) for place in range(5)])
        events, ended = await store.events(job.number, 10)
        assert ended is None
        assert [event.number for event in events] == list(range(11, MOST_EVENTS + 1))
        assert (await known(store, job.id)).best == b"%d" % (MOST_EVENTS + 4)

    with_store(place, test)


def test_a_stream_tells_every_event_once(place: dict[str, Any]) -> None:
    """News that were read and told too are sent once; the store is read at the begin and at the end only."""

    async def test(store: Any) -> None:
        look, reads = store.events, []

        async def counted(number: int, after: int) -> tuple[list[Event], Job | None]:
            reads.append(after)
            return await look(number, after)

        store.events = counted
        jobs = Jobs(store, Pool(Settings(), Processes(Settings()), 1), Settings())
        job = await store.add(JOB)
        (claim,) = await store.claim()
        early = await store.note(claim, [("improvement", b"1")])
        stream = jobs.stream(job, 0)
        assert await anext(stream) == b"event: improvement\nid: 1\ndata: 1\n\n"
        for number in range(2, 5):
            written = await store.note(claim, [("bound", b"%d" % number)])
            jobs.notify(job.id, [*early, *written])
            assert await anext(stream) == b"event: bound\nid: %d\ndata: %d\n\n" % (number, number)
        assert len(reads) == 1
        jobs.notify(job.id, await store.note(claim, [("bound", b"5")]))
        await store.finish(claim, "done", b"{}", None)
        jobs.notify(job.id)
        both = await anext(stream)
        assert both.startswith(b"event: bound\nid: 5\ndata: 5\n\nevent: end\nid: 6\ndata: {")
        assert len(reads) == 2
        assert [part async for part in stream] == []
        assert not jobs.watchers

    with_store(place, test)


def test_old_results_are_forgotten_with_their_events(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        await store.note(claim, [("improvement", b"{}")])
        assert await store.purge() == 0
        await store.finish(claim, "done", b"{}", None)
        assert await store.purge() == 1
        assert await store.get(job.id) is None
        assert await store.events(job.number, 0) == ([], None)

    with_store(place, test, keep_seconds=0.0)


def test_space_is_bounded(place: dict[str, Any]) -> None:
    async def test(store: Store) -> None:
        large = NewJob("client", b"x" * 700_000, b"", 1.0)
        await store.add(large)
        with pytest.raises(Refused, match="space"):
            await store.add(large)

    with_store(place, test, store_mb=1)


def test_one_server_has_a_store(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        with pytest.raises(OrienteerError, match="used by another server"):
            await SqliteStore(store.path, Settings()).open()

    with_store({"store": str(tmp_path / "jobs.sqlite3")}, test)


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "jobs.sqlite3").write_bytes(b"not a database, though long enough to look at" * 50)

    async def test(store: SqliteStore) -> None:
        raise AssertionError("it was opened")

    with pytest.raises(OrienteerError, match="cannot be used"):
        with_store({"store": str(tmp_path / "jobs.sqlite3")}, test)


def test_accepted_jobs_wait_for_the_disk_and_workers_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that does not answer holds up who hands in a job; a worker has the job nevertheless."""
    answers, synced = threading.Event(), list[tuple[int, int]]()
    path = tmp_path / "jobs.sqlite3"

    def to_disk(file: int) -> None:
        with sqlite3.connect(path) as other:
            (count,) = other.execute("SELECT count(*) FROM jobs").fetchone()
        synced.append((os.fstat(file).st_ino, count))
        assert answers.wait(60)

    async def test(store: SqliteStore) -> None:
        adding = asyncio.ensure_future(store.add(JOB))
        await asyncio.sleep(0)  # the job is handed to the store
        (claim,) = await store.claim()
        await store.finish(claim, "done", b"{}", None)
        assert not adding.done()
        answers.set()
        assert (await adding).id == claim.id
        assert (Path(f"{path}-wal").stat().st_ino, 1) in synced  # the log, with the job in it

    monkeypatch.setattr(sqlite, "to_disk", to_disk)
    with_store({"store": str(path)}, test)


def test_a_job_that_does_not_reach_the_disk_is_not_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def to_disk(file: int) -> None:
        raise OSError("the disk is broken")

    async def test(store: SqliteStore) -> None:
        with pytest.raises(OSError, match="broken"):
            await store.add(JOB)

    monkeypatch.setattr(sqlite, "to_disk", to_disk)
    with_store({"store": str(tmp_path / "jobs.sqlite3")}, test)
