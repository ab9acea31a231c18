"""Prints prize, seconds and looks of the beam searches beside the paper's prizes on its nine sets, as Markdown.

    python benchmarks/beam.py
    python benchmarks/beam.py --count 40 --sets uniform_100 --solvers cs-p,beam=100 cs-p,branch=8,device=cuda

A solver is a name, followed by settings. Seconds are wall-clock seconds of a batch on one core (or a GPU) divided by
its instances; looks are the partial paths that the score was asked about, the forward passes where it is a network.
The bar: at most one per cent below the paper, where it gives a figure. The exit status is 1 if one is below.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before torch reads them: one core

import torch  # noqa: E402

from orienteer.beam.score import Children, Scorer  # noqa: E402
from orienteer.beam.solvers import BeamSolver  # noqa: E402
from orienteer.beam.states import States  # noqa: E402
from orienteer.data.files import read_set  # noqa: E402
from orienteer.search.registry import make_solver  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
SETS = tuple(f"{prizes}_{nodes}" for nodes in (20, 50, 100) for prizes in ("constant", "uniform", "distance"))
SOLVERS = ("cs-p,beam=20,tau=0.05", "tsili-beam")
PAPER = {  # Liu, Xu, Su, Xiao and Yang 2020, on instances of their own; cs-p is given for constant prizes only
    "cs-p,beam=20,tau=0.05": {"constant_20": 10.57, "constant_50": 29.16, "constant_100": 57.11},
    "tsili-beam": {
        **{"constant_20": 10.01, "constant_50": 24.58, "constant_100": 47.38},
        **{"uniform_20": 5.54, "uniform_50": 13.54, "uniform_100": 25.91},
        **{"distance_20": 5.26, "distance_50": 15.50, "distance_100": 30.53},
    },
}


class Counted:
    """A score that counts the paths it is asked about."""

    def __init__(self, scorer: Scorer):
        self.scorer, self.looks = scorer, 0

    def children(self, states: States) -> Children:
        self.looks += len(states)
        return self.scorer.children(states)

    def paths(self, states: States) -> torch.Tensor:
        self.looks += len(states)
        return self.scorer.paths(states)


def main() -> int:
    """Measures and prints, set by set; 1 if one is below the bar."""
    arguments = _arguments()
    print("| solver | set | prize | paper | ratio | seconds | looks |\n|---|---|---|---|---|---|---|")
    kept = True
    for solver in arguments.solvers:
        for name in arguments.sets:
            prize, seconds, looks = measure(solver, arguments.data / f"{name}.npz", arguments.count)
            paper = PAPER.get(solver, {}).get(name)
            beside = f"{paper:.2f} | {100 * prize / paper:.2f} %" if paper else "|"
            print(f"| {solver} | {name} | {prize:.3f} | {beside} | {seconds:.4f} | {looks:.0f} |", flush=True)
            kept = kept and (paper is None or prize >= 0.99 * paper)
    return 0 if kept else 1


def measure(text: str, path: Path, count: int) -> tuple[float, float, float]:
    """Mean prize, seconds and looks of a solver over the first `count` instances of a set."""
    instances = list(read_set(path))[:count]
    name, *settings = text.split(",")
    solver = make_solver(name, **dict(_setting(one) for one in settings))
    if not isinstance(solver, BeamSolver):
        raise ValueError(f"solver must be a beam search, got {name!r}")
    scorers: list[Counted] = []
    _count_looks(solver, scorers)
    solver.solve_batch(instances[:2])  # whatever happens once
    before = sum(one.looks for one in scorers)
    results = solver.solve_batch(instances)
    total = len(results)
    return (
        sum(result.prize for result in results) / total,
        sum(result.seconds for result in results) / total,
        (sum(one.looks for one in scorers) - before) / total,
    )


def _count_looks(solver: BeamSolver, scorers: list[Counted]) -> None:
    make: Callable[[torch.device], Scorer] = solver.scorer

    def counted(device: torch.device) -> Scorer:
        scorers.append(Counted(make(device)))
        return scorers[-1]

    solver.scorer = counted  # type: ignore[method-assign]


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, None if value == "None" else value


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the paper's sets")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
    parser.add_argument("--count", type=int, default=200, help="instances of each set")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
