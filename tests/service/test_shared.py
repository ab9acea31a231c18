"""Several servers share a store: jobs are claimed once, end once, and are known to all servers."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from command_line import Cli
from orienteer.model.errors import MissingExtra, OrienteerError
from orienteer.service.errors import Refused
from orienteer.service.postgres import MIGRATIONS, PostgresStore
from orienteer.service.settings import Settings, read_jobs
from orienteer.service.store import SERVER_ENDED, NewJob, make_store
from postgres import PASSWORD, Postgres, postgres
from servers import Server, problem, until

JOB = NewJob("client", b"{}", b"digest", 1.0)
LONG: dict[str, Any] = {"problem": problem(100, limit=4.0), "seconds": 60}
SHORT: dict[str, Any] = {"problem": problem(), "steps": 100}
Value = TypeVar("Value")


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture
def address(database: Postgres) -> str:
    return database.fresh()


@asynccontextmanager
async def stores(address: str, count: int, **settings: Any) -> AsyncIterator[list[PostgresStore]]:
    """Stores of several servers, all opened at the same moment."""
    made = [PostgresStore(address, Settings(**settings)) for _ in range(count)]
    await asyncio.gather(*(store.open() for store in made))
    try:
        yield made
    finally:
        for store in made:
            await store.close()


def fall_silent(store: PostgresStore) -> None:
    """Lets a server look dead to the others."""
    for task in store.tasks:
        task.cancel()


async def answered(ask: Callable[[], Awaitable[Value]]) -> Value:
    """The answer of a store, as soon as it gives one."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Refused):
                return await ask()
            await asyncio.sleep(0.02)


async def eventually(store: PostgresStore, id: str, status: str) -> None:
    async with asyncio.timeout(60):
        while (job := await answered(lambda: store.get(id))) is None or job.status != status:
            await asyncio.sleep(0.02)


def test_servers_that_start_at_once_make_the_tables_once(address: str) -> None:
    async def run() -> None:
        async with stores(address, 5):
            pass

    asyncio.run(run())
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT number FROM orienteer_version").fetchall() == [(len(MIGRATIONS),)]


def test_a_store_of_a_newer_version_is_left_alone(address: str) -> None:
    async def run() -> None:
        async with stores(address, 1):
            pass
        with psycopg.connect(address) as connection:
            connection.execute("UPDATE orienteer_version SET number = 99")
        with pytest.raises(OrienteerError, match="of version 99, made by a newer orienteer"):
            await PostgresStore(address, Settings()).open()

    asyncio.run(run())


def test_every_job_is_claimed_by_one_server(address: str) -> None:
    async def run() -> None:
        async with stores(address, 3, queue=100) as made:
            for _ in range(60):
                await made[0].add(JOB)
            claims = await asyncio.gather(*(store.claim(2) for store in made * 20))
            numbers = [claim.number for found in claims for claim in found]
            assert len(numbers) == len(set(numbers)) == 60

    asyncio.run(run())


def test_limits_and_keys_hold_across_servers(address: str) -> None:
    async def run() -> None:
        async with stores(address, 3, client_jobs=7) as made:
            outcomes = await asyncio.gather(*(store.add(JOB) for store in made * 10), return_exceptions=True)
            assert sum(not isinstance(one, BaseException) for one in outcomes) == 7
            assert {one.detail for one in outcomes if isinstance(one, Refused)} == {
                "7 jobs of this client are unfinished"
            }
            other = NewJob("other", b"{}", b"digest", 1.0, key="once")
            same = await asyncio.gather(*(store.add(other) for store in made * 10))
            assert len({job.id for job in same}) == 1
            with pytest.raises(Refused, match="another body"):
                await made[1].add(NewJob("other", b"[]", b"of another body", 1.0, key="once"))

    asyncio.run(run())


def test_jobs_of_a_silent_server_are_taken_once(address: str) -> None:
    """The silent server may be slow and not dead: what it writes later does not count."""

    async def run() -> None:
        async with stores(address, 3, lease_seconds=0.5) as (silent, second, third):
            job, gone = await silent.add(JOB), await silent.add(JOB)
            first, cancelled = await silent.claim(2)
            await silent.note(first, [("improvement", b"1")])
            await second.cancel(gone.id)
            fall_silent(silent)
            await eventually(second, job.id, "queued")
            await eventually(second, gone.id, "cancelled")
            ((again,), others) = await second.claim(), await third.claim()
            assert (again.id, again.tries, again.best, others) == (job.id, 2, b"1", [])
            assert await silent.note(first, [("improvement", b"late")]) == []
            await silent.finish(first, "done", b"late", None)
            await silent.finish(cancelled, "done", b"late", None)
            assert [event.number for event in await second.note(again, [("improvement", b"2")])] == [2]
            fall_silent(second)
            await eventually(third, job.id, "failed")
            found = await third.get(job.id)
            assert found is not None
            assert (found.reason, found.best, found.result) == (SERVER_ENDED, b"2", None)

    asyncio.run(run())


