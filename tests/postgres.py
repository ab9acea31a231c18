"""A PostgreSQL server for tests: Debian's binaries, data in a temporary folder, a free port of this machine."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg
import pytest

from servers import until

PASSWORD = "pass-word-of-the-store"


def binaries() -> Path | None:
    """The folder of initdb and postgres, of the newest version that is here."""
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    return max(found, key=lambda path: float(path.parent.name), default=None)


def skip_without() -> None:
    """Skips a test where PostgreSQL is absent; in continuous integration that is an error."""
    if binaries() is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is needed: apt-get install postgresql")
        pytest.skip("PostgreSQL is needed: apt-get install postgresql")


class Postgres:
    """A server with data in a folder; it may be stopped and started again. Unless `durable`, writes do not wait."""

    def __init__(self, folder: Path, durable: bool):
        found = binaries()
        assert found is not None
        self.binaries, self.folder, self.data = found, folder, folder / "data"
        self.sync = "on" if durable else "off"
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def fresh(self) -> str:
        """The address of a new and empty store: a schema of its own, which is made faster than a database."""
        name = f"s{secrets.token_hex(6)}"
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.address}?options=-csearch_path%3D{name}"

    def __enter__(self) -> "Postgres":
        self.user: dict[str, Any] = {}
        if os.getuid() == 0:  # initdb refuses to run as root
            self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(self.folder, "nobody", "nogroup")
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        command = ["initdb", "-D", self.data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", secret, "-N"]
        self._run(*command, "--encoding=UTF8", "--locale=C")
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(signal.SIGQUIT)

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": ""}
        options |= {"fsync": self.sync, "max_connections": 50}
        command = [self.binaries / "postgres", "-D", self.data, *(f"--{key}={value}" for key, value in options.items())]
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log, cwd=self.folder, **self.user)
        until(self._answers)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.address).close()
        except psycopg.OperationalError:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()
            return False
        return True

    def stop(self, by: signal.Signals = signal.SIGINT) -> None:
        """Stops the server: SIGINT ends its sessions, SIGQUIT ends everything at once."""
        if self.process is not None:
            self.process.send_signal(by)
            self.process.wait()
            self.process = None

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.binaries / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False, **self.user)
        assert done.returncode == 0, done.stderr


@contextmanager
def postgres(durable: bool = False) -> Iterator[Postgres]:
    """A context with a running server; skips where PostgreSQL is absent."""
    skip_without()
    with tempfile.TemporaryDirectory() as folder, Postgres(Path(folder), durable) as running:
        yield running
