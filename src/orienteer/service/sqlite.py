"""Jobs in SQLite with a write-ahead log, written by one thread, a transaction for all that waits.

A second thread waits for the disk.
"""

import asyncio
import contextlib
import fcntl
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from orienteer.model.errors import OrienteerError
from orienteer.service.settings import Settings
from orienteer.service.store import (
    MOST_EVENTS,
    SERVER_ENDED,
    SHOWN,
    TRIES,
    Claim,
    Counts,
    Event,
    Heard,
    Job,
    NewJob,
    Status,
    check_known,
    check_room,
    new_id,
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL DEFAULT 'queued',
    client TEXT NOT NULL,
    key TEXT,
    digest BLOB NOT NULL,
    body BLOB NOT NULL,
    batch TEXT,
    created REAL NOT NULL,
    started REAL,
    finished REAL,
    seconds REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    best BLOB,
    result BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS keys ON jobs (client, key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS queued ON jobs (number) WHERE status = 'queued';
CREATE INDEX IF NOT EXISTS unfinished ON jobs (client) WHERE finished IS NULL;
CREATE INDEX IF NOT EXISTS finished ON jobs (finished) WHERE finished IS NOT NULL;
CREATE TABLE IF NOT EXISTS events (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;
"""

Value = TypeVar("Value")
Work = Callable[[sqlite3.Connection], Any]
Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]
"""Who waits for a work, and what came of it: a value or an error."""

to_disk: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Returns when a file is on disk; macOS has the second only."""


class SqliteStore:
    """A `Store` in one file, for one server.

    Clients who hand in a job are told after it has reached the disk. Nothing else waits for the disk: after a power cut
    a job may be searched once more, but none is lost and none half written.

    SQLite could wait for the disk in the commit (`synchronous = FULL`), by the same sync of its log. But a commit lets
    all others wait, among them the claim of a worker that has nothing to do: so a thread syncs after the commit.
    """

    def __init__(self, path: Path, settings: Settings):
        self.path, self.settings = path, settings
        self.waiting: queue.SimpleQueue[tuple[Work, bool, asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self.syncing: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self.reader = ThreadPoolExecutor(1, "store-reader")

    async def open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = open(f"{self.path}.lock", "w")  # noqa: SIM115
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OrienteerError(f"{self.path} is used by another server") from error
        self.loop = asyncio.get_running_loop()
        self.writer = threading.Thread(target=self._write, daemon=True, name="store-writer")
        self.opened: asyncio.Future[None] = self.loop.create_future()
        self.writer.start()
        await self.opened
        await self.loop.run_in_executor(self.reader, self._open_reader)
        await self._do(_recover)

    def listen(self, heard: Heard) -> None:
        pass  # there are no other servers

    async def close(self) -> None:
        self.waiting.put(None)
        await asyncio.to_thread(self.writer.join)
        await self._read(lambda connection: connection.close())
        self.reader.shutdown()
        self.lock.close()

    async def add(self, job: NewJob) -> Job:
        id = new_id(self.settings)
        return await self._do(lambda connection: _add(connection, job, id, self.settings), durable=True)

    async def get(self, id: str) -> Job | None:
        return await self._read(lambda connection: _get(connection, "id", id))

    async def body(self, id: str) -> bytes | None:
        found = await self._read(lambda db: db.execute("SELECT body FROM jobs WHERE id = ?", (id,)).fetchone())
        return None if found is None else found[0]

    async def claim(self, most: int = 1, batch: str | None = None, together: bool | None = None) -> list[Claim]:
        return await self._do(lambda connection: _claim(connection, most, batch, together))

    def note(self, claim: Claim, news: Sequence[tuple[str, bytes]]) -> asyncio.Future[list[Event]]:
        return self._do(lambda connection: _note(connection, claim, news))

    async def finish(self, claim: Claim, status: Status, result: bytes | None, reason: str | None) -> None:
        await self._do(lambda connection: _finish(connection, claim, status, result, reason))

    async def requeue(self, claim: Claim, forgive: bool = False) -> None:
        await self._do(lambda connection: _requeue(connection, claim, forgive))

    async def cancel(self, id: str) -> Job | None:
        return await self._do(lambda connection: _cancel(connection, id))

    async def events(self, number: int, after: int) -> tuple[list[Event], Job | None]:
        return await self._read(lambda connection: _events(connection, number, after))

    async def counts(self) -> Counts:
        query = "SELECT sum(status = 'queued'), sum(status = 'running') FROM jobs WHERE finished IS NULL"
        return await self._read(lambda db: Counts(*(count or 0 for count in db.execute(query).fetchone())))

    async def purge(self) -> int:
        return await self._do(lambda connection: _purge(connection, time.time() - self.settings.keep_seconds))

    def _do(self, work: Callable[[sqlite3.Connection], Value], durable: bool = False) -> asyncio.Future[Value]:
        """What a work returns when it is committed, and on disk if `durable`; works are done in the order of calls."""
        done: asyncio.Future[Value] = self.loop.create_future()
        self.waiting.put((work, durable, done))
        return done

    async def _read(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        return await self.loop.run_in_executor(self.reader, lambda: work(self.readings))

    def _open_reader(self) -> None:
        self.readings = sqlite3.connect(self.path, isolation_level=None)
        self.readings.execute("PRAGMA query_only = 1")

    def _write(self) -> None:
        """The life of the writing thread."""
        try:
            connection = sqlite3.connect(self.path, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = 1")
            connection.executescript(SCHEMA)
            log = os.open(f"{self.path}-wal", os.O_RDONLY)  # one file as long as there is a connection
        except (sqlite3.Error, OSError) as error:
            wrong = OrienteerError(f"{self.path} cannot be used: {error}")
            self.loop.call_soon_threadsafe(self.opened.set_exception, wrong)
            return
        self.loop.call_soon_threadsafe(self.opened.set_result, None)
        syncer = threading.Thread(target=self._sync, args=(log,), daemon=True, name="store-syncer")
        syncer.start()
        ended = False
        while not ended:
            works, ended = _all_waiting(self.waiting)
            self._commit(connection, works)
        self.syncing.put(None)
        syncer.join()
        connection.close()

    def _sync(self, log: int) -> None:
        """The life of the thread that waits for the disk, once for all that was committed meanwhile."""
        ended = False
        while not ended:
            outcomes, ended = _all_waiting(self.syncing)
            try:
                to_disk(log)
            except OSError as error:
                outcomes = [(done, None, error) for done, _, _ in outcomes]
            self._tell(outcomes)
        os.close(log)

    def _commit(self, connection: sqlite3.Connection, works: Sequence[tuple[Work, bool, asyncio.Future[Any]]]) -> None:
        """Does works in one transaction; a work that fails leaves no trace and does not touch the others."""
        outcomes: list[Outcome] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for work, _, done in works:
                connection.execute("SAVEPOINT one")
                try:
                    outcomes.append((done, work(connection), None))
                except Exception as error:
                    connection.execute("ROLLBACK TO one")
                    outcomes.append((done, None, error))
                connection.execute("RELEASE one")
            connection.execute("COMMIT")
        except sqlite3.Error as error:  # such as a full disk: nothing of this is written
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            outcomes = [(done, None, error) for _, _, done in works]
        told = []
        for (_, durable, _), outcome in zip(works, outcomes, strict=True):
            if durable and outcome[2] is None:
                self.syncing.put(outcome)
            else:
                told.append(outcome)
        self._tell(told)

    def _tell(self, outcomes: Sequence[Outcome]) -> None:
        if outcomes:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self.loop.call_soon_threadsafe(_tell, outcomes)


def _all_waiting(waiting: "queue.SimpleQueue[Value | None]") -> tuple[list[Value], bool]:
    """Everything in a queue, as soon as there is something, and whether None was among it: the end."""
    found = [waiting.get()]
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(waiting.get_nowait())
    return [one for one in found if one is not None], None in found


def _tell(outcomes: Sequence[Outcome]) -> None:
    for done, value, error in outcomes:
        if done.done():
            continue
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)


def _recover(connection: sqlite3.Connection) -> None:
    now = time.time()
    connection.execute(
        "UPDATE jobs SET status = 'cancelled', finished = ? WHERE status = 'running' AND cancelled", (now,)
    )
    connection.execute(
        "UPDATE jobs SET status = 'failed', finished = ?, reason = ? WHERE status = 'running' AND tries >= ?",
        (now, SERVER_ENDED, TRIES),
    )
    connection.execute("UPDATE jobs SET status = 'queued', started = NULL, batch = NULL WHERE status = 'running'")


def _get(connection: sqlite3.Connection, column: str, value: Any) -> Job | None:
    found = connection.execute(f"SELECT {SHOWN} FROM jobs WHERE {column} = ?", (value,)).fetchone()
    return None if found is None else Job(*found)


def _events(connection: sqlite3.Connection, number: int, after: int) -> tuple[list[Event], Job | None]:
    ended = connection.execute(
        f"SELECT {SHOWN} FROM jobs WHERE number = ? AND finished IS NOT NULL", (number,)
    ).fetchone()
    query = "SELECT number, kind, data FROM events WHERE job = ? AND number > ? ORDER BY number"
    events = [Event(*row) for row in connection.execute(query, (number, after))]  # after the look whether it has ended
    return events, None if ended is None else Job(*ended)


def _add(connection: sqlite3.Connection, job: NewJob, id: str, settings: Settings) -> Job:
    if job.key is not None:
        known = connection.execute(
            f"SELECT digest, {SHOWN} FROM jobs WHERE client = ? AND key = ?", (job.client, job.key)
        ).fetchone()
        if known is not None:
            check_known(job, known[0])
            return Job(*known[1:])
    (queued,) = connection.execute("SELECT count(*) FROM jobs WHERE status = 'queued'").fetchone()
    query = "SELECT count(*) FROM jobs WHERE client = ? AND finished IS NULL"
    (own,) = connection.execute(query, (job.client,)).fetchone()
    (pages,), (size,) = (connection.execute(f"PRAGMA {what}").fetchone() for what in ("page_count", "page_size"))
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    check_room(settings, queued, own, (pages - free) * size, job.body)
    rows = connection.execute(
        "INSERT INTO jobs (id, client, key, digest, body, seconds, batch, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " RETURNING number",
        (id, job.client, job.key, job.digest, job.body, job.seconds, job.batch, time.time()),
    ).fetchall()
    found = _get(connection, "number", rows[0][0])
    assert found is not None
    return found


def _claim(connection: sqlite3.Connection, most: int, batch: str | None, together: bool | None) -> list[Claim]:
    which = "1"
    if batch is not None:
        which = "batch = :batch"
    elif together is not None:
        which = "batch IS NOT NULL" if together else "batch IS NULL"
    rows = connection.execute(
        "UPDATE jobs SET status = 'running', started = :now, tries = tries + 1 WHERE number IN"
        f" (SELECT number FROM jobs WHERE status = 'queued' AND {which} ORDER BY number LIMIT :most)"
        " RETURNING number, id, body, seconds, tries, batch, best",
        {"now": time.time(), "batch": batch, "most": most},
    ).fetchall()
    return sorted(Claim(*row) for row in rows)


def _note(connection: sqlite3.Connection, claim: Claim, news: Sequence[tuple[str, bytes]]) -> list[Event]:
    query = "SELECT coalesce(max(number), 0) FROM events WHERE job = ?"
    (last,) = connection.execute(query, (claim.number,)).fetchone()
    changed = connection.execute(
        "UPDATE jobs SET best = ? WHERE number = ? AND status = 'running' AND tries = ?",
        (news[-1][1], claim.number, claim.tries),
    ).rowcount
    if not changed:
        return []
    events = [Event(last + place, kind, data) for place, (kind, data) in enumerate(news, 1)][: MOST_EVENTS - last]
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", [(claim.number, *event) for event in events])
    return events


def _finish(
    connection: sqlite3.Connection, claim: Claim, status: Status, result: bytes | None, reason: str | None
) -> None:
    connection.execute(
        "UPDATE jobs SET status = iif(cancelled AND ? != 'failed', 'cancelled', ?), finished = ?, result = ?,"
        " reason = ? WHERE number = ? AND status = 'running' AND tries = ?",
        (status, status, time.time(), result, reason, claim.number, claim.tries),
    )


def _requeue(connection: sqlite3.Connection, claim: Claim, forgive: bool) -> None:
    connection.execute(
        "UPDATE jobs SET status = iif(cancelled, 'cancelled', 'queued'), finished = iif(cancelled, ?, NULL),"
        " started = NULL, batch = NULL, tries = tries - ? WHERE number = ? AND status = 'running' AND tries = ?",
        (time.time(), int(forgive), claim.number, claim.tries),
    )


def _cancel(connection: sqlite3.Connection, id: str) -> Job | None:
    connection.execute("UPDATE jobs SET cancelled = 1 WHERE id = ? AND status = 'running'", (id,))
    connection.execute(
        "UPDATE jobs SET status = 'cancelled', finished = ? WHERE id = ? AND status = 'queued'", (time.time(), id)
    )
    return _get(connection, "id", id)


def _purge(connection: sqlite3.Connection, before: float) -> int:
    return connection.execute("DELETE FROM jobs WHERE finished < ?", (before,)).rowcount
