"""Jobs in PostgreSQL, shared by several servers.

A server claims queued rows that nobody else has locked, and leases them: while it searches, it says again and again
that it is there. A job whose lease ran out belongs to a server that died: any other server queues the job again, or
lets it fail. What a server writes about a job counts only while that server has the job, in the try that it began: so a
job ends once.

Servers tell each other by NOTIFY what they did: that costs nothing while nothing happens, and arrives within
milliseconds. A word that got lost with its connection is made good by looks into the tables: with every renewal of
leases, and whenever a stream has been silent for a while. All times are those of the database's clock.
"""

import asyncio
import contextlib
import logging
import os
import re
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from orienteer.model.errors import OrienteerError
from orienteer.service.errors import Refused
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
    away,
    check_known,
    check_room,
    new_id,
)

CONNECTIONS, RELAXED = 4, 2
"""The most connections of a server: of those that wait for the disk, and of others; one besides listens."""
PATIENCE = 8.0
"""Seconds after which a database that has not answered counts as away."""
REST = 0.25
"""Seconds without a try to connect after one that failed, so that requests are refused at once."""
LOCK = 0x6F7269656E746565
"""The number of the lock that servers hold, one after the other, to make tables and to count jobs before one more."""
CHANNEL = "orienteer"

PARAMETERS: dict[str, Any] = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "orienteer",
}
"""So that a connection to a machine that is gone breaks soon; the address may say otherwise."""
SESSION = {
    "statement_timeout": "7s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
"""So that a server that is gone soon loses its locks."""

NOW = "extract(epoch FROM clock_timestamp())::double precision"

MIGRATIONS = (
    """
    CREATE TABLE orienteer_jobs (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text NOT NULL UNIQUE,
        status text NOT NULL DEFAULT 'queued',
        client text NOT NULL,
        key text,
        digest bytea NOT NULL,
        body bytea NOT NULL,
        batch text,
        created double precision NOT NULL,
        started double precision,
        finished double precision,
        seconds double precision NOT NULL,
        tries integer NOT NULL DEFAULT 0,
        cancelled boolean NOT NULL DEFAULT false,
        reason text,
        best bytea,
        result bytea,
        server text,
        lease double precision,
        told integer NOT NULL DEFAULT 0
    ) WITH (fillfactor = 70);
    CREATE UNIQUE INDEX orienteer_keys ON orienteer_jobs (client, key) WHERE key IS NOT NULL;
    CREATE INDEX orienteer_queued ON orienteer_jobs (number) WHERE status = 'queued';
    CREATE INDEX orienteer_running ON orienteer_jobs (number) WHERE status = 'running';
    CREATE INDEX orienteer_unfinished ON orienteer_jobs (client) WHERE finished IS NULL;
    CREATE INDEX orienteer_finished ON orienteer_jobs (finished) WHERE finished IS NOT NULL;
    CREATE TABLE orienteer_events (
        job bigint NOT NULL REFERENCES orienteer_jobs (number) ON DELETE CASCADE,
        number integer NOT NULL,
        kind text NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (job, number)
    );
    """,
)
"""What makes the tables, step by step: a store of version 1 has seen the first step. Add steps, never change one."""

MINE = "number = %(number)s AND status = 'running' AND tries = %(tries)s AND server = %(server)s"
"""Whether a job is still the one that this server claimed."""

Value = TypeVar("Value")
Database = AsyncConnection[tuple[Any, ...]]
Work = Callable[[Database], Awaitable[Value]]

_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError, OSError)
_log = logging.getLogger("orienteer")


