"""Jobs: accepted, streamed, cancelled, forgotten."""

import json
from pathlib import Path
from typing import Any

import pytest

from orienteer import check_plan
from orienteer.data.json_file import problem_fields
from servers import Server, problem, until

LONG: dict[str, Any] = {"problem": problem(100, limit=4.0), "seconds": 60}
SHORT: dict[str, Any] = {"problem": problem(), "steps": 100}


def test_a_job_is_what_a_call_gives(server: Server) -> None:
    path = server.job(SHORT)
    job = server.ended(path)
    answer = server.client.post("/v1/solve", json=SHORT).json()
    assert (job["status"], job["reason"]) == ("done", None)
    assert job["created"] <= job["started"] <= job["finished"]
    assert job["result"]["routes"] == answer["routes"]
    assert job["best"]["routes"] == [route["nodes"] for route in answer["routes"]]


def test_the_same_key_gives_the_same_job(server: Server) -> None:
    key = {"Idempotency-Key": "once"}
    path = server.job(SHORT, **key)
    assert server.job(SHORT, **key) == path
    server.ended(path)
    assert server.job(SHORT, **key) == path
    assert server.job(SHORT, **{"Idempotency-Key": "twice"}) != path
    other = server.client.post("/v1/jobs", json=SHORT | {"seed": 1}, headers=key)
    assert (other.status_code, other.json()["title"]) == (422, "The Idempotency-Key belongs to another request")


def test_improvements_come_as_they_are_found(server: Server) -> None:
    path = server.job(LONG)
    instance = problem_fields("problem", LONG["problem"]).build("problem")
    seen = []
    with server.events(path) as events:
        for kind, number, data in events:
            seen.append((kind, number, json.loads(data)))
            if len(seen) == 3:
                server.client.delete(path)
    assert [number for _, number, _ in seen] == list(range(1, len(seen) + 1))
    assert [kind for kind, _, _ in seen[:-1]] == ["improvement"] * (len(seen) - 1)
    news = [data for _, _, data in seen[:-1]]
    for one in news:
        plan = check_plan(instance, one["routes"])
        assert (one["prize"], one["cost"]) == (plan.prize, plan.cost)
    ranks = [(one["prize"], -one["cost"]) for one in news]
    assert ranks == sorted(set(ranks))
    kind, last, job = seen[-1]
    assert (kind, job["status"]) == ("end", "cancelled")
    assert job["result"]["prize"] == news[-1]["prize"] == job["best"]["prize"]
    with server.events(path, after=2) as events:
        assert [number for _, number, _ in events] == list(range(3, last + 1))
    assert server.client.get(f"{path}/events", headers={"Last-Event-ID": str(last)}).status_code == 204


def test_cancelling(tmp_path: Path) -> None:
    with Server(tmp_path) as own:
        running, queued = own.job(LONG), own.job(LONG)
        until(lambda: own.get(running)["best"])
        assert own.get(queued)["status"] == "queued"
        gone = own.client.delete(queued).json()
        assert (gone["status"], gone["result"], gone["started"]) == ("cancelled", None, None)
        stopped = own.client.delete(running).json()
        assert stopped["status"] == "cancelled"
        assert stopped["result"]["prize"] >= stopped["best"]["prize"] > 0
        assert own.client.delete(running).json() == stopped
        assert own.ended(own.job(SHORT))["status"] == "done"  # the worker is free again


def test_too_many_jobs_are_refused(tmp_path: Path) -> None:
    with Server(tmp_path, queue=2, client_jobs=3, waiting=1) as own:
        running = own.job(LONG)
        until(lambda: own.get(running)["status"] == "running")
        jobs = [running, own.job(LONG), own.job(LONG)]
        full = own.client.post("/v1/jobs", json=LONG)
        assert (full.status_code, full.json()["detail"]) == (429, "2 jobs wait already")
        assert int(full.headers["retry-after"]) > 0
        own.client.delete(jobs.pop())
        jobs.append(own.job(LONG))
        for path in jobs:
            own.client.delete(path)
        assert own.ended(own.job(SHORT))["status"] == "done"


def test_a_client_has_its_share_of_the_queue(tmp_path: Path) -> None:
    with Server(tmp_path, client_jobs=1) as own:
        path = own.job(LONG)
        other = own.client.post("/v1/jobs", json=LONG)
        assert (other.status_code, other.json()["detail"]) == (429, "1 jobs of this client are unfinished")
        own.client.delete(path)
        own.client.delete(own.job(LONG))


def test_results_are_kept_for_a_while(tmp_path: Path) -> None:
    with Server(tmp_path, keep_seconds=1) as own:
        path = own.job(SHORT, **{"Idempotency-Key": "k"})
        until(lambda: own.client.get(path).status_code == 404)
        assert own.job(SHORT, **{"Idempotency-Key": "k"}) != path


@pytest.mark.parametrize("size", [3, 4])
def test_jobs_that_wait_together_are_searched_together(tmp_path: Path, size: int) -> None:
    """On a CPU here; a GPU makes this faster. One of the jobs differs in its seconds, so it goes alone."""
    asks = [{"problem": problem(15 + seed, seed), "solver": "cs-l", "seed": seed} for seed in range(size)]
    with Server(tmp_path, batching="on", batch_ms=2000) as own:
        paths = [own.job(ask) for ask in asks] + [own.job(asks[0] | {"seconds": 9})]
        jobs = [own.ended(path) for path in paths]
        assert [job["status"] for job in jobs] == ["done"] * (size + 1)
        assert len({job["finished"][:-9] for job in jobs}) <= 2
        for ask, job in zip(asks, jobs, strict=False):
            alone = own.client.post("/v1/solve", json=ask).json()
            assert job["result"]["routes"] == alone["routes"]
            assert job["result"]["seed"] == ask["seed"]
            assert job["best"]["prize"] == alone["prize"]
        started = {job["started"] for job in jobs[:size]}
        assert len(started) < size
