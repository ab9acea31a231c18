"""Runs the command line in this process, so that tests can look inside."""

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import TOWN, Cli, Said, Script, Scripted
from orienteer import REGISTRY, Entry
from orienteer.cli.main import run
from orienteer.core.run import Run
from orienteer.data.files import write


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line and tells its status, standard output and standard error."""

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return call


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
