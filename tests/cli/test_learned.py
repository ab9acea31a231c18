"""The learned solvers on the command line: shipped weights, weights by name and by file, whose look ranks a path."""

import json
from pathlib import Path
from typing import Any

import pytest

from backends import BACKENDS
from command_line import TOWN, Cli
from orienteer import REGISTRY
from orienteer.data.files import read_results
from orienteer.network.weights import SHIPPED, list_weights
from orienteer.search.registry import solver_class

ROOMS = ("orienteer.network.", "orienteer.lab.networks.")
LEARNED = [name for name, entry in REGISTRY.items() if entry.target.startswith(ROOMS)]


def test_every_learned_solver_finds_its_weights(cli: Cli) -> None:
    shipped = {one.name: one.method for one in list_weights()}
    for name in LEARNED:
        solver: Any = solver_class(name)
        for backend in BACKENDS.values():
            assert shipped[solver.default_weights(backend)] in solver.methods
    listed = [line.partition(":")[0] for line in cli("weights").out.splitlines() if not line.startswith(" ")]
    assert set(listed) == set(shipped)


def test_shipped_weights_are_small_and_tell_their_origin() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 20e6
    for one in list_weights():
        assert one.record["minutes"] > 0
        assert one.record["hardware"]
        assert one.method == "tour" or one.scores["uniform_100"] > 20


@pytest.mark.parametrize("name", LEARNED)
def test_solve_with_a_network(cli: Cli, town: Path, name: str) -> None:
    solver_class(name)().get_ready(TOWN)  # compiles, which would be announced
    status, out, err = cli("solve", town, "--solver", name, "--device", "cpu", "--json")
    assert (status, err) == (0, "")
    prize = json.loads(out)["prize"]
    beam = name == "cs-l" or name.endswith("-beam")  # wide enough for all routes of five places
    assert prize == 6.0 if beam else 0 < prize <= 6.0


def test_weights_by_name_and_by_file(cli: Cli, town: Path) -> None:
    for weights in ("an-dqn", SHIPPED / "an-dqn.safetensors"):
        words = ("solve", town, "--solver", "cs-l", "--weights", weights, "--score", "child", "--json")
        settings = json.loads(cli(*words).out)["settings"]
        assert (settings["weights"], settings["score"]) == (str(weights), "child")


def test_weights_of_another_method_are_refused(cli: Cli, town: Path) -> None:
    status, out, err = cli("solve", town, "--solver", "an-pn", "--weights", "an-dqn")
    assert (status, out) == (2, "")
    assert err.endswith("holds weights of dqn, not of pn\n")
    assert cli("solve", town, "--solver", "an-pn", "--weights", "none.safetensors").status == 2


def test_weights_without_a_network_are_refused(cli: Cli, town: Path) -> None:
    status, _, err = cli("solve", town, "--solver", "cs-p", "--weights", "an-dqn")
    assert status == 2
    assert "cs-p has no setting 'weights'" in err


def test_a_batch_with_a_network(cli: Cli, tmp_path: Path) -> None:
    made, result = tmp_path / "set.npz", tmp_path / "result.npz"
    words = ("--n", "12", "--prizes", "uniform", "--costs", "euclidean", "--limit", "2", "--count", "3", "--out", made)
    assert cli("generate", *words).status == 0
    status, out, _ = cli("batch", made, "--solver", "cs-l", "--weights", "an-dqn", "--beam", "5", "--out", result)
    assert status == 0
    assert out.startswith("3 instances, mean prize ")
    assert len(read_results(result).prize) == 3
