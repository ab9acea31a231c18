"""Our search beside PyVRP, OR-Tools and VROOM: the same instances, the same seconds of one core."""

from collections.abc import Sequence
from pathlib import Path

from orienteer.lab.bench.compare import compare
from orienteer.lab.bench.methods import PEERS, Method, peer_class
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone
from orienteer.lab.bench.sets import NamedSet


def present_and_absent() -> tuple[list[str], list[str]]:
    """The other solvers that are installed here, and the names under which pip knows those that are not."""
    classes = {name: peer_class(name) for name in PEERS}
    there = [name for name, one in classes.items() if one.installed()]
    return there, [one.distribution for name, one in classes.items() if name not in there]


def run_peers(
    folder: Path, ours: Sequence[Method], sets: Sequence[NamedSet], seconds: float, on_done: OnDone
) -> Report:
    """Runs ours and all other solvers that are installed; a note names the absent ones."""
    there, absent = present_and_absent()
    methods = [*ours, *(Method(name, name, seconds=seconds) for name in there)]
    versions = [peer_class(name)().version for name in there]
    notes = [
        f"{seconds:g} s of one core for an instance; VROOM may end sooner.",
        "Others take whole numbers: costs are rounded up on a scale of the limit, prizes scaled; routes are judged "
        "and counted with the exact ones.",
    ]
    notes += [f"Compared with {', '.join(versions)}."] if versions else []
    if absent:
        notes.append(f"Not installed, hence not compared: {', '.join(absent)}; pip install 'orienteer[peers]'.")
    return compare(folder, "Other solvers on the same instances", methods, sets, on_done, notes)
