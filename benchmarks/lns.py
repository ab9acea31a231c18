"""The neighbourhood search on files with best known values.

    python benchmarks/lns.py oplib --out out/oplib
    python benchmarks/lns.py classic --out out/classic

It is `orienteer bench oplib` and `orienteer bench classic` on the data beside the checkout. The bars: on OPLib files of
up to 400 nodes, with 0.7 / 2.5 / 5 s below 110 / below 210 / up to 400 nodes, a mean gap of at most 0.4 % to the best
known value; on the classic files every proven optimum within 1 s. Values better than the best known are listed, and
written with their routes to better.json. The exit status is 1 if a bar is missed. Results are kept: another folder runs
anew.
"""

import argparse
import sys
from pathlib import Path

from common import DATA, Bar, Method
from orienteer.lab.bench.published import classic_seconds, known_files, oplib_seconds, run_files

SECONDS = {"oplib": oplib_seconds, "classic": classic_seconds}
LARGEST = 400
MOST_GAP = 0.004


def main() -> int:
    """Measures and prints; 1 if the bar is missed."""
    arguments = _arguments()
    folder, kind = arguments.data / arguments.collection, arguments.collection
    if not folder.exists():
        print(f"{folder} is not there; --data names the folder of the benchmark files", file=sys.stderr)
        return 2
    files, notes = known_files(folder, None, LARGEST, arguments.match)
    with Bar() as bar:
        report = run_files(arguments.out, kind, files, Method("lns", "lns"), SECONDS[kind], bar.batch, notes)
    print((arguments.out / "table.md").read_text())
    missed = any(one.missed for one in report.results) if kind == "classic" else report.mean_gap > MOST_GAP
    return int(missed or bool(report.failures))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", choices=SECONDS)
    parser.add_argument("--match", default="", help="only files whose names hold this")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data (default ../shared/data)")
    parser.add_argument("--out", type=Path, default=Path("out/lns"), help="folder of the results (default out/lns)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
