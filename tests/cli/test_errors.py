"""Errors: one line on standard error, nothing on standard output, status 2, nothing written."""

import os
import sys
from pathlib import Path

import pytest

from command_line import TOWN, Cli, Script
from orienteer.beam.backend import gpu_is_there
from orienteer.data.files import write_set
from orienteer.search.run import Run

WRONG = {
    "no such command": (["sovle"], "No such command 'sovle'"),
    "no such option": (["solve", "{town}", "--secs", "3"], "No such option '--secs'"),
    "no file": (["solve"], "Missing argument 'FILE'"),
    "missing file": (["solve", "{dir}/none.json"], "none.json: cannot be read: No such file or directory"),
    "directory": (["solve", "{dir}/sub.json"], "sub.json: cannot be read: Is a directory"),
    "suffix": (["solve", "{dir}/town.doc"], "town.doc: the suffix '.doc' stands for no format"),
    "format": (
        ["solve", "{town}", "--format", "doc"],
        "toptw, mctopmtw, got 'doc'",
    ),
    "format misspelt": (["solve", "{town}", "--format", "opl"], "got 'opl'; did you mean 'oplib'?"),
    "damaged file": (["solve", "{dir}/bad.json"], "bad.json:2: not JSON"),
    "solver": (["solve", "{town}", "--solver", "magic"], "--solver must be one of auto, lns, compass, exact, gurobi, "),
    "setting": (["solve", "{town}", "--solver", "tsili", "--beam", "3"], "tsili has no setting 'beam'; it has "),
    "threads": (["solve", "{town}", "--solver", "tsili", "--threads", "2"], "tsili has no setting 'threads'; it has "),
    "threads of a server": (
        ["solve", "{town}", "--threads", "2", "--server", "http://localhost:1"],
        "--threads is for a search on this machine",
    ),
    "set without value": (
        ["solve", "{town}", "--solver", "tsili", "--set", "tries"],
        "--set takes KEY=VALUE, got 'tries'",
    ),
    "set unknown": (["solve", "{town}", "--solver", "tsili", "--set", "size=3"], "tsili has no setting 'size'; it has"),
    "set text": (["solve", "{town}", "--solver", "tsili", "--set", "tries=x"], "--set tries must be a whole number"),
    "set word": (["solve", "{town}", "--solver", "cs-p", "--set", "score=up"], "--set score must be parent or child"),
    "set number": (
        ["solve", "{town}", "--solver", "cs-p", "--set", "beam=x"],
        "must be a whole number or none, got 'x'",
    ),
    "set wrong": (["solve", "{town}", "--solver", "tsili", "--set", "tries=0"], "TsiliConfig.tries must be at least 1"),
    "timetable": (
        ["solve", "{town}", "--timetable", "a.png"],
        "No such option '--timetable'; it belongs to: orienteer plot FILE ROUTE --timetable PICTURE",
    ),
    "seconds": (["solve", "{town}", "--seconds", "-1"], "MaxSeconds.seconds must be at least 0, got -1.0"),
    "seconds NaN": (["solve", "{town}", "--seconds", "nan"], "MaxSeconds.seconds must be at least 0, got nan"),
    "seconds text": (["solve", "{town}", "--seconds", "ten"], "Invalid value for '--seconds'"),
    "steps": (["solve", "{town}", "--steps", "-1"], "MaxSteps.steps must be at least 0, got -1"),
    "seed": (["solve", "{town}", "--seed", "-1"], "Invalid value for '--seed'"),
    "device": (["solve", "{town}", "--device", "tpu"], "Invalid value for '--device'"),
    "limit": (["solve", "{town}", "--limit", "0"], "town.json: limit must be positive and finite, got 0"),
    "limit text": (
        ["solve", "{town}", "--limit", "4h"],
        "--limit must be a number or hours and minutes such as 4:00, got '4h'",
    ),
    "limit no time": (
        ["solve", "{town}", "--limit", "4:75"],
        "--limit must be hours and minutes such as 1:30, got '4:75'",
    ),
    "limit day": (
        ["solve", "{town}", "--limit", "day 2 4:00"],
        "--limit must be a number or hours and minutes such as 1:30, got 'day 2 4:00'",
    ),
    "start": (["solve", "{town}", "--start", "harbour"], "town.json: --start: no place is called 'harbour'"),
    "start misspelt": (
        ["solve", "{town}", "--start", "Mil"],
        "no place is called 'Mil'; did you mean 'mill'?",
    ),
    "end": (["solve", "{town}", "--end", "5"], "--end must be a node from 0 to 4, got 5"),
    "require": (["solve", "{town}", "--require", "Mil"], "--require: no place is called 'Mil'; did you mean 'mill'?"),
    "require beyond": (["solve", "{town}", "--require", "5"], "--require must be a node from 0 to 4, got 5"),
    "avoid": (["check", "{town}", "{dir}/long.txt", "--avoid", "Mil"], "--avoid: no place is called 'Mil'; did you"),
    "index": (["solve", "{set}"], "a set of 2 instances; an index must say which"),
    "index beyond": (["solve", "{set}", "--index", "2"], "there is no instance 2 among 2"),
    "matrix": (["solve", "{set}", "--matrix", "{dir}/m.csv"], "matrix, metric, speed and unit go with csv, json"),
    "initial": (["solve", "{town}", "--solver", "tsili", "--initial", "{dir}/long.txt"], "more than the limit 13"),
    "out in no folder": (["solve", "{town}", "--out", "{dir}/no/r.json"], "cannot be written: No such file"),
    "out is a folder": (["solve", "{town}", "--out", "{dir}/sub.json"], "cannot be written: it is a directory"),
    "out is the problem": (["solve", "{town}", "--out", "{town}"], "it is also read or written by this command"),
    "out is the matrix": (
        ["solve", "{town}", "--matrix", "{dir}/long.txt", "--out", "{dir}/long.txt"],
        "it is also read or",
    ),
    "out has another suffix": (
        ["solve", "{town}", "--out", "{dir}/a.kml"],
        "routes are not written as .kml, only as .json (everything), .geojson (for maps), .gpx (for maps and devices)",
    ),
    "out needs latitudes": (
        ["solve", "{town}", "--out", "{dir}/a.gpx"],
        "a.gpx: cannot be written: this format holds longitude and latitude, which the places do not have",
    ),
    "out is the plot": (
        ["solve", "{town}", "--out", "{dir}/long.txt", "--plot", "{dir}/long.txt"],
        "it is also read or",
    ),
    "plot suffix": (["solve", "{town}", "--plot", "{dir}/a.gif"], "a picture must be one of .png, .svg, .pdf"),
    "plot in no folder": (["solve", "{town}", "--plot", "{dir}/no/a.png"], "cannot be written: No such file"),
    "batch without out": (["batch", "{set}", "--solver", "tsili"], "Missing option '--out'"),
    "batch of nothing": (["batch", "{dir}/none.npz", "--out", "{dir}/r.npz"], "none.npz: cannot be read"),
    "batch count": (["batch", "{set}", "--count", "0", "--out", "{dir}/r.npz"], "Invalid value for '--count'"),
    "batch workers": (["batch", "{set}", "--workers", "0", "--out", "{dir}/r.npz"], "Invalid value for '--workers'"),
    "batch out": (["batch", "{set}", "--out", "{dir}/no/r.npz"], "cannot be written: No such file or directory"),
    "batch onto itself": (["batch", "{set}", "--out", "{set}"], "it is also read or written by this command"),
    "generate n": (["generate", "--n", "0", "--out", "{dir}/s.npz"], "Invalid value for '--n'"),
    "generate without n": (["generate", "--out", "{dir}/s.npz"], "Missing option '--n'"),
    "generate costs": (["generate", "--n", "5", "--costs", "air", "--out", "{dir}/s.npz"], "costs must be one of "),
    "generate prizes": (["generate", "--n", "5", "--prizes", "gold", "--out", "{dir}/s.npz"], "prizes must be one of "),
    "generate limit": (["generate", "--n", "5", "--limit", "0", "--out", "{dir}/s.npz"], "limit must be positive"),
    "generate out": (["generate", "--n", "5", "--out", "{dir}/no/s.npz"], "cannot be written: No such file"),
    "check no tour": (["check", "{town}", "{dir}/none.txt"], "none.txt: cannot be read"),
    "check words": (["check", "{town}", "{dir}/words.txt"], "words.txt:1: a node must be a whole number, got 'home'"),
    "check one file": (["check", "{town}"], "Missing argument 'TOURFILE'"),
    "plot without out": (["plot", "{town}"], "--out, --timetable or --animate must say where the picture goes"),
    "timetable without a plan": (["plot", "{town}", "--timetable", "{dir}/a.png"], "--timetable needs a TOURFILE"),
    "film with a route": (
        ["plot", "{town}", "{dir}/long.txt", "--animate", "{dir}/a.gif"],
        "--animate searches anew: it goes with no TOURFILE",
    ),
    "levels without a film": (["plot", "{town}", "--levels", "--out", "{dir}/a.png"], "--levels goes with --animate"),
    "film suffix": (["plot", "{town}", "--animate", "{dir}/a.png"], "an animation must be one of .gif, .mp4"),
    "levels of lns": (
        ["plot", "{town}", "--animate", "{dir}/a.gif", "--levels", "--solver", "lns"],
        "--levels shows the cost levels of cs-p or cs-l; lns has none",
    ),
    "plot long route": (["plot", "{town}", "{dir}/long.txt", "--out", "{dir}/a.png"], "more than the limit 13"),
}


