"""The learned search: contract and limits, with weights that know nothing, and the local search that ends it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backends import few
from instances import all_families
from network_examples import some_instance
from oracle import best_prize
from orienteer import BadFile, Instance, MaxSteps, OrienteerError, check_tour
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.polish import polish
from orienteer.data.generate import generate
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.solver import LearnedCostLevelSearch, LearnedLevelConfig, lag_for
from orienteer.network.torch_weights import tensors_of
from orienteer.network.weights import find_weights, write_weights

HOST = HostBackend()
Search = Callable[..., LearnedCostLevelSearch]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network that has learned nothing."""
    torch.manual_seed(0)
    network = PolicyNetwork(PolicyConfig(16, 2, 1))
    for one in network.parameters():
        torch.nn.init.normal_(one, std=0.2)
    return save(network, tmp_path_factory.mktemp("weights") / "fresh.safetensors")


def save(network: PolicyNetwork, path: Path, method: str = "expert") -> Path:
    config = vars(network.config)
    return write_weights(path, tensors_of(network), method, dict(config), {}, {})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def untaught(backend: Backend, weights: Path) -> Search:
    """Makes searches with the small network; without a GPU kernels are slow, and few wide levels and beams of 2 do."""

    def made(**settings: Any) -> LearnedCostLevelSearch:
        usual = {"beam": few(backend, 10, 2), "tau": few(backend, None, 0.5), "weights": str(weights)}
        settings = {**usual, **settings}
        return LearnedCostLevelSearch(LearnedLevelConfig(**settings), backend)

    return made


def learned(backend: Backend = HOST, **settings: Any) -> LearnedCostLevelSearch:
    """The search with the shipped weights for a CPU."""
    return LearnedCostLevelSearch(LearnedLevelConfig(**{"weights": "flagship-small", **settings}), backend)


def test_routes_are_feasible_repeatable_and_never_above_the_oracle(backend: Backend, untaught: Search) -> None:
    for instance in few(backend, all_families(2, sizes=(1, 4, 6)), all_families(1, sizes=(5,))[::3]):
        result = untaught().solve(instance)
        assert result.prize <= best_prize(instance) + 1e-9
        assert untaught().solve(instance).tour == result.tour
        assert result.solver == "cs-l"


def test_a_batch_gives_what_each_alone_gives(backend: Backend, untaught: Search) -> None:
    sizes = few(backend, (5, 9, 12, 7), (5, 6))
    instances = [some_instance(size, size, symmetric=size % 2 == 0, end=size % 3) for size in sizes]
    told: list[tuple[int, int]] = []
    batch = untaught().solve_batch(instances, seed=4, on_done=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(sizes), len(sizes))
    assert [result.seed for result in batch] == list(range(4, 4 + len(sizes)))
    for instance, result in zip(instances, batch, strict=True):
        assert result.prize == pytest.approx(untaught().solve(instance).prize)
        assert result.seconds > 0


def test_stops_when_told(backend: Backend, untaught: Search) -> None:
    instance = some_instance(12, 3)
    assert untaught().solve(instance, MaxSteps(2)).steps == 2
    assert untaught().solve_batch([instance], MaxSteps(2))[0].steps == 2


def test_cost_levels_without_bound_are_exact(backend: Backend, untaught: Search) -> None:
    for instance in all_families(1, sizes=(5,))[:: few(backend, 1, 3)]:
        exact = untaught(beam=None, branch=None).solve(instance)
        assert exact.prize == pytest.approx(best_prize(instance))
        assert exact.status == "optimal"


def test_passes_are_counted_and_the_score_is_kept(backend: Backend, untaught: Search) -> None:
    search = untaught()
    before = search.scorer().passes
    search.solve_batch([some_instance(6, 1)])
    assert search.scorer().passes > before
    assert search.scorer() is untaught().scorer()


def test_the_width_and_the_weights_are_those_of_the_device(backend: Backend) -> None:
    assert LearnedLevelConfig(device="cpu").beam == 10
    assert learned(backend, weights="").weights_file() == find_weights(
        {"cpu": "flagship-small", "cuda": "flagship"}[backend.name]
    )


def test_batches_side_by_side_change_nothing() -> None:
    class TwoAtOnce(HostBackend):
        def workers(self, instances: int) -> int:
            return 2

    instances = [*generate(12, count=5, seed=1), *generate(7, count=4, seed=2)]
    news: list[int] = []
    whole = learned(beam=5).solve_batch(instances)
    halves = learned(TwoAtOnce(), beam=5).solve_batch(instances, on_done=lambda done, total: news.append(done))
    assert [one.tour for one in halves] == [one.tour for one in whole]
    assert news == [5, 9]


def test_weights_of_the_wrong_method(tmp_path: Path, weights: Path) -> None:
    instance = some_instance(6, 1)
    tours = save(PolicyNetwork(PolicyConfig(16, 2, 1, goal="cost")), tmp_path / "tours.safetensors", "tour")
    with pytest.raises(BadFile, match="holds weights of tour, not of expert or dqn"):
        learned(weights=str(tours)).solve(instance)
    with pytest.raises(BadFile, match="there are no such weights"):
        learned(weights="an-other").solve(instance)


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    instance = some_instance(14, 5)
    tours = set()
    for seed in range(6):
        torch.manual_seed(seed)
        network = PolicyNetwork(PolicyConfig(16, 2, 1))
        for one in network.parameters():
            torch.nn.init.normal_(one)
        path = save(network, tmp_path / "own.safetensors")
        tours.add(learned(beam=1, polish=False, recombine=False, weights=str(path)).solve(instance).tour)
    assert len(tours) > 1


