"""The body of a request, read within bounds of size, time and memory."""

import asyncio
import zlib
from collections.abc import AsyncIterator

from fastapi import Request

from orienteer.service.errors import Refused
from orienteer.service.settings import Settings

LARGE = 2**20
"""Bytes from which a body waits until few others of its kind are in memory."""
LARGE_AT_ONCE = 8
PIECE = 2**19
"""Bytes that are unpacked before others have their turn."""
GZIP = 31
"""What zlib calls the format of gzip with the largest window."""

_large = asyncio.Semaphore(LARGE_AT_ONCE)


async def read_body(request: Request, settings: Settings, media: str = "application/json") -> bytes:
    """The body of a request, unpacked if it came as gzip; or `Refused`: of another kind, too large, too slow."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media:  # also since pages of strangers may send other kinds, such as forms, without asking first
        raise Refused(415, "wrong-media", f"Content-Type must be {media}, got {given[:100]!r}")
    packed = is_packed(request)
    declared = request.headers.get("content-length", "")
    length = int(declared) if declared.isdecimal() and declared.isascii() and len(declared) < 20 else None
    if length is not None and length > settings.body_bytes:
        raise _too_large(length, settings.body_bytes)
    try:
        async with asyncio.timeout(settings.body_seconds):
            if length is not None and length < LARGE and not packed:
                return await _read(_bounded(request, settings), settings.body_bytes)
            async with _large:
                parts = _bounded(request, settings)
                if packed:
                    return await _read(_unpacked(parts), settings.unpacked_bytes)
                return await _read(parts, settings.body_bytes)
    except TimeoutError:
        raise Refused(408, "too-slow", f"the body took longer than {settings.body_seconds:g} s") from None


def is_packed(request: Request) -> bool:
    """Whether the body comes as gzip; `Refused` where it comes in a way that is not read."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity"):
        raise Refused(415, "wrong-media", f"Content-Encoding must be gzip or identity, got {encoding[:100]!r}")
    return encoding == "gzip"


async def _bounded(request: Request, settings: Settings) -> AsyncIterator[bytes]:
    """The body as it arrives, up to the most bytes that are allowed."""
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > settings.body_bytes:
            raise _too_large(size, settings.body_bytes)
        yield part


async def _unpacked(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What is packed, in pieces: who reads them can end before a small body has become a huge one."""
    inflate = zlib.decompressobj(GZIP)
    try:
        async for part in parts:
            left, full = part, True
            while (left or full) and not inflate.eof:
                piece = inflate.decompress(left, PIECE)
                left, full = inflate.unconsumed_tail, len(piece) == PIECE
                yield piece
                await asyncio.sleep(0)
            if inflate.eof and (left or inflate.unused_data):
                raise Refused(400, "bad-request", "the body goes on behind the end of its gzip data")
    except zlib.error as error:
        raise Refused(400, "bad-request", f"the body is not gzip: {error}") from error
    if not inflate.eof:
        raise Refused(400, "bad-request", "the gzip data of the body have no end")


async def _read(parts: AsyncIterator[bytes], most: int) -> bytes:
    """All parts as one, or `Refused` as soon as these are more than `most` bytes."""
    kept, size = list[bytes](), 0
    async for part in parts:
        size += len(part)
        if size > most:
            raise _too_large(size, most)
        kept.append(part)
    return b"".join(kept)


def _too_large(size: int, most: int) -> Refused:
    return Refused(413, "too-large", f"the body has {size} bytes or more, {most} are allowed")
