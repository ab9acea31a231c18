"""What the scripts of this folder share: one core, the data beside the checkout, and `compare` of orienteer.lab.bench.

Import it before anything that loads numpy or torch: they read once how many threads they may use.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

from orienteer.cli.progress import Bar  # noqa: E402
from orienteer.data.npz import load_set  # noqa: E402
from orienteer.lab.bench.compare import compare  # noqa: E402
from orienteer.lab.bench.methods import Method  # noqa: E402
from orienteer.lab.bench.sets import NamedSet  # noqa: E402
from orienteer.lab.bench.summary import Summary  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data"
PAPER_SETS = tuple(f"{prizes}_{nodes}" for nodes in (20, 50, 100) for prizes in ("constant", "uniform", "distance"))
COMPASS = "Compass, the original program"
"""Of Kobeaga, Merino and Lozano (EA4OP), measured once on the paper's sets."""


def options(text: str | None, name: str, sets: Sequence[str] = PAPER_SETS) -> argparse.ArgumentParser:
    """The options of a script on the paper's sets; `text` is the script's docstring, `name` that of its folder."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data (default ../shared/data)")
    parser.add_argument("--sets", nargs="+", default=sets, help=f"default {' '.join(sets)}")
    parser.add_argument("--count", type=int, help="only the first COUNT instances of each set")
    parser.add_argument("--out", type=Path, default=Path("out") / name, help=f"results (default out/{name})")
    return parser


def paper_sets(arguments: argparse.Namespace) -> list[NamedSet]:
    """The paper's sets that were asked for."""
    folder = arguments.data / "paper"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there; --data names the folder of the data")
    return [NamedSet(name, load_set(folder / f"{name}.npz")[: arguments.count]) for name in arguments.sets]


def measured(
    arguments: argparse.Namespace, title: str, methods: Sequence[Method], sets: Sequence[NamedSet], compass: bool
) -> dict[tuple[str, str], Summary]:
    """Runs what is not in the folder yet and prints the table; what each method did, by method and set."""
    beside = {COMPASS: arguments.data / "paper" / "compass.csv"} if compass else {}
    with Bar() as bar:
        report = compare(arguments.out, title, methods, sets, bar.batch, beside=beside, routes=True)
    print((arguments.out / "table.md").read_text())
    if report.failures:
        sys.exit("\n".join(report.failures))
    return {(one.method, one.set): one for one in report.summaries}


def judged(lines: Sequence[str]) -> int:
    """The exit status of a script with a bar: 1 if there are lines about where it was missed, which are printed."""
    print("\n".join(lines) or "The bar is kept everywhere.")
    return int(bool(lines))
