"""The paper's comparison table from our own runs, the paper's figures beside ours."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.data.npz import load_set, save_set
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_report import Report, Spec, write_report
from orienteer.lab.bench.run import OnDone, Shard, run_all
from orienteer.lab.bench.sets import NamedSet, kept_set, random_set
from orienteer.lab.bench.store import Store, read_entries
from orienteer.lab.bench.summary import Optima, Row
from orienteer.lab.bench.tables import write_text
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.search.registry import REGISTRY, make_solver
from orienteer.search.stop import MaxSteps

NAMED = {
    "exact": "exact,seconds=60",
    "gurobi": "gurobi,seconds=60",
    "cs-p": "cs-p,beam=20,tau=0.05",
    "cs-l": "cs-l,beam=20,tau=0.05",
    "cs-paper": "cs-l,weights=an-dqn,beam=20,tau=0.05,spread=1.0,branch=none,lag=none,both=false,recombine=false",
}
"""Names that stand for a solver with settings; ``cs-paper`` is the paper's search, but for its spread, with its kind of
network, ``cs-l`` our search with the shipped weights of the device."""

ORDER = (
    *("exact", "gurobi", "compass", "random", "tsili", "an-dqn", "an-a2c", "an-at", "an-pn"),
    *("tsili-beam", "an-dqn-beam", "an-a2c-beam", "an-at-beam", "an-pn-beam"),
    *("cs-p", "cs-paper", "cs-l", "lns", "auto"),
)
"""All methods, as in the paper; ours below."""

ANYTIME = ("lns", "auto")
"""Methods that run until their time limit."""

PROVERS = ("exact", "gurobi")
"""Methods that may need more than the base install."""

INSTANCES = "instances"


def default_methods() -> tuple[str, list[str]]:
    """The methods that are there, as words for `parse_methods`, and why others are left out."""
    there, absent = [], []
    for name in ORDER:
        solver = NAMED.get(name, name).partition(",")[0]
        if solver not in REGISTRY:
            continue
        reason = _unusable(solver) if solver in PROVERS else None
        if reason is None:
            there.append(name)
        else:
            absent.append(f"{name} is left out: {reason}")
    return ",".join(there), absent


def run_paper(
    folder: Path,
    methods: Sequence[Method],
    spec: Spec,
    on_done: OnDone,
    shard: Shard | None = None,
    data: Path | None = None,
    optima: Optima | None = None,
) -> Report | None:
    """Runs what is missing and writes the tables; a shard alone writes none and returns None."""
    part = Shard() if shard is None else shard
    spec = dataclasses.replace(spec, given=data is not None)
    sets = _make_sets(folder, spec, data)
    _write_manifest(folder, part, spec, methods)
    entries = run_all(folder, methods, sets, on_done, part)
    if part.of > 1:
        return None
    return write_report(
        folder, spec, [Row(one.label, one.key, one.about) for one in methods], sets, entries, optima or {}
    )


def merge(folders: Sequence[Path], out: Path, optima: Optima | None = None) -> Report:
    """The tables of all results of some folders, gathered in `out`; instances and results are copied there."""
    specs, rows = _read_manifests(folders)
    spec = specs[0]
    for other in specs[1:]:
        if other != spec:
            raise ValueError(f"the folders hold different experiments: {spec} and {other}")
    sets = [_load_cell(folders, spec, prizes, nodes) for prizes, nodes in spec.cells]
    for one in sets:
        path = out / INSTANCES / _file_name(spec, one.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            save_set(one.instances, path)
    with Store(out) as store:
        store.add(entry for at, entry in read_entries(folders, tours=True).items() if at not in store.entries)
        entries = store.entries
    _save_manifest(out / "run.json", spec, [dataclasses.asdict(row) for row in rows])
    return write_report(out, spec, _told_apart(rows), sets, entries, optima or {})


def _unusable(solver: str) -> str | None:
    """Why a solver does not work here, such as for want of a package or a licence; None if it does."""
    try:
        make_solver(solver).solve(Instance(1.0 - np.eye(3), np.ones(3), 2.0), MaxSteps(1))
    except Exception as error:
        return str(error)
    return None


def _make_sets(folder: Path, spec: Spec, data: Path | None) -> list[NamedSet]:
    place = folder / INSTANCES
    if data is None:
        return [random_set(place, prizes, nodes, spec.count, spec.seed) for prizes, nodes in spec.cells]
    place.mkdir(parents=True, exist_ok=True)
    sets = [kept_set(data, prizes, nodes, spec.count) for prizes, nodes in spec.cells]
    for one in sets:
        save_set(one.instances, place / _file_name(spec, one.name))
    return sets


def _file_name(spec: Spec, name: str) -> str:
    return f"{name}.npz" if spec.given else f"{name}_seed{spec.seed}.npz"


def _load_cell(folders: Sequence[Path], spec: Spec, prizes: str, nodes: int) -> NamedSet:
    name = f"{prizes}_{nodes}"
    for folder in folders:
        path = folder / INSTANCES / _file_name(spec, name)
        if path.exists():
            found = load_set(path)
            if len(found) >= spec.count:
                return NamedSet(name, found[: spec.count])
    raise BadFile(folders[0] / INSTANCES / _file_name(spec, name), f"is not there with {spec.count} instances")


def _write_manifest(folder: Path, shard: Shard, spec: Spec, methods: Sequence[Method]) -> None:
    """Says what the run is, so that shards can be put together elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    said = [{"label": one.label, "key": one.key, "about": one.about, **one.describe()} for one in methods]
    _save_manifest(folder / f"{shard.name.replace('results', 'run')}.json", spec, said)


def _read_manifests(folders: Sequence[Path]) -> tuple[list[Spec], list[Row]]:
    specs: list[Spec] = []
    rows: dict[str, Row] = {}
    for folder in folders:
        paths = sorted(folder.glob("run*.json"))
        if not paths:
            raise BadFile(folder, "holds no results of `orienteer bench paper`")
        for path in paths:
            try:
                said = json.loads(path.read_text())
                fields = said["spec"]
                specs.append(
                    Spec(
                        tuple(fields["prizes"]),
                        tuple(fields["sizes"]),
                        *(fields[k] for k in ("count", "seed", "given")),
                    )
                )
                rows.update((one["key"], Row(one["label"], one["key"], one["about"])) for one in said["methods"])
            except (ValueError, KeyError, TypeError) as error:
                raise BadFile(path, f"is no record of a run: {error}") from error
    return specs, list(rows.values())


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows, those of one label with their key, as happens after a change of version or device."""
    labels = [row.label for row in rows]
    return [
        row if labels.count(row.label) == 1 else Row(f"{row.label} ({row.key})", row.key, row.about) for row in rows
    ]


def _save_manifest(path: Path, spec: Spec, methods: list[dict[str, Any]]) -> None:
    write_text(path, json.dumps({"spec": dataclasses.asdict(spec), "methods": methods}, indent=1))
