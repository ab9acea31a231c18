"""The front door: every method by name."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.tour import Tour
from orienteer.search.registry import make_solver
from orienteer.search.solver import AnySolver, OnDone, no_news
from orienteer.search.stop import OnProgress, Progress, Stop, as_stop, ignore


def solve(
    instance: Instance,
    solver: str = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_progress: OnProgress = ignore,
    initial: Sequence[int] | Tour | Result | None = None,
    bound: bool = False,
    prove: bool = False,
    **settings: Any,
) -> Result:
    """The best route that a solver finds.

    Parameters
    ----------
    instance
        The problem.
    solver
        A name from `REGISTRY`.
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
    settings
        Fields of the solver's configuration, such as ``beam=20, tau=0.05``.
    """
    made = make_solver(solver, **settings)
    if bound or prove:
        check_bound(made)
    criterion = None if stop is None else as_stop(stop)
    result = made.solve(instance, criterion, seed=_seed(seed), on_progress=on_progress, initial=_nodes(initial))
    if bound or prove:
        from orienteer.exact.bound import with_bound

        result = with_bound(instance, result, criterion, prove=prove, on_progress=on_progress)
    return result


def solve_batch(
    instances: Iterable[Instance],
    solver: str = "auto",
    stop: Stop | Callable[[Progress], bool] | None = None,
    seed: int = 0,
    on_done: OnDone = no_news,
    **settings: Any,
) -> list[Result]:
    """A result for each instance; the beam searches work on all of them at a time."""
    criterion = None if stop is None else as_stop(stop)
    return make_solver(solver, **settings).solve_batch(list(instances), criterion, seed=_seed(seed), on_done=on_done)


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


def check_bound(solver: AnySolver) -> None:
    """Nothing, or an error where there can be no bound beside a solver's answer: before the search, not after it."""
    from orienteer.exact.missing import scip

    if solver.shortest:
        raise ValueError(f"{solver.name} seeks the cheapest route through all nodes; bound and prove are about prizes")
    scip()
