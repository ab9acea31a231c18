"""Prints how the learned search stands against Compass and the neighbourhood search, as Markdown.

    python benchmarks/flagship.py sets --beam 20            the paper's nine sets, beside Compass
    python benchmarks/flagship.py sets --greedy
    python benchmarks/flagship.py costs --beam 100          other costs, n = 100, beside lns with 5 s
    python benchmarks/flagship.py sizes --beam 20           n = 300 and 500, beside lns with 20 s
    python benchmarks/flagship.py speed --device cuda --repeat 3    2,000 at a time, K = 20 and 100

With --out, results are kept as NPZ for a judge. Instances that are generated have the seed 20261115; labels for
training have seeds from 1,000,000,000 on. Times are wall-clock seconds of a batch, divided by its instances.
"""

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from orienteer.data.files import read_set, write_results
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.network.solvers import DqnGreedy, GreedyConfig, LearnedCostLevelSearch, LearnedLevelConfig, LearnedSolver
from orienteer.search.front import solve
from orienteer.search.stop import MaxSeconds

DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
SETS = tuple(f"{prizes}_{nodes}" for nodes in (20, 50, 100) for prizes in ("constant", "uniform", "distance"))
SEED = 20261115
PEAK = 990e12
"""Operations a second of an H200 in bfloat16, as its maker states them."""


def main() -> int:
    """Measures and prints what is asked for."""
    arguments = _arguments()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    {"sets": _sets, "costs": _costs, "sizes": _sizes, "speed": _speed}[arguments.what](arguments)
    return 0


def _sets(arguments: argparse.Namespace) -> None:
    if not DATA.is_dir():
        sys.exit(f"the paper's sets are not at {DATA}")
    compass = _compass()
    print("| set | prize | Compass | above Compass | ms each |\n|---|---|---|---|---|")
    for name in arguments.sets:
        instances = read_set(DATA / f"{name}.npz")[: arguments.count]
        results, seconds = _timed(_solver(arguments), instances, arguments, name)
        prize, other = _mean(results), sum(compass[name][: len(results)]) / len(results)
        above = 100 * (prize / other - 1)
        print(f"| {name} | {prize:.3f} | {other:.3f} | {above:+.2f} % | {1e3 * seconds:.1f} |", flush=True)


def _costs(arguments: argparse.Namespace) -> None:
    print("| costs | cs-l | lns, 5 s | above lns | ms each |\n|---|---|---|---|---|")
    for costs in ("manhattan", "tmat", "xasy", "road"):
        _beside_lns(arguments, costs, list(generate(100, "uniform", costs, count=arguments.count or 200, seed=SEED)), 5)


def _sizes(arguments: argparse.Namespace) -> None:
    print("| nodes | cs-l | lns, 20 s | above lns | ms each |\n|---|---|---|---|---|")
    for nodes in (300, 500):
        _beside_lns(arguments, str(nodes), list(generate(nodes, "uniform", count=arguments.count or 20, seed=SEED)), 20)


def _beside_lns(arguments: argparse.Namespace, name: str, instances: Sequence[Instance], limit: float) -> None:
    results, seconds = _timed(_solver(arguments), instances, arguments, name)
    prize, besides = _mean(results), "| |"
    if arguments.lns != 0:
        other = _mean([solve(one, "lns", MaxSeconds(limit), seed=0) for one in instances[: arguments.lns]])
        same = _mean(results[: arguments.lns])
        besides = f"{other:.3f} | {100 * (same / other - 1):+.2f} % |"
    print(f"| {name} | {prize:.3f} | {besides} {1e3 * seconds:.1f} |", flush=True)


def _speed(arguments: argparse.Namespace) -> None:
    print("| K | prize | ms each | passes each | passes/s | share of the arithmetic limit |\n|---|---|---|---|---|---|")
    instances = list(generate(100, "uniform", count=arguments.count or 2000, seed=SEED))
    for beam in (20, 100):
        arguments.beam = beam
        solver = _solver(arguments)
        scorer = solver.scorer(torch.device(arguments.device))
        solver.solve_batch(instances[:50])
        times = []
        for _ in range(arguments.repeat):
            before = scorer.passes
            results, seconds = _timed(solver, instances, arguments, f"speed{beam}")
            times.append(seconds)
        passes, seconds = (scorer.passes - before) / len(instances), sum(times) / len(times)
        shown = " / ".join(f"{1e3 * one:.2f}" for one in times)
        weights = sum(one.numel() for one in scorer.network.parameters())  # type: ignore[attr-defined]
        work = passes * 2 * weights * TOKENS
        print(
            f"| {beam} | {_mean(results):.3f} | {shown} | {passes:.0f} | {passes / seconds:,.0f} | "
            f"{100 * work / seconds / PEAK:.1f} % |",
            flush=True,
        )


TOKENS = 55
"""Nodes that a path of a search with 100 nodes still has before it, on average."""


def _solver(arguments: argparse.Namespace) -> LearnedSolver:
    if arguments.greedy:
        return DqnGreedy(GreedyConfig(arguments.device, arguments.weights or _default(arguments)))
    given = {"device": arguments.device, "weights": arguments.weights}
    return LearnedCostLevelSearch(LearnedLevelConfig(beam=arguments.beam, tau=arguments.tau, **given))


def _default(arguments: argparse.Namespace) -> str:
    return LearnedCostLevelSearch.default_weights(torch.device(arguments.device))


def _timed(
    solver: LearnedSolver, instances: Sequence[Instance], arguments: argparse.Namespace, name: str
) -> tuple[list[Result], float]:
    """The results and the seconds of each."""
    solver.solve_batch(instances[:1])  # loads and warms up
    began = time.perf_counter()
    results = solver.solve_batch(instances)
    seconds = (time.perf_counter() - began) / len(instances)
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        write_results(results, arguments.out / f"{name}.npz")
    return results, seconds


def _compass() -> dict[str, list[float]]:
    """Compass's prizes, by set."""
    table: dict[str, list[float]] = {}
    with (DATA / "compass.csv").open() as file:
        for row in csv.DictReader(file):
            table.setdefault(row["set"], []).append(float(row["prize"]))
    return table


def _mean(results: Sequence[Result]) -> float:
    return sum(one.prize for one in results) / len(results)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sets", "costs", "sizes", "speed"))
    parser.add_argument("--beam", type=int, default=20)
    parser.add_argument("--tau", type=float)
    parser.add_argument("--repeat", type=int, default=1, help="batches for `speed`, timed one by one")
    parser.add_argument("--greedy", action="store_true")
    parser.add_argument("--weights", default="")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--count", type=int, help="instances of each set")
    parser.add_argument("--lns", type=int, help="only so many of them through lns; 0 for none")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
