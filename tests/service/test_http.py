"""Each answer of the service: plans, and problem documents that name the field at fault."""

import asyncio
import gzip
import json
import os
import socket
import tracemalloc
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from orienteer import MaxSteps, Result, check_plan, solve
from orienteer.data.files import read, read_plan
from orienteer.data.json_file import problem_fields
from orienteer.model.explain import closest
from orienteer.service.body import read_body
from orienteer.service.errors import Refused
from orienteer.service.settings import Settings
from servers import Server, problem, until

BODY = {"problem": problem(), "steps": 100, "seed": 3}


def refused(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of a response."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status
    assert found.keys() == {"type", "title", "status", "detail", "field"}
    return found


def test_an_answer_is_that_of_a_call(server: Server) -> None:
    answer = server.client.post("/v1/solve", json=BODY).json()
    instance = problem_fields("problem", problem()).build("problem")
    result = solve(instance, stop=MaxSteps(100), seed=3, device="cpu")
    timed = ("seconds", "trace")
    assert {key: value for key, value in answer.items() if key not in timed} == {
        key: value for key, value in json.loads(json.dumps(result.to_dict())).items() if key not in timed
    }
    assert Result.from_dict(answer).plan == result.plan


def test_rules_names_alternatives_and_bounds_are_heard(server: Server) -> None:
    names = [f"place {number}" for number in range(20)]
    rules = {"names": names, "required": ["place 7"], "windows": {"place 3": [0, 1]}, "routes": 2}
    ask = {"problem": problem() | rules, "steps": 500, "alternatives": 1}
    answer = server.client.post("/v1/solve", json=ask).json()
    instance = problem_fields("problem", ask["problem"]).build("problem")
    plan = check_plan(instance, [route["nodes"] for route in answer["routes"]])
    assert 7 in plan.visited
    assert "place 7" in {name for route in answer["routes"] for name in route["names"]}
    assert len(answer["alternatives"]) == 1
    bounded = server.client.post("/v1/solve", json=BODY | {"bound": True, "seconds": 4}).json()
    assert bounded["bound"] >= bounded["prize"]
    assert bounded["gap"] == pytest.approx(1 - bounded["prize"] / bounded["bound"])


def test_a_plan_to_begin_with_is_never_made_worse(server: Server) -> None:
    best = server.client.post("/v1/solve", json=BODY).json()
    again = server.client.post("/v1/solve", json=BODY | {"steps": 0, "initial": [best["tour"]]}).json()
    assert again["prize"] == best["prize"]
    hinted = server.client.post("/v1/solve", json=BODY | {"steps": 0, "hint": [best["tour"]]}).json()
    assert hinted["prize"] == best["prize"]


def test_a_plan_is_taken_back_as_it_was_answered(server: Server) -> None:
    best = server.client.post("/v1/solve", json=BODY).json()
    for plan in (best["tour"], best["routes"], [best["tour"]]):
        for option in ("initial", "hint"):
            again = server.client.post("/v1/solve", json=BODY | {"steps": 0, option: plan}).json()
            assert again["tour"] == best["tour"], (option, plan)
        ask = {"problem": problem(), "routes": plan}
        assert server.client.post("/v1/explain", json=ask).status_code == 200
        assert server.client.post("/v1/write", json=ask | {"format": "json"}).json()["prize"] == best["prize"]


def test_a_hint_that_breaks_a_rule_is_left_aside(server: Server) -> None:
    alone = server.client.post("/v1/solve", json=BODY).json()
    for hint in ([[0, 1, 0], [0, 2, 0]], [[0, 99, 0]], [["mill"]], [], [[]], [[0, *range(1, 20), 0]]):
        found = server.client.post("/v1/solve", json=BODY | {"hint": hint}).json()
        assert found["tour"] == alone["tour"]
    assert refused(server.client.post("/v1/solve", json=BODY | {"hint": [[0.5]]}), 400)["field"] == "hint[0][0]"


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"problem": {}}, "problem", "prizes"),
        ({"problem": problem() | {"prizes": [1, "x"]}}, "problem.prizes[1]", "must be a number, got 'x'"),
        ({"problem": problem() | {"prices": []}}, "problem", "unknown key 'prices'"),
        ({"problem": 5}, "problem", "problem must be an object, got 5"),
        ({"solver": "os:system"}, "solver", "must be one of auto, lns"),
        ({"solver": "random"}, "solver", "must be one of auto, lns"),
        ({"weights": "/etc/passwd"}, "weights", "there is no option 'weights'; known are problem, solver,"),
        ({"second": 2}, "second", "; did you mean 'seconds'?"),
        ({"seconds": "2"}, "seconds", "seconds must be a valid number, got '2'"),
        ({"seconds": 0}, "seconds", "greater than 0"),
        ({"steps": -1}, "steps", "greater than or equal to 0"),
        ({"seed": True}, "seed", "valid integer"),
        ({"initial": [[0, 1.5]]}, "initial[0][1]", "valid integer"),
        ({"initial": [0, 1.5]}, "initial[1]", "valid integer"),
        ({"initial": [0, [1, 0]]}, "initial[1]", "valid integer"),
        ({"initial": [[0, 1, 0], {"nodes": [0]}]}, "initial[1]", "valid list"),
        ({"initial": [{"nodes": [0, 1.5]}]}, "initial[0].nodes[1]", "valid integer"),
        ({"initial": [{"stops": []}]}, "initial[0].nodes", "required"),
        ({"initial": 5}, "initial", "valid list"),
    ],
)
def test_malformed_requests_name_the_field(server: Server, change: dict[str, Any], field: str, words: str) -> None:
    for path in ("/v1/solve", "/v1/jobs"):
        found = refused(server.client.post(path, json=BODY | change), 400)
        assert found["field"] == field
        assert words in found["detail"]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"problem": problem() | {"limit": -1}}, "problem.limit", "limit must"),
        ({"problem": problem() | {"required": [3], "windows": {"3": [0, 0.01]}}}, None, "3"),
        ({"problem": problem(101)}, "problem.prizes", "at most 100"),
        ({"problem": problem() | {"required": [3]}, "solver": "cs-l"}, "solver", "cs-l has no required"),
        ({"initial": [[0, 99, 0]]}, "initial", "99"),
        ({"initial": [[0, "mill", 0]]}, "initial", "mill"),
        ({"alternatives": 11}, "alternatives", "at most 10"),
        ({"seconds": 1e9}, "seconds", "at most"),
    ],
)
def test_what_cannot_be_searched_is_told(server: Server, change: dict[str, Any], field: str | None, words: str) -> None:
    for path in ("/v1/solve", "/v1/jobs"):
        found = refused(server.client.post(path, json=BODY | change), 422)
        assert words in found["detail"]
        assert field is None or found["field"] == field


