"""`orienteer solve --bound` and `--prove`."""

import json
import sys
from pathlib import Path

import pytest

from command_line import Cli


def test_the_gap_is_printed(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "route.txt").write_text("0 1 2 0\n")
    begin = ("--solver", "random", "--steps", "0", "--initial", tmp_path / "route.txt")
    status, out, _ = cli("solve", town, *begin, "--bound")
    assert status == 0
    assert "prize 3.5 of 57.5" in out
    assert "\nbound 7.5, gap 53 %\n" in out, "no step is left for the bound: all within reach"


def test_a_bound_may_prove(cli: Cli, town: Path) -> None:
    out = cli("solve", town, "--solver", "tsili", "--bound", "--json").out
    data = json.loads(out)
    assert data["bound"] >= 6
    assert data["solver"] == "tsili"


def test_prove_finds_the_best(cli: Cli, town: Path, tmp_path: Path) -> None:
    (tmp_path / "route.txt").write_text("0 1 0\n")
    out = cli("solve", town, "--solver", "random", "--initial", tmp_path / "route.txt", "--prove").out
    assert "prize 6 of 57.5" in out
    assert "\nbound 6, gap 0 %\n" in out
    assert "random: proven optimal in " in out


def test_exact_by_name(cli: Cli, town: Path) -> None:
    assert "exact: proven optimal in " in cli("solve", town, "--solver", "exact").out


@pytest.mark.parametrize("package", ["pyscipopt", "highspy"])
@pytest.mark.parametrize("words", [("--solver", "exact"), ("--solver", "tsili", "--bound"), ("--prove",)])
def test_a_missing_package_is_one_line(
    cli: Cli, town: Path, words: tuple[str, ...], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    status, out, err = cli("solve", town, *words)
    assert (status, out) == (2, "")
    assert err == "orienteer: exact needs an optional package: pip install 'orienteer[exact]'\n"
