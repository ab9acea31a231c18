"""The problem: places, prizes, costs between them, a limit, a start and an end."""

import copy
import dataclasses
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orienteer.model.cheapest import cheapest_to, dijkstra
from orienteer.model.errors import InvalidInstance
from orienteer.model.spelling import did_you_mean
from orienteer.model.view import View, view_of

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-9
"""A route fits when its cost is at most limit * (1 + TOLERANCE); the only tolerance there is."""

EXACT_INTEGERS = 2**53
"""Integers up to here are floats without rounding."""

LARGEST = 1e303
"""Limits and sums of prizes end here, far enough from overflow for every search."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A general orienteering problem, checked once and never changed.

    Parameters
    ----------
    costs
        (n, n) cost of travelling from the row's node to the column's. Any non-negative numbers: asymmetric, without a
        triangle inequality, ``inf`` where there is no leg. The diagonal is kept but never travelled.
    prizes
        (n,) what a first visit is worth; start and end count too.
    limit
        The most that a route may cost.
    start, end
        Node numbers, or names; start and end may be one node.
    coords
        (n, 2) positions, for pictures and files only.
    names
        A text for each node, all different.
    """

    costs: Array
    prizes: Array
    limit: float
    start: int = 0
    end: int = 0
    coords: Array | None = None
    names: tuple[str, ...] | None = None

    if TYPE_CHECKING:  # arguments may be of more types than the fields that keep them

        def __init__(
            self,
            costs: npt.ArrayLike,
            prizes: npt.ArrayLike,
            limit: float,
            start: int | str = 0,
            end: int | str = 0,
            coords: npt.ArrayLike | None = None,
            names: Sequence[str] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "prizes", _numbers("prizes", self.prizes, 1))
        if not len(self.prizes):
            raise InvalidInstance("prizes is empty: a problem needs at least one node")
        put(self, "costs", _numbers("costs", self.costs, 2))
        put(self, "limit", _limit(self.limit))
        if self.names is not None:
            put(self, "names", _names(self.names, self.size))
        put(self, "start", _node("start", self.start, self.size, self.names))
        put(self, "end", _node("end", self.end, self.size, self.names))
        _check_shapes(self.costs, self.prizes)
        _check_values("costs", self.costs, infinite=True)
        _check_values("prizes", self.prizes, infinite=False)
        _check_sum(self.prizes)
        if self.coords is not None:
            put(self, "coords", _coords(self.coords, self.size))
        cheapest = self.to_end[self.start]
        if cheapest > self.budget:
            raise InvalidInstance(
                f"limit {self.limit:g} is below {cheapest:g}, "
                f"the cheapest way from start {self.start} to end {self.end}"
            )

    @classmethod
    def from_coords(
        cls,
        coords: npt.ArrayLike,
        prizes: npt.ArrayLike,
        limit: float,
        start: int | str = 0,
        end: int | str = 0,
        names: Sequence[str] | None = None,
        metric: str = "euclidean",
    ) -> "Instance":
        """An instance whose costs are distances between points; `metric` is "euclidean" or "manhattan"."""
        points = _numbers("coords", coords, 2)
        points = _coords(points, len(points))
        with np.errstate(over="ignore"):  # an infinite distance is refused below, with the names of its points
            costs = distances(points, metric)
        if not np.isfinite(costs).all():
            row, column = np.argwhere(~np.isfinite(costs))[0]
            raise InvalidInstance(f"coords are too far apart: the distance from {row} to {column} overflows")
        return cls(costs, prizes, limit, start, end, points, names)

    @classmethod
    def unchecked(cls, **known: Any) -> "Instance":
        """An instance made of all its fields, and perhaps of values that follow from them, such as `to_end`.

        Only for callers who have made the checks: arrays are taken as they are, and must be contiguous and read-only.
        """
        instance = object.__new__(cls)
        instance.__dict__.update(known)
        return instance

    def replace(self, **changes: Any) -> "Instance":
        """A copy with some fields changed, checked anew."""
        return dataclasses.replace(self, **changes)

    @property
    def size(self) -> int:
        """The number of nodes, start and end included."""
        return len(self.prizes)

    @property
    def budget(self) -> float:
        """The limit with the tolerance added: what every search compares costs with."""
        return self.limit * (1 + TOLERANCE)

    @cached_property
    def to_end(self) -> Array:
        """(n,) cost of the cheapest path from each node to the end, through any other nodes."""
        return _frozen(cheapest_to(self.costs[None], np.array([self.end]))[0])

    @cached_property
    def from_start(self) -> Array:
        """(n,) cost of the cheapest path from the start to each node, through any other nodes."""
        if self.start == self.end and self.symmetric:
            return self.to_end
        return _frozen(cheapest_to(self.costs.T[None], np.array([self.start]))[0])

    @cached_property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """(n,) whether a path from start to end through the node, perhaps with repeated nodes, keeps the limit."""
        with np.errstate(over="ignore"):
            fits: npt.NDArray[np.bool_] = self.from_start + self.to_end <= self.budget
        fits.setflags(write=False)
        return fits

    @cached_property
    def symmetric(self) -> bool:
        """Whether every leg costs the same in both directions."""
        return bool(np.array_equal(self.costs, self.costs.T))

    @cached_property
    def view(self) -> View:
        """The problem in the form that searches read: nodes within reach, renumbered from the start to the end."""
        return view_of(self)

    def cheapest_route(self) -> list[int]:
        """The nodes of the cheapest path from start to end: a route that every instance has."""
        if self.start == self.end or self.costs[self.start, self.end] <= self.to_end[self.start]:
            return [self.start, self.end]
        following = dijkstra(self.costs.T, self.end)[1]
        route = [self.start]
        while route[-1] != self.end:
            route.append(int(following[route[-1]]))
        return route

    def turned(self) -> "Instance":
        """This problem from the end to the start: routes of the two are each other's, read backwards."""
        other = copy.copy(self)  # what was checked stays true
        costs = _frozen(np.ascontiguousarray(self.costs.T))
        exchanged = {"to_end": self.from_start, "from_start": self.to_end}
        other.__dict__.pop("view", None)
        other.__dict__.update(costs=costs, start=self.end, end=self.start, **exchanged)
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in dataclasses.fields(self))

    def __hash__(self) -> int:
        return hash((self.size, self.limit, self.start, self.end, self.prizes.tobytes()))

    def _repr_html_(self) -> str:
        from orienteer.model.show import instance_html

        return instance_html(self)

    def __repr__(self) -> str:
        return f"Instance(size={self.size}, limit={self.limit:g}, start={self.start}, end={self.end})"


