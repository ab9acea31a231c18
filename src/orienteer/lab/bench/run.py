"""Runs methods over sets, writes every result at once, and never repeats a run whose result is kept."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.sets import NamedSet
from orienteer.lab.bench.store import Entry, Place, Store
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.tour import check_tour
from orienteer.search.solver import AnySolver

TOGETHER = {"cpu": 16, "cuda": 4096}
"""Instances that a batched solver gets at a time; as many are lost at most when the run is killed."""

OnDone = Callable[[int, int], None]


@dataclass(frozen=True)
class Shard:
    """One part of the instances: those whose index leaves `number` - 1 when divided by `of`."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """The shard that ``2/4`` stands for."""
        try:
            number, of = (int(word) for word in text.split("/"))
            if not 1 <= number <= of:
                raise ValueError
        except ValueError:
            raise ValueError(f"--shard must be I/N with 1 <= I <= N, got {text!r}") from None
        return cls(number, of)

    @property
    def name(self) -> str:
        """Name of the file of results, one a shard so that shards may share a folder."""
        return "results" if self.of == 1 else f"results-{self.number}-of-{self.of}"

    def indices(self, count: int) -> range:
        """Which of `count` instances belong to the shard."""
        return range(self.number - 1, count, self.of)


def run_all(
    folder: Path,
    methods: Sequence[Method],
    sets: Sequence[NamedSet],
    on_done: OnDone,
    shard: Shard | None = None,
    tours: bool = False,
    traces: bool = False,
) -> dict[Place, Entry]:
    """Every line of the folder, after all methods have run on all sets, or on a shard of them.

    Lines come with their routes if `tours` says so. With `traces` all runs are single calls, and new lines hold a
    `trace` too: the seconds and the prize of each improvement.
    """
    part = Shard() if shard is None else shard
    with Store(folder, part.name, tours) as store:
        todo = [(method, one, _missing(store, method, one, part)) for one in sets for method in methods]
        total = sum(len(part.indices(len(one))) for _, one, _ in todo)
        done = total - sum(len(indices) for _, _, indices in todo)
        on_done(done, total)
        for method, one, indices in todo:
            for entries in solve_missing(method, one, indices, traces):
                store.add(entries)
                done += len(entries)
                on_done(done, total)
        return store.entries


def run_cases(
    folder: Path, cases: Sequence[tuple[Method, NamedSet, int]], on_done: OnDone, tours: bool = False
) -> list[Entry]:
    """The line of each case, a method on one instance of a set: for methods whose time depends on the instance.

    Lines come with their routes if `tours` says so.
    """
    found = []
    with Store(folder, tours=tours) as store:
        for count, (method, one, index) in enumerate(cases, start=1):
            if finished(store.entries, method.key, one, index) is None:
                for entries in solve_missing(method, one, [index]):
                    store.add(entries)
            found.append(store.entries[method.key, one.name, index])
            on_done(count, len(cases))
    return found


def finished(entries: dict[Place, Entry], key: str, one: NamedSet, index: int) -> Entry | None:
    """The line about an instance if there is one, it is no failure and it is about the same instance."""
    entry = entries.get((key, one.name, index))
    if entry is None or "error" in entry or entry["instance"] != one.digests[index]:
        return None
    return entry


def solve_missing(method: Method, one: NamedSet, indices: Sequence[int], traces: bool = False) -> Iterator[list[Entry]]:
    """Lines about some instances of a set, as they come; a failure is a line too. `traces` as for `run_all`."""
    if not indices:
        return
    solver = method.make()
    device = "cuda" if solver.on_gpu() else "cpu"
    size = TOGETHER[device] if solver.takes_batches() and not traces else 1
    if device == "cuda" and solver.takes_batches():
        solver.solve_batch([one.instances[indices[0]]], method.stop)  # a GPU needs a moment to wake up
    for first in range(0, len(indices), size):
        rows = indices[first : first + size]
        instances = [one.instances[row] for row in rows]
        about = [
            {"key": method.key, "method": method.label, "set": one.name, "index": row, "instance": one.digests[row]}
            for row in rows
        ]
        yield [
            {**head, **tail}
            for head, tail in zip(about, _answers(solver, method, instances, rows, traces), strict=True)
        ]


def _missing(store: Store, method: Method, one: NamedSet, shard: Shard) -> list[int]:
    return [index for index in shard.indices(len(one)) if finished(store.entries, method.key, one, index) is None]


def _answers(
    solver: AnySolver, method: Method, instances: list[Instance], rows: Sequence[int], traces: bool = False
) -> list[Entry]:
    """What came of some instances, in order; where a batch fails, one after the other, so that one fails alone."""
    if len(instances) > 1:
        try:
            return _timed(solver, instances, lambda: solver.solve_batch(instances, method.stop, seed=rows[0]))
        except Exception as error:
            logging.getLogger("orienteer").warning(f"{method.label}: a batch failed, so one by one: {error}")
            return [_answers(solver, method, [one], [row])[0] for one, row in zip(instances, rows, strict=True)]
    try:
        seed = rows[0]
        return _timed(solver, instances, lambda: [solver.solve(instances[0], method.stop, seed=seed)], traces)
    except Exception as error:  # any mistake of a method becomes a line of its table
        return [{"error": f"{type(error).__name__}: {error}"}]


def _timed(
    solver: AnySolver, instances: Sequence[Instance], call: Callable[[], list[Result]], traces: bool = False
) -> list[Entry]:
    solver.get_ready(instances[0])
    passes, began = _passes(solver), time.process_time()
    results = call()
    cpu = (time.process_time() - began) / len(instances)
    looks = None if passes is None else ((_passes(solver) or 0) - passes) / len(instances)
    entries = [_entry(one, result, cpu, looks) for one, result in zip(instances, results, strict=True)]
    if traces:
        for entry, result in zip(entries, results, strict=True):
            entry["trace"] = [[step.seconds, step.prize] for step in result.trace]
    return entries


def _entry(instance: Instance, result: Result, cpu: float, passes: float | None) -> Entry:
    tour = check_tour(instance, result.tour.nodes)
    entry: Entry = {
        "prize": tour.prize,
        "cost": tour.cost,
        "seconds": result.seconds,
        "cpu": cpu,
        "status": result.status,
        "bound": result.bound if math.isfinite(result.bound) else None,
        "steps": result.steps,
        "tour": list(tour.nodes),
    }
    return entry if passes is None else {**entry, "passes": passes}


def _passes(solver: AnySolver) -> int | None:
    """Passes of the solver's network so far; None where the solver has no network."""
    if "weights" not in solver.settings:
        return None
    from orienteer.network.solver import LearnedSolver

    assert isinstance(solver, LearnedSolver)
    return solver.scorer().passes
