"""Compiling ahead of a search, side by side in several processes, with a notice where there is something to compile.

numba compiles one function at a time in a process, whatever the number of threads. What other processes compile comes
back through the files of `orienteer.kernel.cache`.
"""

import contextlib
import importlib
import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from numba.core import event

from orienteer.kernel.cache import VARIABLE, KernelCache, writable_place

OnTask = Callable[[str], None]
"""Told of each task that is done."""

NOWHERE = f"every process compiles anew, since no directory can be written; {VARIABLE} may name one"

_done: set[str] = set()
"""The tasks that this process has done."""
_one_at_a_time = threading.Lock()
_log = logging.getLogger("orienteer")


def no_task_news(task: str) -> None:
    """The listener that does nothing."""


def compile_kernels(tasks: Iterable[str], notice: str = "", on_task: OnTask = no_task_news) -> None:
    """Does tasks that this process has not done yet; what they call is compiled, or read from files, afterwards.

    Parameters
    ----------
    tasks
        Each "module:function" without arguments, which calls a kernel with the types of arguments that a search has.
        Those that take longest to compile come first, so that processes end at about the same time.
    notice
        What to log as soon as something really has to be compiled; nothing where it is empty.
    on_task
        Called after each task, with its name.
    """
    with _one_at_a_time:
        waiting = deque(task for task in dict.fromkeys(tasks) if task not in _done)
        if waiting:
            _Work(waiting, notice, on_task).do()


class _Work:
    """Tasks that this process and its helpers take from one list."""

    def __init__(self, waiting: deque[str], notice: str, on_task: OnTask):
        self.waiting, self.notice, self.on_task = waiting, notice, on_task
        self.helpers: list[threading.Thread] = []
        self.theirs: list[str] = []
        """What helpers have compiled, and this process has yet to read."""

    def do(self) -> None:
        """Does all tasks, alone or with helpers."""
        with event.install_listener("numba:compile", _Listener(self.begin)):
            while self.waiting or self.helpers:
                while task := self.next_task():
                    _call(task)
                    self.on_task(task)
                for helper in self.helpers:
                    helper.join()  # and if one has failed, its task waits again
                self.helpers.clear()
        for task in self.theirs:
            _call(task)

    def next_task(self) -> str:
        """A task for whoever asks; empty if none waits."""
        try:
            return self.waiting.popleft()
        except IndexError:  # several threads ask
            return ""

    def begin(self) -> None:
        """Says that something is being compiled, and starts helpers for what remains."""
        kept = writable_place() is not None
        if self.notice:
            _log.warning(self.notice if kept else f"{self.notice}; {NOWHERE}")
        if not kept or not _can_start_python():
            return
        for _ in range(min(_cores() - 1, len(self.waiting))):
            helper = threading.Thread(target=self.help, daemon=True)
            helper.start()
            self.helpers.append(helper)

    def help(self) -> None:
        """Lets another process do tasks until none waits, or until it fails."""
        with _helper() as ask:
            while task := self.next_task():
                if not ask(task):
                    self.waiting.append(task)
                    return
                self.theirs.append(task)
                self.on_task(task)


class _Listener(event.Listener):  # type: ignore[misc]
    """Calls `begin` when a kernel is found in no file and has to be compiled, the first time only."""

    def __init__(self, begin: Callable[[], None]):
        self.begin: Callable[[], None] | None = begin

    def on_start(self, event: Any) -> None:
        begin = self.begin
        if begin is not None and isinstance(event.data["dispatcher"]._cache, KernelCache):
            self.begin = None
            begin()

    def on_end(self, event: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def _helper() -> Iterator[Callable[[str], bool]]:
    """Another process; what is yielded hands it a task and says whether that is done."""
    program = "from orienteer.kernel.prepare import serve; serve()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            start_new_session=True,  # Ctrl-C is for us
        )
    except OSError:
        yield lambda task: False
        return

    def ask(task: str) -> bool:
        with contextlib.suppress(OSError):
            print(task, file=process.stdin, flush=True)
        assert process.stdout is not None
        return process.stdout.readline().strip() == task

    with process:
        try:
            yield ask
        finally:
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]  # at which it ends


def serve(questions: IO[str] | None = None, answers: IO[str] | None = None) -> None:
    """Does the tasks that come in, a line each, and answers each with its name."""
    answers = answers or sys.stdout
    for line in questions or sys.stdin:
        _call(line.strip())
        print(line.strip(), file=answers, flush=True)


def _call(task: str) -> None:
    if task not in _done:
        module, _, name = task.partition(":")
        getattr(importlib.import_module(module), name)()
        _done.add(task)


def _can_start_python() -> bool:
    """Whether the program that runs is Python itself, and not one that has Python inside it."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
