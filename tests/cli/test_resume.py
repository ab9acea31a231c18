"""`orienteer batch`, killed at any moment and started again: the results are those of an unbroken run."""

import itertools
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import Cli, Script
from orienteer.data.files import read_results, read_set, write_set
from orienteer.data.generate import generate
from orienteer.data.npz import BatchResult
from orienteer.search.run import Run

OFTEN = """
import sys
from orienteer.cli.main import main
from orienteer.data import result_parts
result_parts.PAUSE = 0.0  # a part after every task, so that a test of seconds has many
main(sys.argv[1:])
"""


@pytest.fixture
def set_folder(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "set"
    assert cli("generate", "--n", 8, "--count", 40, "--seed", 1, "--shard", 7, "--out", path).status == 0
    return path


def same(one: BatchResult, other: BatchResult) -> None:
    for field in ("prize", "cost", "tour"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_a_folder_is_the_set_of_one_file(cli: Cli, set_folder: Path, tmp_path: Path) -> None:
    write_set(generate(8, count=40, seed=1), tmp_path / "set.npz")
    assert list(read_set(set_folder)) == list(read_set(tmp_path / "set.npz"))
    outs = [tmp_path / "a.npz", tmp_path / "b", tmp_path / "c.npz"]
    for given, out in zip((tmp_path / "set.npz", set_folder, f"{set_folder}/part-*.npz"), outs, strict=True):
        said = cli("batch", given, "--solver", "random", "--steps", 2, "--seed", 5, "--out", out)
        assert (said.status, said.err) == (0, "")
        assert said.out.startswith("40 instances, mean prize ")
    for out in outs[1:]:
        same(read_results(outs[0]), read_results(out))
    assert not list(tmp_path.glob("*.parts"))
    assert cli("check", set_folder, outs[1], "--index", 39).status == 0


@pytest.mark.parametrize(("out", "more"), [("out", ()), ("out.npz", ()), ("out", ("--workers", "2"))])
def test_kills_change_nothing(cli: Cli, set_folder: Path, tmp_path: Path, out: str, more: tuple[str, ...]) -> None:
    """The moment of a kill is drawn: after so many files or drafts in the folder, when the process is anywhere."""
    words = ["batch", str(set_folder), "--solver", "tsili", "--set", "tries=40", "--steps", "40"]
    assert cli(*words, "--out", tmp_path / "whole.npz").status == 0
    command = [sys.executable, "-c", OFTEN, *words, *more, "--out", str(tmp_path / out)]
    folder, dice, kills = tmp_path / (f"{out}.parts" if out.endswith(".npz") else out), random.Random(len(more)), 0
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wanted = _names(folder) + dice.randrange(1, 5)
        while process.poll() is None and _names(folder) < wanted:
            pass
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("40 instances, mean prize ")
    same(read_results(tmp_path / "whole.npz"), read_results(tmp_path / out))
    assert not list(tmp_path.glob("*.parts"))


def _names(folder: Path) -> int:
    """How many names there are in a folder."""
    try:
        return len(os.listdir(folder))
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("out", ["out", "out.npz"])
def test_nothing_finished_is_solved_again_after_ctrl_c(
    cli: Cli, set_folder: Path, tmp_path: Path, scripted: Script, out: str
) -> None:
    calls = itertools.count(1)

    def interrupt_at_tenth(run: Run) -> None:
        if next(calls) == 10:
            signal.raise_signal(signal.SIGINT)

    scripted(interrupt_at_tenth)
    words = ("batch", set_folder, "--solver", "scripted", "--steps", 1, "--out", tmp_path / out)
    said = cli(*words)
    assert said.status == 130
    assert said.err == "orienteer: ended early: only the first 9 of 40 were solved\n"
    assert len(read_results(tmp_path / out)) == 9
    said = cli(*words)
    assert (said.status, said.err) == (0, "")
    assert next(calls) == 10 + 31 + 1
    assert len(read_results(tmp_path / out)) == 40
    assert cli(*words).status == 0
    assert next(calls) == 43 + (40 if out.endswith(".npz") else 0)  # a finished file is made anew, as it always was


def test_another_command_is_refused_and_nothing_is_lost(cli: Cli, set_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["batch", set_folder, "--solver", "tsili", "--out", out]
    assert cli(*words, "--count", 30).status == 0
    before = read_results(out)
    write_set(generate(8, count=7, seed=2), set_folder / "part-00002-of-00006.npz")
    for more, key in (
        (("--count", "30"), "set is "),
        (("--solver", "random"), "set is "),
    ):
        said = cli(*words, *more)
        assert (said.status, said.out) == (2, "")
        assert said.err.startswith(f"orienteer: {out}: holds results of another command, whose {key}")
    write_set(generate(8, count=7, seed=1, first=14), set_folder / "part-00002-of-00006.npz")
    for more, key in (
        ((), "instances is 30, not 40"),
        (("--count", "30", "--solver", "random"), "solver is 'tsili', not 'random'"),
        (("--count", "30", "--set", "tries=2"), "settings is {}, not {'tries': 2}"),
        (("--count", "30", "--seed", "1"), "seed is 0, not 1"),
        (("--count", "30", "--steps", "9"), "steps is None, not 9"),
    ):
        assert f"whose {key}" in cli(*words, *more).err
    same(before, read_results(out))
    assert cli(*words, "--count", 30).status == 0


def test_a_bad_shard_is_told_before_the_search(cli: Cli, set_folder: Path, tmp_path: Path) -> None:
    path = set_folder / "part-00003-of-00006.npz"
    arrays = dict(np.load(path))
    np.savez(path, **arrays | {"prizes": arrays["prizes"] * np.where(np.arange(7) == 5, -1, 1)[:, None]})
    said = cli("batch", set_folder, "--solver", "tsili", "--out", tmp_path / "out")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"orienteer: {path}: instance 5: prizes[1] must not be negative, got -")
    path.unlink()
    said = cli("batch", set_folder, "--solver", "tsili", "--out", tmp_path / "out")
    assert said.err == f"orienteer: {set_folder}: holds 5 of 6 parts: number 3 is not there\n"


def test_results_do_not_go_among_the_set_or_under_a_wrong_name(cli: Cli, set_folder: Path, tmp_path: Path) -> None:
    assert "it is also read by this command" in cli("batch", set_folder, "--out", set_folder).err
    assert "its name must end in .npz" in cli("batch", set_folder, "--out", tmp_path / "out.json").err


def test_a_set_is_not_written_into_another(cli: Cli, set_folder: Path) -> None:
    words = ("generate", "--n", 8, "--count", 40, "--seed", 1, "--out", set_folder)
    assert "it holds the file part-00000-of-00006.npz of another set" in cli(*words, "--shard", 8).err
    assert cli(*words, "--shard", 7).status == 0
