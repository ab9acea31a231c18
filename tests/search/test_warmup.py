"""Compiling everything ahead."""

import pytest

from command_line import Cli
from orienteer import solve
from orienteer.beam.backend import gpu_is_there
from orienteer.data.generate import generate
from orienteer.kernel.prepare import compile_kernels
from orienteer.search.registry import make_solver
from orienteer.search.warmup import gpu_tasks, tasks, warm_up


def test_every_solver_of_the_product_finds_its_kernels_ready() -> None:
    asked: list[str] = []
    assert warm_up() == len(tasks())
    for costs in ("euclidean", "xasy"):
        (instance,) = generate(8, "uniform", costs, count=1, seed=1)
        for name in ("auto", "lns", "compass", "cs-p", "cs-l", "tsili-beam", "exact"):
            compile_kernels(make_solver(name).kernels(instance), on_task=asked.append)
        for name in ("auto", "lns", "cs-p", "exact"):
            for rules in ({"windows": {1: (0.0, 9.0)}}, {"groups": [[1, 2]], "routes": 2}):
                compile_kernels(make_solver(name).kernels(instance.replace(**rules)), on_task=asked.append)
    assert asked == []
    assert solve(instance, "auto").prize > 0


def test_the_command_tells_what_it_does(cli: Cli) -> None:
    status, out, err = cli("warmup")
    assert (status, err) == (0, "")
    assert "compiled, or found compiled, in " in out.splitlines()[-1]


def test_the_command_takes_some_solvers_only(cli: Cli) -> None:
    assert cli("warmup", "compass")[0] == 0
    assert tasks(["compass"])
    assert all("evolution" in task for task in tasks(["compass"]))
    status, _, err = cli("warmup", "compas")
    assert status == 2
    assert "compass" in err


def test_a_machine_without_a_gpu_says_so(cli: Cli) -> None:
    if gpu_is_there():
        pytest.skip("this machine has a GPU")
    status, _, err = cli("warmup", "cs-l", "--device", "cuda")
    assert status == 2
    assert "this machine has no CUDA device" in err


def test_a_gpu_is_warmed_up_for_the_solvers_that_use_it() -> None:
    assert {task.solver for task in gpu_tasks()} == {"cs-l", "cs-p", "tsili-beam"}
    assert gpu_tasks(["lns"]) == []