def test_a_server_is_told_what_others_do(address: str) -> None:
    async def run() -> None:
        heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        async with stores(address, 2, lease_seconds=1000) as (here, there):
            here.listen(lambda word, id: heard.put_nowait((word, id)) if id else None)  # without id: a look of its own
            job = await there.add(JOB)
            (claim,) = await here.claim()
            await there.cancel(job.id)
            await here.note(claim, [("improvement", b"1")])
            second = await there.add(JOB)
            (other,) = await there.claim()
            await there.note(other, [("improvement", b"1")])
            await there.finish(other, "done", b"1", None)
            assert [await heard.get() for _ in range(5)] == [
                ("added", job.id),
                ("cancelled", job.id),
                ("added", second.id),
                ("changed", second.id),
                ("changed", second.id),
            ]

    asyncio.run(run())


def test_nothing_is_lost_while_the_database_is_away(database: Postgres, address: str) -> None:
    async def run() -> None:
        async with stores(address, 2, lease_seconds=1.0) as (here, there):
            job = await here.add(JOB)
            (claim,) = await here.claim()
            await asyncio.to_thread(database.stop)
            for store in (here, there):
                with pytest.raises(Refused, match="does not answer") as refused:
                    await store.add(JOB)
                assert (refused.value.status, refused.value.retry_after) == (503, 2)
            with pytest.raises(Refused, match="does not answer"):
                await here.finish(claim, "done", b"1", None)
            writing = here.note(claim, [("improvement", b"1")])
            await asyncio.to_thread(database.start)
            with psycopg.connect(address) as connection:
                connection.execute("UPDATE orienteer_jobs SET lease = 0")  # as if it had been away for longer than that
            assert len(await writing) == 1
            assert await answered(there.counts) == (0, 1)
            await answered(lambda: here.finish(claim, "done", b"1", None))
            await eventually(there, job.id, "done")
            assert [event.data for event in (await there.events(job.number, 0))[0]] == [b"1"]

    asyncio.run(run())


def test_a_cancelled_task_ends_though_its_connection_broke(address: str) -> None:
    """A server once did not stop: its task was cancelled while the database went away, and heard of the latter only."""

    async def run() -> None:
        begun = asyncio.Event()

        async def work(connection: Any) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:  # what psycopg does where it cannot cancel the query
                raise psycopg.OperationalError("the connection is lost") from error

        async with stores(address, 1) as (store,):
            task = asyncio.create_task(store._do(work))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


@pytest.mark.parametrize("id", ["\0", "\udc80", "a" * 5000, "' OR 1=1 --", "%s"])
def test_any_text_may_be_asked_for(address: str, id: str) -> None:
    async def run() -> None:
        async with stores(address, 1) as (store,):
            assert await store.get(id) is await store.body(id) is await store.cancel(id) is None

    asyncio.run(run())


