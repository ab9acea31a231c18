"""The base install: everything but GPUs, training and the paper's networks works where torch cannot be imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from orienteer import REGISTRY

NEEDS_EXTRAS = {"exact", "gurobi"}
"""Solvers of the product that need other packages than torch."""
PRODUCT = [
    name
    for name, entry in REGISTRY.items()
    if not entry.target.startswith("orienteer.lab.") and name not in NEEDS_EXTRAS
]
WITHOUT = "import sys; sys.modules['torch'] = sys.modules['triton'] = None\n"
"""Makes an import of either raise ImportError."""


def said(code: str, without: str = WITHOUT) -> list[str]:
    """The lines that some code prints in a fresh process without torch."""
    done = subprocess.run([sys.executable, "-c", without + code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_torch_is_out_of_reach() -> None:
    assert said("try: import torch\nexcept ImportError as error: print(type(error).__name__)") == [
        "ModuleNotFoundError"
    ]


def test_every_solver_of_the_product_runs() -> None:
    assert {"auto", "lns", "cs-p", "cs-l", "tsili-beam"} <= set(PRODUCT)
    code = f"""
from orienteer import MaxSteps, solve, solve_batch
from orienteer.data.generate import generate
instances = list(generate(6, count=2, seed=3)) + list(generate(6, costs="xasy", seed=3))
for name in {PRODUCT}:
    alone = [solve(one, name, MaxSteps(200)).prize > 0 for one in instances]
    together = [one.prize > 0 for one in solve_batch(instances, name, MaxSteps(200))]
    print(name, all(alone + together))
"""
    assert said(code) == [f"{name} True" for name in PRODUCT]


@pytest.mark.parametrize(
    ("name", "settings", "feature"),
    [
        ("an-dqn", "", "a network trained by dqn"),
        ("tsp-greedy", "", "a network trained by tour"),
        ("cs-l", "weights='an-dqn'", "a network trained by dqn"),
        ("cs-p", "device='cuda'", "device 'cuda'"),
        ("auto", "device='cuda'", "device 'cuda'"),
    ],
)
def test_what_needs_it_says_in_one_line_what_to_install(name: str, settings: str, feature: str) -> None:
    code = f"""
from orienteer import MissingExtra, solve_batch
from orienteer.data.generate import generate
try:
    solve_batch(list(generate(5, count=2)), "{name}", {settings})
except MissingExtra as error:
    print(error)
"""
    assert said(code) == [f"{feature} needs an optional package: pip install 'orienteer[gpu]'"]


@pytest.mark.parametrize("command", ["train dqn --iterations 1", "labels --count 1 --out labels.npz"])
def test_commands_that_need_it_say_so_too(command: str) -> None:
    code = f"""
import contextlib, io
from orienteer.cli.main import run
with contextlib.redirect_stderr(io.StringIO()) as told:
    status = run({command.split()})
print(status, told.getvalue(), end="")
"""
    assert said(code) == ["2 orienteer: this command needs an optional package: pip install 'orienteer[gpu]'"]


def test_torch_without_triton_trains_and_runs_networks(tmp_path: Path) -> None:
    """Torch for CPUs brings no Triton: `orienteer train` ended in a traceback, and so did every solver an-*."""
    code = f"""
from orienteer import MaxSteps, solve
from orienteer.cli.main import run
from orienteer.data.generate import generate
print(run("train dqn --preset small --iterations 1 --device cpu --out {tmp_path / "network"}".split()))
for name in ["an-dqn", "an-dqn-beam", "cs-l"]:
    print(name, solve(generate(6, seed=3)[0], name, MaxSteps(20)).prize > 0)
"""
    told = said(code, "import sys; sys.modules['triton'] = None\n")
    assert told[-4:] == ["0", "an-dqn True", "an-dqn-beam True", "cs-l True"]
