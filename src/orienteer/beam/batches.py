"""Sets of instances cut into batches, worked on side by side, and the clock of a batch."""

import math
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

from orienteer.beam.backend.protocol import Backend
from orienteer.beam.candidates import MOST_GROUPS, MOST_SPOTS, REMEMBERED
from orienteer.beam.expand import Expander
from orienteer.search.stop import Progress, Stop

Task = TypeVar("Task")
Answer = TypeVar("Answer")

SEEN_BYTES = 8 * REMEMBERED
"""Bytes that an instance takes for the stamps of expanded paths."""

PACE = 8
"""Steps between two looks at the clock, where a search does not wait for the host after each."""


@dataclass(frozen=True)
class Size:
    """What decides how much memory an instance takes in a batch."""

    nodes: int
    beams: int
    """How many times a beam of paths is chosen, at most."""
    directions: int
    """From how many ends the instance is searched."""


def cut(
    sizes: Sequence[Size], width: int | None, budget: int, at_once: int, cells: int = sys.maxsize
) -> list[list[int]]:
    """Rows of instances in batches of similar size and equal directions, each within the bytes of `budget`.

    Where `at_once` workers share the batches, each gets about equally many instances, and a batch has at most `cells`
    nodes, searched from each direction.
    """
    ordered = sorted(range(len(sizes)), key=lambda row: -sizes[row].nodes)
    kinds = [[row for row in ordered if sizes[row].directions == kind] for kind in (1, 2)]
    return [batch for kind in kinds if kind for batch in _dealt(sizes, kind, width, budget, at_once, cells)]


def _dealt(
    sizes: Sequence[Size], ordered: list[int], width: int | None, budget: int, at_once: int, cells: int
) -> list[list[int]]:
    largest = sizes[ordered[0]]
    most = len(ordered) if at_once == 1 else max(1, cells // (largest.nodes * largest.directions))
    batches = _filled(sizes, ordered, width, budget, most)
    if at_once == 1:
        return batches
    even = -(-len(batches) // at_once) * at_once
    return _filled(sizes, ordered, width, budget, -(-len(ordered) // even))


def _filled(sizes: Sequence[Size], ordered: list[int], width: int | None, budget: int, most: int) -> list[list[int]]:
    """Rows, largest first, in batches that fit, of at most `most` instances."""
    batches: list[list[int]] = []
    nodes = beams = 0
    for row in ordered:
        own = sizes[row]
        beams = max(beams, own.beams)
        full = not batches or len(batches[-1]) == most
        if full or not _fits(len(batches[-1]) + 1, own.directions, nodes, beams, width, budget):
            batches.append([])
            nodes, beams = own.nodes, own.beams
        batches[-1].append(row)
    return batches


def _fits(count: int, directions: int, nodes: int, beams: int, width: int | None, budget: int) -> bool:
    """Whether `count` instances may be searched together: by memory, generously guessed, and by numbers of groups."""
    rows, part = count * directions, (width or 1000) / directions
    costs, queues_and_log, children = 8 * nodes**2, beams * part * (300 + 3 * nodes), part * nodes * 240
    groups = rows * beams
    return (
        rows * (costs + SEEN_BYTES + queues_and_log + children) <= budget
        and groups <= MOST_GROUPS
        and groups * nodes <= MOST_SPOTS
    )


def side_by_side(
    work: Callable[[Task], Answer], tasks: Sequence[Task], workers: int, backend: Backend, halt: threading.Event
) -> Generator[Answer, None, None]:
    """The answers in the order of the tasks, worked on by `workers` threads.

    When the caller gives up, by Ctrl-C or an error, `halt` is set, which tells the tasks in hand to end soon.
    """
    if workers == 1:
        yield from map(work, tasks)
        return
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(workers):
        free.put(number)

    def by_worker(task: Task) -> Answer:
        number = free.get()
        try:
            with backend.worker(number):
                return work(task)
        finally:
            free.put(number)

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(by_worker, tasks)
        except BaseException:
            halt.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class BatchClock:
    """The watch of a batch: asks the stop criterion about the share of time of one instance."""

    def __init__(
        self,
        size: int,
        stop: Stop,
        halt: threading.Event,
        directions: int,
        seconds: Callable[[], float] = time.perf_counter,
    ):
        """`size` is the number of instances that share the time, `seconds` the function that tells the time."""
        self.size, self.stop, self.halt, self.directions, self.seconds = size, stop, halt, directions, seconds
        self.began = seconds()
        self.steps = self.best_step = 0
        self.total = self.least = float("-inf")
        begun = Progress(0.0, 0, 0, float("-inf"))
        self.ended = stop(begun)
        # How many steps may pass between two calls; a search that knows no such pace calls after every step.
        self.pace = PACE if stop.steps_left(begun) == math.inf else 1

    @property
    def share(self) -> float:
        """Seconds so far for each instance."""
        return (self.seconds() - self.began) / self.size

    def over(self) -> bool:
        """Whether to end, by the time and by the prizes of the last step."""
        now = Progress(self.share, self.steps, self.steps - self.best_step, self.least)
        return self.halt.is_set() or self.stop(now)

    def __call__(self, expander: Expander, steps: int = 1) -> bool:
        self.steps += steps
        if self.stop.reads_prize:  # without a look at the prizes a GPU need not wait
            prize = expander.problems.xp.amax(expander.best.prize.reshape(-1, self.directions), 1)
            total, self.least = float(prize.sum()), float(prize.min())
            if total > self.total:
                self.total, self.best_step = total, self.steps
        self.ended = self.over()
        return self.ended