def distances(coords: Array, metric: str = "euclidean") -> Array:
    """(..., n, n) distances between the points of (..., n, 2) coordinates."""
    dx = coords[..., :, None, 0] - coords[..., None, :, 0]
    dy = coords[..., :, None, 1] - coords[..., None, :, 1]
    if metric == "euclidean":
        return np.sqrt(dx * dx + dy * dy)
    if metric == "manhattan":
        return np.abs(dx) + np.abs(dy)
    raise ValueError(f"metric must be 'euclidean' or 'manhattan', got {metric!r}")


def _numbers(field: str, values: npt.ArrayLike, dimensions: int) -> Array:
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise InvalidInstance(f"{field} is ragged: its rows differ in length") from error
    if given.dtype.kind not in "iuf":
        raise InvalidInstance(f"{field} must hold real numbers, got values of type {given.dtype}")
    if given.ndim != dimensions:
        raise InvalidInstance(f"{field} must have {dimensions} dimension(s), got shape {given.shape}")
    if given.dtype.kind in "iu" and given.size and max(abs(int(given.max())), abs(int(given.min()))) > EXACT_INTEGERS:
        raise InvalidInstance(f"{field} holds an integer beyond 2**53, which a float would round")
    if given.dtype.itemsize > 8:
        raise InvalidInstance(f"{field} holds {given.dtype} numbers, which float64 would round")
    return _frozen(np.array(given, dtype=np.float64, order="C"))


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _limit(value: float) -> float:
    if isinstance(value, (str, bytes, bool, np.bool_)):  # which float() would accept
        raise InvalidInstance(f"limit must be a number, got {value!r}")
    try:
        limit = float(value)
    except OverflowError as error:
        raise InvalidInstance("limit must be finite, got an integer beyond all floats") from error
    except (TypeError, ValueError) as error:
        raise InvalidInstance(f"limit must be a number, got {value!r}") from error
    if not (limit > 0 and math.isfinite(limit)):
        raise InvalidInstance(f"limit must be positive and finite, got {limit:g}")
    if limit > LARGEST:
        raise InvalidInstance(f"limit must be at most {LARGEST:g}, so that sums of costs stay finite, got {limit:g}")
    if isinstance(value, (int, np.integer)) and int(limit) != value:
        raise InvalidInstance(f"limit is an integer that a float would round: {value}")
    return limit


