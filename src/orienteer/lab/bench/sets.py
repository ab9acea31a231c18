"""The instances of an experiment: drawn once from a stated seed, kept, and told apart by their content."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orienteer.data.files import read_set
from orienteer.data.generate import generate
from orienteer.data.instance_set import InstanceSet
from orienteer.data.npz import load_set, save_set
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance

SEED = 2021
"""Seed of the benchmark's instances; training and its validation draw from others."""


@dataclass(frozen=True, eq=False)
class NamedSet:
    """Instances under a name, such as uniform_100."""

    name: str
    instances: InstanceSet

    def __len__(self) -> int:
        return len(self.instances)

    @cached_property
    def digests(self) -> list[str]:
        """A few letters for the content of each instance, so that no result is taken for another instance's."""
        given = self.instances
        found = []
        for index in range(len(given)):
            content = hashlib.sha256()
            for array in (given.prizes, given.limit, given.start, given.end, given.coords, given.costs, given.rules):
                if array is not None:
                    content.update(array[index].tobytes())
            found.append(content.hexdigest()[:12])
        return found


def random_set(folder: Path, prizes: str, nodes: int, count: int, seed: int, costs: str = "euclidean") -> NamedSet:
    """The first `count` instances of a kind, drawn unless the folder holds them already."""
    name = f"{prizes}_{nodes}" if costs == "euclidean" else f"{costs}_{prizes}_{nodes}"
    path = folder / f"{name}_seed{seed}.npz"
    if path.exists():
        kept = load_set(path)
        if len(kept) >= count:
            return NamedSet(name, kept[:count])
    folder.mkdir(parents=True, exist_ok=True)
    made = generate(nodes, prizes, costs, count=count, seed=seed)
    save_set(made, path)
    return NamedSet(name, made)


def kept_set(folder: Path, prizes: str, nodes: int, count: int | None) -> NamedSet:
    """The first `count` instances of PRIZES_NODES.npz in a folder, or all."""
    path = folder / f"{prizes}_{nodes}.npz"
    found = load_set(path)
    if count is not None and len(found) < count:
        raise BadFile(path, f"holds {len(found)} instances, fewer than the {count} asked for")
    return NamedSet(path.stem, found[:count])


def named_set(path: Path, count: int | None) -> NamedSet:
    """The first `count` instances of an NPZ set, or all; of a file in another format, its one instance."""
    return NamedSet(path.stem, InstanceSet.of(read_set(path))[:count])


def one_each(named: Sequence[tuple[str, Instance]]) -> list[NamedSet]:
    """Each instance as a set of its own."""
    return [NamedSet(name, InstanceSet.of([instance])) for name, instance in named]
