"""Bars: on a terminal, after a while; in a log a line now and then."""

import dataclasses
import io
import math
import sys
from pathlib import Path

import pytest

from command_line import Cli, Script
from orienteer import Progress
from orienteer.cli import progress
from orienteer.cli.progress import Bar

NOW = Progress(seconds=9.0, steps=250, since_best=3, prize=12.5, fraction=0.25)


class Terminal(io.StringIO):
    """A screen that remembers what was written on it."""

    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch, delay: float = 0.0) -> Terminal:
    """A terminal in place of standard error; not a fixture, since pytest puts its own back before each test."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY", delay)
    return screen


def test_a_long_search_shows_prize_and_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with Bar() as bar:
        bar.search(NOW)
    assert "prize 12.5  step 250" in terminal.getvalue()


def test_a_long_batch_shows_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with Bar() as bar:
        bar.batch(3, 4)
    assert "3 of 4" in terminal.getvalue()


def test_an_unknown_share_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with Bar() as bar:
        bar.search(dataclasses.replace(NOW, fraction=math.nan))
    assert "prize 12.5" in terminal.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch, delay=1e9)
    with Bar() as bar:
        bar.search(NOW)
    assert terminal.getvalue() == ""


def test_a_log_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr(progress, "LINES", 0.0)
    with Bar() as bar:
        bar.batch(1, 4)
        bar.batch(3, 4)
    assert [line.split("  ")[1] for line in log.getvalue().splitlines()] == ["1 of 4", "3 of 4"]


def test_a_search_for_a_proof_shows_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr(progress, "LINES", 0.0)
    with Bar() as bar:
        bar.search(Progress(1.0, 2, 0, 7.5))
        bar.search(Progress(1.0, 3, 0, 7.5, bound=9.0))
    assert [line.split("  ")[1:] for line in log.getvalue().splitlines()] == [
        ["prize 7.5", "step 2"],
        ["prize 7.5", "bound 9", "step 3"],
    ]


def test_a_log_that_nobody_reads_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    monkeypatch.setattr(progress, "LINES", 0.0)
    with Bar() as bar:
        bar.batch(1, 4)


def test_a_pipe_stays_silent(cli: Cli, town: Path, scripted: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    scripted(lambda run: None)
    assert cli("solve", town, "--solver", "scripted").err == ""


def test_a_terminal_sees_the_bar_of_a_solve(
    cli: Cli, town: Path, scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = watched(monkeypatch)
    scripted(lambda run: None)
    assert cli("solve", town, "--solver", "scripted", "--json").out.startswith("{")
    assert "prize 0" in terminal.getvalue()
