"""The front door: any method, one problem or many."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.tour import Tour
from orienteer.search.bound import bounder, with_bound
from orienteer.search.registry import AnyMethod, make_solver
from orienteer.search.solver import OnDone, no_news
from orienteer.search.stop import AnyOf, Never, OnProgress, Progress, Stop, When, as_stop, ignore


def solve(
    instance: Instance,
    solver: AnyMethod = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_progress: OnProgress = ignore,
    initial: Sequence[int] | Tour | Result | None = None,
    bound: bool = False,
    prove: bool = False,
    cancelled: Callable[[], bool] | None = None,
    **settings: Any,
) -> Result:
    """The best route that a solver finds.

    Parameters
    ----------
    instance
        The problem.
    solver
        A name from `REGISTRY`, the path ``"module:Class"`` of a class, a subclass of `Solver`, or an object of one.
    stop
        When to end; without it the solver's own default.
    seed
        Same seed, same steps, same result.
    on_progress
        Called with a `Progress` as the search goes on.
    initial
        A feasible route to begin with; the result is never worse.
    bound
        Whether to put an upper bound beside the route: that of the root of branch and cut (extra ``exact``).
    prove
        Whether to go on with branch and cut until the best route is found and proven. For both, `stop` holds anew.
    cancelled
        Asked at every step, beside `stop`: once it is true, everything ends with the best route so far.
    settings
        Fields of the solver's configuration, such as ``beam=20, tau=0.05``; an object has been given its own.
    """
    made = make_solver(solver, **settings)
    exact = bounder(made, prove) if bound or prove else None
    asked = None if stop is None else as_stop(stop)
    first = _until(made.default_stop(instance) if asked is None else asked, cancelled)
    result = made.solve(instance, first, seed=_seed(seed), on_progress=on_progress, initial=_nodes(initial))
    if exact is not None:
        second = _until(Never() if asked is None else asked, cancelled)
        result = with_bound(instance, result, exact, second, prove=prove, on_progress=on_progress)
    return result


def solve_batch(
    instances: Iterable[Instance],
    solver: AnyMethod = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_done: OnDone = no_news,
    **settings: Any,
) -> list[Result]:
    """A result for each instance; the beam searches work on all of them at a time."""
    criterion = None if stop is None else as_stop(stop)
    return make_solver(solver, **settings).solve_batch(list(instances), criterion, seed=_seed(seed), on_done=on_done)


def _until(stop: Stop, cancelled: Callable[[], bool] | None) -> Stop:
    """The criterion that also ends when the caller has cancelled."""
    return stop if cancelled is None else AnyOf(stop, When(lambda now: cancelled()))


def _seed(seed: int) -> int:
    """The seed as a plain number, whatever library it comes from."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise ValueError(f"seed must be a whole number, got {seed!r}") from None
    if number < 0:
        raise ValueError(f"seed must not be negative, got {number}")
    return number


def _nodes(route: Sequence[int] | Tour | Result | None) -> Sequence[int] | None:
    """The nodes of a route in any form."""
    tour = route.tour if isinstance(route, Result) else route
    return tour.nodes if isinstance(tour, Tour) else tour
