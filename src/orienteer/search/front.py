"""`orienteer.solve` and `orienteer.solve_batch`: one problem or many, by any method."""

import dataclasses
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orienteer.data.fields import Node
from orienteer.data.text import FilePath
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.result import Result
from orienteer.model.tour import Tour
from orienteer.search.alternatives import check_alternatives, main_part, with_alternatives
from orienteer.search.bound import bounder, with_bound
from orienteer.search.registry import AnyMethod, make_solver
from orienteer.search.solver import AnySolver, OnDone, no_news
from orienteer.search.stop import AnyOf, Never, OnProgress, Progress, Stop, When, as_stop, at_most, ignore


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
        A name from `REGISTRY`, the path ``"module:Class"`` of a class, a subclass of `Solver`, or an object of one.
    stop
        When to end; by default the solver's default stop.
    seed
        Same seed, same steps, same result.
    on_progress
        Called with a `Progress` as the search goes on.
    initial
        A feasible route to begin with, or a plan, or a list of routes; the result is never worse.
    bound
        Whether to put an upper bound beside the route: that of the root of branch and cut (extra ``exact``).
    prove
        Whether to go on with branch and cut until the best route is found and proven. As for `bound`, `stop` then
        counts anew from the end of the search.
    alternatives
        How many good routes that differ, the best included; the others are `Result.alternatives`. `stop` is for all.
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
    **settings: Any,
) -> list[Result]:
    """A result for each instance, or for each in a file; beam searches work on many instances at a time.

    The parameters are those of `solve`; `on_done` is called with the number of instances done and the number of all.
    """
    made = make_solver(solver, **settings)
    check_alternatives(made, alternatives)
    asked = None if stop is None else as_stop(stop)
    problems = _read_set(instances) if isinstance(instances, FilePath) else instances
    if not isinstance(problems, Sequence):
        problems = list(problems)
    first = asked if asked is None or alternatives == 1 else main_part(asked)
    results = made.solve_batch(problems, first, seed=_seed(seed), on_done=on_done)
    if alternatives > 1:
        pairs = zip(problems, results, strict=True)
        results = [with_alternatives(problem, one, alternatives, _left(asked, one)) for problem, one in pairs]
    return results


def _problem(source: Instance | FilePath, solver: AnySolver, **overrides: float | Node | None) -> Instance:
    """The problem, or the one in a file, with the limit, start and end that `overrides` has instead of its own."""
    changes = {key: value for key, value in overrides.items() if value is not None}
    if not isinstance(source, Instance):
        return solver.read(source, **changes)
    return source.replace(**changes) if changes else source


def _read_set(path: FilePath) -> Sequence[Instance]:
    from orienteer.data.files import read_set  # here, so that `import orienteer` need not load the readers

    return read_set(path)


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


def _initial(
    problem: Instance, given: Sequence[int] | Sequence[Sequence[int]] | Tour | Plan | Result | None
) -> Sequence[int] | Plan | None:
    """A route or plan to begin with, which may be given as nodes, as lists of nodes, as a tour, a plan or a result."""
    if isinstance(given, Result):
        return given.plan
    if given is None or isinstance(given, Plan):
        return given
    if isinstance(given, Tour):
        return given.nodes
    if len(given) and isinstance(given[0], Sequence):
        return check_plan(problem, given)  # type: ignore[arg-type]
    return given  # type: ignore[return-value]
