"""`orienteer solve --server`: the same command on another machine."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import Cli
from orienteer import Instance, OrienteerError, check_plan
from orienteer.client import Service, ServiceError
from orienteer.data.json_file import problem_fields
from orienteer.service.settings import Settings
from servers import Server, problem, until


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "town.json"
    names = [f"place {number}" for number in range(20)]
    path.write_text(json.dumps(problem() | {"names": names}))
    return path


OPTIONS = (
    ("--steps", "500"),
    ("--steps", "500", "--alternatives", "2", "--require", "place 5"),
    ("--steps", "500", "--routes", "2", "--limit", "1.5", "--seed", "4"),
    ("--solver", "tsili"),
)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_output_is_that_of_a_search_here(server: Server, cli: Cli, file: Path, options: tuple[str, ...]) -> None:
    here = cli("solve", file, *options, "--json")
    there = cli("solve", file, *options, "--json", "--server", server.url)
    assert (here.status, there.status, there.err) == (0, 0, "")
    one, other = json.loads(here.out), json.loads(there.out)
    assert one.keys() == other.keys()
    for key in one.keys() - {"seconds", "trace", "settings"}:
        assert one[key] == other[key], key
    tables = [cli("solve", file, *options, *where).out for where in ((), ("--server", server.url))]
    first, second = (re.sub(r" in \S+ s,", "", table) for table in tables)
    assert first == second


def test_a_route_to_begin_with_and_a_file_to_write(server: Server, cli: Cli, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "route.json"
    assert cli("solve", file, "--steps", "500", "--server", server.url, "--out", out).status == 0
    best = json.loads(out.read_text())
    again = cli("solve", file, "--steps", "0", "--initial", out, "--server", server.url, "--json")
    assert json.loads(again.out)["prize"] == best["prize"]
    assert cli("check", file, out).status == 0


def test_errors_are_one_line(server: Server, cli: Cli, file: Path) -> None:
    for options, words in (
        (("--beam", "5"), "--beam is for a search on this machine"),
        (("--device", "cpu"), "--device is for a search on this machine"),
        (("--set", "a=1"), "--set is for a search on this machine"),
        (("--solver", "random"), "solver must be one of auto"),
        (("--seconds", "1e6"), "seconds must be at most 600"),
    ):
        found = cli("solve", file, *options, "--server", server.url)
        assert found.status == 2
        assert words in found.err
        assert found.err.count("\n") == 1


def test_the_client_of_the_page_works(server: Server) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
    (block,) = re.findall(r"```py\n(.*?)```", page.read_text(), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(block.replace("http://127.0.0.1:8000", server.url), scope)
    assert scope["result"]["prize"] == 9.0
    assert len(block.strip().splitlines()) <= 11


def test_a_server_out_of_reach_is_told() -> None:
    instance = problem_fields("problem", problem()).build("problem")
    with pytest.raises(OrienteerError, match="cannot be reached") as caught:
        Service("http://127.0.0.1:9").solve(instance)
    assert isinstance(caught.value, ServiceError)
    assert (caught.value.status, caught.value.field) == (None, None)


def test_an_error_holds_the_status_and_the_field(server: Server) -> None:
    instance = problem_fields("problem", problem()).build("problem")
    with pytest.raises(ServiceError, match="seconds must be at most 600") as caught:
        Service(server.url).solve(instance, seconds=1e6)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.status, error.field) == (422, "seconds")
        assert str(error) == str(caught.value)
    with pytest.raises(ServiceError, match="solver must be one of") as caught:
        Service(server.url).solve(instance, solver="random")
    assert (caught.value.status, caught.value.field) == (400, "solver")


def test_an_answer_that_is_no_document_has_a_status(server: Server) -> None:
    instance = problem_fields("problem", problem()).build("problem")
    with pytest.raises(ServiceError) as caught:
        Service(f"{server.url}/nowhere").solve(instance)
    assert (caught.value.status, caught.value.field) == (404, None)


def test_news_come_as_they_are_found(server: Server) -> None:
    instance = problem_fields("problem", problem(80, limit=4.0)).build("problem")
    news: list[float] = []
    result = Service(server.url).solve(instance, lambda one: news.append(one["prize"]), steps=20_000)
    assert news == sorted(news)
    assert news[-1] == result.prize
    assert result.instance is instance


def test_a_plan_to_begin_with_comes_in_every_form(server: Server) -> None:
    instance = problem_fields("problem", problem()).build("problem")
    service = Service(server.url)
    best = service.solve(instance, steps=100)
    for plan in (best, best.plan, best.tour, best.tour.nodes, [best.tour.nodes], np.array(best.tour.nodes)):
        assert service.solve(instance, initial=plan, steps=0).plan == best.plan
        assert service.solve(instance, hint=plan, steps=0).plan == best.plan
    with pytest.raises(ServiceError, match=r"initial\[0\]\[1\] must be a valid integer") as caught:
        service.solve(instance, initial=[0, 1.5], steps=0)
    assert caught.value.status == 400


def test_a_problem_may_be_a_file(server: Server, file: Path) -> None:
    found = Service(server.url).solve(file, steps=np.int64(100))
    assert found.instance is not None
    assert "place 1" in (found.instance.names or ())


def test_what_cannot_be_sent_is_told(file: Path) -> None:
    service: Any = Service("http://127.0.0.1:9")
    for option, words in (
        ("stop", "Service.solve has no option 'stop': write seconds= or steps="),
        ("limit", "write it into the problem"),
        ("step", "did you mean 'steps'"),
    ):
        with pytest.raises(ValueError, match=words):
            service.solve(file, **{option: 10})
    with pytest.raises(ValueError, match="a request has numbers, texts and lists, got <object"):
        service.solve(file, seconds=object())


def test_ctrl_c_prints_the_best_so_far(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps(problem(100, limit=5.0)))
    command = [sys.executable, "-m", "orienteer", "solve", str(path), "--seconds", "60", "--server", server.url]
    before = server.client.get("/metrics").text
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True)
    until(lambda: "orienteer_jobs_running 1.0" in server.client.get("/metrics").text)
    until(lambda: "orienteer_streams 1.0" in server.client.get("/metrics").text)
    assert "orienteer_jobs_running 0.0" in before
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["prize"] > 0
    until(lambda: "orienteer_jobs_running 0.0" in server.client.get("/metrics").text)


def test_a_token_from_a_file(tmp_path: Path, cli: Cli, file: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("correct-horse-battery\n")
    with Server(tmp_path, token_file=secret, solvers="auto") as own:
        missing = cli("solve", file, "--steps", "10", "--server", own.url)
        assert "Authorization must be: Bearer TOKEN" in missing.err
        assert cli("solve", file, "--steps", "10", "--server", own.url, "--token-file", secret).status == 0


def test_a_table_of_a_thousand_places_is_sent(tmp_path: Path) -> None:
    """Its numbers have 17 million digits, more than a body may have."""
    size = 1000
    costs = np.random.default_rng(0).random((size, size))
    np.fill_diagonal(costs, 0.0)
    instance = Instance(costs, np.ones(size), 1.5)
    assert len(json.dumps(costs.tolist(), separators=(",", ":"))) > Settings().body_bytes
    with Server(tmp_path, solvers="tsili") as own:
        found = Service(own.url).solve(instance, solver="tsili", steps=1)
        assert found.plan is not None
        assert check_plan(instance, [tour.nodes for tour in found.plan.routes]).prize == found.prize