def _node(field: str, value: int | str, size: int, names: tuple[str, ...] | None) -> int:
    if isinstance(value, str):
        return _named_node(field, value, names)
    try:
        node = operator.index(value)
    except TypeError as error:
        raise InvalidInstance(f"{field} must be a whole number or a name, got {value!r}") from error
    if not 0 <= node < size:
        raise InvalidInstance(f"{field} must be a node from 0 to {size - 1}, got {node}")
    return node


def _named_node(field: str, name: str, names: tuple[str, ...] | None) -> int:
    if names is None:
        raise InvalidInstance(f"{field} must be a node's number where nodes have no names, got {name!r}")
    if name not in names:
        raise InvalidInstance(f"{field} must be a node's number or name, got {name!r}{did_you_mean(name, names)}")
    return names.index(name)


def _check_shapes(costs: Array, prizes: Array) -> None:
    if costs.shape[0] != costs.shape[1]:
        raise InvalidInstance(f"costs must be a square matrix, got shape {costs.shape}")
    if len(costs) != len(prizes):
        raise InvalidInstance(
            f"prizes must have one value for each of the {len(costs)} nodes of costs, got {len(prizes)}"
        )


def _check_values(field: str, values: Array, infinite: bool) -> None:
    for bad, wish in (
        (np.isnan(values), "is not a number (NaN)"),
        (values < 0, "must not be negative"),
        (np.isinf(values) & (not infinite), "must be finite"),
    ):
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            spot = ", ".join(map(str, place))
            raise InvalidInstance(f"{field}[{spot}] {wish}, got {values[place]:g}")


def _check_sum(prizes: Array) -> None:
    with np.errstate(over="ignore"):
        total = float(prizes.sum())
    if total > LARGEST:
        raise InvalidInstance(f"prizes must add up to at most {LARGEST:g}, got {total:g}")


def _coords(coords: npt.ArrayLike, size: int) -> Array:
    points = _numbers("coords", coords, 2)
    if points.shape != (size, 2):
        raise InvalidInstance(f"coords must have shape ({size}, 2), got {points.shape}")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise InvalidInstance(f"coords[{row}, {column}] must be finite, got {points[row, column]:g}")
    return points


def _names(names: Sequence[str], size: int) -> tuple[str, ...]:
    given = tuple(names)
    if len(given) != size:
        raise InvalidInstance(f"names must have one text for each of the {size} nodes, got {len(given)}")
    seen: dict[str, int] = {}
    for node, name in enumerate(given):
        if not isinstance(name, str):
            raise InvalidInstance(f"names[{node}] must be a text, got {name!r}")
        if name in seen:
            raise InvalidInstance(f"names[{node}] repeats names[{seen[name]}]: {name!r}")
        seen[name] = node
    return given


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return type(value) is type(other) and bool(value == other)
