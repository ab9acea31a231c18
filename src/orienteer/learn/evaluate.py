"""Weights on sets of instances: greedy, step-by-step beam and cost-level search, results ready for a judge.

python -m orienteer.learn.evaluate WEIGHTS SET.npz ... --search greedy --search beam --search cs --out DIR
"""

import time
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import torch

from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander, ScoreBy
from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer
from orienteer.beam.step import StepConfig, step_search
from orienteer.core.instance import Instance
from orienteer.core.tour import Tour, check_tour
from orienteer.network.solvers import score_of
from orienteer.network.weights import load_model

SEARCHES = ("greedy", "beam", "cs")


def search(
    problems: Problems, scorer: Scorer, kind: str, beam: int | None, tau: float, score: ScoreBy = "parent"
) -> Expander:
    """The finished search of a kind: greedy, beam (100 paths by default) or cs (20 by default)."""
    if kind == "greedy":
        return step_search(problems, scorer, StepConfig(beam=1))
    if kind == "beam":
        return step_search(problems, scorer, StepConfig(beam=beam or 100))
    if kind == "cs":
        return cost_level_search(problems, scorer, CostLevelConfig(beam=beam or 20, tau=tau, score=score))
    raise ValueError(f"search must be one of {', '.join(SEARCHES)}, got {kind!r}")


def write_tours(path: Path, tours: Sequence[Tour], seconds: float) -> None:
    """Prize, cost, seconds and padded tours of a set, as `orienteer batch` writes them."""
    longest = max(len(tour) for tour in tours)
    padded = np.full((len(tours), longest), -1, dtype=np.int32)
    for row, tour in enumerate(tours):
        padded[row, : len(tour)] = tour.nodes
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        path,
        prize=np.array([tour.prize for tour in tours]),
        cost=np.array([tour.cost for tour in tours]),
        seconds=np.full(len(tours), seconds / len(tours)),
        tour=padded,
    )


@click.command()
@click.argument("weights")
@click.argument("sets", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--search", "searches", multiple=True, type=click.Choice(SEARCHES), default=SEARCHES)
@click.option("--beam", type=int, help="Width instead of 100 (beam) and 20 (cs).")
@click.option("--tau", type=float, default=0.05)
@click.option("--score", type=click.Choice(("parent", "child")), default="parent")
@click.option("--count", type=int, help="Only so many instances of each set.")
@click.option("--chunk", type=int, default=200, help="Instances searched at a time.")
@click.option("--device", default="auto")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for SET.SEARCH.npz.")
def main(
    weights: str,
    sets: tuple[Path, ...],
    searches: tuple[str, ...],
    beam: int | None,
    tau: float,
    score: ScoreBy,
    count: int | None,
    chunk: int,
    device: str,
    out: Path | None,
) -> None:
    """Mean prizes of searches with some weights."""
    from orienteer.data.files import read_set

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    model, header = load_model(weights, device)
    for path in sets:
        instances = list(read_set(path)[:count])
        for kind in searches:
            tours: list[Tour] = []
            began, passes = time.perf_counter(), 0
            for first in range(0, len(instances), chunk):
                some: list[Instance] = instances[first : first + chunk]
                scorer = score_of(model, header.method)
                found = search(Problems.from_instances(some, device), scorer, kind, beam, tau, score).routes()
                passes += getattr(scorer, "passes", 0)
                tours += [
                    check_tour(instance, route or instance.cheapest_route())
                    for instance, route in zip(some, found, strict=True)
                ]
            seconds = time.perf_counter() - began
            mean = np.mean([tour.prize for tour in tours])
            click.echo(
                f"{header.method} {path.stem} {kind}: mean prize {mean:.4f} on {len(tours)}, "
                f"{seconds / len(tours) * 1e3:.1f} ms and {passes / len(tours):.0f} passes each"
            )
            if out is not None:
                write_tours(out / f"{path.stem}.{kind}.npz", tours, seconds)


if __name__ == "__main__":
    main()
