"""Batches on a Ray cluster of two machines with one core each; one of them is killed."""

import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import Cli
from orienteer import MaxSteps, MissingExtra, OrienteerError, Result, solve_batch, solve_stream
from orienteer.cli import batch
from orienteer.data.files import read_results
from orienteer.data.generate import generate
from orienteer.data.npz import save_set
from orienteer.network.weights import find_weights
from orienteer.search.engines import cluster as module
from orienteer.search.engines.cluster import Cluster
from orienteer.search.engines.job import Halt, Job
from orienteer.search.registry import make_solver
from orienteer.search.stream import InMemory, stream

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported
ray = pytest.importorskip("ray")

pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all, also where tests run in several processes

SET = generate(8, count=60, seed=4)


@pytest.fixture(scope="module")
def machines() -> Iterator[Any]:
    """A cluster of two machines, which are two processes here; this process is connected to the first."""
    from ray.cluster_utils import Cluster as Machines

    made = Machines(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 10**8}
    )
    made.add_node(num_cpus=1, object_store_memory=10**8)
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


def plain(results: list[Result]) -> list[object]:
    return [(one.plan, one.seed, one.status) for one in results]


@pytest.mark.parametrize("solver", ["random", "cs-p"])
def test_results_are_those_of_one_process(machines: Any, solver: str) -> None:
    alone = solve_batch(SET, solver, MaxSteps(2), seed=7)
    told: list[tuple[int, int]] = []
    found = solve_batch(SET, solver, MaxSteps(2), 7, lambda *done: told.append(done), engine="ray")
    assert plain(found) == plain(alone)
    assert told[-1] == (60, 60)
    assert ray.is_initialized()  # a connection that was there before stays


def test_weights_travel(machines: Any, tmp_path: Path) -> None:
    """The file is on the machine of the caller alone: workers get its content, under another name."""
    weights = tmp_path / "mine.safetensors"
    weights.write_bytes(find_weights("flagship-small").read_bytes())
    asked: dict[str, Any] = {"beam": 2, "device": "cpu", "weights": str(weights)}
    job = Job("cs-l", list, asked)
    shipped = module._with_weights(job)
    weights.unlink()
    task = next(iter(_tasks(2)))
    found = ray.get(ray.remote(module._do).remote(shipped, task, True))
    assert found.error is None
    assert plain(found.answer) == plain(solve_batch(SET[:2], "cs-l", beam=2, device="cpu"))


def _tasks(count: int) -> Iterator[Any]:
    from orienteer.search.engines.job import Task

    yield Task(0, SET[:count])


def test_an_error_keeps_what_was_solved_before(machines: Any) -> None:
    found: list[Result] = []
    with pytest.raises(ValueError, match="enumerate is for at most 12"):
        found.extend(solve_stream([*generate(5, count=9), *generate(20)], "enumerate", engine="ray"))
    assert len(found) == 9


def test_a_halt_ends_the_batch(machines: Any) -> None:
    halt, engine = Halt(), Cluster(make_solver("random"))
    done = []
    for one in stream(Job("random", list), InMemory(SET), range(60), engine, halt):
        done.append(one.count)
        halt.set()
    assert 1 <= sum(done) < 60


def test_few_tasks_are_taken_ahead(machines: Any) -> None:
    """The driver's memory must not grow with the set: pieces are read only as tasks are answered."""
    taken = itertools.count()

    class Counting(InMemory):
        def pieces(self, begin: int = 0, end: int | None = None) -> Iterator[Any]:
            for at in range(begin, 60 if end is None else end):
                next(taken)
                yield self.instances[at : at + 1]

    engine = Cluster(make_solver("random"))
    answers = stream(Job("random", list), Counting(SET), range(60), engine, Halt())
    next(answers)
    assert next(taken) <= module.AHEAD * engine.workers + 2
    answers.close()


@pytest.mark.parametrize(
    ("settings", "resources", "gpu"),
    [
        ({"device": "auto"}, {"CPU": 2.0}, False),
        ({"device": "auto"}, {"GPU": 1.0}, True),
        ({"device": "cpu"}, {"GPU": 1.0}, False),
    ],
)
def test_tasks_ask_for_gpus_where_there_are_some(
    settings: dict[str, str], resources: dict[str, float], gpu: bool
) -> None:
    assert module._on_gpu(make_solver("auto", **settings), resources) == gpu
    assert not module._on_gpu(make_solver("tsili"), resources)


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtra, match=r"the engine ray needs an optional package: pip install 'orienteer\[cluster\]'"
    ):
        solve_stream(SET, "tsili", engine="ray")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_where_nobody_listens_is_told_at_once(address: str) -> None:
    """Ray tried for more than ten minutes, with a line of warning every few seconds."""
    with pytest.raises(OrienteerError, match=f"the Ray cluster {address} cannot be reached: .*refused"):
        module.join(None, address, None)


def test_a_machine_lost_in_the_middle_loses_nothing(
    machines: Any, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after a few answers, then the same command again, and its second machine is killed at work."""
    save_set(SET, tmp_path / "set.npz")
    words = ("batch", tmp_path / "set.npz", "--solver", "random", "--seed", 3)
    assert cli(*words, "--out", tmp_path / "here.npz").status == 0
    on_cluster = (*words, "--engine", "ray", "--out", tmp_path / "there")
    with monkeypatch.context() as patch:
        patch.setattr(batch.Bar, "batch", _pressing(batch.Bar.batch))
        said = cli(*on_cluster)
    solved = len(read_results(tmp_path / "there"))
    assert (said.status, said.err) == (130, f"orienteer: ended early: only the first {solved} of 60 were solved\n")

    (lost,) = machines.worker_nodes
    begun, killed = tmp_path / "begun", tmp_path / "killed"
    monkeypatch.setattr(module, "_do", _hanging(module._do, lost.node_id, begun, killed))

    def kill() -> None:
        _wait_for(begun)
        machines.remove_node(lost, allow_graceful=False)
        killed.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    said = cli(*on_cluster)
    killer.join()
    assert (said.status, said.err) == (0, "")
    assert machines.worker_nodes == set()
    one, other = read_results(tmp_path / "here.npz"), read_results(tmp_path / "there")
    for field in ("prize", "cost", "tour"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def _pressing(show: Callable[..., None]) -> Callable[..., None]:
    """The function that shows progress, and at the first answer presses Ctrl-C."""
    pressed = False

    def shown(*arguments: Any) -> None:
        nonlocal pressed
        show(*arguments)
        if not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)

    return shown


def _hanging(do: Callable[..., Any], node: str, begun: Path, killed: Path) -> Callable[..., Any]:
    """The function that does a task; on one machine it never ends, and on the others it waits for the kill of that."""

    def done(*arguments: Any) -> Any:
        if ray.get_runtime_context().get_node_id() == node:
            begun.touch()
            threading.Event().wait()
        while not killed.exists():
            threading.Event().wait(0.01)
        return do(*arguments)

    return done


def _wait_for(path: Path) -> None:
    while not path.exists():
        threading.Event().wait(0.01)


def test_a_task_that_kills_its_process_is_one_line(machines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*arguments: Any) -> None:
        os._exit(1)

    monkeypatch.setattr(module, "RETRIES", 0)
    monkeypatch.setattr(module, "_do", die)
    with pytest.raises(OrienteerError, match="a task failed on the cluster: ") as error:
        list(solve_stream(SET, "tsili", engine="ray"))
    assert "\n" not in str(error.value)