def test_a_search_that_is_too_long_to_wait_for_is_sent_to_the_jobs(server: Server) -> None:
    found = refused(server.client.post("/v1/solve", json=BODY | {"seconds": 60}), 422)
    assert found["detail"] == "seconds must be at most 10, got 60; for longer searches: POST /v1/jobs"
    found = refused(server.client.post("/v1/jobs", json=BODY | {"seconds": 1e6}), 422)
    assert found["detail"] == "seconds must be at most 600, got 1e+06"


def test_explanations_are_those_of_a_call(server: Server) -> None:
    best = server.client.post("/v1/solve", json=BODY).json()
    ask = {"problem": problem(), "routes": [best["tour"]]}
    instance = problem_fields("problem", problem()).build("problem")
    wanted = [one.to_dict() for one in closest(instance, check_plan(instance, [best["tour"]]))]
    assert server.client.post("/v1/explain", json=ask).json() == wanted
    place = wanted[0]["node"]
    (one,) = server.client.post("/v1/explain", json=ask | {"places": [place], "seconds": 0.1}).json()
    assert one.keys() == wanted[0].keys() | {"required"}
    assert any(place in nodes for nodes in one["required"]["routes"])
    for change, field in (({"places": [0]}, "places"), ({"routes": [[0, 5]]}, "routes"), ({"places": ["x"]}, "places")):
        assert refused(server.client.post("/v1/explain", json=ask | change), 422)["field"] == field


ON_EARTH = {
    "limit": 20_000,
    "places": [
        {"name": name, "lat": lat, "lon": lon, "prize": prize}
        for name, lat, lon, prize in (("home", 48.1, 11.5, 0), ("mill", 48.11, 11.52, 5), ("pond", 48.12, 11.49, 3))
    ],
}


