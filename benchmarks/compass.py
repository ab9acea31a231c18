"""Our EA4OP beside its authors' program, Compass, on the paper's nine sets.

    python benchmarks/compass.py
    python benchmarks/compass.py --count 40 --sets uniform_100 distance_100

The bar: at least 99.8 % of Compass's mean prize in at most twice its CPU seconds, on every set. The exit status is 1 if
a set is below it.
"""

import sys

from common import COMPASS, judged, measured, options, paper_sets
from orienteer.lab.bench.methods import Method

LEAST_PRIZE, MOST_TIME = 0.998, 2.0


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    arguments = options(__doc__, "compass").parse_args()
    ours = Method("compass", "compass")
    found = measured(arguments, "EA4OP, ours and its authors'", [ours], paper_sets(arguments), compass=True)
    missed = []
    for name in arguments.sets:
        own, other = found[ours.label, name], found[COMPASS, name]
        prize, cpu = own.prize / other.prize, own.cpu / other.cpu
        print(f"{name}: {100 * prize:.2f} % of Compass's prize in {cpu:.2f} of its CPU seconds")
        if prize < LEAST_PRIZE or cpu > MOST_TIME:
            missed.append(f"below the bar: {name}")
    return judged(missed)


if __name__ == "__main__":
    sys.exit(main())
