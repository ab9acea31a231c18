"""`orienteer.solve` and `orienteer.solve_batch`: one problem or many, by any method."""

import contextlib
import dataclasses
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from orienteer.data.fields import Node
from orienteer.data.text import FilePath
from orienteer.model.given import GivenPlan, lists_of
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.result import Result
from orienteer.model.tour import Tour
from orienteer.search.alternatives import check_alternatives, main_part, with_alternatives
from orienteer.search.bound import bounder, with_bound
from orienteer.search.engines.choice import choose_engine
from orienteer.search.engines.job import Engine, Halt, Job
from orienteer.search.registry import AnyMethod, make_solver
from orienteer.search.solver import AnySolver, OnDone, no_news
from orienteer.search.stop import AnyOf, Never, OnProgress, Progress, Stop, When, as_stop, at_most, ignore
from orienteer.search.stream import InMemory, Source, stream


def solve(
    instance: Instance | FilePath,
    solver: AnyMethod = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_progress: OnProgress = ignore,
    initial: Sequence[int] | Sequence[Sequence[int]] | Tour | Plan | Result | None = None,
    bound: bool = False,
    prove: bool = False,
    alternatives: int = 1,
    cancelled: Callable[[], bool] | None = None,
    limit: float | None = None,
    start: Node | None = None,
    end: Node | None = None,
    **settings: Any,
) -> Result:
    """The best route that a solver finds.

    Parameters
    ----------
    instance
        The problem, or the file that holds it.
    solver
        A name from `REGISTRY`, the path ``"module:Class"`` of a class, a solver's class, or an object of one.
    stop
        When to end; by default the solver's default stop.
    seed
        Of all random choices, 0 or more. The same seed and the same number of steps give the same result.
    on_progress
        Called with a `Progress` as the search goes on.
    initial
        A route to begin with, or a plan, or a list of routes, which must keep all rules of the problem; the result is
        never worse.
    bound
        Whether to put an upper bound beside the route, `Result.bound`: a number that no route can beat, from the first
        part of the exact method (extra ``exact``). The route stays as the solver gave it.
    prove
        Whether to go on with the exact method until the best route is found and proven. As for `bound`, `stop` then
        counts anew from the end of the search.
    alternatives
        How many good routes to return that differ, the best included; the others are `Result.alternatives`. `stop` is
        for all of them together.
    cancelled
        Asked at every step, beside `stop`: once it returns True, everything ends with the best route so far.
    limit, start, end
        Override those of the problem, or supply those that its file lacks. Nodes by number or by name.
    settings
        Fields of the solver's configuration, such as ``beam=20, tau=0.05``; not for an object, which has its own.
    """
    made = make_solver(solver, **settings)
    check_alternatives(made, alternatives)
    problem = _problem(instance, made, limit=limit, start=start, end=end)
    exact = bounder(made, prove) if bound or prove else None
    for one in (made, exact):
        if one is not None:
            one.check_handled(problem)  # before any search, not after the first of two
    asked = None if stop is None else as_stop(stop)
    first = made.default_stop(problem) if asked is None else asked if alternatives == 1 else main_part(asked)
    first = _until(first, cancelled)
    result = main = made.solve(
        problem, first, seed=_seed(seed), on_progress=on_progress, initial=_initial(problem, initial)
    )
    if exact is not None:
        second = _until(Never() if asked is None else asked, cancelled)
        result = with_bound(problem, result, exact, second, prove=prove, on_progress=on_progress)
    if alternatives > 1:
        left = _left(asked, main)
        result = with_alternatives(problem, result, alternatives, left, cancelled=cancelled, on_progress=on_progress)
    return dataclasses.replace(result, instance=problem)