@pytest.mark.parametrize("how", ["solve", "job"])
def test_plans_for_maps_and_devices(server: Server, how: str, tmp_path: Path) -> None:
    ask = {"problem": ON_EARTH, "steps": 10}
    path = tmp_path / "town.json"
    path.write_text(json.dumps(ON_EARTH))
    instance = read(path)
    job = server.job(ask)
    best = server.ended(job)["result"]["tour"]
    for media, suffix in (("application/geo+json", ".geojson"), ("application/gpx+xml", ".gpx")):
        accept = {"Accept": media}
        response = (
            server.client.post("/v1/solve", json=ask, headers=accept)
            if how == "solve"
            else server.client.get(job, headers=accept)
        )
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith(media)
        file = tmp_path / f"route{suffix}"
        file.write_bytes(response.content)
        assert read_plan(file, instance) == [best]
    plain = server.client.post("/v1/solve", json=BODY, headers={"Accept": "application/gpx+xml"})
    refused(plain, 406)


def test_an_answer_of_an_engine_is_read_as_it_comes(server: Server) -> None:
    table = {"code": "Ok", "durations": [[0, 60, None], [60, 0, 60], [90, 60, 0]]}
    ask = {"problem": ON_EARTH | {"limit": "0:10", "unit": "minutes", "table": table}, "steps": 10}
    answer = server.client.post("/v1/solve", json=ask)
    assert answer.status_code == 200, answer.text
    assert answer.json()["routes"][0]["names"] == ["home", "mill", "pond", "home"]
    assert answer.json()["cost"] == 3.5
    for path in ("/etc/passwd", "table.json"):
        assert refused(server.client.post("/v1/solve", json={"problem": ON_EARTH | {"table": path}}), 400)


def test_other_refusals(server: Server) -> None:
    ask = server.client
    refused(ask.get("/v1/nothing"), 404)
    assert refused(ask.get("/v1/jobs/nothing"), 404)["field"] == "id"
    refused(ask.delete("/v1/jobs/nothing"), 404)
    refused(ask.get("/v1/jobs/nothing/events"), 404)
    assert refused(ask.get("/v1/solve"), 405)
    refused(ask.post("/v1/solve", json=BODY, headers={"Accept": "text/html"}), 406)
    refused(ask.post("/v1/solve", content=b"x" * 300_000, headers={"Content-Type": "application/json"}), 413)
    chunks = (b"[" * 1000 for _ in range(300))
    refused(ask.post("/v1/solve", content=chunks, headers={"Content-Type": "application/json"}), 413)
    refused(ask.post("/v1/solve", content=json.dumps(BODY), headers={"Content-Type": "text/plain"}), 415)
    refused(ask.get("/v1/limits", headers={"Host": "evil.example"}), 421)
    assert refused(ask.post("/v1/jobs", json=BODY, headers={"Idempotency-Key": "k" * 300}), 400)["field"]


