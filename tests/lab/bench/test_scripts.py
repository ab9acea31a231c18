"""The scripts of benchmarks/: that each can be loaded, and that those with a bar judge by it."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from orienteer.data.files import write_set
from orienteer.data.generate import generate
from orienteer.lab.bench.sets import NamedSet
from orienteer.search.front import solve_batch

SCRIPTS = Path(__file__).parents[3] / "benchmarks"


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_load(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(variable, os.environ.get(variable, "1"))  # put back afterwards
    monkeypatch.syspath_prepend(SCRIPTS)
    assert "main" in runpy.run_path(str(script), run_name="loaded") or script.stem == "common"


@pytest.mark.parametrize(("factor", "status", "word"), [(1.0, 0, "kept everywhere"), (1.1, 1, "below the bar: uni")])
def test_the_bar_beside_compass(tmp_path: Path, factor: float, status: int, word: str) -> None:
    """Where Compass collects a tenth more than we do, the bar of 99.8 % is missed."""
    data = tmp_path / "data" / "paper"
    data.mkdir(parents=True)
    one = NamedSet("uniform_8", generate(8, count=2, seed=1))
    write_set(list(one.instances), data / "uniform_8.npz")
    prizes = [factor * result.prize for result in solve_batch(one.instances, "compass")]
    rows = [f"uniform_8,{index},{prize!r},100.0" for index, prize in enumerate(prizes)]
    (data / "compass.csv").write_text("\n".join(["set,index,prize,cpu_seconds", *rows, ""]))
    words = ["--data", str(tmp_path / "data"), "--sets", "uniform_8", "--out", str(tmp_path / "out")]
    command = [sys.executable, str(SCRIPTS / "compass.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    assert word in done.stdout
    assert f"{100 / factor:.2f} % of Compass's prize in 0.00 of its CPU seconds" in done.stdout
