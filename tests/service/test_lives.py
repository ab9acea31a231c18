"""Processes die: workers, the server, all at once. No accepted job is lost, none ends twice."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from servers import Server, problem, until

LONG: dict[str, Any] = {"problem": problem(100, limit=4.0), "seconds": 60}
LARGE: dict[str, Any] = {"problem": problem(900, limit=4.0), "seconds": 10}
"""A request that a thread sends to the worker."""
SHORT: dict[str, Any] = {"problem": problem(), "steps": 100}


def serving(folder: Path, **settings: Any) -> Server:
    """A server that starts fast, since it knows one solver."""
    return Server(folder, solvers="auto", **settings)


def end(pid: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Sends a signal to a worker that may be gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, by)


def test_a_job_is_tried_once_more_when_its_worker_dies(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        path = own.job(LONG | {"seconds": 2})
        until(lambda: own.get(path)["best"])
        before = own.workers()
        for pid in before:
            end(pid)
        assert own.ended(path)["status"] == "done"
        assert not set(before) & set(own.workers())
        assert own.client.post("/v1/solve", json=SHORT).status_code == 200
        assert f"orienteer_workers_replaced {len(before)}.0" in own.client.get("/metrics").text
        with own.events(path) as events:
            numbers = [number for _, number, _ in events]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_job_fails_with_a_reason_when_its_worker_dies_twice(tmp_path: Path) -> None:
    with serving(tmp_path) as own:
        path = own.job(LONG)
        started = until(lambda: own.get(path)["started"])
        for _ in range(2):
            until(lambda: own.get(path)["best"])
            for pid in own.workers():
                end(pid)
            started = until(
                lambda before=started: (
                    job
                    if (job := own.get(path))["status"] == "failed" or job["started"] not in (None, before)
                    else None
                )
            )["started"]
        job = own.ended(path)
        assert (job["status"], job["result"]) == ("failed", None)
        assert job["reason"] == "tried 2 times; a worker was killed by SIGKILL"
        assert job["best"]["prize"] > 0
        assert own.ended(own.job(SHORT))["status"] == "done"


def test_a_worker_that_hangs_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path, grace_seconds=1) as own:
        path = own.job(LONG | {"seconds": 1})
        until(lambda: own.get(path)["best"])
        stopped = own.workers()
        for pid in stopped:
            end(pid, signal.SIGSTOP)
        assert own.ended(path)["status"] == "done"
        assert "a worker took longer than 2 s" in own.log.read_text()
        for pid in stopped:  # who is stopped and idle does not see the server end
            end(pid)


def test_a_worker_has_so_much_memory_and_no_more() -> None:
    code = (
        "import numpy; from orienteer.service.worker import _limit_memory; _limit_memory(500)\n"
        "numpy.ones(2**25)\n"
        "try: numpy.ones(2**27)\n"
        "except MemoryError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_a_client_that_hangs_up_frees_its_worker(tmp_path: Path) -> None:
    """A page asks anew whenever a slider moves: the searches that nobody waits for end."""
    with serving(tmp_path, quick=0) as own:
        for ask in (LONG | {"seconds": 10}, LARGE, LARGE, LARGE, LONG | {"seconds": 10}):
            with pytest.raises(httpx.ReadTimeout):
                own.client.post("/v1/solve", json=ask, timeout=0.2)
        until(lambda: "orienteer_requests_waiting 0.0" in own.client.get("/metrics").text)
        until(lambda: "orienteer_workers_busy 0.0" in own.client.get("/metrics").text)
        assert own.client.post("/v1/solve", json=SHORT).json()["steps"] == 100
        assert "orienteer_workers_replaced 0.0" in own.client.get("/metrics").text


def test_a_graceful_stop_ends_what_runs_and_keeps_what_waits(tmp_path: Path) -> None:
    own = serving(tmp_path)
    with own:
        running, queued = own.job(LONG | {"seconds": 2}), own.job(LONG | {"seconds": 1})
        until(lambda: own.get(running)["status"] == "running")
        own.terminate()
        until(lambda: own.client.get("/readyz").status_code == 503)
        for path, body in (("/v1/solve", SHORT), ("/v1/jobs", SHORT)):
            stopping = own.client.post(path, json=body)
            assert (stopping.status_code, stopping.json()["title"]) == (503, "The service is stopping")
            assert int(stopping.headers["retry-after"]) > 0
        assert own.get(queued)["status"] == "queued"
        assert own.process is not None
        assert own.process.wait(timeout=60) == 0
        own.start()
        assert own.get(running)["status"] == "done"
        assert own.ended(queued)["status"] == "done"


def test_a_graceful_stop_takes_its_time_and_no_longer(tmp_path: Path) -> None:
    own = serving(tmp_path, drain_seconds=0.5)
    with own:
        path = own.job(LONG)
        until(lambda: own.get(path)["best"])
        with own.events(path) as events:
            next(events)
            own.terminate()
            assert all(kind != "end" for kind, _, _ in events)  # the stream ends, and the job does not
        assert own.process is not None
        assert own.process.wait(timeout=60) == 0
        own.start()
        until(lambda: own.get(path)["status"] == "running")  # once more, and this try counts as the first
        assert own.client.delete(path).json()["status"] == "cancelled"


def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    """As benchmarks/service_kills.py, which kills a hundred times."""
    dice = random.Random(1)
    own, paths = serving(tmp_path, workers=2), []
    own.start()
    for _ in range(6):
        for number in range(4):
            paths.append(own.job(SHORT | {"seed": number, "steps": 20_000}))
        if dice.random() < 0.5:
            until(lambda: own.get(dice.choice(paths))["status"] != "queued")
        for pid in own.workers():
            if dice.random() < 0.3:
                end(pid)
        own.kill()
        own.start()
        assert all(own.client.get(path).status_code == 200 for path in paths)
    try:
        jobs = [own.ended(path) for path in paths]
        assert {job["status"] for job in jobs} <= {"done", "failed"}
        assert all(job["reason"] for job in jobs if job["status"] == "failed")
        assert all((job["result"] is not None) == (job["status"] == "done") for job in jobs)
        prizes = {(job["result"]["seed"], job["result"]["prize"]) for job in jobs if job["result"]}
        assert len(prizes) == len({seed for seed, _ in prizes})  # the same search gives the same result
    finally:
        own.kill()
