"""The two backends against each other, and which of them a search takes."""

from importlib.util import find_spec

import numpy as np
import pytest

import gpu
from backends import BACKENDS, few, read, solver
from instances import all_families, small_instance
from orienteer import check_tour, solve
from orienteer.beam.backend import choose_backend, gpu_is_there
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.found import Found
from orienteer.beam.recombine import good_paths, never_over
from orienteer.beam.score import PrizeScore, TsiliScore
from orienteer.beam.step import StepConfig, step_search
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.search.cores import cores, set_cores
from orienteer.search.registry import make_solver

if len(BACKENDS) == 2:
    from orienteer.beam.backend.cuda.backend import CudaBackend

needs_both = pytest.mark.skipif(len(BACKENDS) < 2, reason="Triton is not installed: it is made for Linux")
COLUMNS = ("trail", "instance", "prize", "cost", "visited")


def by_levels(backend: Backend, instances: list[Instance], directions: int, config: CostLevelConfig) -> Expander:
    return cost_level_search(backend, backend.problems(instances, directions), PrizeScore(), config)


def assert_alike(one: Expander, other: Expander) -> None:
    """Equal logs and equal incumbents."""
    assert one.log.used == other.log.used > len(one.best.prize)
    for name in COLUMNS:
        left, right = (read(getattr(both.log, name))[: one.log.used] for both in (one, other))
        assert np.array_equal(left, right), name
    for name in ("prize", "cost", "parent", "last"):
        assert np.array_equal(read(getattr(one.best, name)), read(getattr(other.best, name))), name
    assert one.routes() == other.routes()


@needs_both
@pytest.mark.parametrize("prizes", ["constant", "uniform"])
@pytest.mark.parametrize(
    ("costs", "directions", "config"),
    [
        ("euclidean", 1, CostLevelConfig(3)),
        ("euclidean", 1, CostLevelConfig(4, branch=3, spread=0.0)),
        ("xasy", 1, CostLevelConfig(3, spread=2.0)),
        ("tmat", 2, CostLevelConfig(2, tau=0.2)),
        ("tmat", 1, CostLevelConfig(2, tau=0.2, score="child")),
    ],
)
def test_both_log_the_same_paths(prizes: str, costs: str, directions: int, config: CostLevelConfig) -> None:
    sizes = few(BACKENDS["cuda"], (30, 12), (8, 5))
    instances = [one for size in sizes for one in generate(size, prizes, costs, seed=3)]
    assert_alike(*(by_levels(backend, instances, directions, config) for backend in BACKENDS.values()))


@needs_both
@pytest.mark.parametrize("config", [CostLevelConfig(2), CostLevelConfig(None, tau=0.3)])
def test_both_log_the_same_paths_of_all_kinds_of_problems(config: CostLevelConfig) -> None:
    """Of different sizes in one batch, with missing ways, ties, zero costs and zero prizes."""
    instances = all_families(few(BACKENDS["cuda"], 10, 4), sizes=(3, 5, 6))
    assert_alike(*(by_levels(backend, instances, 1, config) for backend in BACKENDS.values()))


@needs_both
@pytest.mark.parametrize(("scorer", "config"), [(PrizeScore(), StepConfig(4, 3)), (TsiliScore(), StepConfig(6))])
def test_both_log_the_same_paths_step_by_step(scorer: PrizeScore | TsiliScore, config: StepConfig) -> None:
    nodes, count = few(BACKENDS["cuda"], (30, 5), (9, 2))
    instances = [*generate(nodes, count=count, seed=3), *all_families(few(BACKENDS["cuda"], 5, 1), sizes=(5,))]
    assert_alike(*(step_search(one, one.problems(instances), scorer, config) for one in BACKENDS.values()))


