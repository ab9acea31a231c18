"""Workers on a Ray cluster: searches stream, end when they are cancelled, and survive the loss of a machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from servers import Server, problem, until

LONG: dict[str, Any] = {"problem": problem(100, limit=4.0), "seconds": 60}
SHORT: dict[str, Any] = {"problem": problem(), "steps": 100}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of two machines: one without a core, which leads, and one with a core, which can be lost."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_health_check_period_ms", "200")
    monkeypatch.setenv("RAY_health_check_initial_delay_ms", "0")
    pytest.importorskip("ray", reason="the extra cluster is needed: pip install 'orienteer[cluster]'")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


def test_searches_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    machine = cluster.add_node(num_cpus=1)
    settings = {"engine": "ray", "address": cluster.address, "workers": 1, "quick": 0, "solvers": "auto"}
    with Server(tmp_path, **settings) as server:
        first = server.client.post("/v1/solve", json=SHORT).json()
        path = server.job(LONG)
        with server.events(path) as events:
            seen = [next(events)[:2] for _ in range(2)]
            stopped = server.client.delete(path).json()
            seen += [event[:2] for event in events]
        assert [number for _, number in seen] == list(range(1, len(seen) + 1))
        assert {kind for kind, _ in seen[:-1]} == {"improvement"}
        assert (stopped["status"], stopped["result"]["prize"]) == ("cancelled", stopped["best"]["prize"])

        path = server.job(LONG | {"seconds": 3})
        until(lambda: server.get(path)["best"])
        cluster.remove_node(machine, allow_graceful=False)
        cluster.add_node(num_cpus=1)
        assert server.ended(path)["status"] == "done"
        assert "is tried once more: a worker on the cluster was lost" in server.log.read_text()
        assert server.client.post("/v1/solve", json=SHORT).json()["routes"] == first["routes"]

        assert server.process is not None
        server.terminate()
        assert server.process.wait(timeout=60) == 0
        assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--engine", "moon"), "--engine must be processes or ray, got 'moon'"),
        (("--address", "127.0.0.1:6379"), "--address goes with --engine ray"),
    ],
)
def test_engines_are_checked(cli: Cli, options: tuple[str, ...], words: str) -> None:
    found = cli("serve", "--port", "0", *options)
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert words in found.err
