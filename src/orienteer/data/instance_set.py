"""Many instances of one size, held as arrays and made into instances one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from orienteer.data.distances import euclidean, measured_by, pairwise
from orienteer.data.fields import Fields
from orienteer.model.instance import Array, Instance

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class InstanceSet(Sequence[Instance]):
    """Instances with the same number of nodes; each is built, and checked, when it is asked for.

    Costs are the coordinates' Euclidean distances where `costs` is None.
    """

    prizes: Array  # (instance, node)
    limit: Array  # (instance,)
    start: Numbers  # (instance,)
    end: Numbers  # (instance,)
    coords: Array | None = None  # (instance, node, 2)
    costs: Array | None = None  # (instance, node, node)
    names: npt.NDArray[np.str_] | None = None  # (instance, node)
    source: str = "set"
    """Where the set comes from, for messages."""

    def __post_init__(self) -> None:
        count, nodes = self.prizes.shape
        wishes = {
            "limit": (count,),
            "start": (count,),
            "end": (count,),
            "coords": (count, nodes, 2),
            "costs": (count, nodes, nodes),
            "names": (count, nodes),
        }
        for field, wish in wishes.items():
            value = getattr(self, field)
            if value is not None and value.shape != wish:
                raise ValueError(f"{field} must have shape {wish} beside prizes {(count, nodes)}, got {value.shape}")
        if self.coords is None and self.costs is None:
            raise ValueError("a set needs coords or costs")

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> "InstanceSet":
        """The set of these instances, which must all have the same size and the same fields."""
        if isinstance(instances, InstanceSet):
            return instances
        if not instances:
            raise ValueError("a set needs at least one instance")
        for field, values in (
            ("size", {one.size for one in instances}),
            ("coords", {one.coords is None for one in instances}),
            ("names", {one.names is None for one in instances}),
        ):
            if len(values) > 1:
                raise ValueError(f"the instances of a set must be alike, but their {field} differ")
        planar = all(measured_by(one.costs, one.coords, euclidean) for one in instances)
        return cls(
            prizes=np.array([one.prizes for one in instances]),
            limit=np.array([one.limit for one in instances]),
            start=np.array([one.start for one in instances], dtype=np.int64),
            end=np.array([one.end for one in instances], dtype=np.int64),
            coords=None if instances[0].coords is None else np.array([one.coords for one in instances]),
            costs=None if planar else np.array([one.costs for one in instances]),
            names=None if instances[0].names is None else np.array([one.names for one in instances]),
        )

    @property
    def size(self) -> int:
        """The number of nodes of each instance, start and end included."""
        return int(self.prizes.shape[1])

    def __len__(self) -> int:
        return len(self.prizes)

    @overload
    def __getitem__(self, index: int) -> Instance: ...
    @overload
    def __getitem__(self, index: slice) -> "InstanceSet": ...
    def __getitem__(self, index: int | slice) -> "Instance | InstanceSet":
        if isinstance(index, slice):
            return self._slice(index)
        at = range(len(self))[index]
        return self.fields(at).build(self.source, what=f"instance {at}: ")

    def fields(self, index: int) -> Fields:
        """What the set says about one instance."""
        coords = None if self.coords is None else self.coords[index]
        costs = None if self.costs is None else self.costs[index]
        if costs is None:
            assert coords is not None
            costs = pairwise(coords, euclidean)
        return Fields(
            costs=costs,
            prizes=self.prizes[index],
            limit=float(self.limit[index]),
            start=int(self.start[index]),
            end=int(self.end[index]),
            coords=coords,
            names=None if self.names is None else [str(name) for name in self.names[index]],
        )

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"InstanceSet({len(self)} instances of {self.size} nodes)"

    def _slice(self, index: slice) -> "InstanceSet":
        cut: dict[str, Any] = {
            field: None if getattr(self, field) is None else getattr(self, field)[index]
            for field in ("prizes", "limit", "start", "end", "coords", "costs", "names")
        }
        return replace(self, **cut)