def packed(server: Server, body: bytes, encoding: str = "gzip") -> httpx.Response:
    """The answer to a body that says how it is packed."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    return server.client.post("/v1/solve", content=body, headers=headers)


def test_a_packed_body_is_unpacked_within_bounds(tmp_path: Path) -> None:
    body = json.dumps(BODY).encode()
    with Server(tmp_path, body_bytes=20_000, unpacked_bytes=2_000_000, solvers="auto") as own:
        answer = own.client.post("/v1/solve", json=BODY).json()["routes"]
        assert packed(own, gzip.compress(body)).json()["routes"] == answer
        assert packed(own, body, "identity").json()["routes"] == answer
        blanks = b" " * (2_000_000 - len(body))
        assert len(gzip.compress(blanks)) < 20_000
        assert packed(own, gzip.compress(body + blanks)).json()["routes"] == answer
        assert "2000000 are allowed" in refused(packed(own, gzip.compress(body + blanks + b" ")), 413)["detail"]
        assert "20000 are allowed" in refused(packed(own, gzip.compress(os.urandom(30_000))), 413)["detail"]
        refused(packed(own, body, "br"), 415)
        for broken, words in (
            (body, "not gzip"),
            (gzip.compress(body)[:-9], "have no end"),
            (gzip.compress(body) + b"more", "behind the end"),
            (gzip.compress(body) * 2, "behind the end"),
            (b"", "have no end"),
        ):
            assert words in refused(packed(own, broken), 400)["detail"]


def test_a_small_body_that_expands_is_refused_early() -> None:
    """A megabyte that would become a gigabyte: no more than a piece beyond the bound is unpacked."""
    bomb, sent = gzip.compress(bytes(2**30), 1), list[int]()
    assert len(bomb) < 5 * 2**20

    async def receive() -> dict[str, Any]:
        sent.append(1)
        part = bomb[65536 * (len(sent) - 1) : 65536 * len(sent)]
        return {"type": "http.request", "body": part, "more_body": len(sent) * 65536 < len(bomb)}

    headers = [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")]
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="too-large"):
            asyncio.run(read_body(request, Settings(unpacked_bytes=4 * 2**20)))
        assert tracemalloc.get_traced_memory()[1] < 12 * 2**20
    finally:
        tracemalloc.stop()
    assert len(sent) < 10


def test_what_a_page_or_an_operator_reads(server: Server) -> None:
    assert server.get("/healthz") == server.get("/readyz") == {"status": "ok"}
    limits = server.get("/v1/limits")
    assert (limits["places"], limits["seconds"], limits["tiles"]) == (100, 10.0, None)
    solvers = {one["name"]: one["handles"] for one in server.get("/v1/solvers")}
    assert "windows" in solvers["auto"]
    assert "random" not in solvers
    assert "/v1/jobs/{id}/events" in server.get("/openapi.json")["paths"]
    told = server.client.get("/docs").text
    assert "<code>service</code> How long a visit takes" in told
    for path in ("/", "/docs"):
        page = server.client.get(path)
        assert page.status_code == 200
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "http" not in page.text.replace(server.url, "").replace("http://www.w3.org", "") or path == "/"
    assert (
        "access-control-allow-origin" not in server.client.get("/v1/limits", headers={"Origin": "https://a.b"}).headers
    )


def test_a_token_is_asked_for_and_never_logged(tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    with Server(tmp_path, token=secret, cors="https://maps.example", quick=0, tiles_url="https://t.example/{z}") as own:
        assert own.get("/v1/limits")["tiles"]["url"] == "https://t.example/{z}"
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {secret}"}, {"X": secret}):
            for path in ("/v1/limits", "/v1/jobs/x", "/metrics"):
                response = httpx.get(own.url + path, headers=given)
                refused(response, 401)
                assert response.headers["www-authenticate"] == "Bearer"
        refused(httpx.post(f"{own.url}/v1/solve", json=BODY), 401)
        assert httpx.get(f"{own.url}/healthz").status_code == 200
        assert "img-src 'self' data: blob: https://t.example" in own.client.get("/").headers["content-security-policy"]
        allowed = own.client.get("/v1/limits", headers={"Origin": "https://maps.example"})
        assert allowed.headers["access-control-allow-origin"] == "https://maps.example"
        asked = {"Origin": "https://maps.example", "Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "authorization,content-type"
        assert httpx.options(f"{own.url}/v1/solve", headers=asked).status_code == 200  # browsers ask without the token
        unknown = httpx.get(f"{own.url}/v1/limits", headers={"Origin": "https://maps.example"})
        assert unknown.headers["access-control-allow-origin"] == "https://maps.example"
        own.client.get(f"/v1/jobs/{secret}?token={secret}")
        own.client.post("/v1/solve", json={"problem": secret})
        assert secret not in own.log.read_text()


def test_a_crowd_is_refused_by_a_problem_document(tmp_path: Path) -> None:
    """uvicorn's own limit would be answered by plain text."""
    with Server(tmp_path, connections=2, solvers="auto", token="correct-horse-battery") as own:
        address = own.url.removeprefix("http://").split(":")
        own.client.close()
        held = [socket.create_connection((address[0], int(address[1]))) for _ in range(3)]

        def asked(path: str) -> httpx.Response:
            return httpx.get(own.url + path, headers=own.headers)

        full = until(lambda: answer if (answer := asked("/v1/limits")).status_code == 503 else None)
        assert "connections are open, 2 are allowed" in refused(full, 503)["detail"]
        assert (full.headers["retry-after"], full.headers["connection"]) == ("1", "close")
        assert full.headers["x-content-type-options"] == "nosniff"
        assert asked("/healthz").status_code == 200
        for one in held:
            one.close()
        assert until(lambda: asked("/v1/limits").status_code == 200)


def test_what_is_no_http_is_refused_in_plain_text(server: Server) -> None:
    """As the documentation says: uvicorn answers before there is a request."""
    address = server.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1]))) as raw:
        raw.sendall(b"\x00\x01 nonsense\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"text/plain" in answer