class PostgresStore:
    """A `Store` that several servers share."""

    def __init__(self, address: str, settings: Settings):
        self.settings = settings
        self.parameters = read_address(address)
        self.server = secrets.token_hex(8)
        self.durable = _Connections(self.parameters, CONNECTIONS, SESSION)
        self.relaxed = _Connections(self.parameters, RELAXED, SESSION | {"synchronous_commit": "off"})
        """For claims, leases and news, which do not wait for the disk: where a crash of the database loses a claim, the
        job is queued as before, and what the search finds does not count."""
        self.held: dict[tuple[int, int], _Held] = {}
        """The jobs that this server searches, by number and try, until what became of them is written."""
        self.heard: Heard = lambda word, id: None
        self.taken = 0
        """Bytes of all jobs at the last look, and of those added here since."""
        self.tasks: list[asyncio.Task[None]] = []
        self.away = False

    async def open(self) -> None:
        try:
            async with self.durable.use() as database:
                await _make_tables(database)
            listener = await self._listener()
        except (*_BROKEN, TimeoutError, psycopg.Error) as error:
            raise OrienteerError(f"the store of jobs (--jobs) cannot be used: {_one_line(error)}") from None
        await self._look_at_space()
        self.tasks = [asyncio.create_task(self._renew()), asyncio.create_task(self._listen(listener))]

    def listen(self, heard: Heard) -> None:
        self.heard = heard

    async def close(self) -> None:
        notes = [held.last for held in self.held.values() if held.last is not None]
        for task in (*self.tasks, *notes):
            task.cancel()
        await asyncio.gather(*self.tasks, *notes, return_exceptions=True)
        await self.durable.close()
        await self.relaxed.close()

    async def add(self, job: NewJob) -> Job:
        id = new_id(self.settings)
        return await self._do(lambda database: self._add(database, job, id))

    async def get(self, id: str) -> Job | None:
        rows = await self._ask(f"SELECT {SHOWN} FROM orienteer_jobs WHERE id = %(id)s", id=_clean_id(id))
        return Job(*rows[0]) if rows else None

    async def body(self, id: str) -> bytes | None:
        rows = await self._ask("SELECT body FROM orienteer_jobs WHERE id = %(id)s", id=_clean_id(id))
        return rows[0][0] if rows else None

    async def claim(self, most: int = 1, batch: str | None = None, together: bool | None = None) -> list[Claim]:
        which = "true"
        if batch is not None:
            which = "batch = %(batch)s"
        elif together is not None:
            which = "batch IS NOT NULL" if together else "batch IS NULL"
        rows = await self._ask(
            f"""WITH chosen AS (
                SELECT number FROM orienteer_jobs WHERE status = 'queued' AND {which} AND number != ALL(%(held)s)
                ORDER BY number LIMIT %(most)s FOR UPDATE SKIP LOCKED)
            UPDATE orienteer_jobs AS job SET status = 'running', started = {NOW}, tries = tries + 1,
                server = %(server)s, lease = {NOW} + %(lease)s
            FROM chosen WHERE job.number = chosen.number
            RETURNING told, job.number, id, body, seconds, tries, batch, best""",
            relaxed=True,
            most=most,
            batch=batch,
            held=[
                number for number, _ in self.held
            ],  # taken by others while it was searched here, where it must end first
            server=self.server,
            lease=self.settings.lease_seconds,
        )
        claims = sorted(Claim(*row[1:]) for row in rows)
        for told, *row in rows:
            claim = Claim(*row)
            self.held[claim.number, claim.tries] = _Held(claim.id, told)
        return claims

    def note(self, claim: Claim, news: Sequence[tuple[str, bytes]]) -> asyncio.Future[list[Event]]:
        held = self.held.get((claim.number, claim.tries), _Held(claim.id, 0))
        held.last = asyncio.ensure_future(self._note(claim, news, held, held.last))
        return held.last

    async def finish(self, claim: Claim, status: Status, result: bytes | None, reason: str | None) -> None:
        await self._end(
            claim,
            f"""UPDATE orienteer_jobs SET finished = {NOW}, result = %(result)s, reason = %(reason)s,
                status = CASE WHEN cancelled AND %(status)s != 'failed' THEN 'cancelled' ELSE %(status)s END
            WHERE {MINE} RETURNING {_told("'changed'")}""",
            status=status,
            result=result,
            reason=reason,
        )

    async def requeue(self, claim: Claim, forgive: bool = False) -> None:
        await self._end(
            claim,
            f"""UPDATE orienteer_jobs SET status = CASE WHEN cancelled THEN 'cancelled' ELSE 'queued' END,
                finished = CASE WHEN cancelled THEN {NOW} END, started = NULL, batch = NULL, tries = tries - %(forgive)s
            WHERE {MINE} RETURNING {_told("CASE WHEN cancelled THEN 'changed' ELSE 'added' END")}""",
            forgive=int(forgive),
        )

    async def cancel(self, id: str) -> Job | None:
        rows = await self._ask(
            f"""UPDATE orienteer_jobs SET cancelled = true,
                status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,
                finished = CASE status WHEN 'queued' THEN {NOW} ELSE finished END
            WHERE id = %(id)s AND status IN ('queued', 'running')
            RETURNING {SHOWN}, {_told("CASE status WHEN 'running' THEN 'cancelled' ELSE 'changed' END")}""",
            id=_clean_id(id),
            server=self.server,
        )
        return Job(*rows[0][:-1]) if rows else await self.get(id)

    async def events(self, number: int, after: int) -> tuple[list[Event], Job | None]:
        ended = await self._ask(
            f"SELECT {SHOWN} FROM orienteer_jobs WHERE number = %(number)s AND finished IS NOT NULL", number=number
        )
        events = await self._ask(  # after the look whether the job has ended
            "SELECT number, kind, data FROM orienteer_events WHERE job = %(job)s AND number > %(after)s ORDER BY 1",
            job=number,
            after=after,
        )
        return [Event(*row) for row in events], Job(*ended[0]) if ended else None

    async def counts(self) -> Counts:
        rows = await self._ask(
            """SELECT (SELECT count(*) FROM orienteer_jobs WHERE status = 'queued'),
                (SELECT count(*) FROM orienteer_jobs WHERE status = 'running')"""
        )
        return Counts(*rows[0])

    async def purge(self) -> int:
        rows = await self._ask(
            f"""WITH old AS (DELETE FROM orienteer_jobs WHERE finished < {NOW} - %(keep)s RETURNING 1)
            SELECT count(*) FROM old""",
            keep=self.settings.keep_seconds,
        )
        await self._look_at_space()
        return rows[0][0]

    async def _do(self, work: Work[Value], relaxed: bool = False) -> Value:
        """What a work on the database gives; works bear repeating: one whose connection broke is done once more."""
        connections = self.relaxed if relaxed else self.durable
        for left in (1, 0):
            try:
                async with connections.use() as database:
                    value = await work(database)
            except (TimeoutError, *_BROKEN) as error:
                _check_cancelled()
                if left and not isinstance(error, TimeoutError):
                    continue
                self._log_away(_one_line(error))
                raise away() from None
            self._log_away("")
            return value
        raise AssertionError

    def _log_away(self, why: str) -> None:
        """Logs when the database goes away, and when it is back."""
        if why and not self.away:
            _log.warning("the store of jobs is away: %s", why)
        elif self.away and not why:
            _log.warning("the store of jobs is back")
        self.away = bool(why)

    async def _ask(self, query: str, relaxed: bool = False, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own."""
        return await self._do(lambda database: _rows(database, query, values), relaxed)

    async def _add(self, database: Database, job: NewJob, id: str) -> Job:
        values = job.__dict__ | {"id": id, "server": self.server}
        async with database.transaction():
            rows = await _rows(
                database,
                f"""INSERT INTO orienteer_jobs (id, client, key, digest, body, seconds, batch, created)
                VALUES (%(id)s, %(client)s, %(key)s, %(digest)s, %(body)s, %(seconds)s, %(batch)s, {NOW})
                ON CONFLICT DO NOTHING RETURNING {SHOWN}""",
                values,
            )
            if not rows:  # the key is known, or the id, where the answer to this very work was lost
                which = "id = %(id)s OR client = %(client)s AND key = %(key)s"
                known = await _rows(database, f"SELECT digest, {SHOWN} FROM orienteer_jobs WHERE {which}", values)
                if not known:  # forgotten just now
                    raise away()
                check_known(job, known[0][0])
                return Job(*known[0][1:])
            await _rows(database, "SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": LOCK})
            count = f"""SELECT (SELECT count(*) FROM orienteer_jobs WHERE status = 'queued') - 1,
                (SELECT count(*) FROM orienteer_jobs WHERE client = %(client)s AND finished IS NULL) - 1,
                {_told("'added'", "%(id)s")}"""
            counts = await _rows(database, count, values)  # sees what others added before they let go of the lock
            queued, own, _ = counts[0]
            check_room(self.settings, queued, own, self.taken, job.body)
        self.taken += len(job.body)
        return Job(*rows[0])

    async def _note(
        self, claim: Claim, news: Sequence[tuple[str, bytes]], held: "_Held", before: asyncio.Task[list[Event]] | None
    ) -> list[Event]:
        """The events that were written, behind those of the call before; while the database is away, this waits."""
        if before is not None:
            await asyncio.wait((before,))
        events = [Event(held.told + place, *one) for place, one in enumerate(news, 1)]
        events = events[: max(0, MOST_EVENTS - held.told)]
        while True:
            with contextlib.suppress(Refused):
                rows = await self._ask(
                    f"""WITH job AS (
                        UPDATE orienteer_jobs SET best = %(best)s, told = %(told)s WHERE {MINE} RETURNING number, id),
                    written AS (
                        INSERT INTO orienteer_events SELECT job.number, one.* FROM job,
                        unnest(%(numbers)s::integer[], %(kinds)s::text[], %(datas)s::bytea[]) AS one
                        ON CONFLICT DO NOTHING)
                    SELECT {_told("'changed'")} FROM job""",
                    relaxed=True,
                    best=news[-1][1],
                    told=held.told + len(events),
                    number=claim.number,
                    tries=claim.tries,
                    server=self.server,
                    numbers=[event.number for event in events],
                    kinds=[event.kind for event in events],
                    datas=[event.data for event in events],
                )
                held.told += len(events)
                return events if rows else []
            await asyncio.sleep(REST)

    async def _end(self, claim: Claim, query: str, **values: Any) -> None:
        """Lets go of a job, behind its news."""
        held = self.held.get((claim.number, claim.tries))
        if held is not None and held.last is not None:
            await asyncio.wait((held.last,))
        try:
            await self._ask(query, number=claim.number, tries=claim.tries, server=self.server, **values)
        except Refused:  # the caller will come again
            raise
        except Exception:  # nobody will: without a lease the job goes back to the queue
            self.held.pop((claim.number, claim.tries), None)
            raise
        self.held.pop((claim.number, claim.tries), None)

    async def _look_at_space(self) -> None:
        """Takes down the bytes of all jobs, as tables hold them; events are about as long as the best."""
        rows = await self._ask(
            """SELECT coalesce(sum(pg_column_size(body) + coalesce(pg_column_size(result), 0)
                + coalesce(pg_column_size(best), 0) * (told + 1)), 0)::bigint FROM orienteer_jobs"""
        )
        self.taken = rows[0][0]

    async def _renew(self) -> None:
        """Renews the leases of this server's jobs, three times in the time of a lease, and looks after others' jobs.

        After a time without the database all leases may have run out: a server takes no jobs of others before the
        database has been there for as long as a lease, and a moment to connect, in which they can renew theirs.
        """
        loop = asyncio.get_running_loop()
        back = loop.time()
        while True:
            try:
                await self._renew_leases()
                if loop.time() - back > self.settings.lease_seconds + 2 * REST:
                    await self._take_back()
                self.heard("added", "")  # in case that a word of it was lost
                await asyncio.sleep(self.settings.lease_seconds / 3)
            except Exception as error:
                _check_cancelled()
                if not isinstance(error, Refused):
                    _log.warning("leases could not be renewed: %s", _one_line(error))
                await asyncio.sleep(min(REST, self.settings.lease_seconds / 3))
                back = loop.time()

    async def _renew_leases(self) -> None:
        held = dict(self.held)
        rows = await self._ask(
            f"""UPDATE orienteer_jobs SET lease = {NOW} + %(lease)s WHERE number IN (
                SELECT number FROM orienteer_jobs WHERE number = ANY(%(numbers)s) AND status = 'running'
                    AND server = %(server)s ORDER BY number FOR UPDATE)
            RETURNING number, tries, cancelled""",
            relaxed=True,
            lease=self.settings.lease_seconds,
            numbers=[number for number, _ in held],
            server=self.server,
        )
        found = {(number, tries): cancelled for number, tries, cancelled in rows}
        for key, one in held.items():
            if key not in self.held:  # written meanwhile
                continue
            if key not in found:
                self.heard("lost", one.id)
            elif found[key]:
                self.heard("cancelled", one.id)

    async def _take_back(self) -> None:
        """Queues jobs again whose server fell silent; they fail where this was their last try."""
        rows = await self._ask(
            f"""UPDATE orienteer_jobs SET batch = NULL,
                status = CASE WHEN cancelled THEN 'cancelled' WHEN tries >= {TRIES} THEN 'failed' ELSE 'queued' END,
                finished = CASE WHEN cancelled OR tries >= {TRIES} THEN {NOW} END,
                started = CASE WHEN cancelled OR tries >= {TRIES} THEN started END,
                reason = CASE WHEN NOT cancelled AND tries >= {TRIES} THEN %(reason)s END
            WHERE number IN (SELECT number FROM orienteer_jobs WHERE status = 'running' AND lease < {NOW}
                ORDER BY number FOR UPDATE SKIP LOCKED)
            RETURNING id, status, {_told("CASE status WHEN 'queued' THEN 'added' ELSE 'changed' END")}""",
            reason=SERVER_ENDED,
            server=self.server,
        )
        for id, status, _ in rows:
            _log.warning("job %s is %s: its server fell silent", id, status)
            self.heard("changed", id)

    async def _listener(self) -> Database:
        database = await AsyncConnection.connect(**self.parameters, autocommit=True)
        await database.execute(f"LISTEN {CHANNEL}")
        return database

    async def _listen(self, database: Database) -> None:
        """Passes on what other servers tell, over a connection of its own."""
        while True:
            with contextlib.suppress(*_BROKEN, TimeoutError):
                async with database:
                    async for one in database.notifies():
                        server, word, id = one.payload.split(" ")
                        if server != self.server:
                            self.heard(word, id)  # type: ignore[arg-type]
            _check_cancelled()
            with contextlib.suppress(*_BROKEN, TimeoutError):
                await asyncio.sleep(REST)
                database = await self._listener()
                self.heard("added", "")
                self.heard("changed", "")  # whatever happened since the connection before broke
            _check_cancelled()


class _Held:
    """A job that this server searches."""

    def __init__(self, id: str, told: int):
        self.id = id
        self.told = told
        """How many events are written."""
        self.last: asyncio.Task[list[Event]] | None = None
        """The last call that writes some."""


class _Connections:
    """At most `most` connections, made when they are needed and kept until they break."""

    def __init__(self, parameters: dict[str, Any], most: int, session: dict[str, str]):
        self.parameters, self.session = parameters, session
        self.turns = asyncio.Semaphore(most)
        self.idle: list[Database] = []
        self.resting = 0.0

    @contextlib.asynccontextmanager
    async def use(self) -> AsyncIterator[Database]:
        """A context with a connection that nobody else has, and `PATIENCE` to use it: then it breaks."""
        async with self.turns:
            database = self.idle.pop() if self.idle else await self._connect()
            timer = asyncio.get_running_loop().call_later(PATIENCE, _hang_up, database)
            try:
                yield database
            except Refused:
                self.idle.append(database)
                raise
            except BaseException:  # whatever broke off may be half done
                await database.close()
                for other in self.idle:  # broken too, most likely
                    await other.close()
                self.idle.clear()
                raise
            finally:
                timer.cancel()
            self.idle.append(database)

    async def close(self) -> None:
        """Closes those that nobody has."""
        for database in self.idle:
            await database.close()
        self.idle.clear()

    async def _connect(self) -> Database:
        loop = asyncio.get_running_loop()
        if loop.time() < self.resting:
            raise away()
        values = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in self.session.items())
        try:
            async with asyncio.timeout(PATIENCE):
                database = await AsyncConnection.connect(**self.parameters, autocommit=True)
                await database.execute(f"SELECT {values}")
        except BaseException:
            self.resting = loop.time() + REST
            raise
        return database


def _check_cancelled() -> None:
    """Ends a task that was cancelled while its connection was broken: psycopg tells it only of the latter."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _hang_up(database: Database) -> None:
    """Breaks a connection under those who use it; to cancel them instead would wait for the database once more."""
    with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(database.fileno())) as twin:
        twin.shutdown(socket.SHUT_RDWR)


