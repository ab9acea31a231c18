"""The settings of the service: each is a field here, an option of `orienteer serve` and a variable ORIENTEER_NAME."""

import ipaddress
import math
import os
import socket
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PREFIX = "ORIENTEER_"
TOKEN = f"{PREFIX}TOKEN"
"""The environment variable that holds the bearer token: no option does, since command lines can be read by others."""
SCHEMES = ("postgresql://", "postgres://")
"""How the address of a store that servers share begins."""
ENGINES = ("processes", "ray")
MAY_BE_ZERO = ("port", "workers", "quick", "alternatives")
JOBS = f"{PREFIX}JOBS"
"""The environment variable that holds the address of the store that servers share."""
SHORTEST_LEASE = 0.1
"""Leases are renewed three times in their time, so a shorter one would keep servers busy."""
SHORTEST_TOKEN = 16
"""A token with fewer characters can be guessed."""


def setting(default: Any, text: str) -> Any:
    """A field with a default and a line of text for the help of `orienteer serve`."""
    return field(default=default, metadata={"text": text})


@dataclass(frozen=True)
class Settings:
    """What an operator can set."""

    host: str = setting("127.0.0.1", "Address to listen on; beyond this machine only with a token.")
    port: int = setting(8000, "Port to listen on; 0 for any free one.")
    workers: int = setting(0, "Processes that search, one core each; 0 for one a core.")
    quick: int = setting(1, "Processes besides, for requests whose answer somebody waits for.")
    memory_mb: int = setting(2048, "Memory of a worker process of this machine.")
    engine: str = setting("processes", "Where workers run: processes (of this machine) or ray (on a Ray cluster).")
    address: str = setting("", "The Ray cluster of --engine ray; by default one that is started on this machine.")
    store: str = setting("", "File that keeps jobs; by default in the user's state directory.")
    store_mb: int = setting(4096, "The most space that jobs and their results may take.")
    jobs: str = field(
        default="",
        repr=False,
        metadata={"text": "Instead of a file, a database that servers share: postgresql://USER@HOST/DATABASE."},
    )
    jobs_file: str = setting("", f"File that holds this address; or the variable {JOBS} does, such as with a password.")
    lease_seconds: float = setting(
        15.0, "How long a server that shares jobs may be silent before others take its jobs."
    )
    token_file: str = setting("", f"File that holds the bearer token; or the variable {TOKEN} does.")
    body_bytes: int = setting(16 * 2**20, "The most bytes of a request.")
    unpacked_bytes: int = setting(32 * 2**20, "The most bytes of a request that comes as gzip, unpacked.")
    body_seconds: float = setting(30.0, "How long a request may take to arrive.")
    places: int = setting(1000, "The most places of a problem.")
    depth: int = setting(32, "How deeply JSON may be nested.")
    string_bytes: int = setting(10_000, "The most bytes of a text in JSON.")
    solve_seconds: float = setting(2.0, "Seconds of POST /v1/solve where the request does not say.")
    solve_most: float = setting(10.0, "The most seconds of POST /v1/solve and of POST /v1/explain.")
    job_most: float = setting(600.0, "The most seconds of a job.")
    waiting: int = setting(200, "The most requests that wait for an answer at a time.")
    wait_seconds: float = setting(60.0, "How long such a request waits for a worker before it is refused.")
    connections: int = setting(1000, "The most connections at a time.")
    queue: int = setting(1000, "The most jobs that wait for a worker.")
    client_jobs: int = setting(100, "The most unfinished jobs of a client.")
    streams: int = setting(500, "The most streams of events at a time.")
    alternatives: int = setting(10, "The most alternatives of a request.")
    keep_seconds: float = setting(3600.0, "How long results are kept.")
    grace_seconds: float = setting(10.0, "How long a worker may exceed the seconds of a search before it is killed.")
    drain_seconds: float = setting(30.0, "How long a graceful stop waits for searches; longer jobs are queued again.")
    batching: str = setting("auto", "Whether waiting cs-l jobs are searched together: auto (on a GPU), on or off.")
    batch_ms: float = setting(20.0, "How long a worker that searches jobs together waits for more of them.")
    batch_most: int = setting(64, "The most jobs searched together.")
    solvers: str = setting("auto,lns,compass,exact,cs-p,cs-l,tsili,tsili-beam", "The solvers that requests may name.")
    cors: str = setting("", "Origins whose pages may call the service, with commas between them.")
    hosts: str = setting("", "Further names of this host, with commas between them; needed without a token only.")
    proxies: str = setting("", "Addresses of proxies whose X-Forwarded-For is believed.")
    name: str = setting("", "A word before the ids of jobs, by which a proxy finds the server that has the job.")
    tiles_url: str = setting("", "Map tiles of the page, such as https://tile.example.org/{z}/{x}/{y}.png.")
    tiles_attribution: str = setting("", "What the page writes beside the map, as the owner of the tiles asks.")
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        for one in fields(self):
            value, least = getattr(self, one.name), 0 if one.name in MAY_BE_ZERO else 1
            if isinstance(one.default, int) and value < least:
                raise ValueError(f"{option(one.name)} must be at least {least}, got {value}")
            if isinstance(one.default, float) and not 0 <= value < math.inf:
                raise ValueError(f"{option(one.name)} must be a number from 0, got {value}")
        if self.batching not in ("auto", "on", "off"):
            raise ValueError(f"--batching must be auto, on or off, got {self.batching!r}")
        if self.lease_seconds < SHORTEST_LEASE:
            raise ValueError(f"--lease-seconds must be at least {SHORTEST_LEASE:g}, got {self.lease_seconds:g}")
        if self.engine not in ENGINES:
            raise ValueError(f"--engine must be {' or '.join(ENGINES)}, got {self.engine!r}")
        if self.address and self.engine != "ray":
            raise ValueError(f"--address goes with --engine ray, got --engine {self.engine}")
        if not self.name.isascii() or not (self.name == "" or self.name.isalnum()):
            raise ValueError(f"--name must be letters and digits, got {self.name!r}")
        if self.jobs and not self.jobs.startswith(SCHEMES):  # the address is not shown, since it may hold a password
            raise ValueError(f"--jobs must be an address that begins with {' or '.join(SCHEMES)}")
        if self.token and len(self.token) < SHORTEST_TOKEN:
            raise ValueError(f"the token must have at least {SHORTEST_TOKEN} characters, got {len(self.token)}")

    @property
    def allowed(self) -> tuple[str, ...]:
        """The names of the solvers that requests may name."""
        return words(self.solvers)

    @property
    def public(self) -> "Settings":
        """These settings without the secrets, for worker processes."""
        return replace(self, token="", jobs="")

    @property
    def store_path(self) -> Path:
        """The file that keeps jobs."""
        if self.store:
            return Path(self.store)
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(state) / "orienteer" / "jobs.sqlite3"


