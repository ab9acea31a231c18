"""Progress of long work: a bar on a terminal, else a line now and then; rich is imported only for a bar."""

import math
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

import click

from orienteer.search.stop import Progress

if TYPE_CHECKING:
    import rich.progress

DELAY = 2.0
"""Seconds of work before a bar appears."""

PAUSE = 0.1
"""Seconds between two updates of a bar."""

LINES = 60.0
"""Seconds before the first line, and between two lines, where there is no terminal."""


class Bar:
    """A context that shows how far a piece of work is: by a bar on a terminal after `DELAY`, else by lines."""

    def __init__(self, begun: float = 0.0) -> None:
        """`begun` is the share of the work that an earlier run has done."""
        self._begun = begun
        self._watched = sys.stderr is not None and sys.stderr.isatty()  # None if closed before the start
        self._began = time.monotonic()
        self._due = self._began + (DELAY if self._watched else LINES)
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, fraction: float, text: str) -> None:
        """Moves the bar to `fraction` of the work, 0 to 1 or NaN where that is unknown, with `text` beside the bar."""
        now = time.monotonic()
        if now < self._due:
            return
        words = f"{now - self._began:.0f} s  {text}"
        if not self._watched:
            self._due = now + LINES
            with suppress(OSError):  # a closed standard error is no reason to end the work
                click.echo(words, err=True)
            return
        self._due = now + PAUSE
        if self._bar is None:
            self._bar = _start()
        done, total = (0.0, None) if math.isnan(fraction) else (fraction, 1.0)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, text=words)

    def search(self, now: Progress) -> None:
        """Shows the progress of a search."""
        prize = "no plan yet" if now.prize == -math.inf else f"prize {now.prize:.6g}"
        bound = f"  bound {now.bound:.6g}" if now.bound < math.inf else ""
        self.show(now.fraction, f"{prize}{bound}  step {now.steps:,}")

    def batch(self, done: int, total: int) -> None:
        """Shows how many instances of a batch are done, and how long the others will take at this pace."""
        part = done / total
        fresh = part - self._begun
        left = (time.monotonic() - self._began) * (1 - part) / fresh if fresh > 0 else math.nan
        self.show(part, f"{done:,} of {total:,}" + ("" if math.isnan(left) else f"  {_long(left)} left"))


def _long(seconds: float) -> str:
    """A time in words, no more exact than a guess can be."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.{int(seconds < 10 * length)}f} {unit}"
    return f"{seconds:.0f} s"


def _start() -> "rich.progress.Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(BarColumn(), TextColumn("{task.fields[text]}"), console=Console(stderr=True), transient=True)
    bar.add_task("", total=1, text="")
    bar.start()
    return bar
