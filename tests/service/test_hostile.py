"""JSON from strangers is refused before it costs memory; anything else is decoded as Python does."""

import json
import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer.service.asked import Search, read_search
from orienteer.service.errors import Refused
from orienteer.service.hostile import decode
from orienteer.service.settings import Settings

SETTINGS = Settings(places=50)

BODIES = {
    "not a number": (b'{"limit": NaN}', "NaN is not JSON"),
    "infinity": (b'{"limit": -Infinity}', "-Infinity is not JSON"),
    "too large a number": (b'{"limit": 1e999}', "'1e999' is too large"),
    "too many digits": (b'{"limit": 1' + b"0" * 5000 + b"}", "digits"),
    "twice": (b'{"limit": 1, "limit": 2}', "'limit' appears twice"),
    "twice by an escape": (b'{"limit": 1, "\\u006cimit": 2}', "'limit' appears twice"),
    "deep": (b"[" * 9_000, "nested more than 32 deep"),
    "deep objects": (b'{"a":' * 40 + b"1" + b"}" * 40, "nested more than 32 deep"),
    "deep behind a text": (b'["\\"[",' + b"[" * 40 + b"]" * 41, "nested more than 32 deep"),
    "a long text": (b'["' + b"x" * 10_001 + b'"]', "longer than 10000 bytes"),
    "a long key": (b'{"' + b"x" * 10_001 + b'": 1}', "longer than 10000 bytes"),
    "a text without an end": (b'["' + b'\\"' * 20_000, "longer than 10000 bytes"),
    "many values": (b"[" + b"1," * 100_000 + b"1]", "values, at most"),
    "many lists": (b"[" + b"[]," * 10_500 + b"[]]", "lists and objects, at most"),
    "many texts": (b'"",' * 19_000 + b'""' * 8_000, "texts, at most"),
    "empty": (b"", "not JSON"),
    "a bare word": (b"limit", "not JSON"),
    "two values": (b"{} {}", "not JSON: Extra data"),
    "no text": (b'{"\xff": 1}', "not UTF-8"),
    "half a character": (b'{"name": "\\ud800"}', "not UTF-8"),
}


@pytest.mark.parametrize("name", BODIES)
def test_hostile_bodies_are_refused(name: str) -> None:
    body, words = BODIES[name]
    with pytest.raises(Refused) as caught:
        decode(body, SETTINGS)
    assert caught.value.status == 400
    assert words in caught.value.detail
    assert len(caught.value.detail) < 300


def test_a_large_body_costs_nothing() -> None:
    """Sixteen million brackets would take gigabytes as lists."""
    bodies = [b"[" * 2**24, b"[]," * 2**22, b'"' * 2**24, b'"a",' * 2**22, b"1," * 2**23]
    tracemalloc.start()
    try:
        for body in bodies:
            with pytest.raises(Refused):
                decode(body, Settings(places=100))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns, or how it refuses."""
    try:
        return call(*arguments)
    except Refused as refused:
        return refused


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_plain_json_is_decoded(value: Any, ascii_only: bool) -> None:
    try:
        body = json.dumps(value, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return
    found = outcome(decode, body, SETTINGS)
    half = r"\ud" in body.decode() and isinstance(found, Refused)  # half a character, written as an escape
    assert "not UTF-8" in found.detail if half else found == value


@given(st.binary(max_size=200) | st.text('[]{}",:0123456789.eE+-\\ntrufalsNIy ', max_size=200).map(str.encode))
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    found = outcome(decode, body, SETTINGS)
    if isinstance(found, Refused):
        assert found.status == 400
    else:
        assert found == json.loads(body)
        assert not isinstance(found, float) or math.isfinite(found)


@given(st.dictionaries(st.sampled_from(("problem", "seconds", "steps", "seed", "solver", "initial", "x")), VALUES))
def test_any_request_is_understood_or_refused(values: dict[str, Any]) -> None:
    body = json.dumps(values).encode()
    found = outcome(read_search, body, SETTINGS, True)
    assert isinstance(found, Search) or found.status in (400, 422)