def solve_batch(
    instances: Iterable[Instance] | FilePath,
    solver: AnyMethod = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_done: OnDone = no_news,
    alternatives: int = 1,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    **settings: Any,
) -> list[Result]:
    """A result for each instance, or for each in a file; beam searches work on many instances at a time.

    The parameters are those of `solve`; `on_done` is called with the number of instances done and the number of all.
    `engine`, `workers` and `address` are those of `solve_stream`.
    """
    made = make_solver(solver, **settings)
    check_alternatives(made, alternatives)
    asked = None if stop is None else as_stop(stop)
    problems = _read_set(instances) if isinstance(instances, FilePath) else instances
    if not isinstance(problems, Sequence):
        problems = list(problems)
    first = asked if asked is None or alternatives == 1 else main_part(asked)
    if engine is None and workers is None and address is None:
        results = made.solve_batch(problems, first, seed=_seed(seed), on_done=on_done)
    else:
        results = []
        for one in solve_stream(problems, solver, first, seed, engine, workers, address, **settings):
            results.append(one)
            on_done(len(results), len(problems))
    if alternatives > 1:
        pairs = zip(problems, results, strict=True)
        results = [with_alternatives(problem, one, alternatives, _left(asked, one)) for problem, one in pairs]
    return results


def solve_stream(
    instances: Sequence[Instance] | FilePath,
    solver: AnyMethod = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    **settings: Any,
) -> Iterator[Result]:
    """The result for each instance, in order, as they come; a set in files may be larger than memory.

    Parameters
    ----------
    instances
        The problems, or the path of a set: an NPZ file, a folder of such files, or a pattern such as ``sets/*.npz``.
    solver, stop, seed, settings
        As for `solve`.
    engine
        Where they are solved: ``"here"``, in this process; ``"processes"``, several on this machine; ``"ray"``, on a
        Ray cluster (extra ``cluster``). Results do not depend on it, if `stop` does not look at the clock.
    workers
        How many processes, or how many tasks at a time on a cluster.
    address
        Of the Ray cluster; by default that of the variable RAY_ADDRESS, or a new one on this machine.
    """
    made = make_solver(solver, **settings)
    job = Job(solver, list[Result], settings, None if stop is None else as_stop(stop), _seed(seed))
    source: Source = _open_set(instances) if isinstance(instances, FilePath) else InMemory(instances)
    chosen = choose_engine(engine, made, workers, address)
    return _streamed(job, source, chosen, made)


def _streamed(job: Job[list[Result]], source: Source, engine: Engine, solver: AnySolver) -> Iterator[Result]:
    with contextlib.closing(engine):
        for done in stream(job, source, range(len(source)), engine, Halt(), solver):
            yield from done.answer
            if done.error is not None:
                raise done.error


def _problem(source: Instance | FilePath, solver: AnySolver, **overrides: float | Node | None) -> Instance:
    """The problem, or the one in a file, with the limit, start and end that `overrides` has instead of its own."""
    changes = {key: value for key, value in overrides.items() if value is not None}
    if not isinstance(source, Instance):
        return solver.read(source, **changes)
    return source.replace(**changes) if changes else source


def _read_set(path: FilePath) -> Sequence[Instance]:
    from orienteer.data.files import read_set  # here, so that `import orienteer` need not load the readers

    return read_set(path)


def _open_set(path: FilePath) -> Source:
    from orienteer.data.files import format_of
    from orienteer.data.stored_set import open_set

    return open_set(path) if format_of(path) == "npz" else InMemory(_read_set(path))


def _left(asked: Stop | None, result: Result) -> Stop | None:
    """What a search leaves of the allowance that was asked for; None where nobody can tell."""
    now = Progress(result.seconds, result.steps, 0, result.prize)
    if asked is None or math.isnan(asked.fraction(now)):
        return None
    return at_most(asked.seconds_left(now), asked.steps_left(now))


def _until(stop: Stop, cancelled: Callable[[], bool] | None) -> Stop:
    """The criterion that also ends when the caller has cancelled."""
    return stop if cancelled is None else AnyOf(stop, When(lambda now: cancelled()))


def _seed(seed: int) -> int:
    """The seed as an int, whatever library its type comes from."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise ValueError(f"seed must be a whole number, got {seed!r}") from None
    if number < 0:
        raise ValueError(f"seed must not be negative, got {number}")
    return number


def _initial(problem: Instance, given: GivenPlan | None) -> Sequence[int] | Plan | None:
    """A route or plan to begin with, from any form that callers may give it in."""
    if given is None or isinstance(given, Plan):
        return given
    if isinstance(given, Result):
        return given.plan
    routes = lists_of(given)
    return routes[0] if routes is not None and len(routes) == 1 else check_plan(problem, routes or [])
