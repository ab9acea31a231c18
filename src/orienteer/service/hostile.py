"""JSON from strangers: what would cost memory is refused before it is decoded."""

import json
import re
from typing import Any

from orienteer.data.json_file import parse_json_text
from orienteer.model.errors import BadFile
from orienteer.service.errors import Refused
from orienteer.service.settings import Settings

TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""Texts and brackets; a text without an end reaches to the end of the body, so that nothing is read twice."""
QUOTE, OPENING = b'"'[0], b"[{"


def decode(body: bytes, settings: Settings) -> Any:
    """The values of a JSON body, or `Refused`: too large, too deep, too many values, a long text, no JSON at all."""
    most = max(settings.body_bytes, settings.unpacked_bytes)
    if len(body) > most:
        raise Refused(413, "too-large", f"the body has {len(body)} bytes, {most} are allowed")
    _check_counts(body, settings)
    _check_tokens(body, settings)
    try:
        values = parse_json_text("body", body.decode("utf-8"))
        if b"\\u" in body:  # a lone surrogate can be decoded, but no text with it can be sent
            json.dumps(values, ensure_ascii=False).encode()
    except UnicodeError as error:
        raise Refused(400, "bad-json", f"not UTF-8 text: {error.reason}") from error  # type: ignore[attr-defined]
    except BadFile as error:
        where = "" if error.line is None else f"line {error.line}: "
        raise Refused(400, "bad-json", f"{where}{error.message}") from error
    return values


def _check_counts(body: bytes, settings: Settings) -> None:
    """Refuses what has more values than the largest problem: two tables of costs, and some values for each place."""
    table, line = settings.places**2, settings.places + 100
    for what, count, most in (
        ("values", body.count(b",") + 1, 2 * table + 100 * line),
        ("texts", body.count(b'"') // 2, 4 * table + 100 * line),
        ("lists and objects", body.count(b"[") + body.count(b"{"), table + 50 * line),
    ):
        if count > most:
            raise Refused(400, "bad-json", f"the body has {count} {what}, at most {most} are read")


def _check_tokens(body: bytes, settings: Settings) -> None:
    depth = 0
    for match in TOKENS.finditer(body):
        first = body[match.start()]
        if first == QUOTE:
            if match.end() - match.start() > settings.string_bytes + 2:
                raise Refused(400, "bad-json", f"a text is longer than {settings.string_bytes} bytes")
        elif first in OPENING:
            depth += 1
            if depth > settings.depth:
                raise Refused(400, "bad-json", f"nested more than {settings.depth} deep")
        else:
            depth -= 1
