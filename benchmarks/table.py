"""Prints the README's table: mean prize and CPU seconds of chosen solvers on the paper's sets, as Markdown.

    python benchmarks/table.py
    python benchmarks/table.py --count 30 --sets uniform_100 distance_100 -- lns,seconds=0.5 cs-p,beam=20,tau=0.05

A solver is a name, followed by settings; `seconds` and `steps` set its end. The time is that of one core with kernels
compiled, per instance. Compass is the program of Kobeaga, Merino and Lozano (EA4OP), measured once; its values are in
the data's compass.csv.
"""

import argparse
import csv
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy and torch read them: one core

from orienteer import AnyOf, Instance, MaxSeconds, MaxSteps, Stop, solve_batch  # noqa: E402
from orienteer.data.files import read_set  # noqa: E402

DATA = Path(__file__).parents[2] / "shared" / "data" / "paper"
SETS = ("uniform_20", "uniform_50", "uniform_100", "distance_100")
SOLVERS = (
    "random",
    "tsili",
    "tsili-beam",
    "cs-p,beam=20,tau=0.05",
    "compass",
    "lns,seconds=0.1",
    "lns,seconds=0.5",
    "lns,seconds=5",
)


@dataclass(frozen=True)
class Row:
    """A solver with its settings and its end, as written on the command line."""

    text: str
    name: str
    stop: Stop | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    """Measures and prints, row by row."""
    arguments = _arguments()
    sets = {name: list(read_set(arguments.data / f"{name}.npz"))[: arguments.count] for name in arguments.sets}
    print(f"| solver | {' | '.join(_title(name, instances) for name, instances in sets.items())} |")
    print("|---|" + "---|" * len(sets))
    peer = [_peer(arguments.data / "compass.csv", name, len(instances)) for name, instances in sets.items()]
    if all(peer):
        print(f"| Compass, the original program | {' | '.join(peer)} |")
    for text in arguments.solvers or SOLVERS:
        row = parse(text)
        cells = [measure(row, instances, arguments.seed) for instances in sets.values()]
        print(f"| `{text}` | {' | '.join(cells)} |", flush=True)


def parse(text: str) -> Row:
    """The row that a word such as ``cs-p,beam=20,tau=0.05`` stands for."""
    name, *words = text.split(",")
    settings = {key: _value(value) for key, _, value in (word.partition("=") for word in words)}
    stops: list[Stop] = []
    if "seconds" in settings:
        stops.append(MaxSeconds(settings.pop("seconds")))
    if "steps" in settings:
        stops.append(MaxSteps(settings.pop("steps")))
    return Row(text, name, AnyOf(*stops) if stops else None, settings)


def measure(row: Row, instances: Sequence[Instance], seed: int = 0) -> str:
    """Mean prize and CPU seconds per instance, as a cell of the table."""
    solve_batch(instances[:1], row.name, AnyOf(row.stop or MaxSteps(1), MaxSteps(1)), **row.settings)  # compiles
    began = time.process_time()
    results = solve_batch(instances, row.name, row.stop, seed=seed, **row.settings)
    seconds = (time.process_time() - began) / len(instances)
    return _cell(sum(result.prize for result in results) / len(results), seconds)


def _cell(prize: float, seconds: float) -> str:
    return f"{prize:.2f}, {seconds:.2g} s"


def _title(name: str, instances: Sequence[Instance]) -> str:
    kind, _, nodes = name.partition("_")
    return f"{kind} prizes, n = {nodes}, T = {instances[0].limit:g}"


def _peer(path: Path, name: str, count: int) -> str:
    """Compass's cell, or nothing if some instance is missing."""
    if not path.exists():
        return ""
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == name and int(row["index"]) < count]
    if len(rows) < count:
        return ""
    mean = [sum(float(row[key]) for row in rows) / count for key in ("prize", "cpu_seconds")]
    return _cell(mean[0], mean[1])


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solvers", nargs="*", metavar="NAME[,KEY=VALUE...]")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--count", type=int, default=200, help="instances of each set (default 200, all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets (default ../shared/data/paper)")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"{arguments.data} is not there; --data names the folder of the sets")
    return arguments


if __name__ == "__main__":
    main()
