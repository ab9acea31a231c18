"""What a job costs in SQLite and in PostgreSQL: accepted, claimed, three pieces of news, its result.

    python benchmarks/service_store.py
    python benchmarks/service_store.py --jobs postgresql://USER@HOST/DATABASE

Without --jobs PostgreSQL is started for it, from Debian's package, with data in a temporary folder, as SQLite's file.
Jobs go through one after the other, then fifty at a time. Both wait for the disk when a job is accepted.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from orienteer.service.settings import Settings
from orienteer.service.store import NewJob, Store, make_store
from postgres import postgres
from servers import problem

TOGETHER = 50
NEWS = [("improvement", b"x" * 500)]


def main() -> None:
    """Prints milliseconds of a job, of the clock and of this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="jobs of a measurement (default 500)")
    parser.add_argument("--jobs", default="", help="the database; by default one is started")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        address = arguments.jobs or stack.enter_context(postgres(durable=True)).address
        for _ in range(2):
            for name, place in (("SQLite", {"store": f"{folder}/jobs.sqlite3"}), ("PostgreSQL", {"jobs": address})):
                settings = Settings(queue=10**6, client_jobs=10**6, **place)
                asyncio.run(_measured(name, make_store(settings), arguments.count))


async def _measured(name: str, store: Store, count: int) -> None:
    await store.open()
    body = json.dumps({"problem": problem(50), "steps": 100}).encode()
    job = NewJob("client", body, hashlib.sha256(body).digest(), 1.0)
    for width in (1, TOGETHER):
        clock, own = time.perf_counter(), time.process_time()
        left = iter(range(count))
        await asyncio.gather(*(_one_after_the_other(store, job, left) for _ in range(width)))
        clock, own = time.perf_counter() - clock, time.process_time() - own
        each = f"{1000 * clock / count:.2f} ms a job, {1000 * own / count:.2f} ms of this process"
        print(f"{name:10} {width:2} at a time: {each}", flush=True)
    await store.close()


async def _one_after_the_other(store: Store, job: NewJob, left: Iterator[int]) -> None:
    for _ in left:
        await store.add(job)
        (claim,) = await store.claim()
        for _ in range(3):
            await store.note(claim, NEWS)
        await store.finish(claim, "done", job.body, None)


if __name__ == "__main__":
    main()
