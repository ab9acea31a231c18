"""Searches on another machine, by the service of `orienteer serve`."""

import gzip
import http.client
import json
import math
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import numpy as np

from orienteer.data.json_file import problem_dict
from orienteer.data.text import FilePath
from orienteer.model.errors import OrienteerError
from orienteer.model.given import lists_of
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.result import Result
from orienteer.model.spelling import did_you_mean
from orienteer.model.tour import Tour

OnNews = Callable[[dict[str, Any]], None]
"""Called with prize, cost, bound, gap, seconds and routes of every improvement."""

TRIES = 5
"""How often a request is sent before a server counts as out of reach."""
LARGE = 2**20
"""Bytes from which a problem is sent compressed: a table of costs between 1,000 places has 18 million."""
SILENCE = 60.0
"""Seconds without a sign of life, which comes four times as often, after which a connection counts as lost."""
BROKEN = (OSError, http.client.HTTPException)
"""What a connection raises that breaks off, before an answer or in the middle of it."""


class ServiceError(OrienteerError):
    """A search by a service that gave no result; the message says why, in one line."""

    status: int | None
    """The HTTP status of the answer, such as 422; None where the server was out of reach, or the search failed."""
    field: str | None
    """What is wrong in the request, such as ``problem.limit``; None where the server names no field."""

    def __init__(self, message: str, status: int | None = None, field: str | None = None):
        self.status, self.field = status, field
        super().__init__(message)

    def __reduce__(self) -> tuple[type["ServiceError"], tuple[str, int | None, str | None]]:
        return ServiceError, (str(self), self.status, self.field)


class Options(TypedDict, total=False):
    """What a request may say beside its problem; what is left out, or None, is left to the service."""

    solver: str | None
    seconds: float | None
    steps: int | None
    seed: int
    alternatives: int
    """How many plans besides the best."""
    bound: bool
    initial: Sequence[int] | Sequence[Sequence[int]] | Tour | Plan | Result | None
    """A plan to begin with, in any form that `orienteer.solve` takes."""
    hint: Sequence[int] | Sequence[Sequence[int]] | Tour | Plan | Result | None
    """The same, left aside where it breaks a rule: the plan from before a change."""


INSTEAD = {
    "stop": "write seconds= or steps=",
    "limit": "write it into the problem, as by read(file, limit=...)",
    "start": "write it into the problem, as by read(file, start=...)",
    "end": "write it into the problem, as by read(file, end=...)",
    "on_progress": "write on_news=",
    "cancelled": "call Service.cancel from another thread",
}
"""What to do in place of options that `orienteer.solve` has and a service has not."""


class Service:
    """A service, by its address and token. Threads need an object each, which knows the job that `cancel` ends."""

    def __init__(self, url: str, token: str = ""):
        self.url = url.rstrip("/")
        self.headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self.job: str | None = None

    def solve(
        self, instance: Instance | FilePath, on_news: OnNews = lambda news: None, **options: Unpack[Options]
    ) -> Result:
        """The result of a search; its `status` is "none found" or "infeasible" where there is no plan.

        The problem may be a file of this machine. An option that there is not raises a `ValueError`.
        """
        _check_options(options)
        if not isinstance(instance, Instance):
            from orienteer.data.files import read  # here: readers take a while to load

            instance = read(instance)
        body = json.dumps(_request(instance, options), separators=(",", ":"), default=_plain).encode()
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        if len(body) > LARGE:
            body, headers["Content-Encoding"] = gzip.compress(body, compresslevel=1), "gzip"
        with self._ask("POST", "/v1/jobs", body, headers) as response:
            self.job = response.headers["Location"]
        job = self._follow(self.job, on_news)
        if job["result"] is None:
            raise ServiceError(f"{self.url}: the job is {job['status']}: {job['reason'] or 'there is no plan yet'}")
        return replace(Result.from_dict(job["result"]), instance=instance)

    def cancel(self) -> None:
        """Ends the search with its best plan so far; returns at once."""
        if self.job is not None:
            threading.Thread(target=self._ask, args=("DELETE", self.job), daemon=True).start()

    def _follow(self, job: str, on_news: OnNews) -> dict[str, Any]:
        """The job when it has ended; a stream that breaks off is taken up again behind its last event."""
        last, failures = 0, 0
        while True:
            try:
                with self._ask("GET", f"{job}/events", headers={"Last-Event-ID": str(last)}) as response:
                    for kind, number, data in _events(response):
                        last, failures = number, 0
                        if kind == "end":
                            return data
                        on_news(data)
            except BROKEN:
                pass
            failures += 1
            if failures > TRIES:
                raise ServiceError(f"{self.url}: the events of {job} break off again and again")
            time.sleep(0.2 * failures)

    def _ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
        """The response to a request, sent anew while the server is not there or busy."""
        request = urllib.request.Request(self.url + path, body, self.headers | (headers or {}), method=method)
        for failures in range(1, TRIES + 1):
            try:
                return urllib.request.urlopen(request, timeout=SILENCE)
            except urllib.error.HTTPError as error:
                again = error.code in (429, 503) and failures < TRIES
                wait, (detail, field) = error.headers.get("Retry-After", "1"), _told(error)
                if not again:
                    raise ServiceError(f"{self.url}: {detail}", error.code, field) from error
                time.sleep(float(wait) if wait.isdecimal() else 1.0)
            except BROKEN as error:
                if failures == TRIES:
                    reason = getattr(error, "reason", error)
                    raise ServiceError(f"{self.url} cannot be reached: {reason}") from error
                time.sleep(0.1 * 2**failures)
        raise AssertionError("the last try returns or raises")


def _check_options(names: Iterable[str]) -> None:
    """Raises a ValueError at the first name that is no option."""
    known = list(Options.__annotations__)
    for name in names:
        if name not in known:
            wish = INSTEAD.get(name, f"it has {', '.join(known)}{did_you_mean(name, known)}")
            raise ValueError(f"Service.solve has no option {name!r}: {wish}")


def _request(instance: Instance, options: Options) -> dict[str, Any]:
    """The body of a request, with plans as lists of nodes."""
    given = {"initial": options.get("initial"), "hint": options.get("hint")}
    plans = {key: lists_of(plan) for key, plan in given.items() if plan is not None}
    return {"problem": problem_dict(instance), **options, **plans}


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python; anything else cannot be sent."""
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"a request has numbers, texts and lists, got {value!r}")


def _events(lines: Iterator[bytes]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Kind, number and data of server-sent events."""
    fields: dict[str, str] = {}
    for line in lines:
        key, _, value = line.decode().rstrip("\r\n").partition(": ")
        if key:
            fields[key] = value
        elif "data" in fields:
            yield fields["event"], int(fields["id"]), json.loads(fields["data"])
            fields = {}


def _told(error: urllib.error.HTTPError) -> tuple[str, str | None]:
    """What a problem document says, and the field that it names."""
    try:
        document = json.loads(error.read())
        field = document.get("field")
        return str(document["detail"]), field if isinstance(field, str) else None
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return f"{error.code} {error.reason}", None


def fraction(news: dict[str, Any], seconds: float | None) -> float:
    """The share of the seconds that is used; NaN where there is no such limit."""
    return math.nan if not seconds else min(1.0, news["seconds"] / seconds)
