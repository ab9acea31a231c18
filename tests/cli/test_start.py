"""What a newcomer sees first: help, version, the list of solvers; and that it comes fast."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import orienteer
from command_line import Cli
from orienteer import REGISTRY
from orienteer.cli.main import cli as group

HEAVY = ("numba", "torch", "matplotlib", "rich", "scipy", "pandas", "openpyxl", "ray")


def heavy_after(code: str) -> list[str]:
    """Which of the heavy modules are loaded after some code, in a fresh process."""
    listing = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}; {listing}"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(
    "code",
    [
        "import orienteer",
        "import orienteer.cli.main",
        "from orienteer.cli.main import run; run(['--help'])",
        "from orienteer.cli.main import run; run(['bench', 'paper', '--help'])",
        "from orienteer.cli.main import run; run(['solve', 'no such file'])",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert heavy_after(code) == []


def test_it_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "orienteer", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["orienteer", orienteer.__version__]


def test_help_lists_the_commands_most_used_first(cli: Cli) -> None:
    status, out, err = cli("--help")
    assert (status, err) == (0, "")
    listed = [line.split()[0] for line in out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert listed == [
        "solve",
        "batch",
        "generate",
        "check",
        "explain",
        "plot",
        "convert",
        "solvers",
        "example",
        "warmup",
        "serve",
        "bench",
        "labels",
        "train",
        "weights",
    ]
    assert "Exit status" in out


def test_no_command_shows_the_help(cli: Cli) -> None:
    assert cli() == cli("--help")


@pytest.mark.parametrize("command", group.commands)
def test_each_command_has_help(cli: Cli, command: str) -> None:
    status, out, err = cli(command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"Usage: orienteer {command}")


def test_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"orienteer {orienteer.__version__}\n", "")


def test_solvers_are_listed_with_their_papers(cli: Cli) -> None:
    status, out, _ = cli("solvers")
    assert status == 0
    for entry in REGISTRY.values():
        line = next(line for line in out.splitlines() if line.startswith(f"{entry.name} "))
        assert entry.paper in line
        assert entry.summary in line


def test_installed_command_runs() -> None:
    program = Path(sys.executable).with_name("orienteer")
    if not program.exists():
        pytest.skip("the package is not installed beside this Python")
    assert b"Usage: orienteer" in subprocess.run([program, "--help"], capture_output=True, check=True).stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
@pytest.mark.parametrize("arguments", [["--help"], ["solvers"], ["solve", "{town}", "--solver", "tsili"]])
def test_a_closed_pipe_is_no_error(town: Path, arguments: list[str]) -> None:
    """`orienteer ... | head -1` must end quietly."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [word.format(town=town) for word in arguments]
    code = f"from orienteer.cli.main import main; main({words!r})"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes streams differently elsewhere")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(town: Path, tmp_path: Path, closed: str) -> None:
    """A service may start a program without standard output or standard error."""
    code = f"from orienteer.cli.main import main; main(['solve', {str(town)!r}, '--solver', 'tsili'])"
    errors = tmp_path / "errors"
    done = subprocess.run(
        f'{sys.executable} -c "{code}" 2>{errors} {closed}', shell=True, capture_output=True, check=False
    )
    assert (done.returncode, errors.read_text()) == (0, "")
