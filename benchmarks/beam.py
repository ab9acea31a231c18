"""The beam searches without a network beside the paper's prizes on its nine sets.

    python benchmarks/beam.py
    python benchmarks/beam.py --count 40 --sets uniform_100 --methods cs-p,beam=100,cs-p,branch=8

The bar: at most one per cent below the paper, where it gives a figure. The exit status is 1 if one is below.
"""

import sys

from common import judged, measured, options, paper_sets
from orienteer.lab.bench.methods import parse_methods
from orienteer.lab.bench.paper import NAMED
from orienteer.lab.bench.paper_figures import printed

LEAST_PRIZE = 0.99


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    parser = options(__doc__, "beam")
    parser.add_argument("--methods", default="cs-p,tsili-beam", help="cs-p alone has the paper's K and tau")
    arguments = parser.parse_args()
    methods = parse_methods(arguments.methods, NAMED, "cpu")
    found = measured(arguments, "Beam searches", methods, paper_sets(arguments), compass=False)
    missed = []
    for (method, name), one in found.items():
        prizes, _, nodes = name.partition("_")
        paper = printed(method, prizes, int(nodes))
        if paper is not None:
            print(f"{method}, {name}: {100 * one.prize / paper.prize:.2f} % of the paper's {paper.prize}")
            if one.prize < LEAST_PRIZE * paper.prize:
                missed.append(f"below the bar: {method}, {name}")
    return judged(missed)


if __name__ == "__main__":
    sys.exit(main())
