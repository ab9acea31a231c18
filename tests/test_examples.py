"""Every example runs, from another directory, and says something."""

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


def test_the_town_is_a_problem() -> None:
    town = read(EXAMPLES / "city.csv")
    assert town.names is not None
    assert town.names[town.start] == town.names[town.end] == "Station"
    assert town.reachable.all()
    assert town.size >= 40
