"""The paper's networks as solvers: contract and limits, with weights that know nothing."""

from pathlib import Path
from typing import Any

import pytest
import torch

from gpu import NATIVE
from instances import all_families
from network_examples import CONFIGS, some_instance
from oracle import best_prize
from orienteer import BadFile, MaxSteps
from orienteer.lab.networks.attention_network import AttentionNetwork
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.lab.networks.models import save_weights
from orienteer.lab.networks.solvers import (
    A2cBeam,
    A2cGreedy,
    AttentionBeam,
    AttentionGreedy,
    BeamConfig,
    DqnBeam,
    DqnGreedy,
    GreedyConfig,
    PointerBeam,
    PointerGreedy,
)
from orienteer.network.solver import LearnedCostLevelSearch, LearnedSolver

Made = type[LearnedSolver[Any]]

SOLVERS: tuple[Made, ...] = (
    *(DqnGreedy, DqnBeam, A2cGreedy, A2cBeam),
    *(AttentionGreedy, AttentionBeam, PointerGreedy, PointerBeam),
    LearnedCostLevelSearch,  # takes the weights of an-dqn too
)
every_solver = pytest.mark.parametrize("kind", SOLVERS, ids=lambda kind: kind.name)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with fresh weights of every method."""
    folder = tmp_path_factory.mktemp("fresh")
    torch.manual_seed(0)
    models = {
        "dqn": AttentionNetwork(CONFIGS["tuned"]),
        "a2c": AttentionNetwork(CONFIGS["actor"]),
        "at": RouteModel(RouteConfig("attention", True, CONFIGS["tuned"])),
        "pn": RouteModel(RouteConfig("pointer", True, CONFIGS["tuned"])),
    }
    for method, model in models.items():
        save_weights(folder / f"{method}.safetensors", model, method, {}, {})  # type: ignore[arg-type]
    return folder


def solver(kind: Made, fresh: Path, device: str = "cpu") -> LearnedSolver[Any]:
    """A solver with fresh weights of its own method."""
    method = "dqn" if kind is LearnedCostLevelSearch else kind.methods[0]
    return kind(kind.config_class(device=device, weights=str(fresh / f"{method}.safetensors")))


@every_solver
def test_routes_are_feasible_repeatable_and_never_above_the_oracle(kind: Made, fresh: Path) -> None:
    for instance in all_families(2, sizes=(1, 4, 6)):
        result = solver(kind, fresh).solve(instance)
        assert result.prize <= best_prize(instance) + 1e-9
        assert solver(kind, fresh).solve(instance).tour == result.tour
        assert result.solver == kind.name


@every_solver
def test_a_batch_gives_what_each_alone_gives(kind: Made, fresh: Path) -> None:
    instances = [some_instance(size, size, symmetric=size % 2 == 0, end=size % 3) for size in (5, 9, 12, 7)]
    told: list[tuple[int, int]] = []
    found = solver(kind, fresh)
    batch = found.solve_batch(instances, seed=4, on_done=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)
    assert [result.seed for result in batch] == [4, 5, 6, 7]
    for instance, result in zip(instances, batch, strict=True):
        assert result.prize == pytest.approx(found.solve(instance).prize)
        assert result.seconds > 0


@every_solver
def test_stops_when_told(kind: Made, fresh: Path) -> None:
    instance = some_instance(12, 3)
    assert solver(kind, fresh).solve(instance, MaxSteps(2)).steps == 2
    assert solver(kind, fresh).solve_batch([instance], MaxSteps(2))[0].steps == 2


def test_batches_of_many_small_problems_run_side_by_side(fresh: Path) -> None:
    """Two threads share a network; sixteen problems are enough for two batches where there are two cores."""
    found = solver(DqnGreedy, fresh)
    instances = [some_instance(6, seed) for seed in range(16)]
    assert [one.tour for one in found.solve_batch(instances)] == [found.solve(one).tour for one in instances]


def test_shipped_weights_have_the_names_of_the_solvers(fresh: Path) -> None:
    for kind in SOLVERS[:-1]:
        assert kind().weights_file().stem == kind.name.removesuffix("-beam")


def test_weights_by_file_and_of_the_wrong_method(fresh: Path) -> None:
    instance = some_instance(6, 1)
    with pytest.raises(BadFile, match="holds weights of a2c, not of dqn or expert"):
        DqnGreedy(GreedyConfig(weights=str(fresh / "a2c.safetensors"), device="cpu")).solve(instance)
    with pytest.raises(BadFile, match="there are no such weights"):
        DqnGreedy(GreedyConfig(weights="an-other", device="cpu")).solve(instance)


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    instance = some_instance(14, 5)
    tours = set()
    for seed in range(6):
        torch.manual_seed(seed)
        model = AttentionNetwork(CONFIGS["paper"])
        torch.nn.init.normal_(model.advantage.weight)
        save_weights(tmp_path / "own.safetensors", model, "dqn", {}, {})
        config = GreedyConfig(weights=str(tmp_path / "own.safetensors"), device="cpu")
        tours.add(DqnGreedy(config).solve(instance).tour)
    assert len(tours) > 1


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="beam must be at least 1 or None, got 0"):
        BeamConfig(beam=0)
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda', got 'tpu'"):
        DqnGreedy(GreedyConfig(device="tpu")).solve(some_instance(4, 1))


@pytest.mark.skipif(not NATIVE, reason="this machine has no CUDA device")
@every_solver
def test_a_gpu_finds_routes_and_the_same_again(kind: Made, fresh: Path) -> None:
    instances = [some_instance(size, size, symmetric=size % 2 == 0, end=size % 3) for size in (30, 9, 12, 7)]
    for result, again in zip(
        solver(kind, fresh, "cuda").solve_batch(instances),
        solver(kind, fresh, "cuda").solve_batch(instances),
        strict=True,
    ):
        assert result.tour == again.tour
        assert result.prize > 0
    assert solver(kind, fresh, "cuda").solve(instances[0]).prize > 0
