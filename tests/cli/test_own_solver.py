"""`--solver MODULE:CLASS`: a class of the user's own, from a file in the current folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import TOWN
from orienteer.data.files import write_set
from orienteer.data.npz import load_results

OWN = Path(__file__).parents[1] / "own_solvers.py"


@pytest.fixture
def folder(tmp_path: Path, town: Path) -> Path:
    """A folder with the problem `TOWN`, a set of it, and a module with a solver."""
    (tmp_path / "mine.py").write_text(OWN.read_text())
    (tmp_path / "broken.py").write_text("import no_such_package\n")
    write_set([TOWN, TOWN, TOWN], tmp_path / "set.npz")
    return tmp_path


def orienteer(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The installed command called in a folder, which Python itself (-P) does not look into for modules."""
    command = [sys.executable, "-P", "-m", "orienteer", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_solve(folder: Path) -> None:
    done = orienteer(folder, "solve", "town.json", "--solver", "mine:ThereAndBack", "--set", "node=3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["solver"], told["tour"]) == ("there-and-back", [0, 3, 0])


@pytest.mark.parametrize("workers", ["1", "2"])
def test_batch(folder: Path, workers: str) -> None:
    words = ("--solver", "mine:ThereAndBack", "--set", "node=2", "--workers", workers, "--out", "out.npz")
    done = orienteer(folder, "batch", "set.npz", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert load_results(folder / "out.npz").tour.tolist() == [[0, 2, 0]] * 3


def test_bench(folder: Path) -> None:
    words = ("--count", "2", "--sizes", "5", "--prizes", "uniform", "--methods", "mine:ThereAndBack,node=2,random")
    done = orienteer(folder, "bench", "paper", *words, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in (folder / "out/results.jsonl").read_text().splitlines()]
    routes = [one["tour"] for one in lines if one["method"] == "mine:ThereAndBack,node=2"]
    assert len(routes) == 2
    assert all(route in ([0, 0], [0, 2, 0]) for route in routes)


@pytest.mark.parametrize(("module", "missing"), [("theirs", "theirs"), ("broken", "no_such_package")])
def test_what_cannot_be_imported_is_said_in_a_line(folder: Path, module: str, missing: str) -> None:
    done = orienteer(folder, "solve", "town.json", "--solver", f"{module}:Own")
    message = f"solver '{module}:Own' cannot be imported: ModuleNotFoundError: No module named '{missing}'"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"orienteer: {message}\n")
