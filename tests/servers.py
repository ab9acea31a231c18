"""A server as a process of its own, on a free port of this machine."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
import numpy as np

PATIENCE = 120.0
"""Seconds after which something that should happen at once counts as never."""


class Server:
    """`orienteer serve` with a worker and a quick one; settings as keyword arguments."""

    def __init__(self, folder: Path, token: str = "", **settings: Any):
        given = {"port": 0, "workers": 1, "quick": 1, "store": folder / "jobs.sqlite3"} | settings
        self.log = folder / "log.txt"
        self.command = [sys.executable, "-m", "orienteer", "serve"]
        for name, value in given.items():
            self.command += [f"--{name.replace('_', '-')}", str(value)]
        self.environment = os.environ | ({"ORIENTEER_TOKEN": token} if token else {})
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Server":
        self.start()
        self.wait_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            print(self.log.read_text())
        self.kill()

    def start(self) -> None:
        """Starts the process and waits until it listens."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command, stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, self.log.read_text()
        self.url = found[0].rstrip("/")
        self.client = httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE)

    def wait_ready(self) -> None:
        """Waits until workers have warmed up."""
        until(lambda: self.client.get("/readyz").status_code == 200)

    def kill(self) -> None:
        """Kills the process, as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.client.close()

    def terminate(self) -> None:
        """Asks the process to stop gracefully."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    def workers(self) -> list[int]:
        """The ids of the worker processes."""
        assert self.process is not None
        found = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
        return found

    def job(self, body: dict[str, Any], **headers: str) -> str:
        """The path of a job that the server has accepted."""
        response = self.client.post("/v1/jobs", json=body, headers=headers)
        assert response.status_code == 202, response.text
        return response.headers["location"]

    def get(self, path: str) -> dict[str, Any]:
        """The JSON at a path."""
        response = self.client.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def ended(self, path: str) -> dict[str, Any]:
        """A job, when it has ended."""
        return until(lambda: job if (job := self.get(path))["finished"] is not None else None)

    @contextmanager
    def events(self, path: str, after: int | None = None) -> Iterator[Iterator[tuple[str, int, str]]]:
        """A stream of the events of a job: kind, number and data."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with self.client.stream("GET", f"{path}/events", headers=headers) as response:
            assert response.status_code == 200
            yield parsed(response.iter_lines())


def parsed(lines: Iterator[str]) -> Iterator[tuple[str, int, str]]:
    """The events in the lines of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            key, _, value = line.partition(": ")
            fields[key] = value
        elif fields:
            yield fields["event"], int(fields["id"]), fields["data"]
            fields = {}


def until(condition: Callable[[], Any]) -> Any:
    """What a condition returns as soon as it is true."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return value


def problem(size: int = 20, seed: int = 0, limit: float = 2.0) -> dict[str, Any]:
    """A random problem as the service takes it."""
    random = np.random.default_rng(seed)
    points, prizes = random.random((size, 2)).round(3), random.integers(1, 100, size)
    return {"limit": limit, "prizes": prizes.tolist(), "coords": points.tolist()}
