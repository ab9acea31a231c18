"""The engine of a Ray cluster: tasks go to the cores or GPUs of its machines, and to others when a machine is lost."""

import math
import os
import re
import socket
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from orienteer.model.errors import MissingExtra, OrienteerError
from orienteer.search.cores import set_cores
from orienteer.search.engines.job import Answer, Done, Halt, Job, Task, do
from orienteer.search.settings import field_types
from orienteer.search.solver import AnySolver

RETRIES = 10
"""How often a task is begun again after its process or machine was lost: on machines that are lent, several may go."""
AHEAD = 3
"""How many tasks for each worker are on their way, worked on, or wait to be fetched."""
PATIENCE, RECOUNT, KNOCK = 0.2, 5.0, 10.0
"""Seconds between two looks at Ctrl-C, between two counts of the cluster's cores or GPUs, and for a first contact."""


class Cluster:
    """Does tasks on a Ray cluster: that of an address, or one that is started on this machine.

    An instance travels once, within its task, to the machine that solves it; a set with coordinates travels as such.
    """

    seconds = 1.0
    """How long a task should take: hundreds of times as long as what Ray spends on it."""

    def __init__(self, solver: AnySolver, address: str | None = None, workers: int | None = None):
        """`workers` is the most tasks at a time; on a cluster of this machine alone, the number of its processes."""
        self._ray, self._most = import_ray(), workers
        self._ours = not self._ray.is_initialized()
        if self._ours and join(self._ray, address, workers):
            self._most = None  # the cluster has no more processes than that
        self.gpu = _on_gpu(solver, self._ray.cluster_resources())
        self._counted = -math.inf

    @property
    def workers(self) -> int:
        """How many tasks the cluster does side by side; machines may come and go."""
        if time.monotonic() > self._counted + RECOUNT:
            slots = int(self._ray.cluster_resources().get("GPU" if self.gpu else "CPU", 1))
            self._slots = max(1, slots if self._most is None else min(slots, self._most))
            self._counted = time.monotonic()
        return self._slots

    @property
    def _ahead(self) -> int:
        """How many tasks Ray may have besides the newest; where the caller limits tasks at a time, all count."""
        return AHEAD * self.workers if self._most is None else self.workers - 1

    def run(self, job: Job[Answer], tasks: Iterator[Task], halt: Halt) -> Generator[Done[Answer], None, None]:
        """What came of the tasks."""
        remote = self._ray.remote(num_cpus=1, num_gpus=int(self.gpu), max_retries=RETRIES)(_do)
        shipped = self._ray.put(_with_weights(job))  # once; every machine fetches a copy
        waiting: deque[Any] = deque()
        try:
            for task in chain(tasks, [None]):  # None: there are no more, and all answers are waited for
                if task is not None:
                    waiting.append(remote.remote(shipped, task, not self.gpu))
                while len(waiting) > (self._ahead if task is not None else 0):
                    done = self._answer(waiting[0], halt)
                    if done is None:
                        return
                    waiting.popleft()
                    yield done
                    if done.count < len(done.task):
                        return
        finally:
            for one in waiting:
                self._ray.cancel(one, force=True)

    def close(self) -> None:
        """Ends the connection, and the cluster if it was started here."""
        if self._ours:
            self._ray.shutdown()

    def _answer(self, reference: Any, halt: Halt) -> Done[Any] | None:
        """What came of a task, which is waited for; None if the batch is ended before."""
        answered = False
        while not answered:
            if halt():
                return None
            answered = bool(self._ray.wait([reference], timeout=PATIENCE)[0])
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            *_, last = ["", *str(error).strip().splitlines()]
            raise OrienteerError(f"a task failed on the cluster: {last or type(error).__name__}") from error


def import_ray() -> Any:
    """Ray, which is told to keep its usage to itself."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("the engine ray", "cluster") from error
    return ray


def join(ray: Any, address: str | None, workers: int | None) -> bool:
    """Joins the cluster of an address, or of the variable RAY_ADDRESS, or starts one here; whether it was started."""
    at = address or os.environ.get("RAY_ADDRESS") or ""
    alone = not at
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        if alone:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        else:
            _knock(at)
            ray.init(address=at, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        raise OrienteerError(f"the Ray cluster {at or 'of this machine'} cannot be reached: {error}") from error
    return alone


def _knock(address: str) -> None:
    """Raises an OSError if nobody listens at HOST:PORT: Ray itself would try for a quarter of an hour."""
    place = re.fullmatch(r"(?:ray://)?([^:/]+|\[[0-9a-fA-F:]+\]):([0-9]{1,5})", address, re.ASCII)
    if place is not None:
        socket.create_connection((place[1].strip("[]"), int(place[2])), KNOCK).close()


def _on_gpu(solver: AnySolver, resources: dict[str, float]) -> bool:
    """Whether tasks need a GPU: all of them or none, since results of different devices may differ."""
    if "device" not in field_types(solver.config_class):
        return False
    device = solver.settings["device"]
    return device == "cuda" or (device == "auto" and resources.get("GPU", 0) > 0)


def _with_weights(job: Job[Answer]) -> tuple[Job[Answer], bytes | None]:
    """The job, and the content of the file of weights that it names, which other machines may not have."""
    weights = job.settings.get("weights")
    file = Path(weights) if isinstance(weights, (str, Path)) and weights else None
    return job, file.read_bytes() if file is not None and file.is_file() else None


def _do(shipped: tuple[Job[Any], bytes | None], task: Task, one_core: bool) -> Done[Any]:
    """Does a task in a process of Ray."""
    if one_core:
        set_cores(1)
    job, weights = shipped
    if weights is not None:
        job = replace(job, settings={**job.settings, "weights": str(_weights_file(weights))})
    return do(job, job.solver(), task, lambda: False)


@lru_cache(maxsize=1)
def _weights_file(content: bytes) -> Path:
    """A file with these weights on this machine, written once by each process."""
    path = Path(tempfile.mkdtemp(prefix="orienteer-")) / "weights.safetensors"  # a folder that only this user can read
    path.write_bytes(content)
    return path
