"""Kills the server and its workers at any moment, again and again: every accepted job must end, none twice.

    python benchmarks/service_kills.py --kills 100

A client hands in jobs all the time. What it could not hand in because the server was killed, it sends again with the
same key, so the store must have exactly one job for each key.
"""

import argparse
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx

from servers import Server, problem


def main() -> None:
    """Prints what became of the jobs; exits with 1 if one is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), workers=2, solvers="auto", queue=100_000, client_jobs=100_000)
        client = _Client(server, random.Random(arguments.seed))
        server.start()
        for number in range(arguments.kills):
            client.hand_in_until_killed()
            server.start()
            if number % 10 == 9:
                print(f"{number + 1} kills, {len(client.paths)} jobs accepted", flush=True)
        client.hand_in()
        lost = [path for path in client.paths.values() if server.client.get(path).status_code != 200]
        jobs = [server.ended(path) for path in client.paths.values() if path not in lost]
        server.kill()
        with closing(sqlite3.connect(Path(folder) / "jobs.sqlite3")) as store:
            (rows,) = store.execute("SELECT count(*) FROM jobs").fetchone()
            (check,) = store.execute("PRAGMA integrity_check").fetchone()
    odd = [job for job in jobs if not _is_sound(job)]
    print(
        f"{arguments.kills} kills of the server, {client.killed} of workers; {Counter(job['status'] for job in jobs)}"
    )
    print(
        f"{len(client.paths)} jobs accepted, {rows} in the store, {len(lost)} lost, {len(odd)} odd; the store: {check}"
    )
    print("reasons:", *sorted({job["reason"] for job in jobs if job["reason"]}), sep="\n    ")
    sys.exit(bool(lost or odd or rows != len(client.paths) or check != "ok"))


def _is_sound(job: dict[str, Any]) -> bool:
    """Whether a job is done with a result, or failed with a reason."""
    if job["status"] == "failed":
        return bool(job["reason"]) and job["result"] is None
    return job["status"] == "done" and job["result"]["prize"] >= job["best"]["prize"]


class _Client:
    """Hands in jobs, each with a key of its own."""

    def __init__(self, server: Server, dice: random.Random):
        self.server, self.dice = server, dice
        self.number = self.killed = 0
        self.paths: dict[str, str] = {}

    def hand_in_until_killed(self) -> None:
        """Hands in jobs until the server is killed, which happens at a random moment within two seconds or so."""
        timer = threading.Timer(self.dice.random() * self.dice.choice((0.1, 1.0, 5.0)), self.server.process.kill)
        timer.start()
        with suppress(httpx.TransportError):
            while True:
                self.hand_in()
                if self.dice.random() < 0.1:
                    self._kill_workers()
                time.sleep(self.dice.random() * 0.1)
        timer.join()
        self.server.kill()

    def hand_in(self) -> None:
        """Hands in the next job, or the one that was on its way when the server was killed."""
        key = f"job {self.number}"
        ask = {"problem": problem(30, self.number), "steps": 10 ** (2 + self.number % 4), "seed": self.number}
        self.paths[key] = self.server.job(ask, **{"Idempotency-Key": key})
        self.number += 1

    def _kill_workers(self) -> None:
        with suppress(OSError):
            for pid in self.server.workers():
                if self.dice.random() < 0.5:
                    os.kill(pid, 9)
                    self.killed += 1


if __name__ == "__main__":
    main()
