"""Every example runs, from another directory, and says something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orienteer.data.files import read

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "prize" in done.stdout
    assert os.listdir(tmp_path) == []


def test_the_tutorial_runs(tmp_path: Path) -> None:
    """Its code cells, in order, as one program: what Jupyter would do without its server."""
    notebook = json.loads((EXAMPLES / "tutorial.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code")
    (tmp_path / "examples").symlink_to(EXAMPLES)
    told = '; assert means["random"] < means["tsili"] < means["cs-l"] <= means["lns"] + 0.5; assert report.complete'
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code) + told], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "| compass | " in done.stdout
    assert os.listdir(tmp_path) == ["examples"]


def test_the_town_is_a_problem() -> None:
    town = read(EXAMPLES / "city.csv")
    assert town.names is not None
    assert town.names[town.start] == town.names[town.end] == "Station"
    assert town.reachable.all()
    assert town.size >= 40
