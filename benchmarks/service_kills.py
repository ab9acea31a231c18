"""Kills the server and its workers at any moment, again and again: every accepted job must end, none twice.

    python benchmarks/service_kills.py --kills 100
    python benchmarks/service_kills.py --kills 100 --jobs postgresql://USER@HOST/DATABASE
    python benchmarks/service_kills.py --kills 100 --jobs here

A client hands in jobs all the time. What it could not hand in because the server was killed, it sends again with the
same key, so the store must have exactly one job for each key. With --jobs two servers share a database, which must be
empty: one server after the other is killed, the client goes to whichever it likes, and a trigger takes down how often
jobs end. `here` starts PostgreSQL for it, from Debian's package, and every fifth time it is PostgreSQL that crashes.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx
import psycopg

from postgres import Postgres, postgres
from servers import Server, problem

TRIGGER = """
CREATE TABLE endings (id text NOT NULL, status text NOT NULL);
CREATE FUNCTION take_down() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.status IN ('done', 'failed', 'cancelled') THEN INSERT INTO endings VALUES (NEW.id, NEW.status); END IF;
        RETURN NEW;
    END $$;
CREATE TRIGGER take_down AFTER UPDATE ON orienteer_jobs FOR EACH ROW EXECUTE FUNCTION take_down();
"""


def main() -> None:
    """Prints what became of the jobs; exits with 1 if one is lost or ended twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", default="", help="the database that two servers share; `here` starts one")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(postgres(durable=True)) if arguments.jobs == "here" else None
        address = arguments.jobs if database is None else database.address
        servers = [_server(folder / name, address) for name in (("a", "b") if address else ("a",))]
        client = _Client(servers, random.Random(arguments.seed))
        for server in servers:
            server.start()
        if address:
            with psycopg.connect(address) as connection:
                connection.execute(TRIGGER)
        for number in range(arguments.kills):
            if database is not None and number % 5 == 4:
                client.hand_in_while_the_database_crashes(database)
            else:
                client.hand_in_while_one_is_killed()
            if number % 10 == 9:
                print(f"{number + 1} kills, {len(client.paths)} jobs accepted", flush=True)
        while not client.hand_in():  # the one that was on its way, of which the store may know
            time.sleep(0.5)
        asked = servers[-1]
        asked.wait_ready()
        lost = [path for path in client.paths.values() if asked.client.get(path).status_code != 200]
        jobs = [asked.ended(path) for path in client.paths.values() if path not in lost]
        for server in servers:
            server.kill()
        rows, wrong = _judged(address) if address else _judged_file(folder / "a" / "jobs.sqlite3")
    odd = [job for job in jobs if not _is_sound(job)]
    print(
        f"{arguments.kills - client.crashes} kills of servers, {client.killed} of workers, {client.crashes} crashes of"
        f" the database; {Counter(job['status'] for job in jobs)}; {client.refused} times 503"
    )
    print(
        f"{len(client.paths)} jobs accepted, {rows} in the store, {len(lost)} lost, {len(odd)} odd;"
        f" the store: {wrong or 'ok'}"
    )
    print("reasons:", *sorted({job["reason"] for job in jobs if job["reason"]}), sep="\n    ")
    sys.exit(bool(lost or odd or rows != len(client.paths) or wrong))


def _server(folder: Path, address: str) -> Server:
    folder.mkdir()
    limits = {"queue": 100_000, "client_jobs": 100_000, "workers": 1 if address else 2, "lease_seconds": 2}
    server = Server(folder, solvers="auto", **limits)
    server.environment |= {"ORIENTEER_JOBS": address}
    return server


def _judged_file(path: Path) -> tuple[int, str]:
    """How many jobs a file has, and what is wrong with it."""
    with closing(sqlite3.connect(path)) as store:
        (rows,) = store.execute("SELECT count(*) FROM jobs").fetchone()
        (check,) = store.execute("PRAGMA integrity_check").fetchone()
    return rows, "" if check == "ok" else check


def _judged(address: str) -> tuple[int, str]:
    """How many jobs a database has, and which of them did not end once."""
    with psycopg.connect(address) as database:
        (rows,) = database.execute("SELECT count(*) FROM orienteer_jobs").fetchone()
        tries = database.execute("SELECT tries, count(*) FROM orienteer_jobs GROUP BY 1 ORDER BY 1").fetchall()
        wrong = database.execute(
            "SELECT id, count(endings.id) FROM orienteer_jobs LEFT JOIN endings USING (id)"
            " GROUP BY 1 HAVING count(endings.id) != 1"
        ).fetchall()
    print("jobs by tries:", dict(tries))
    return rows, f"did not end once: {wrong}" if wrong else ""


def _is_sound(job: dict[str, Any]) -> bool:
    """Whether a job is done with a result, or failed with a reason."""
    if job["status"] == "failed":
        return bool(job["reason"]) and job["result"] is None
    return job["status"] == "done" and job["result"]["prize"] >= job["best"]["prize"]


class _Client:
    """Hands in jobs, each with a key of its own."""

    def __init__(self, servers: list[Server], dice: random.Random):
        self.servers, self.dice = servers, dice
        self.number = self.killed = self.crashes = self.refused = 0
        self.paths: dict[str, str] = {}

    def hand_in_while_one_is_killed(self) -> None:
        """Hands in jobs while a server is killed, at a random moment within two seconds or so, and started again."""
        victim = self.dice.choice(self.servers)
        timer = threading.Timer(self.dice.random() * self.dice.choice((0.1, 1.0, 5.0)), victim.process.kill)
        timer.start()
        while timer.is_alive() or self.dice.random() < 0.9 * (len(self.servers) > 1):
            with suppress(httpx.TransportError):
                self.hand_in()
            if self.dice.random() < 0.1:
                self._kill_workers()
            time.sleep(self.dice.random() * 0.1)
        timer.join()
        victim.kill()
        victim.start()

    def hand_in_while_the_database_crashes(self, database: Postgres) -> None:
        """Hands in jobs while the database ends at once, is away for a moment and comes back."""
        self.crashes += 1
        for act in (lambda: database.stop(signal.SIGQUIT), lambda: None, database.start, lambda: None):
            for _ in range(self.dice.randrange(20)):
                self.hand_in()
                time.sleep(self.dice.random() * 0.1)
            act()

    def hand_in(self) -> bool:
        """Whether the next job was accepted, or the one that was on its way when something died."""
        key = f"job {self.number}"
        ask = {"problem": problem(30, self.number), "steps": 10 ** (2 + self.number % 4), "seed": self.number}
        answer = self.dice.choice(self.servers).client.post("/v1/jobs", json=ask, headers={"Idempotency-Key": key})
        if answer.status_code == 503:
            self.refused += 1
            return False
        assert answer.status_code == 202, answer.text
        self.paths[key] = answer.headers["location"]
        self.number += 1
        return True

    def _kill_workers(self) -> None:
        with suppress(OSError):
            for pid in self.dice.choice(self.servers).workers():
                if self.dice.random() < 0.5:
                    os.kill(pid, 9)
                    self.killed += 1


if __name__ == "__main__":
    main()