@pytest.mark.parametrize(
    "wrong",
    [
        f"postgresql://postgres:{PASSWORD}@127.0.0.1:1/postgres",
        f"postgresql://postgres:{PASSWORD}/@127.0.0.1/postgres",
        f"postgresql://postgres:{PASSWORD}@{PASSWORD}@127.0.0.1/postgres",
        f"postgresql://postgres:7/{PASSWORD}@127.0.0.1/postgres",
        f"postgresql://postgres:%zz{PASSWORD}@127.0.0.1/postgres",
        f"postgresql://postgres@127.0.0.1/postgres?password={PASSWORD}&port=1",
        f"postgresql://postgres@127.0.0.1/postgres?pass={PASSWORD}",
        f"mysql://postgres:{PASSWORD}@127.0.0.1/postgres",
    ],
)
def test_the_password_is_never_shown(cli: Cli, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PASSWORD not in repr(Settings(jobs="postgresql://" + wrong))
    assert Settings(jobs="postgresql://" + wrong).public.jobs == ""
    (tmp_path / "address").write_text(wrong + "\n")
    for options in (("--jobs-file", tmp_path / "address"), ("--jobs", wrong), ()):
        monkeypatch.setenv("ORIENTEER_JOBS", wrong)
        found = cli("serve", "--port", "0", *options)
        assert (found.status, found.err.count("\n")) == (2, 1)
        assert "--jobs" in found.err
        assert PASSWORD not in found.err + found.out
    assert PASSWORD not in cli("serve", "--help").out


def test_a_wrong_password_is_told_without_it(database: Postgres, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORIENTEER_JOBS", database.address.replace(PASSWORD, "not-this-one"))
    found = cli("serve", "--port", "0")
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert "password authentication failed" in found.err
    assert "not-this-one" not in found.err


def test_the_address_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    (tmp_path / "address").write_text(" postgresql://u:p@h/d\n")
    assert read_jobs(str(tmp_path / "address"), "", False) == "postgresql://u:p@h/d"
    assert read_jobs("", "postgresql://u:p@h/d", False) == "postgresql://u:p@h/d"
    assert read_jobs("", "postgresql://u@h/d", True) == "postgresql://u@h/d"
    with pytest.raises(ValueError, match="must be without a password"):
        read_jobs("", "postgresql://u:p@h/d", True)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "orienteer.service.postgres")
    with pytest.raises(MissingExtra, match=r"pip install 'orienteer\[postgres\]'"):
        make_store(Settings(jobs="postgresql://h/d"))


@pytest.fixture(scope="module")
def shared(database: Postgres) -> str:
    """The address of the store that a pair of servers has."""
    return database.fresh()


@pytest.fixture(scope="module")
def pair(shared: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Two servers that share a store, which the tests below use in turn; the last one kills the first server."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    first, second = (Server(folder, solvers="auto", lease_seconds=3) for folder in folders)
    for server in (first, second):
        server.environment |= {"ORIENTEER_JOBS": shared}
        server.start()
    with contextlib.ExitStack() as stack:
        for server in (first, second):
            stack.callback(server.kill)
            server.wait_ready()
        yield first, second
    for server in (first, second):
        assert PASSWORD not in server.log.read_text()


def test_a_job_is_known_to_every_server(pair: tuple[Server, Server]) -> None:
    first, second = pair
    busy = [first.job(LONG) for _ in range(2)]  # one for the worker of each server
    until(lambda: all(first.get(path)["best"] for path in busy))
    keys = {"Idempotency-Key": "once"}
    path = first.job(SHORT, **keys)
    assert second.job(SHORT, **keys) == path
    assert second.client.post("/v1/jobs", json=LONG, headers=keys).status_code == 422
    seen = []
    with first.events(busy[0]) as here, second.events(busy[0]) as there:
        with first.events(busy[1]) as other:
            assert next(other)[0] == "improvement"
        assert next(here) == next(there)
        stopped = [server.client.delete(busy[0]).json() for server in pair]
        seen = [[(kind, number) for kind, number, _ in stream] for stream in (here, there)]
    assert seen[0] == seen[1]
    assert [number for _, number in seen[0]] == list(range(2, len(seen[0]) + 2))
    assert seen[0][-1][0] == "end"
    assert stopped[0] == stopped[1] == first.get(busy[0])
    assert (stopped[0]["status"], stopped[0]["result"]["prize"]) == ("cancelled", stopped[0]["best"]["prize"])
    assert second.client.delete(busy[1]).json()["status"] == "cancelled"
    assert first.ended(path) == second.ended(path)
    assert second.ended(path)["status"] == "done"


def test_a_database_that_is_away_is_told(database: Postgres, pair: tuple[Server, Server]) -> None:
    first, second = pair
    path = first.job(LONG | {"seconds": 3})
    until(lambda: first.get(path)["best"])
    with second.events(path) as events:
        assert next(events)[1] == 1
        database.stop()
        try:
            for server in pair:
                for answer in (
                    server.client.get("/readyz"),
                    server.client.get(path),
                    server.client.delete(path),
                    server.client.post("/v1/jobs", json=SHORT),
                ):
                    assert (answer.status_code, answer.json()["type"]) == (503, "/docs#store-away")
                    assert int(answer.headers["retry-after"]) > 0
                assert server.client.get("/healthz").status_code == 200
                assert server.client.get("/metrics").status_code == 200
                assert server.client.post("/v1/solve", json=SHORT).status_code == 200
        finally:
            database.start()
        rest = list(events)
    assert [number for _, number, _ in rest] == list(range(2, len(rest) + 2))
    assert json.loads(rest[-1][2])["status"] == "done"
    for server in pair:
        server.wait_ready()
        assert server.ended(path)["status"] == "done"
        assert server.ended(server.job(SHORT))["status"] == "done"
        log = server.log.read_text()
        assert "Traceback" not in log
        assert "the store of jobs is away: " in log
        assert "the store of jobs is back" in log


def test_a_killed_server_loses_nothing(pair: tuple[Server, Server], shared: str) -> None:
    first, second = pair
    long = [server.job(LONG | {"seconds": 3}) for server in pair]  # one for the worker of each server
    until(lambda: all(first.get(path)["best"] for path in long))
    paths = [server.job(SHORT | {"seed": seed}) for seed in range(4) for server in pair]
    first.kill()
    jobs = [second.ended(path) for path in paths + long]
    assert [job["status"] for job in jobs] == ["done"] * len(jobs)
    for server in (0, 1):
        results = [job["result"] for job in jobs[server : len(paths) : 2]]
        assert [result["seed"] for result in results] == list(range(4))
    assert [one["result"]["prize"] for one in jobs[: len(paths) : 2]] == [
        one["result"]["prize"] for one in jobs[1 : len(paths) : 2]
    ]
    with psycopg.connect(shared) as connection:
        query = "SELECT tries, count(*) FROM orienteer_jobs WHERE id = ANY(%s) GROUP BY 1 ORDER BY 1"
        tries = connection.execute(query, ([job["id"] for job in jobs],)).fetchall()
    assert tries == [(1, len(jobs) - 1), (2, 1)]
