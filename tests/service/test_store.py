"""The store: what is accepted stays, nothing is done twice."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from orienteer.model.errors import OrienteerError
from orienteer.service.errors import Refused
from orienteer.service.settings import Settings
from orienteer.service.store import MOST_EVENTS, TRIES, NewJob, SqliteStore

JOB = NewJob("client", b"{}", b"digest", 1.0)


def with_store(path: Path, test: Callable[[SqliteStore], Awaitable[None]], **settings: object) -> None:
    """Runs a test with a store that is opened before and closed after it."""

    async def run() -> None:
        store = SqliteStore(path / "jobs.sqlite3", Settings(**settings))  # type: ignore[arg-type]
        await store.open()
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(run())


def test_jobs_are_claimed_once_in_order(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        added = await asyncio.gather(*(store.add(JOB) for _ in range(20)))
        assert await store.counts() == (20, 0)
        claims = await asyncio.gather(*(store.claim() for _ in range(25)))
        assert [claim.id for found in claims for claim in found] == [job.id for job in added]
        assert await store.counts() == (0, 20)

    with_store(tmp_path, test)


def test_a_job_ends_once(tmp_path: Path) -> None:
    """A worker that was thought dead may still answer: its try is over, and its answer does not count."""

    async def test(store: SqliteStore) -> None:
        job = await store.add(JOB)
        (first,) = await store.claim()
        await store.requeue(first)
        await store.finish(first, "done", b"1", None)
        assert (await store.get(job.id)).status == "queued"  # type: ignore[union-attr]
        (second,) = await store.claim()
        await store.note(first, [("improvement", b"late")])
        await store.finish(second, "done", b"2", None)
        await store.finish(second, "failed", b"3", "late")
        found = await store.get(job.id)
        assert found is not None
        assert (found.status, found.result, found.best, second.tries) == ("done", b"2", None, 2)

    with_store(tmp_path, test)


def test_running_jobs_are_queued_again_when_the_server_died(tmp_path: Path) -> None:
    async def begin(store: SqliteStore) -> None:
        waiting, stopped = await store.add(JOB), await store.add(JOB)
        await store.claim(2)
        await store.cancel(stopped.id)
        ids.extend((waiting.id, stopped.id))

    async def again(store: SqliteStore) -> None:
        assert [(await store.get(id)).status for id in ids] == ["queued", "cancelled"]  # type: ignore[union-attr]
        assert len(await store.claim()) == 1

    async def at_last(store: SqliteStore) -> None:
        found = await store.get(ids[0])
        assert found is not None
        assert (found.status, found.tries) == ("failed", TRIES)
        assert found.reason == "the server ended 2 times while this job ran"

    ids: list[str] = []
    for test in (begin, again, at_last):
        with_store(tmp_path, test)


def test_a_refused_job_does_not_touch_those_written_with_it(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        outcomes = await asyncio.gather(*(store.add(JOB) for _ in range(5)), return_exceptions=True)
        assert [isinstance(one, Refused) for one in outcomes] == [False] * 3 + [True] * 2
        assert (await store.counts()).queued == 3

    with_store(tmp_path, test, queue=3)


def test_cancelled_jobs_are_not_begun_again(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        assert (await store.cancel(job.id)).status == "running"  # type: ignore[union-attr]
        await store.requeue(claim)
        assert (await store.get(job.id)).status == "cancelled"  # type: ignore[union-attr]
        assert await store.claim() == []
        assert await store.cancel("unknown") is None

    with_store(tmp_path, test)


def test_events_are_numbered_and_bounded(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        for number in range(0, MOST_EVENTS + 5, 5):
            await store.note(claim, [("improvement", b"%d" % (number + place)) for place in range(5)])
        events, ended = await store.events(job.number, 10)
        assert ended is None
        assert [event.number for event in events] == list(range(11, MOST_EVENTS + 1))
        assert (await store.get(job.id)).best == b"%d" % (MOST_EVENTS + 4)  # type: ignore[union-attr]

    with_store(tmp_path, test)


def test_old_results_are_forgotten_with_their_events(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        job = await store.add(JOB)
        (claim,) = await store.claim()
        await store.note(claim, [("improvement", b"{}")])
        assert await store.purge() == 0
        await store.finish(claim, "done", b"{}", None)
        assert await store.purge() == 1
        assert await store.get(job.id) is None
        assert await store.events(job.number, 0) == ([], None)

    with_store(tmp_path, test, keep_seconds=0.0)


def test_space_is_bounded(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        large = NewJob("client", b"x" * 700_000, b"", 1.0)
        await store.add(large)
        with pytest.raises(Refused, match="space"):
            await store.add(large)

    with_store(tmp_path, test, store_mb=1)


def test_one_server_has_a_store(tmp_path: Path) -> None:
    async def test(store: SqliteStore) -> None:
        with pytest.raises(OrienteerError, match="used by another server"):
            await SqliteStore(store.path, Settings()).open()

    with_store(tmp_path, test)


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "jobs.sqlite3").write_bytes(b"not a database, though long enough to look at" * 50)

    async def test(store: SqliteStore) -> None:
        raise AssertionError("it was opened")

    with pytest.raises(OrienteerError, match="cannot be used"):
        with_store(tmp_path, test)


def test_accepted_jobs_wait_for_the_disk(tmp_path: Path) -> None:
    """SQLite syncs its log at a commit only where `synchronous` is FULL (2)."""
    levels = []

    async def test(store: SqliteStore) -> None:
        def look(connection: sqlite3.Connection) -> None:
            levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])

        await store._do(look, durable=True)
        await store._do(look)

    with_store(tmp_path, test)
    assert levels == [2, 1]