@pytest.fixture
def folder(tmp_path: Path, town: Path) -> Path:
    (tmp_path / "sub.json").mkdir()
    (tmp_path / "town.doc").write_text("x")
    (tmp_path / "bad.json").write_text('{\n"limit" 3}')
    (tmp_path / "long.txt").write_text("0 1 2 3 0\n")
    (tmp_path / "words.txt").write_text("home mill\n")
    write_set([TOWN, TOWN], tmp_path / "set.npz")
    return tmp_path


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_one_line_and_status_two(cli: Cli, folder: Path, town: Path, arguments: list[str], message: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    places = {"town": town, "dir": folder, "set": folder / "set.npz"}
    status, out, err = cli(*(word.format(**places) for word in arguments))
    assert status == 2
    assert out == ""
    assert err.startswith("orienteer: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert message in err
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_protected_file_is_refused_before_the_search(cli: Cli, town: Path, tmp_path: Path, scripted: Script) -> None:
    scripted(lambda run: pytest.fail("the search began"))
    protected = tmp_path / "kept.json"
    protected.touch(0o400)
    assert "Permission denied" in cli("solve", town, "--solver", "scripted", "--out", protected).err


@pytest.mark.skipif(gpu_is_there(), reason="this machine has a GPU")
def test_cuda_must_be_there(cli: Cli, town: Path) -> None:
    said = cli("solve", town, "--solver", "cs-p", "--device", "cuda")
    assert said == (2, "", "orienteer: device must be 'auto' or 'cpu': this machine has no CUDA device\n")


def test_cuda_for_a_solver_without_it_is_said(cli: Cli, town: Path) -> None:
    status, out, err = cli("solve", town, "--solver", "tsili", "--device", "cuda", "--json")
    assert (status, err) == (0, "orienteer: tsili runs on the CPU\n")
    assert out.startswith("{")


def test_missing_matplotlib_is_found_before_the_search(
    cli: Cli, town: Path, tmp_path: Path, scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(lambda run: pytest.fail("the search began"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = cli("solve", town, "--solver", "scripted", "--plot", tmp_path / "a.png")
    assert (status, out) == (2, "")
    assert err == "orienteer: a picture needs an optional package: pip install 'orienteer[plot]'\n"


def test_messages_of_several_lines_become_one(cli: Cli, town: Path, scripted: Script) -> None:
    def fail(run: Run) -> None:
        raise ValueError("first\n  second")

    scripted(fail)
    assert cli("solve", town, "--solver", "scripted").err == "orienteer: first second\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "orienteer: out of memory\n"),
        (OSError(28, "No space left on device", "r.npz"), "orienteer: r.npz: No space left on device\n"),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory"), "orienteer: CUDA out of memory\n"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory"),
            "orienteer: DefaultCPUAllocator: can't allocate memory\n",
        ),
    ],
)
def test_the_machines_errors_are_one_line_too(
    cli: Cli, town: Path, scripted: Script, error: Exception, line: str
) -> None:
    def fail(run: Run) -> None:
        raise error

    scripted(fail)
    assert cli("solve", town, "--solver", "scripted") == (2, "", line)


def test_debug_shows_where(cli: Cli, town: Path) -> None:
    with pytest.raises(ValueError, match="MaxSteps"):
        cli("--debug", "solve", town, "--steps", "-1")


def test_writing_to_a_device_is_no_problem(cli: Cli, town: Path) -> None:
    assert cli("solve", town, "--solver", "tsili", "--out", os.devnull).status == 0
