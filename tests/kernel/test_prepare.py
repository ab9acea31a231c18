"""Compiling ahead: every solver names all that it needs, and a notice appears only where something is compiled."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orienteer.kernel.prepare import serve

TASKS = """
from orienteer.kernel import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def triple(x):
    return 3 * x

def call_double():
    assert double(2) == 4

def call_triple():
    assert triple(2) == 6
"""
SCRIPT = """
import logging, sys
logging.basicConfig(format="%(message)s")
sys.path.insert(0, sys.argv[1])
sys.executable = sys.argv[2]
from orienteer.kernel.prepare import compile_kernels
compile_kernels(["tasks:call_double", "tasks:call_triple", "tasks:call_double"], "compiling", print)
import tasks
print([len(one.outer.overloads) for one in (tasks.double, tasks.triple)])
"""


def _run(folder: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """A process that compiles two kernels, kept in `folder`; `python` is what helpers would run."""
    (folder / "tasks.py").write_text(TASKS)
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), python],
        env=os.environ | {"ORIENTEER_CACHE": str(folder / "kept")},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_notice_appears_only_where_something_is_compiled(tmp_path: Path) -> None:
    """The notice was once set off by a timer of a second, also on a machine that was only busy."""
    first, second = _run(tmp_path), _run(tmp_path)
    assert first.stderr == "compiling\n"
    assert second.stderr == ""
    assert sorted(first.stdout.splitlines()) == ["[1, 1]", "tasks:call_double", "tasks:call_triple"]
    assert first.stdout.splitlines()[-1] == "[1, 1]"
    assert len(list((tmp_path / "kept").iterdir())) == 2


@pytest.mark.parametrize("python", ["", "/no/such/python", "/bin/true"])
def test_without_helpers_all_is_compiled_here(tmp_path: Path, python: str) -> None:
    assert _run(tmp_path, python).stdout.splitlines() == ["tasks:call_double", "tasks:call_triple", "[1, 1]"]


def test_a_helper_that_fails_hands_its_task_back(tmp_path: Path) -> None:
    """A python that ends at once, as one does that cannot import the package."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert sorted(_run(tmp_path, str(python)).stdout.splitlines()[:2]) == ["tasks:call_double", "tasks:call_triple"]


def test_a_helper_answers_each_task_when_it_is_done() -> None:
    answers = io.StringIO()
    serve(io.StringIO("orienteer.evolution.first_calls:plant_one\n"), answers)
    assert answers.getvalue() == "orienteer.evolution.first_calls:plant_one\n"


COMPLETE = """
import sys
import numpy as np
import orienteer
from orienteer.data.generate import generate
from orienteer.kernel.compiled import Kernel
from orienteer.search.registry import make_solver

def loaded():
    modules = [module for name, module in sys.modules.items() if name.startswith("orienteer.")]
    kernels = {id(one): one for module in modules for one in vars(module).values() if isinstance(one, Kernel)}
    return {f"{one.__module__}.{one.__qualname__} {types}" for one in kernels.values() for types in one.outer.overloads}

for costs in ("euclidean", "xasy", "tmat"):
    for instance in generate(12, costs=costs, count=2, separate_end=costs == "xasy"):
        make_solver(sys.argv[1]).get_ready(instance)
        before = loaded()
        orienteer.solve(instance, sys.argv[1], orienteer.MaxSteps(200))
        print(*sorted(loaded() - before), sep="\\n", end="")
"""


@pytest.mark.parametrize("name", ["auto", "lns", "compass", "exact", "cs-p", "cs-l", "tsili-beam"])
def test_a_solver_names_all_its_kernels(name: str) -> None:
    """A kernel that a solver does not name would be compiled while the clock runs, by one process alone."""
    if name == "exact":
        pytest.importorskip("pyscipopt")
    done = subprocess.run([sys.executable, "-c", COMPLETE, name], capture_output=True, text=True, check=True)
    assert done.stdout == ""
