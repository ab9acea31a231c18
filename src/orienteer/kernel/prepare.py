"""Compiling ahead of a search, side by side in several processes, with a notice where there is something to compile.

numba compiles one function at a time in a process, whatever the number of threads. What helper processes compile, this
process reads from the files of `orienteer.kernel.cache`.
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
"""Called with the name of each task that is done."""

NOWHERE = f"every process compiles anew, since no directory can be written; {VARIABLE} may name one"

_done: set[str] = set()
"""The tasks that this process has done."""
_one_at_a_time = threading.Lock()
_log = logging.getLogger("orienteer")


def no_task_news(task: str) -> None:
    """An `OnTask` that does nothing."""


def compile_kernels(tasks: Iterable[str], notice: str = "", on_task: OnTask = no_task_news) -> None:
    """Does the tasks that this process has not done yet; then the kernels that they call are ready in this process.

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
    """Tasks that this process and its helper processes take from one list."""

    def __init__(self, waiting: deque[str], notice: str, on_task: OnTask):
        self.waiting, self.notice, self.on_task = waiting, notice, on_task
        self.helpers: list[threading.Thread] = []
        self.to_read: list[str] = []
        """Tasks done by helpers, whose kernels this process has yet to read from files."""

    def do(self) -> None:
        """Does all tasks, alone or with helpers."""
        with event.install_listener("numba:compile", _Listener(self.begin)):
            while self.waiting or self.helpers:
                while task := self.next_task():
                    _call(task)
                    self.on_task(task)
                for helper in self.helpers:
                    helper.join()  # a task whose helper has failed is waiting again now
                self.helpers.clear()
        for task in self.to_read:
            _call(task)

    def next_task(self) -> str:
        """The next task of the list; empty if none waits."""
        try:
            return self.waiting.popleft()
        except IndexError:  # asking first whether a task waits would not do: another thread may take it in between
            return ""

    def begin(self) -> None:
        """Logs that something is being compiled, and starts helpers for the remaining tasks."""
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
        """Lets a helper process do tasks until none waits, or until the process fails."""
        with _helper() as ask:
            while task := self.next_task():
                if not ask(task):
                    self.waiting.append(task)
                    return
                self.to_read.append(task)
                self.on_task(task)


class _Listener(event.Listener):  # type: ignore[misc]
    """Calls `begin` the first time that a kernel is found in no file and has to be compiled."""

    def __init__(self, begin: Callable[[], None]):
        self.begin: Callable[[], None] | None = begin

    def on_start(self, event: Any) -> None:
        begin = self.begin
        if begin is not None and isinstance(event.data["dispatcher"]._cache, KernelCache):
            self.begin = None
            begin()

    def on_end(self, event: Any) -> None:
        """Does nothing; numba asks for the method."""


@contextlib.contextmanager
def _helper() -> Iterator[Callable[[str], bool]]:
    """Starts a helper process and yields a function that hands it a task and says whether the task was done."""
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
            start_new_session=True,  # Ctrl-C should reach this process only
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
                process.stdin.close()  # type: ignore[union-attr]  # at the end of its input the helper ends


def serve(questions: IO[str] | None = None, answers: IO[str] | None = None) -> None:
    """Does the tasks that come in, a line each, and writes each task's name back when it is done."""
    answers = answers or sys.stdout
    for line in questions or sys.stdin:
        _call(line.strip())
        print(line.strip(), file=answers, flush=True)


def _call(task: str) -> None:
    """Does a task, unless this process has done it before."""
    if task not in _done:
        module, _, name = task.partition(":")
        getattr(importlib.import_module(module), name)()
        _done.add(task)


def _can_start_python() -> bool:
    """Whether the running program is Python itself, and not a program with Python inside, which would start anew."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
