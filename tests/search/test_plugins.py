"""Solvers and commands of other packages, found by entry points in a fresh process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import TOWN
from orienteer.data.files import write

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "own_solvers.md"


def section() -> str:
    """What the page says about plug-ins."""
    return PAGE.read_text()


def install(folder: Path, name: str, entry_points: str) -> None:
    """Puts a distribution into a folder of modules, as pip does."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of modules with the page's package in it, and a problem."""
    (code,) = re.findall(r"```python\n(.*?)```", section(), re.DOTALL)
    (group, line) = re.findall(r'```toml\n\[project.entry-points."(.*?)"\]\n(.*?)\n```', section(), re.DOTALL)[0]
    (tmp_path / "nearest.py").write_text(code)
    install(tmp_path, "nearest", f"[{group}]\n{line.replace(chr(34), '')}\n")
    write(TOWN, tmp_path / "town.json")
    return tmp_path


def orienteer(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command with the modules of a folder installed; -P: they are not found because they lie here."""
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", "orienteer", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )


def test_a_plug_in_is_listed_and_solves(folder: Path) -> None:
    listed = orienteer(folder, "solvers")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert re.search("^nearest +the nearest place that fits +service, free end +no paper", listed.stdout, re.MULTILINE)
    for longest, tour in (("inf", [0, 1, 2, 0]), ("2", [0, 0])):
        words = ("solve", "town.json", "--solver", "nearest", "--set", f"longest={longest}", "--json")
        told = json.loads(orienteer(folder, *words).stdout)
        assert (told["solver"], told["tour"]) == ("nearest", tour)


def test_a_broken_plug_in_costs_nobody_the_others(folder: Path) -> None:
    broken = "[orienteer.solvers]\nx = no_such_package:SOLVERS\n[orienteer.commands]\nboil = no_such_package:boil\n"
    install(folder, "broken", broken)
    listed = orienteer(folder, "solvers")
    assert listed.returncode == 0
    assert {"lns", "nearest", "an-dqn"} <= {line.split()[0] for line in listed.stdout.splitlines() if line}
    missing = "ModuleNotFoundError: No module named 'no_such_package'"
    assert listed.stderr == f"orienteer: the solvers of no_such_package:SOLVERS are left out: {missing}\n"
    shown = orienteer(folder, "--help")
    assert shown.returncode == 0
    assert "solve " in shown.stdout
    assert f"orienteer: boil (no_such_package:boil) is left out: {missing}\n" in shown.stderr
    assert orienteer(folder, "solve", "town.json", "--solver", "tsili").stderr == "", "our own names ask nobody"
