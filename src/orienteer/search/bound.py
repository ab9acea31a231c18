"""A bound for the answer of any solver, by a solver that proves."""

from collections.abc import Callable
from dataclasses import replace

from orienteer.model.instance import Instance
from orienteer.model.result import Improvement, Result
from orienteer.search.registry import make_solver
from orienteer.search.run import within_reach
from orienteer.search.solver import AnySolver
from orienteer.search.stop import Never, OnProgress, Progress, Stop, ignore


def bounder(solver: AnySolver, prove: bool) -> AnySolver:
    """The solver that bounds the answers of another; an error, before the search begins, where there can be no bound.

    It stays at the root unless it is to `prove`.
    """
    if solver.shortest:
        raise ValueError(f"{solver.name} seeks the cheapest route through all nodes; bound and prove are about prizes")
    return make_solver("exact", tree=prove, warm=0.0)


def with_bound(
    instance: Instance,
    result: Result,
    exact: AnySolver,
    stop: Stop | None = None,
    *,
    prove: bool = False,
    on_progress: OnProgress = ignore,
) -> Result:
    """The result with an upper bound beside it; with `prove` also with the best route, if the proof comes to an end.

    `exact` is what `bounder` gave. Without `prove` the route stays as it is. `stop` holds for this part of the work
    alone.
    """
    if result.status == "optimal" or result.solver == exact.name:
        return result
    shifted = _after(result, on_progress)
    proof = exact.solve(
        instance, Never() if stop is None else stop, seed=result.seed, on_progress=shifted, initial=result.tour.nodes
    )
    better = prove and proof.prize > result.prize
    bound = min(result.bound, proof.bound, within_reach(instance))
    trace = [Improvement(result.seconds + one.seconds, result.steps + one.steps, one.prize) for one in proof.trace]
    return replace(
        result,
        tour=proof.tour if better else result.tour,
        bound=bound,
        status="optimal" if proof.status == "optimal" and (better or proof.prize == result.prize) else "stopped",
        seconds=result.seconds + proof.seconds,
        steps=result.steps + proof.steps,
        trace=(*result.trace, *(one for one in trace if better and one.prize > result.prize)),
    )


def _after(result: Result, on_progress: OnProgress) -> Callable[[Progress], None]:
    """A listener to the second part of a run, whose clock and steps go on from the first."""

    def listen(now: Progress) -> None:
        on_progress(
            replace(
                now,
                seconds=result.seconds + now.seconds,
                steps=result.steps + now.steps,
                bound=min(result.bound, now.bound),
            )
        )

    return listen
