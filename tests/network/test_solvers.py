"""The learned solvers: contract and limits, with weights that know nothing."""

from pathlib import Path

import pytest
import torch
from orienteer.network.solvers import (
    BeamConfig,
    GreedyConfig,
    LearnedCostLevelSearch,
    LearnedLevelConfig,
    LearnedSolver,
)

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
    DqnBeam,
    DqnGreedy,
    PointerBeam,
    PointerGreedy,
)
from orienteer.network import weights
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork

SOLVERS = (
    DqnGreedy,
    DqnBeam,
    A2cGreedy,
    A2cBeam,
    AttentionGreedy,
    AttentionBeam,
    PointerGreedy,
    PointerBeam,
    LearnedCostLevelSearch,
)
every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)


@pytest.fixture(autouse=True)
def shipped(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fresh weights of every method, under the names of the shipped ones."""
    folder = tmp_path_factory.mktemp("shipped")
    torch.manual_seed(0)
    models = {
        "dqn": AttentionNetwork(CONFIGS["tuned"]),
        "a2c": AttentionNetwork(CONFIGS["actor"]),
        "at": RouteModel(RouteConfig("attention", True, CONFIGS["tuned"])),
        "pn": RouteModel(RouteConfig("pointer", True, CONFIGS["tuned"])),
    }
    for method, model in models.items():
        save_weights(folder / f"an-{method}.safetensors", model, method, {}, {})  # type: ignore[arg-type]
    flagship = PolicyNetwork(PolicyConfig(16, 2, 1))
    for name in ("flagship", "flagship-small"):
        save_weights(folder / f"{name}.safetensors", flagship, "expert", {}, {})
    monkeypatch.setattr(weights, "SHIPPED", folder)
    return folder


@every_solver
def test_routes_are_feasible_repeatable_and_never_above_the_oracle(solver: type[LearnedSolver]) -> None:
    for instance in all_families(2, sizes=(1, 4, 6)):
        result = solver().solve(instance)
        assert result.prize <= best_prize(instance) + 1e-9
        assert solver().solve(instance).tour == result.tour
        assert result.solver == solver.name


@every_solver
def test_a_batch_gives_what_each_alone_gives(solver: type[LearnedSolver]) -> None:
    instances = [some_instance(size, size, symmetric=size % 2 == 0, end=size % 3) for size in (5, 9, 12, 7)]
    told: list[tuple[int, int]] = []
    batch = solver().solve_batch(instances, seed=4, on_done=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)
    assert [result.seed for result in batch] == [4, 5, 6, 7]
    for instance, result in zip(instances, batch, strict=True):
        assert result.prize == pytest.approx(solver().solve(instance).prize)
        assert result.seconds > 0


@every_solver
def test_stops_when_told(solver: type[LearnedSolver]) -> None:
    instance = some_instance(12, 3)
    assert solver().solve(instance, MaxSteps(2)).steps == 2
    assert solver().solve_batch([instance], MaxSteps(2))[0].steps == 2


def test_batches_of_small_problems_share_the_threads() -> None:
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        solver = DqnGreedy(GreedyConfig("cpu"))
        instances = [some_instance(6, seed) for seed in range(16)]
        for some, lanes in ((instances, 2), (instances[:15], 1), ([*instances, some_instance(201, 0)], 1)):
            with solver.lanes(torch.device("cpu"), some) as found:
                assert found == lanes
        results = solver.solve_batch(instances, lambda now: seen.append(torch.get_num_threads()) or False)
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
        assert [one.tour for one in results] == [solver.solve(one).tour for one in instances]
    finally:
        torch.set_num_threads(before)


def test_small_problems_take_one_thread_and_give_the_others_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        for most, threads in ((200, 1), (5, 2)):
            monkeypatch.setattr("orienteer.network.solvers.ONE_THREAD", most)
            solver = LearnedCostLevelSearch(LearnedLevelConfig(device="cpu"))
            solver.solve(some_instance(8, 0), lambda now: seen.append(torch.get_num_threads()) or False)
            assert set(seen[1:]) == {threads}
            assert torch.get_num_threads() == 2
            seen.clear()
    finally:
        torch.set_num_threads(before)


def test_cost_levels_without_bound_are_exact() -> None:
    for instance in all_families(1, sizes=(5,)):
        exact = LearnedCostLevelSearch(LearnedLevelConfig(beam=None)).solve(instance)
        assert exact.prize == pytest.approx(best_prize(instance))


def test_weights_by_file_and_of_the_wrong_method(shipped: Path) -> None:
    instance = some_instance(6, 1)
    own = DqnGreedy(GreedyConfig(weights=str(shipped / "an-dqn.safetensors"))).solve(instance)
    assert own.tour == DqnGreedy().solve(instance).tour
    with pytest.raises(BadFile, match="holds weights of a2c, not of dqn or expert"):
        DqnGreedy(GreedyConfig(weights="an-a2c")).solve(instance)
    with pytest.raises(BadFile, match="there are no such weights"):
        DqnGreedy(GreedyConfig(weights="an-other")).solve(instance)


def test_changed_files_are_read_again(shipped: Path) -> None:
    instance = some_instance(14, 5)
    before = DqnGreedy().solve(instance).tour
    torch.manual_seed(9)
    tours = set()
    for _ in range(5):
        model = AttentionNetwork(CONFIGS["paper"])
        torch.nn.init.normal_(model.advantage.weight)
        save_weights(shipped / "an-dqn.safetensors", model, "dqn", {}, {})
        tours.add(DqnGreedy().solve(instance).tour)
    assert tours != {before}


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="beam must be at least 1 or None, got 0"):
        BeamConfig(beam=0)
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda', got 'tpu'"):
        DqnGreedy(GreedyConfig(device="tpu")).solve(some_instance(4, 1))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
@every_solver
def test_a_gpu_finds_routes_and_the_same_again(solver: type[LearnedSolver]) -> None:
    instances = [some_instance(size, size, symmetric=size % 2 == 0, end=size % 3) for size in (30, 9, 12, 7)]
    for result, again in zip(
        solver(solver.config_class(device="cuda")).solve_batch(instances),
        solver(solver.config_class(device="cuda")).solve_batch(instances),
        strict=True,
    ):
        assert result.tour == again.tour
        assert result.prize > 0
    assert solver(solver.config_class(device="cuda")).solve(instances[0]).prize > 0