def read_address(address: str) -> dict[str, Any]:
    """The parameters of connections; errors show nothing of the address, which may hold a password."""
    wrong = OrienteerError(
        "--jobs must be an address such as postgresql://USER@HOST/DATABASE;"
        " in a password @ is written as %40, / as %2F and so on"
    )
    try:
        given = conninfo_to_dict(address)
    except psycopg.Error:
        raise wrong from None
    named = f"{given.get('host', '')} {given.get('dbname', '')}"
    if "@" in named or not re.fullmatch(r"[\d,]*", str(given.get("port", ""))):  # parts of a password, most likely
        raise wrong
    return PARAMETERS | given


async def _make_tables(database: Database) -> None:
    """Makes the tables, or brings them to this version; of servers that start at once, one does it."""
    async with database.transaction():
        await database.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if (await _rows(database, "SELECT to_regclass('orienteer_version')", {}))[0][0] is None:
            await database.execute("CREATE TABLE orienteer_version (number integer NOT NULL)")
            await database.execute("INSERT INTO orienteer_version VALUES (0)")
        version = (await _rows(database, "SELECT number FROM orienteer_version", {}))[0][0]
        if version > len(MIGRATIONS):
            raise OrienteerError(
                f"the store of jobs (--jobs) is of version {version}, made by a newer orienteer; this one knows"
                f" {len(MIGRATIONS)}"
            )
        for step in MIGRATIONS[version:]:
            await database.execute(step)
        if version < len(MIGRATIONS):
            await database.execute("UPDATE orienteer_version SET number = %s", (len(MIGRATIONS),))


async def _rows(database: Database, query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    cursor = await database.execute(query, values, binary=True)
    return await cursor.fetchall()


def _told(word: str, id: str = "id") -> str:
    """An expression that tells all servers a word about a job when the transaction is committed."""
    return f"pg_notify('{CHANNEL}', %(server)s || ' ' || {word} || ' ' || {id})"


def _clean_id(id: str) -> str:
    """An id as the database takes it; whatever else came in an address is the id of no job."""
    return id if re.fullmatch(r"[0-9A-Za-z-]{1,200}", id) else ""


def _one_line(error: BaseException) -> str:
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip()) or type(error).__name__
