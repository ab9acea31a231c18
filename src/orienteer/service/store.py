"""What keeps jobs: the contract of a store, and the words that it speaks.

Two stores keep this contract, and the tests of tests/service/test_store.py run over both: SQLite (`sqlite.py`), a file
for one server, and PostgreSQL (`postgres.py`), which several servers share.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from orienteer.model.errors import MissingExtra
from orienteer.service.errors import Refused
from orienteer.service.settings import Settings

Status = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")

TRIES = 2
"""How often a job is begun before it fails."""
SERVER_ENDED = f"the server ended {TRIES} times while this job ran"
"""The reason of a job that failed since each server that began to search it ended."""
MOST_EVENTS = 1000
"""Events of a job that are kept; of a search with more, the first ones and its end are."""

SHOWN = "number, id, status, created, started, finished, tries, reason, best, result"
"""The columns of a `Job`, in both stores."""


@dataclass(frozen=True)
class NewJob:
    """A job that a client hands in."""

    client: str
    body: bytes
    digest: bytes
    seconds: float
    """How long the search may take."""
    key: str | None = None
    batch: str | None = None
    """Jobs with the same text here can be searched together."""


class Job(NamedTuple):
    """A job as it is shown."""

    number: int
    id: str
    status: Status
    created: float
    started: float | None
    finished: float | None
    tries: int
    reason: str | None
    best: bytes | None
    result: bytes | None


class Claim(NamedTuple):
    """A job that is handed to a worker."""

    number: int
    id: str
    body: bytes
    seconds: float
    tries: int
    batch: str | None
    best: bytes | None


class Event(NamedTuple):
    """An event of a job, numbered from 1."""

    number: int
    kind: str
    data: bytes


class Counts(NamedTuple):
    """How many jobs wait, and how many are searched."""

    queued: int
    running: int


Word = Literal["added", "changed", "cancelled", "lost"]
"""What a store tells its server: there are jobs to claim; another server did something to a job; a job that this server
searches was cancelled, or belongs to another server by now.
"""
Heard = Callable[[Word, str], None]
"""Called with a word and the id of the job; without an id the word is about all jobs."""


class Store(Protocol):
    """What keeps jobs. A store that does not answer raises `away()`."""

    async def open(self) -> None:
        """Makes the store ready; jobs of a server that ended are queued again, or fail, at once or after a while."""

    def listen(self, heard: Heard) -> None:
        """Lets `heard` be called, from now on, with what other servers do to the jobs."""

    async def close(self) -> None:
        """Closes the store when all that waits is written."""

    async def add(self, job: NewJob) -> Job:
        """The job, on disk when this returns; the earlier one with this client and key; `Refused` beyond limits."""

    async def get(self, id: str) -> Job | None:
        """The job of this id."""

    async def body(self, id: str) -> bytes | None:
        """The request that made a job."""

    async def claim(self, most: int = 1, batch: str | None = None, together: bool | None = None) -> list[Claim]:
        """The oldest queued jobs, now running: of this `batch`; or `together`: those with or without a batch."""

    def note(self, claim: Claim, news: Sequence[tuple[str, bytes]]) -> asyncio.Future[list[Event]]:
        """Adds events, kind and data, to a running job, before anything that is asked for after this call."""

    async def finish(self, claim: Claim, status: Status, result: bytes | None, reason: str | None) -> None:
        """Ends a job, unless it has been queued again or ended since it was claimed."""

    async def requeue(self, claim: Claim, forgive: bool = False) -> None:
        """Queues a running job again; `forgive` does not count the try."""

    async def cancel(self, id: str) -> Job | None:
        """The job, cancelled if it was queued; a running one is marked, and is not begun again."""

    async def events(self, number: int, after: int) -> tuple[list[Event], Job | None]:
        """The events of a job from the one behind `after` on, and the job if it has ended."""

    async def counts(self) -> Counts:
        """How many jobs wait, and how many are searched."""

    async def purge(self) -> int:
        """Forgets jobs that ended long ago, and says how many."""


def new_id(settings: Settings) -> str:
    """An id for a job; the name of the server is in it where there is one."""
    return f"{settings.name}-{secrets.token_hex(12)}" if settings.name else secrets.token_hex(12)


def check_known(job: NewJob, digest: bytes) -> None:
    """Refuses a job whose key came before with another body."""
    if digest != job.digest:
        raise Refused(422, "key-reused", "the Idempotency-Key was sent before with another body")


def check_room(settings: Settings, queued: int, own: int, taken: int, body: bytes) -> None:
    """Refuses a job where many wait already, of all clients or of its own, or where jobs take all the space."""
    if queued >= settings.queue:
        raise Refused(429, "busy", f"{queued} jobs wait already", retry_after=5)
    if own >= settings.client_jobs:
        raise Refused(429, "busy", f"{own} jobs of this client are unfinished", retry_after=5)
    if taken + len(body) > settings.store_mb * 2**20:
        raise Refused(429, "busy", "results of others take all the space; they are kept for a while", retry_after=60)


def away() -> Refused:
    """What a store raises that does not answer."""
    return Refused(503, "store-away", "the store of jobs does not answer; try again soon", retry_after=2)


def make_store(settings: Settings) -> Store:
    """The store that settings name, not opened yet."""
    if not settings.jobs:
        from orienteer.service.sqlite import SqliteStore

        return SqliteStore(settings.store_path, settings)
    try:
        from orienteer.service.postgres import PostgresStore
    except ImportError as error:
        raise MissingExtra("--jobs postgresql://...", "postgres") from error
    return PostgresStore(settings.jobs, settings)
