"""A bound for the answer of any solver: the root's, or the whole proof."""

from collections.abc import Callable
from dataclasses import replace

from orienteer.exact.solve import Exact, ExactConfig
from orienteer.model.instance import Instance
from orienteer.model.result import Improvement, Result
from orienteer.search.stop import Never, OnProgress, Progress, Stop, ignore


def with_bound(
    instance: Instance,
    result: Result,
    stop: Stop | None = None,
    *,
    prove: bool = False,
    on_progress: OnProgress = ignore,
) -> Result:
    """The result with an upper bound beside it; with `prove` also with the best route, if the proof comes to an end.

    The bound is that of the root, and the route stays as it is. `stop` holds anew for this part of the work.
    """
    if result.status == "optimal" or result.solver == Exact.name:
        return result
    shifted = _after(result, on_progress)
    config = ExactConfig(tree=prove, warm=0.0)
    proof = Exact(config).solve(
        instance, Never() if stop is None else stop, seed=result.seed, on_progress=shifted, initial=result.tour.nodes
    )
    better = prove and proof.prize > result.prize
    bound = min(result.bound, proof.bound)
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
