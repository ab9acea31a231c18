"""The front door: every method by name."""

import dataclasses
import importlib
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.core.instance import Instance
from orienteer.core.result import Result
from orienteer.core.solver import OnDone, Solver, no_news
from orienteer.core.stop import OnProgress, Progress, Stop, as_stop, ignore
from orienteer.core.tour import Tour


@dataclass(frozen=True)
class Entry:
    """A registered method: what it is, where it was published and where its class lives."""

    name: str
    summary: str
    paper: str
    target: str
    """module:Class, imported only when the method is used."""


REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "auto",
            "picks by the costs and the machine: lns, widening beams, or the learned search of a batch on a GPU",
            "this project",
            "orienteer.auto:Auto",
        ),
        Entry(
            "lns",
            "large neighbourhood search: ruin, recreate, anneal; anytime",
            "after Christiaens and Vanden Berghe 2020",
            "orienteer.heuristics.neighbourhood:NeighbourhoodSearch",
        ),
        Entry(
            "compass",
            "EA4OP, the genetic algorithm",
            "Kobeaga, Merino and Lozano 2018",
            "orienteer.heuristics.evolution:Evolution",
        ),
        Entry(
            "exact",
            "branch and cut with SCIP: the best route, with proof",
            "after Fischetti, Salazar and Toth 1998",
            "orienteer.exact.solve:Exact",
        ),
        Entry(
            "gurobi",
            "the same model with Gurobi, for those who have it",
            "baseline of Liu et al. 2021",
            "orienteer.exact.gurobi:Gurobi",
        ),
        Entry(
            "cs-p",
            "cost-level beam search CS(K, tau) scored by prize",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.beam.solvers:PrizeCostLevelSearch",
        ),
        Entry(
            "cs-l",
            "cost-level beam search CS(K, tau) scored by the attention network",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.network.solvers:LearnedCostLevelSearch",
        ),
        Entry(
            "an-dqn",
            "attention network trained by double Q-learning, greedy",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.network.solvers:DqnGreedy",
        ),
        Entry(
            "an-dqn-beam",
            "the same network, step-by-step beam search",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.network.solvers:DqnBeam",
        ),
        Entry(
            "an-a2c",
            "attention network trained as actor and critic, greedy",
            "Mnih et al. 2016; Liu et al. 2021",
            "orienteer.network.solvers:A2cGreedy",
        ),
        Entry(
            "an-a2c-beam",
            "the same network, step-by-step beam search",
            "Mnih et al. 2016; Liu et al. 2021",
            "orienteer.network.solvers:A2cBeam",
        ),
        Entry(
            "an-at",
            "attention decoder on our encoder, greedy",
            "Kool, van Hoof and Welling 2019; Liu et al. 2021",
            "orienteer.network.solvers:AttentionGreedy",
        ),
        Entry(
            "an-at-beam",
            "the same network, step-by-step beam search",
            "Kool, van Hoof and Welling 2019; Liu et al. 2021",
            "orienteer.network.solvers:AttentionBeam",
        ),
        Entry(
            "an-pn",
            "pointer-network decoder on our encoder, greedy",
            "Nazari, Oroojlooy, Snyder and Takac 2018; Liu et al. 2021",
            "orienteer.network.solvers:PointerGreedy",
        ),
        Entry(
            "an-pn-beam",
            "the same network, step-by-step beam search",
            "Nazari, Oroojlooy, Snyder and Takac 2018; Liu et al. 2021",
            "orienteer.network.solvers:PointerBeam",
        ),
        Entry(
            "tsp-greedy",
            "a network for tours through every node, greedy",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.tsp.solvers:TourGreedy",
        ),
        Entry(
            "tsp-beam",
            "the same network, step-by-step beam search",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.tsp.solvers:TourBeam",
        ),
        Entry(
            "tsp-cs",
            "the same network, cost-level beam search",
            "Liu, Xu, Su, Xiao and Yang 2021",
            "orienteer.tsp.solvers:TourCostLevelSearch",
        ),
        Entry(
            "tsili",
            "greedy construction by desirability, or the best of many random ones",
            "Tsiligirides 1984",
            "orienteer.heuristics.tsili:Tsili",
        ),
        Entry(
            "tsili-beam",
            "step-by-step beam search scored by desirability",
            "Tsiligirides 1984; Liu et al. 2021",
            "orienteer.beam.solvers:TsiliBeam",
        ),
        Entry(
            "random",
            "a random node at every step",
            "baseline of Liu et al. 2021",
            "orienteer.heuristics.random:RandomSearch",
        ),
        Entry(
            "enumerate",
            "full enumeration of tiny instances, with proof",
            "the oracle of the tests",
            "orienteer.heuristics.enumerate:Enumerate",
        ),
    )
}


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


def solver_class(name: str) -> type[Solver]:
    """The class behind a name, imported now; an unknown name is a ValueError that lists the known ones."""
    if name not in REGISTRY:
        raise ValueError(f"solver must be one of {', '.join(REGISTRY)}, got {name!r}")
    module, _, attribute = REGISTRY[name].target.partition(":")
    found: type[Solver] = getattr(importlib.import_module(module), attribute)
    return found


def make_solver(name: str, **settings: Any) -> Solver:
    """A solver by name, configured; an unknown name or setting is a ValueError that lists the known ones."""
    chosen = solver_class(name)
    known = [field.name for field in dataclasses.fields(chosen.config_class)]
    for setting in settings:
        if setting not in known:
            raise ValueError(f"{name} has no setting {setting!r}; it has {', '.join(known) or 'none'}")
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in settings.items()}
    return chosen(chosen.config_class(**plain))


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


def check_bound(solver: Solver) -> None:
    """Nothing, or an error where there can be no bound beside a solver's answer: before the search, not after it."""
    from orienteer.exact.missing import scip

    if solver.shortest:
        raise ValueError(f"{solver.name} seeks the cheapest route through all nodes; bound and prove are about prizes")
    scip()