def option(name: str) -> str:
    """The option of `orienteer serve` for a field."""
    return f"--{name.replace('_', '-')}"


def words(text: str) -> tuple[str, ...]:
    """The words of a text with commas between them."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def read_token(path: str) -> str:
    """The bearer token: in a file, or else in the environment; empty where there is none."""
    if path:
        return Path(path).read_text().strip()
    return os.environ.get(TOKEN, "").strip()


def read_jobs(path: str, given: str, on_command_line: bool) -> str:
    """The address of the store that servers share: in a file, or else as given; empty where there is none.

    A password is refused on a command line, which others can read.
    """
    if path:
        return Path(path).read_text().strip()
    if on_command_line and (urlsplit(given).password or "password=" in given):
        raise ValueError(f"--jobs must be without a password, which others could read: use --jobs-file or {JOBS}")
    return given.strip()


def check_reach(settings: Settings) -> None:
    """Raises a ValueError where other machines could reach a service that asks for no token."""
    if not settings.token and not is_loopback(settings.host):
        raise ValueError(
            f"--host {settings.host} can be reached from other machines, so a token is needed: "
            f"--token-file or the variable {TOKEN}"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address or name."""
    try:
        found = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return bool(found) and all(ipaddress.ip_address(str(one[4][0]).split("%")[0]).is_loopback for one in found)
