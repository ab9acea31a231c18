"""Ctrl-C: the best route so far at the first, nothing at the second."""

import json
import signal
import threading
from pathlib import Path

from command_line import Cli, Script
from orienteer.cli.interrupt import Interrupt
from orienteer.search.run import Run
from orienteer.search.stop import Progress

NOW = Progress(seconds=0, steps=0, since_best=0, prize=0)


def press_at(step: int, route: list[int]) -> object:
    def action(run: Run) -> None:
        if run.steps == 1:
            run.offer(route)
        if run.steps == step:
            signal.raise_signal(signal.SIGINT)

    return action


def test_the_best_route_so_far_is_printed(cli: Cli, town: Path, tmp_path: Path, scripted: Script) -> None:
    scripted(press_at(5, [0, 2, 3, 0]))  # type: ignore[arg-type]
    before = signal.getsignal(signal.SIGINT)
    status, out, err = cli("solve", town, "--solver", "scripted", "--json", "--out", tmp_path / "r.json")
    assert (status, err) == (0, "")
    assert json.loads(out)["tour"] == [0, 2, 3, 0]
    assert json.loads(out)["steps"] == 6
    assert json.loads((tmp_path / "r.json").read_text()) == json.loads(out)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_press_aborts(cli: Cli, town: Path, tmp_path: Path, scripted: Script) -> None:
    def twice(run: Run) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    scripted(twice)
    before = signal.getsignal(signal.SIGINT)
    said = cli("solve", town, "--solver", "scripted", "--out", tmp_path / "r.json")
    assert said == (130, "", "orienteer: interrupted\n")
    assert not (tmp_path / "r.json").exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_it_is_a_stop_criterion() -> None:
    heard = []
    with Interrupt(on_press=lambda: heard.append("pressed")) as interrupt:
        assert not interrupt(NOW)
        signal.raise_signal(signal.SIGINT)
        assert interrupt(NOW)
    assert heard == ["pressed"]


def test_outside_the_main_thread_it_does_nothing() -> None:
    """Python allows handlers in the main thread only; a server may solve in others."""
    handlers = []

    def enter() -> None:
        with Interrupt():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [before]
