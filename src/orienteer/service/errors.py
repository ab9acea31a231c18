"""Errors as problem documents (RFC 9457)."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

MEDIA = "application/problem+json"

TITLES = {
    "bad-request": "The request is malformed",
    "bad-json": "The body is not JSON that is read here",
    "bad-problem": "The problem is malformed",
    "bad-file": "The file cannot be read",
    "unsolvable": "The problem cannot be searched",
    "beyond-limits": "The request is beyond the limits of this service",
    "too-large": "The body is too large",
    "too-slow": "The body took too long to arrive",
    "key-reused": "The Idempotency-Key belongs to another request",
    "unauthorized": "A bearer token is needed",
    "unknown-host": "The service does not go by this name",
    "not-found": "There is no such thing here",
    "not-allowed": "The method is not allowed here",
    "not-acceptable": "No format that the request accepts",
    "wrong-media": "The body is of another media type",
    "no-result": "The job has no result",
    "busy": "Too many requests",
    "draining": "The service is stopping",
    "failed": "The search failed",
    "store-away": "The store of jobs does not answer",
    "not-ready": "The service is not ready",
}
"""What each kind of problem is called; the page /docs lists them."""


@dataclass
class Refused(Exception):
    """A request that is answered by a problem document."""

    status: int
    kind: str
    detail: str
    field: str | None = None
    retry_after: int | None = None

    def __reduce__(self) -> tuple[type["Refused"], tuple[Any, ...]]:
        return Refused, (self.status, self.kind, self.detail, self.field, self.retry_after)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with the document."""
        found = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return found | ({"WWW-Authenticate": "Bearer"} if self.status == HTTPStatus.UNAUTHORIZED else {})

    @property
    def content(self) -> bytes:
        """The document."""
        return json.dumps(
            {
                "type": f"/docs#{self.kind}",
                "title": TITLES[self.kind],
                "status": self.status,
                "detail": self.detail,
                "field": self.field,
            }
        ).encode()
