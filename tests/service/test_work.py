"""What workers do with requests that are almost right: whatever is changed in one, it is answered or refused."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orienteer import check_plan
from orienteer.data.json_file import problem_of
from orienteer.service.settings import Settings
from orienteer.service.work import GEOJSON, GPX, JSON, Kind, Reply, Task, perform, together_or_alone
from servers import problem

SETTINGS = Settings(places=50, solve_seconds=0.02, solve_most=0.1)

RULES: dict[str, Any] = {
    "names": [f"place {number}" for number in range(8)],
    "service": [0, 0.1, 0, 0, 0.2, 0, 0, 0],
    "required": [3],
    "windows": {"place 2": [[0, 1], [1.5, 2]], "5": [0.2, None]},
    "routes": [{"limit": 1.5, "name": "Anna"}, {"limit": 2, "opens": 0.5, "free_end": True}],
    "groups": [[4, "place 5"]],
    "budgets": [{"name": "fee", "most": 3, "weights": {"1": 2, "2": 2}}],
}
PLACES: dict[str, Any] = {
    "places": [
        {"name": "home", "lat": 48.1, "lon": 11.5, "prize": 0},
        {"name": "mill", "lat": 48.11, "lon": 11.52, "prize": 5, "windows": "09:00-12:00;14:00-17:00", "service": 10},
        {
            "name": "pond",
            "lat": 48.12,
            "lon": 11.49,
            "prize": 3,
            "required": True,
            "group": "water",
            "weights": {"fee": 2},
        },
        {"name": "lake", "lat": 48.13, "lon": 11.48, "prize": 4, "avoid": True, "group": "water"},
    ],
    "limit": "8:00",
    "speed": 80,
    "unit": "minutes",
    "routes": [{"opens": "09:00"}],
    "budgets": {"fee": 5},
}
TABLE: dict[str, Any] = {
    "limit": 300,
    "places": [{"name": name, "prize": 1} for name in "abc"],
    "table": {"code": "Ok", "durations": [[0, 60, None], [60, 0, 60], [90, 60, 0]]},
}
ASKS: list[dict[str, Any]] = [
    {"problem": problem(8), "steps": 5},
    {"problem": problem(8) | RULES, "steps": 5, "alternatives": 1},
    {"problem": PLACES, "steps": 5, "bound": True},
    {"problem": TABLE, "steps": 5, "initial": [[0, 1, 0]]},
    {"problem": problem(8), "routes": [[0, 1, 0]], "places": [2], "seconds": 0.01},
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10) | st.sampled_from((2**53, -(2**63), 10**30)),
    st.floats(-10, 10) | st.sampled_from((1e300, -0.0, 5e-324)),
    st.text(max_size=5) | st.sampled_from(("place 1", "09:00", "-1", "1:99", "\x00")),
    st.lists(st.integers(0, 9) | st.none() | st.text(max_size=2), max_size=3),
    st.dictionaries(st.sampled_from(("name", "limit", "0", "x")), st.integers(-1, 3), max_size=2),
)


def paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values in a value are."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, (dict, list)):
        inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    return [before, *(path for key, one in inner for path in paths(one, (*before, key)))]


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """A request with one to three values replaced, removed or doubled."""
    ask = copy.deepcopy(draw(st.sampled_from(ASKS)))
    for _ in range(draw(st.integers(1, 3))):
        if not ask:
            break
        *way, last = draw(st.sampled_from(paths(ask)[1:]))
        place: Any = ask
        for key in way:
            place = place[key]
        how = draw(st.sampled_from(("replace", "replace", "remove", "double")))
        if how == "replace":
            place[last] = draw(ODD)
        elif how == "remove":
            del place[last]
        elif isinstance(place, list):
            place.append(copy.deepcopy(place[last]))
    return ask


def done(ask: dict[str, Any], media: str = JSON) -> Reply:
    """The reply of a worker."""
    kind: Kind = "explain" if "routes" in ask else "solve"
    return perform(Task(kind, json.dumps(ask).encode(), media), SETTINGS, "cpu", lambda *_: None, lambda: False)


@pytest.mark.parametrize("ask", ASKS)
def test_the_requests_are_right(ask: dict[str, Any]) -> None:
    reply = done(ask)
    assert reply.status == 200, reply.content
    assert "routes" in ask or json.loads(reply.content)["routes"]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changed(), st.sampled_from((JSON, GEOJSON, GPX)))
def test_a_changed_request_is_answered_or_refused(ask: dict[str, Any], media: str) -> None:
    reply = done(ask, media)
    if reply.status != 200:
        assert reply.status in (400, 406, 422)
        assert json.loads(reply.content)["detail"]
    elif "routes" not in ask and media == JSON:
        found = json.loads(reply.content)
        if found["routes"] is not None:
            check_plan(problem_of(ask["problem"]), [route["nodes"] for route in found["routes"]])


def batch(*asks: dict[str, Any]) -> tuple[Reply, ...]:
    """The replies to jobs that are searched together."""
    task = Task("batch", b"", parts=tuple(json.dumps(ask).encode() for ask in asks))
    return perform(task, SETTINGS, "cpu", lambda *_: None, lambda: False).parts


def test_a_bad_job_of_a_batch_fails_alone() -> None:
    tried: list[list[int]] = []

    def work(items: Sequence[int]) -> list[Reply]:
        tried.append(list(items))
        if 7 in items:
            raise ZeroDivisionError("seven")
        return [Reply(200, b"%d" % item) for item in items]

    replies = together_or_alone(work, [5, 7, 9])
    assert tried == [[5, 7, 9], [5], [7], [9]]
    assert [reply.status for reply in replies] == [200, 500, 200]
    assert [replies[0].content, replies[2].content] == [b"5", b"9"]
    assert "ZeroDivisionError" in json.loads(replies[1].content)["detail"]
    assert [reply.content for reply in together_or_alone(work, [1, 2])] == [b"1", b"2"]
    assert tried[4:] == [[1, 2]], "what works together is not done again"
    assert together_or_alone(work, []) == []


def test_too_little_memory_ends_a_batch() -> None:
    def work(items: Sequence[int]) -> list[Reply]:
        raise MemoryError

    with pytest.raises(MemoryError):
        together_or_alone(work, [1, 2])
    with pytest.raises(MemoryError):
        together_or_alone(work, [1])


def test_jobs_of_a_batch_are_answered_in_their_order() -> None:
    asks = [{"problem": problem(8, seed), "solver": "cs-l", "steps": 5} for seed in range(3)]
    first, refused, last = batch(asks[0], asks[1] | {"problem": {"limit": 1}}, asks[2])
    assert (first.status, refused.status, last.status) == (200, 400, 200)
    for ask, reply in ((asks[0], first), (asks[2], last)):
        routes = [route["nodes"] for route in json.loads(reply.content)["routes"]]
        assert check_plan(problem_of(ask["problem"]), routes).prize == json.loads(reply.content)["prize"]
        assert reply.news is not None