@needs_both
@pytest.mark.parametrize(
    ("costs", "apart", "directions", "nodes", "share", "seed"),
    [
        ("euclidean", True, 2, 10, 1.0, 17),
        ("tmat", False, 1, 10, 1.0, 9),
        ("euclidean", False, 1, 70, 0.4, 11),
    ],
)
def test_both_make_the_same_exchanges(
    costs: str, apart: bool, directions: int, nodes: int, share: float, seed: int
) -> None:
    """Of small problems that exchanges improve, and of larger ones, whose sets of nodes are two words each.

    Shares of limits keep routes short.
    """
    drawn = generate(nodes, "uniform", costs, count=1, seed=seed, separate_end=apart)
    instances = [one.replace(limit=one.limit * share) for one in drawn]
    made = []
    for backend in BACKENDS.values():
        expander = by_levels(backend, instances, directions, CostLevelConfig(1))
        problems, paths = expander.problems, expander.log.by_cost()
        chosen = good_paths(problems, paths, directions, 2 if nodes < 64 else 1)
        routes = Found(expander, directions).routes()
        assert backend.exchanged(problems, paths, directions, routes, chosen, lambda: True) == routes
        made.append(backend.exchanged(problems, paths, directions, routes, chosen, never_over))
    assert made[0] == made[1]
    assert made[0] != routes or nodes > 64


@needs_both
@pytest.mark.parametrize("directions", [1, 2])
def test_both_have_the_same_alternatives_in_their_logs(directions: int) -> None:
    instances = list(generate(7, "uniform", "tmat", count=2, seed=5))
    logged = []
    for backend in BACKENDS.values():
        found = Found(by_levels(backend, instances, directions, CostLevelConfig(2)), directions)
        logged.append([found.others(row, 4, route) for row, route in enumerate(found.routes())])
    assert logged[0] == logged[1]
    assert any(map(len, logged[0]))
    for instance, routes in zip(instances, logged[0], strict=True):
        assert all(check_tour(instance, route) for route in routes)


@needs_both
@pytest.mark.skipif(not gpu.NATIVE, reason="the interpreter would take hours")
@pytest.mark.parametrize("name", ["cs-p", "tsili-beam"])
def test_a_gpu_finds_the_same_routes(name: str) -> None:
    instances = [small_instance("euclidean", 30, seed) for seed in range(50)] + all_families(10)
    host, device = (solver(name, backend).solve_batch(instances) for backend in BACKENDS.values())
    assert [one.tour for one in device] == [one.tour for one in host]


@needs_both
@pytest.mark.skipif(not gpu.NATIVE, reason="the interpreter records nothing")
def test_more_batches_than_a_gpu_has_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch once took a stream of its own to record its step: the 32nd took that of another thread's batch."""
    monkeypatch.setattr(CudaBackend, "workers", lambda self, instances: 3)
    monkeypatch.setattr(CudaBackend, "cells", 60)
    search = make_solver("cs-l", beam=4, tau=0.2, device="cuda")
    instances = generate(20, "uniform", count=200, seed=1)
    assert [one.prize for one in search.solve_batch(instances)] == [search.solve(one).prize for one in instances]


def test_devices() -> None:
    assert choose_backend("cpu").name == "cpu"
    assert choose_backend("auto").name == ("cuda" if gpu.NATIVE and find_spec("triton") else "cpu")
    assert gpu_is_there() == (choose_backend("auto").name == "cuda")
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda', got 'tpu'"):
        choose_backend("tpu")


@pytest.mark.skipif(gpu.NATIVE, reason="this machine has a GPU")
def test_a_missing_gpu_is_named() -> None:
    with pytest.raises(ValueError, match="device must be 'auto' or 'cpu': this machine has no CUDA device"):
        solve(small_instance("euclidean"), "cs-p", device="cuda")


def test_many_problems_share_the_cores_of_the_host() -> None:
    """In batches of at least eight."""
    host, before = HostBackend(), cores()
    try:
        for count, instances, workers in ((2, 16, 2), (2, 15, 1), (8, 24, 3), (1, 99, 1), (4, 0, 1)):
            set_cores(count)
            assert host.workers(instances) == workers
    finally:
        set_cores(before)
