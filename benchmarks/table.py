"""The table of docs/measured/benchmarks.md: mean prize and seconds of methods on the paper's sets, beside Compass.

    python benchmarks/table.py
    python benchmarks/table.py --count 30 --sets uniform_100 --methods lns,seconds=0.5,cs-p,beam=20,tau=0.05

A method is a solver's name, followed by settings; `seconds` and `steps` set its end.
"""

from common import measured, options, paper_sets
from orienteer.lab.bench.methods import parse_methods

SETS = ("uniform_20", "uniform_50", "uniform_100", "distance_100")
METHODS = "random,tsili,tsili-beam,cs-p,beam=20,tau=0.05,compass,lns,seconds=0.1,cs-l,beam=10,tau=0.05"


def main() -> None:
    """Measures and prints."""
    parser = options(__doc__, "table", SETS)
    parser.add_argument("--methods", default=METHODS)
    arguments = parser.parse_args()
    methods = parse_methods(arguments.methods, {}, "cpu")
    measured(arguments, "Methods on the paper's sets", methods, paper_sets(arguments), compass=True)


if __name__ == "__main__":
    main()
