"""Weights on sets of instances: greedy, step-by-step beam and cost-level search, results ready for a judge.

python -m orienteer.lab.training.evaluate WEIGHTS SET.npz ... --search greedy --search beam --search cs --out DIR
"""

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from orienteer.beam.device import choose_device
from orienteer.data.files import read_set, write_results
from orienteer.lab.networks.solvers import (
    A2cBeam,
    A2cGreedy,
    AttentionBeam,
    AttentionGreedy,
    DqnBeam,
    DqnGreedy,
    PointerBeam,
    PointerGreedy,
)
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.network.solvers import LearnedCostLevelSearch, LearnedSolver
from orienteer.network.weights import Method, find_weights, read_header

SEARCHES: dict[Method, dict[str, type[LearnedSolver[Any]]]] = {
    "dqn": {"greedy": DqnGreedy, "beam": DqnBeam, "cs": LearnedCostLevelSearch},
    "a2c": {"greedy": A2cGreedy, "beam": A2cBeam},
    "at": {"greedy": AttentionGreedy, "beam": AttentionBeam},
    "pn": {"greedy": PointerGreedy, "beam": PointerBeam},
    "expert": {"greedy": DqnGreedy, "beam": DqnBeam, "cs": LearnedCostLevelSearch},
}
"""The searches that a method's weights serve."""


@click.command()
@click.argument("weights")
@click.argument("sets", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--search",
    "searches",
    multiple=True,
    type=click.Choice(tuple(SEARCHES["dqn"])),
    help="May be repeated.  [default: all that the weights serve]",
)
@click.option("--beam", type=int, help="Width instead of 100 (beam), 20 (cs on a GPU) and 10 (cs on a CPU).")
@click.option("--tau", type=float, default=0.05, help="Width of a cost level (cs).  [default: 0.05]")
@click.option("--score", type=click.Choice(("parent", "child")), default="parent", help="Whose pass (cs).")
@click.option("--spread", type=float, help="Price of ending where better paths do, in mean prizes (cs).")
@click.option("--branch", type=int, help="Best children of a path that enter the queues (cs).")
@click.option("--count", type=int, help="Only so many instances of each set.")
@click.option("--device", default="auto", help="auto, cpu or cuda.  [default: auto]")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for SET.SEARCH.npz.")
def main(
    weights: str,
    sets: tuple[Path, ...],
    searches: tuple[str, ...],
    beam: int | None,
    tau: float,
    score: str,
    spread: float | None,
    branch: int | None,
    count: int | None,
    device: str,
    out: Path | None,
) -> None:
    """Mean prizes of searches with some weights, their time and their forward passes."""
    method = read_header(find_weights(weights)).method
    if method not in SEARCHES:
        raise click.UsageError(f"weights of {method} serve none of these searches, but those for tours")
    asked = {"beam": beam, "tau": tau, "score": score, "spread": spread, "branch": branch}
    for path in sets:
        instances = read_set(path)[:count]
        for kind in searches or tuple(SEARCHES[method]):
            solver = _solver(method, kind, {"weights": weights, "device": device, **asked})
            results, seconds, passes = _timed(solver, instances)
            prize = sum(one.prize for one in results) / len(results)
            click.echo(  # which flushes
                f"{method} {path.stem} {kind}: mean prize {prize:.4f} of {len(results)} instances, "
                f"{seconds:.2f} s ({1e3 * seconds / len(results):.2f} ms each), "
                f"{passes} forward passes ({passes / len(results):.0f} each)"
            )
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                write_results(results, out / f"{path.stem}.{kind}.npz")


def _solver(method: Method, kind: str, settings: dict[str, Any]) -> LearnedSolver[Any]:
    """The solver of a kind of search, with those of the settings that it has and that were given."""
    if kind not in SEARCHES[method]:
        raise click.UsageError(f"weights of {method} serve {', '.join(SEARCHES[method])}, not {kind}")
    chosen = SEARCHES[method][kind]
    known = {field.name for field in dataclasses.fields(chosen.config_class)}
    given = {key: value for key, value in settings.items() if key in known and value is not None}
    return chosen(chosen.config_class(**given))


def _timed(solver: LearnedSolver[Any], instances: Sequence[Instance]) -> tuple[list[Result], float, int]:
    """The results, the wall-clock seconds of all and the forward passes of all."""
    solver.solve_batch(instances[:1])  # a device needs a moment to wake up, which is not the search's
    scorer = solver.scorer(choose_device(solver.config.device))
    before, began = scorer.passes, time.perf_counter()
    results = solver.solve_batch(instances)
    return results, time.perf_counter() - began, scorer.passes - before


if __name__ == "__main__":
    main()
