"""The learned search beside Compass and the neighbourhood search.

    python benchmarks/flagship.py sets --beam 20            the paper's nine sets, beside Compass
    python benchmarks/flagship.py sets --greedy
    python benchmarks/flagship.py costs --beam 100          other costs, n = 100, beside lns with 5 s
    python benchmarks/flagship.py sizes --beam 20           n = 300 and 500, beside lns with 20 s
    python benchmarks/flagship.py speed --device cuda --repeat 3    2,000 at a time, K = 20 and 100

Instances that are generated have the seed 20261115; labels for training have seeds from 1,000,000,000 on. Times are
wall-clock seconds of a batch, divided by its instances. Routes are kept as NPZ for a judge.
"""

import argparse
import sys

from safetensors.numpy import load_file

from common import COMPASS, Method, NamedSet, measured, options, paper_sets
from orienteer.beam.backend import choose_backend
from orienteer.data.generate import generate
from orienteer.lab.bench.sets import random_set
from orienteer.network.solver import LearnedCostLevelSearch
from orienteer.search.cores import set_cores

SEED = 20261115
PEAK = 990e12
"""Operations a second of an H200 in bfloat16, as its maker states them."""
TOKENS = 55
"""Nodes that a path of a search with 100 nodes still has before it, on average."""


def main() -> int:
    """Measures and prints what is asked for."""
    arguments = _arguments()
    set_cores(arguments.threads)
    {"sets": _sets, "costs": _costs, "sizes": _sizes, "speed": _speed}[arguments.what](arguments)
    return 0


def _sets(arguments: argparse.Namespace) -> None:
    ours = _method(arguments, arguments.beam)
    found = measured(arguments, "The learned search", [ours], paper_sets(arguments), compass=True)
    for name in arguments.sets:
        above = 100 * (found[ours.label, name].prize / found[COMPASS, name].prize - 1)
        print(f"{name}: {above:+.2f} % above Compass")


def _costs(arguments: argparse.Namespace) -> None:
    kinds, count = ("manhattan", "tmat", "xasy", "road"), arguments.count or 200
    folder = arguments.out / "instances"
    _beside_lns(arguments, [random_set(folder, "uniform", 100, count, SEED, kind) for kind in kinds], 5.0)


def _sizes(arguments: argparse.Namespace) -> None:
    folder, count = arguments.out / "instances", arguments.count or 20
    _beside_lns(arguments, [random_set(folder, "uniform", nodes, count, SEED) for nodes in (300, 500)], 20.0)


def _beside_lns(arguments: argparse.Namespace, sets: list[NamedSet], seconds: float) -> None:
    ours, other = _method(arguments, arguments.beam), Method(f"lns, {seconds:g} s", "lns", seconds=seconds)
    found = measured(arguments, "The learned search", [ours, other], sets, compass=False)
    for one in sets:
        above = 100 * (found[ours.label, one.name].prize / found[other.label, one.name].prize - 1)
        print(f"{one.name}: {above:+.2f} % above lns")


def _speed(arguments: argparse.Namespace) -> None:
    instances = generate(100, "uniform", count=arguments.count or 2000, seed=SEED)
    batches = [NamedSet(f"batch_{number}", instances) for number in range(1, arguments.repeat + 1)]
    methods = [_method(arguments, beam) for beam in (20, 100)]
    found = measured(arguments, "Batches one after the other", methods, batches, compass=False)
    solver = methods[0].make()
    assert isinstance(solver, LearnedCostLevelSearch)
    weights = sum(one.size for one in load_file(solver.weights_file()).values())
    work = 2 * TOKENS * weights  # operations of a pass
    for (label, name), one in found.items():
        rate = (one.passes or 0.0) / one.seconds
        print(
            f"{label}, {name}: {1e3 * one.seconds:.2f} ms each, {rate:,.0f} passes/s, "
            f"{100 * rate * work / PEAK:.1f} % of the arithmetic limit"
        )


def _method(arguments: argparse.Namespace, beam: int) -> Method:
    """The learned search, or its network alone, greedy."""
    given = {"device": arguments.device, "weights": arguments.weights}
    if arguments.greedy:
        own = LearnedCostLevelSearch.default_weights(choose_backend(arguments.device))
        return Method("greedy", "an-dqn", {**given, "weights": arguments.weights or own})
    return Method(f"cs-l, K = {beam}", "cs-l", {**given, "beam": beam, "tau": arguments.tau})


def _arguments() -> argparse.Namespace:
    parser = options(__doc__, "flagship")
    parser.add_argument("what", choices=("sets", "costs", "sizes", "speed"))
    parser.add_argument("--beam", type=int, default=20)
    parser.add_argument("--tau", type=float)
    parser.add_argument("--repeat", type=int, default=1, help="batches for `speed`, timed one by one")
    parser.add_argument("--greedy", action="store_true")
    parser.add_argument("--weights", default="")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
