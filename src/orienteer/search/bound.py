"""An upper bound for the answer of any solver, by the exact one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orienteer.model.instance import Instance
from orienteer.model.result import Improvement, Result, Status
from orienteer.search.registry import make_solver
from orienteer.search.run import within_reach
from orienteer.search.solver import AnySolver
from orienteer.search.stop import Never, OnProgress, Progress, Stop, ignore


def bounder(solver: AnySolver, prove: bool) -> AnySolver:
    """The exact solver that bounds the answers of `solver`; raises, before any search, if they can have no bound.

    It stays at the root of its tree unless it is to `prove`.
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
    """The result with an upper bound; with `prove` also with the better route that the proof finds, if any.

    `exact` is the solver that `bounder` returns. Without `prove` the route stays as it is. `stop` counts from the
    beginning of this part of the work.
    """
    if result.status in ("optimal", "infeasible") or result.solver == exact.name:
        return result
    shifted = _after(result, on_progress, prove)
    proof = exact.solve(
        instance, Never() if stop is None else stop, seed=result.seed, on_progress=shifted, initial=result.plan
    )
    if proof.status == "infeasible":
        return replace(proof, solver=result.solver, settings=result.settings, **_sums(result, proof))
    better = prove and proof.prize > result.prize
    bound = min(result.bound, proof.bound, within_reach(instance))
    later = [Improvement(result.seconds + now.seconds, result.steps + now.steps, now.prize) for now in proof.trace]
    return replace(
        result,
        plan=proof.plan if better else result.plan,
        bound=bound,
        status=_status(result, proof, better),
        **_sums(result, proof),
        trace=(*result.trace, *(now for now in later if better and now.prize > result.prize)),
    )


def _status(result: Result, proof: Result, better: bool) -> Status:
    """The status of the result, or of the better plan of the proof."""
    if proof.status == "optimal" and (better or proof.prize == result.prize):
        return "optimal"
    return "none found" if result.plan is None and not better else "stopped"


def _sums(result: Result, proof: Result) -> dict[str, Any]:
    return {"seconds": result.seconds + proof.seconds, "steps": result.steps + proof.steps}


def _after(result: Result, on_progress: OnProgress, prove: bool) -> Callable[[Progress], None]:
    """A listener that tells `on_progress` of a search after `result`, with its seconds and steps added to those.

    Unless it is to `prove`, plans of that search do not count.
    """

    def listen(now: Progress) -> None:
        better = prove and now.prize > result.prize
        on_progress(
            replace(
                now,
                seconds=result.seconds + now.seconds,
                steps=result.steps + now.steps,
                bound=min(result.bound, now.bound),
                prize=now.prize if better else result.prize,
                plan=now.plan if better else result.plan,
            )
        )

    return listen
