"""Prints how far tours by the learned searches are above the shortest, as Markdown.

    python benchmarks/tsp.py --weights out/train/best.safetensors
    python benchmarks/tsp.py --weights FILE --solvers tsp-cs --beam 100 --sizes 20 50 --count 50

Points are uniform in the unit square, 200 problems of a size, drawn from the seed 20261116 and the size. The reference
is LKH (Helsgaun) through `elkai` where that is installed, ten runs a problem; else our own iterated local search with
100 kicks a node. Neither proves its tours; where one of ours is shorter, it is the reference. The first rows are the
quick tour, which is every solver's limit and floor, and the iterated local search that labels tours. `own` is the share
of problems on which a method found a shorter tour than the quick one. Seconds are per problem, in a batch.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from common import Bar, Method, NamedSet
from orienteer.data.instance_set import InstanceSet
from orienteer.lab.bench.run import run_all
from orienteer.lab.tours.heuristic import good_route
from orienteer.lab.tours.instance import known_route, tour_problem
from orienteer.model.instance import Instance, distances
from orienteer.model.numbers import Array
from orienteer.model.tour import route_cost

SEED = 20261116


def main() -> int:
    """Measures and prints."""
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    name, reference = _reference(arguments.reference)
    print(f"Reference: {name}.\n")
    print("| nodes | method | cost | above the reference | own | seconds |\n|---|---|---|---|---|---|")
    for size in arguments.sizes:
        problems = _problems(size, arguments.count)
        given = NamedSet(f"tours_{size}", InstanceSet.of(problems))
        rows = [
            ("quick tour", *_each(problems, known_route)),
            ("kicks", *_each(problems, lambda one: good_route(one.costs, 0, 0, seed=0, kicks=10))),
            *_solved(arguments.solvers, given, arguments),
        ]
        known = np.array([route_cost(one, reference(one)) for one in problems])
        best = np.minimum.reduce([known, *(cost for _, cost, _ in rows)])
        quick = rows[0][1]
        print(f"| {size} | *reference* | {best.mean():.4f} | | | |")
        for method, cost, seconds in rows:
            gap, own = 100 * (cost.mean() / best.mean() - 1), 100 * (cost < quick * (1 - 1e-9)).mean()
            print(f"| {size} | {method} | {cost.mean():.4f} | {gap:.3f} % | {own:.0f} % | {seconds:.4f} |", flush=True)
    return 0


def _problems(size: int, count: int) -> list[Instance]:
    rng = np.random.default_rng([SEED, size])
    return [tour_problem(distances(points), points) for points in rng.random((count, size, 2))]


def _each(problems: Sequence[Instance], find: Callable[[Instance], list[int] | None]) -> tuple[Array, float]:
    """The costs of all tours, and the seconds of each."""
    find(problems[0])  # compiles
    began = time.perf_counter()
    routes = [find(one) for one in problems]
    seconds = (time.perf_counter() - began) / len(problems)
    return np.array([route_cost(one, route or []) for one, route in zip(problems, routes, strict=True)]), seconds


def _solved(solvers: Sequence[str], one: NamedSet, arguments: argparse.Namespace) -> list[tuple[str, Array, float]]:
    """The names of solvers, the costs of all their tours, and the seconds of each."""
    methods = []
    for name in solvers:
        beam = {} if name == "tsp-greedy" or arguments.beam is None else {"beam": arguments.beam}
        methods.append(Method(name, name, {"device": arguments.device, "weights": arguments.weights, **beam}))
    with Bar() as bar:
        entries = run_all(arguments.out, methods, [one], bar.batch)
    rows = []
    for method in methods:
        done = [entries[method.key, one.name, index] for index in range(len(one))]
        if failed := [entry["error"] for entry in done if "error" in entry]:
            sys.exit(f"{method.label}: {failed[0]}")
        cost = np.array([entry["cost"] for entry in done])
        rows.append((method.label, cost, sum(entry["seconds"] for entry in done) / len(done)))
    return rows


def _reference(wish: str) -> tuple[str, Callable[[Instance], list[int]]]:
    """What the optimum is taken to be, in words and as a function."""
    if wish != "own":
        try:
            import elkai
        except ImportError:
            if wish == "lkh":
                sys.exit("elkai is not installed: pip install elkai")
        else:

            def lkh(instance: Instance) -> list[int]:
                whole = np.rint(instance.costs * 1e6).astype(int)  # it reads whole numbers
                tour: list[int] = elkai.DistanceMatrix(whole.tolist()).solve_tsp(runs=10)
                return tour

            return "LKH through elkai, 10 runs", lkh
    return (
        "our iterated local search, 100 kicks a node",
        lambda one: good_route(one.costs, 0, 0, seed=1, kicks=100) or [],
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="", help="a network for tours, by file or name")
    parser.add_argument("--solvers", nargs="*", default=("tsp-greedy", "tsp-beam", "tsp-cs"))
    parser.add_argument("--beam", type=int, help="width of tsp-beam and tsp-cs")
    parser.add_argument("--sizes", nargs="+", type=int, default=(20, 50, 100))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--reference", default="auto", choices=("auto", "lkh", "own"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/tsp"), help="results (default out/tsp)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
