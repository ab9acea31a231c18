"""Compiling everything ahead."""

from command_line import Cli
from orienteer import solve
from orienteer.data.generate import generate
from orienteer.kernel.prepare import compile_kernels
from orienteer.search.registry import make_solver
from orienteer.search.warmup import tasks, warm_up


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
