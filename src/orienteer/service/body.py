"""The body of a request, read within bounds of size, time and memory."""

import asyncio

from fastapi import Request

from orienteer.service.errors import Refused
from orienteer.service.settings import Settings

LARGE = 2**20
"""Bytes from which a body waits until few others of its kind are in memory."""
LARGE_AT_ONCE = 8

_large = asyncio.Semaphore(LARGE_AT_ONCE)


async def read_body(request: Request, settings: Settings, media: str = "application/json") -> bytes:
    """The body of a request, or `Refused`: of another media type, too large, too slow."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media:  # also since pages of strangers may send other kinds, such as forms, without asking first
        raise Refused(415, "wrong-media", f"Content-Type must be {media}, got {given[:100]!r}")
    declared = request.headers.get("content-length", "")
    length = int(declared) if declared.isdecimal() and declared.isascii() and len(declared) < 20 else None
    if length is not None and length > settings.body_bytes:
        raise _too_large(length, settings)
    try:
        async with asyncio.timeout(settings.body_seconds):
            if length is not None and length < LARGE:
                return await _read(request, settings)
            async with _large:
                return await _read(request, settings)
    except TimeoutError:
        raise Refused(408, "too-slow", f"the body took longer than {settings.body_seconds:g} s") from None


async def _read(request: Request, settings: Settings) -> bytes:
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > settings.body_bytes:
            raise _too_large(size, settings)
        parts.append(part)
    return b"".join(parts)


def _too_large(size: int, settings: Settings) -> Refused:
    return Refused(413, "too-large", f"the body has {size} bytes or more, {settings.body_bytes} are allowed")
