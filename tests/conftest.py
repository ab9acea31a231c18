"""Settings of the whole test run, and the command line run in this process so that tests can look inside."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from command_line import TOWN, Cli, Said, Script, Scripted
from orienteer import REGISTRY, Entry
from orienteer.beam.backend.protocol import Backend
from orienteer.cli.main import run
from orienteer.data.files import write
from orienteer.search.run import Run

# pytest runs in one process a core; libraries that start threads of their own would only get in each other's way.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# No deadline: the first example may wait for a compiler. Derandomised: what passes here passes everywhere.
settings.register_profile("orienteer", deadline=None, derandomize=True, database=None)
settings.load_profile("orienteer")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line and tells its status, standard output and standard error."""

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return call


@pytest.fixture(scope="module", params=["host", "cuda"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Every backend of beam searches in turn, for tests that hold on both."""
    from backends import BACKENDS

    if request.param not in BACKENDS:
        pytest.skip("Triton is not installed: it is made for Linux")
    return BACKENDS[request.param]


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A file with the problem `TOWN`."""
    path = tmp_path / "town.json"
    write(TOWN, path)
    return path


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Registers the solver `scripted`, whose every step does what it is told here."""
    monkeypatch.setitem(REGISTRY, "scripted", Entry("scripted", "", "", "command_line:Scripted"))

    def script(action: Callable[[Run], None]) -> None:
        monkeypatch.setattr(Scripted, "action", staticmethod(action), raising=False)

    return script