def test_a_search_is_polished_unless_told_otherwise() -> None:
    instances = list(generate(80, "uniform", "tmat", count=4, seed=5))
    found = [learned(beam=1, polish=one).solve_batch(instances) for one in (False, True)]
    assert sum(one.prize for one in found[1]) > sum(one.prize for one in found[0])
    assert all(after.prize >= before.prize for before, after in zip(*found, strict=True))


@pytest.mark.parametrize("nodes", [1, 2, 3])
@pytest.mark.parametrize("apart", [False, True])
def test_problems_with_hardly_a_node(untaught: Search, nodes: int, apart: bool) -> None:
    instance = Instance(1.0 - np.eye(nodes), [1.0] * nodes, 5.0, 0, nodes - 1 if apart else 0)
    (found,) = untaught().solve_batch([instance])
    assert found.prize == nodes


@pytest.mark.parametrize("batch", [False, True])
def test_a_search_that_is_stopped_early_is_filled_up(batch: bool) -> None:
    (instance,) = generate(60, "uniform", seed=7)
    found = []
    for polished in (False, True):
        solver = learned(beam=2, polish=polished)
        found += solver.solve_batch([instance], MaxSteps(2)) if batch else [solver.solve(instance, MaxSteps(2))]
    assert found[1].prize > 3 * found[0].prize


def test_a_search_without_a_route_yet_begins_with_the_cheapest() -> None:
    """Legs lead to the next two nodes only, so that no path closes early."""
    places = np.arange(40)
    costs = np.abs(places[:, None] - places).astype(float)
    costs[costs > 2] = np.inf
    instance = Instance(costs, [1.0] * 40, 60.0, 0, 39)
    assert learned(beam=2).solve(instance, MaxSteps(2)).prize == 40


def test_a_stopped_search_is_never_worse_than_what_goes_in_without_one() -> None:
    (instance,) = generate(60, "uniform", seed=7)
    least = check_tour(instance, polish([instance], [[0, 0]], quick=100)[0]).prize
    assert all(learned(beam=2).solve(instance, MaxSteps(steps)).prize >= least for steps in (1, 5, 20, 40))


@pytest.mark.parametrize("costs", ["euclidean", "tmat"])
def test_alternatives_are_whole_routes(costs: str) -> None:
    """The first of them is not a beginning of a route with half of the limit left."""
    for instance in generate(50, "uniform", costs, count=2, seed=7):
        result = learned(beam=4, alternatives=2).solve(instance)
        (other,) = result.alternatives
        assert result.prize >= other.prize > 0.5 * result.prize
        assert other.cost > 0.8 * instance.limit


def test_methods_that_no_package_knows_are_named(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """Weights of a network that came with a package which is no longer installed."""
    monkeypatch.setattr("orienteer.network.solver.entry_points", lambda **_: ())
    with pytest.raises(OrienteerError, match="no installed package has a network for weights of dqn"):
        learned(weights="an-dqn").solve(some_instance(4, 1))


class NamedCuda(HostBackend):
    """The host, which takes itself for a GPU."""

    name = "cuda"


def test_beside_a_gpu_the_host_searches_large_problems_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orienteer.network.solver.LARGE_STEPS", 2)
    large, small = (generate(nodes, "uniform", seed=1)[0] for nodes in (450, 20))
    with learned(NamedCuda()).beside([small, large], lambda: False) as found:
        nothing, route = found()
    assert nothing == []
    assert check_tour(large, route).prize > 50
    for quiet in (learned(HOST), learned(NamedCuda(), polish=False)):
        with quiet.beside([large], lambda: False) as found:
            assert found() == [[]]


def test_idle_cores_search_a_large_problem_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores a problem are two searches of each, and the better route counts."""
    first, second = generate(450, "uniform", count=2, seed=1)
    rich, poor = ([0, int(order)] for order in first.prizes.argsort()[[-1, 1]])
    monkeypatch.setattr("orienteer.network.solver._threads", lambda: 5)
    monkeypatch.setattr("orienteer.network.solver._searched", lambda one, seed, over: [poor, rich][seed])
    with learned(NamedCuda()).beside([first, second], lambda: False) as found:
        assert found()[0] == rich
        assert all(len(route) == 2 for route in found()), "a third search of one problem would have no route"


def test_the_search_beside_a_gpu_ends_with_an_error() -> None:
    """And with Ctrl-C: else it would go on for seconds."""
    large = generate(450, "uniform", seed=1)[0]
    asked = []
    with pytest.raises(KeyboardInterrupt), learned(NamedCuda()).beside([large], lambda: bool(asked.append(1))):
        raise KeyboardInterrupt
    assert len(asked) < 450, "it would be asked 495 times in all"


def test_a_gpu_expands_fewer_paths_that_lag() -> None:
    assert [lag_for("cuda", beam) for beam in (20, 49, 50, 100, None)] == [2.0, 2.0, 2.6, 2.6, 2.6]
    assert [lag_for("cpu", beam) for beam in (20, 100, None)] == [3.0, 3.0, 3.0]
    assert LearnedLevelConfig(device="cpu").lag == 3.0
    assert LearnedLevelConfig(device="cpu", lag=0.5).lag == 0.5
    assert LearnedLevelConfig(device="cpu", lag=None).lag is None
