"""Many instances of one size, held, checked and prepared as arrays, and made into instances one by one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from orienteer.data.fields import Fields
from orienteer.data.json_file import parse_json_text
from orienteer.data.rules_json import RULES, rules_of, with_rules
from orienteer.data.text import shown
from orienteer.model.cheapest import cheapest_to
from orienteer.model.distances import euclidean, measured_by, pairwise
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import LARGEST, TOLERANCE, Array

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FAR = 1e150
"""Distances between coordinates up to this are finite."""
COSTS_AT_ONCE = 2**14
"""How many costs are looked at together: few, so that their memory is used again, since fresh memory is slow."""


@dataclass(frozen=True, eq=False)
class InstanceSet(Sequence[Instance]):
    """Instances of one size; each is built when it is asked for, or raises `BadFile` if it breaks a rule.

    Where `costs` is None, costs are the Euclidean distances of the coordinates. The arrays are kept, not copied: the
    caller must not change them.
    """

    prizes: Array  # (instance, node)
    limit: Array  # (instance,)
    start: Numbers  # (instance,)
    end: Numbers  # (instance,)
    coords: Array | None = None  # (instance, node, 2)
    costs: Array | None = None  # (instance, node, node)
    names: npt.NDArray[np.str_] | None = None  # (instance, node)
    rules: npt.NDArray[np.str_] | None = None  # (instance,)
    """What instances have beyond the plain problem, as a JSON object each with the keys of a JSON file."""
    source: str = "set"
    """Where the set comes from, for messages."""
    first: int = 0
    """The place of the first instance in the source, for messages."""

    def __post_init__(self) -> None:
        arrays = {field: getattr(self, field) for field in _KINDS}
        check_shapes({field: array.shape for field, array in arrays.items() if array is not None}, *self.prizes.shape)
        if self.coords is None and self.costs is None:
            raise ValueError("a set needs coords or costs")
        for field, kind in _KINDS.items():
            if (value := getattr(self, field)) is not None:
                object.__setattr__(self, field, _read_only(np.ascontiguousarray(value, kind).view()))

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> "InstanceSet":
        """The set of these instances, which must be of one size, and all with or all without coordinates and names."""
        if isinstance(instances, InstanceSet):
            return instances
        if not instances:
            raise ValueError("a set needs at least one instance")
        for field, values in (
            ("size", {instance.size for instance in instances}),
            ("coords", {instance.coords is None for instance in instances}),
            ("names", {instance.names is None for instance in instances}),
        ):
            if len(values) > 1:
                raise ValueError(f"the instances of a set must be alike, but their {field} differ")
        planar = all(measured_by(instance.costs, instance.coords, euclidean) for instance in instances)
        return cls(
            prizes=np.array([instance.prizes for instance in instances]),
            limit=np.array([instance.limit for instance in instances]),
            start=np.array([instance.start for instance in instances], dtype=np.int64),
            end=np.array([_end(instance) for instance in instances], dtype=np.int64),
            coords=None if instances[0].coords is None else np.array([instance.coords for instance in instances]),
            costs=None if planar else np.array([instance.costs for instance in instances]),
            names=None if instances[0].names is None else np.array([instance.names for instance in instances]),
            rules=_rules(instances),
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
        if self.rules is not None or self._doubtful[at]:
            return self._checked(at)
        known: dict[str, Any] = {name: self.__dict__[name][at] for name in _DERIVED if name in self.__dict__}
        if self.costs is not None:
            known["costs"] = self.costs[at]
        if self.costs is None or "symmetric" in known:
            known["symmetric"] = bool(known.get("symmetric", True))
        return (_Planar if self.costs is None else Instance).unchecked(
            prizes=self.prizes[at],
            limit=float(self.limit[at]),
            start=int(self.start[at]),
            end=int(self.end[at]),
            coords=None if self.coords is None else self.coords[at],
            names=None if self.names is None else tuple(self.names[at].tolist()),
            **known,
        )

    def check(self) -> None:
        """Raises `BadFile` about the first instance that breaks a rule."""
        for at in np.flatnonzero(self._doubtful).tolist():
            self._checked(at)
        self.__dict__["_doubtful"] = np.zeros(len(self), dtype=bool)  # the array may be shared, and read only

    def tables(self, part: slice) -> Array:
        """(instance, node, node) the costs of a part of the set; those of the whole may take too much memory."""
        if self.costs is not None:
            return self.costs[part]
        assert self.coords is not None
        return _distances(self.coords[part])

    @cached_property
    def to_end(self) -> Array:
        """(instance, node) cost of the cheapest path from each node to the end, through any other nodes."""
        return _read_only(self._cheapest_paths[0])

    @cached_property
    def from_start(self) -> Array:
        """(instance, node) cost of the cheapest path from the start to each node, through any other nodes."""
        return _read_only(self._cheapest_paths[1])

    @cached_property
    def reachable(self) -> Mask:
        """(instance, node) whether a path from start to end through the node, perhaps with repeats, keeps the limit."""
        with np.errstate(over="ignore"):
            return _read_only(self.from_start + self.to_end <= self.budget[:, None])

    @cached_property
    def symmetric(self) -> Mask:
        """(instance,) whether every leg costs the same in both directions."""
        if self.costs is None:
            return _read_only(np.ones(len(self), dtype=bool))
        same = np.empty(len(self), dtype=bool)
        for part in self._parts():
            same[part] = (self.costs[part] == self.costs[part].swapaxes(1, 2)).all((1, 2))
        return _read_only(same)

    @property
    def budget(self) -> Array:
        """(instance,) the limits with the tolerance added."""
        return self.limit * (1 + TOLERANCE)

    def fields(self, index: int) -> Fields:
        """The fields of the instance at `index`, unchecked."""
        coords = None if self.coords is None else self.coords[index]
        costs = None if self.costs is None else self.costs[index]
        if costs is None:
            assert coords is not None
            costs = pairwise(coords, euclidean)
        plain = Fields(
            costs=costs,
            prizes=self.prizes[index],
            limit=float(self.limit[index]),
            start=int(self.start[index]),
            end=int(self.end[index]),
            coords=coords,
            names=None if self.names is None else [str(name) for name in self.names[index]],
        )
        return plain if self.rules is None else with_rules(self.source, plain, self._rules_at(index))

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"InstanceSet({len(self)} instances of {self.size} nodes)"

    def _slice(self, index: slice) -> "InstanceSet":
        cut: dict[str, Any] = {
            field: None if getattr(self, field) is None else getattr(self, field)[index] for field in _KINDS
        }
        part = replace(self, **cut, first=self.first + index.indices(len(self))[0])
        part.__dict__.update(
            (name, self.__dict__[name][index]) for name in ("_doubtful", *_DERIVED) if name in self.__dict__
        )
        return part

    def _rules_at(self, at: int) -> dict[str, Any]:
        assert self.rules is not None
        data = parse_json_text(self.source, str(self.rules[at]))
        if not isinstance(data, dict) or not data.keys() <= set(RULES):
            wish = f"its rules must be an object with some of {', '.join(RULES)}"
            raise BadFile(self.source, f"instance {self.first + at}: {wish}, got {shown(data)}")
        return data

    def _checked(self, at: int) -> Instance:
        """The instance at `at` after all checks, or `BadFile`."""
        try:
            return self.fields(at).build(self.source, what=f"instance {self.first + at}: ")
        except InvalidInstance as error:  # its coordinates have no distances
            raise BadFile(self.source, f"instance {self.first + at}: {error}") from error

    def _parts(self) -> Iterator[slice]:
        """Slices of instances whose costs fit into a processor's cache."""
        step = max(1, COSTS_AT_ONCE // self.size**2)
        return (slice(at, at + step) for at in range(0, len(self), step))

    @cached_property
    def _cheapest_paths(self) -> tuple[Array, Array]:
        """`to_end` and `from_start`."""
        self.check()
        to_end, alike = np.empty(self.prizes.shape), self.symmetric & (self.start == self.end)
        from_start = to_end if alike.all() else np.empty(self.prizes.shape)
        for part in self._parts():
            costs = self.tables(part)
            to_end[part] = cheapest_to(costs, self.end[part])
            if from_start is not to_end:
                from_start[part] = cheapest_to(costs.swapaxes(1, 2), self.start[part])
        return to_end, from_start

    @cached_property
    def _doubtful(self) -> Mask:
        """(instance,) whether an instance may break a rule of `Instance`; `_checked` tells whether it does."""
        if not self.size or self.rules is not None:
            return np.ones(len(self), dtype=bool)
        with np.errstate(all="ignore"):
            # Half of LARGEST, since `Instance` may add prizes in another order, with other rounding.
            fine = (self.prizes >= 0).all(1) & (self.prizes.sum(1) < LARGEST / 2)
            fine &= (self.limit > 0) & (self.limit <= LARGEST)
            for node in (self.start, self.end):
                fine &= (node >= 0) & (node < self.size)
            if self.coords is not None:
                fine &= (np.abs(self.coords) < FAR).all((1, 2))
            if self.costs is not None:
                for part in self._parts():
                    fine[part] &= (self.costs[part] >= 0).all((1, 2))
            if self.names is not None:
                ordered = np.sort(self.names, axis=1)
                fine &= (ordered[:, 1:] != ordered[:, :-1]).all(1)
            return ~fine | ~(self._straight(fine) <= self.budget)

    def _straight(self, fine: Mask) -> Array:
        """(instance,) the cost of the leg from start to end where the instance is `fine`; 0 for round trips."""
        rows = np.arange(len(self))
        start, end = np.where(fine, self.start, 0), np.where(fine, self.end, 0)
        if self.costs is not None:
            legs: Array = self.costs[rows, start, end]
        else:
            assert self.coords is not None
            legs = euclidean(self.coords[rows, start], self.coords[rows, end])
        return np.where(start == end, 0.0, legs)


_KINDS: dict[str, type | None] = {
    **dict.fromkeys(("prizes", "limit", "coords", "costs"), np.float64),
    **dict.fromkeys(("start", "end"), np.int64),
    "names": None,
    "rules": None,
}
"""The arrays of a set and the types of their numbers."""

_DERIVED = ("to_end", "from_start", "reachable", "symmetric")
"""Properties that are computed for all instances at once, and then handed to each."""


def check_shapes(shapes: Mapping[str, tuple[int, ...]], count: int, nodes: int) -> None:
    """Raises a ValueError if the arrays of a set, besides prizes of shape (count, nodes), are not of fitting shapes."""
    wishes = {
        "limit": (count,),
        "start": (count,),
        "end": (count,),
        "coords": (count, nodes, 2),
        "costs": (count, nodes, nodes),
        "names": (count, nodes),
        "rules": (count,),
    }
    for field, wish in wishes.items():
        if field in shapes and shapes[field] != wish:
            raise ValueError(f"{field} must have shape {wish} beside prizes {(count, nodes)}, got {shapes[field]}")


class _Planar(Instance):
    """An instance whose costs are computed when they are first asked for: those of a whole set take much memory."""

    @cached_property
    def costs(self) -> Array:
        assert self.coords is not None
        return _distances(self.coords)


def _end(instance: Instance) -> int:
    """The end, or the start of a route whose end is free: `rules` say so."""
    return instance.start if instance.end is None else instance.end


def _rules(instances: Sequence[Instance]) -> npt.NDArray[np.str_] | None:
    rules = [rules_of(instance) for instance in instances]
    return np.array([json.dumps(one) for one in rules]) if any(rules) else None


def _distances(points: Array) -> Array:
    """(..., node, node) Euclidean distances between (..., node, 2) points."""
    return _read_only(euclidean(points[..., :, None, :], points[..., None, :, :]))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
