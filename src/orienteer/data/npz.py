"""NPZ files: sets of instances, and the results of a batch. Declared sizes are checked before anything is loaded."""

import contextlib
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from orienteer.data.instance_set import InstanceSet, check_shapes
from orienteer.data.npz_arrays import Member, check_packing, fingerprint, load_arrays, opened, write_array
from orienteer.data.text import FilePath, check_size, write_file
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import EXACT_INTEGERS, Array
from orienteer.model.result import Result

MAX_SET_BYTES = 2**31
"""The most bytes that the arrays of one file may take in memory."""

PIECE_BYTES, PIECE_ROWS = 2**26, 2**14
"""The most bytes and instances that are read at a time, where a set is not read as a whole."""

SET_ARRAYS = {
    "coords": "fiu",
    "costs": "fiu",
    "prizes": "fiu",
    "limit": "fiu",
    "start": "iu",
    "end": "iu",
    "names": "U",
    "rules": "U",
}
"""The arrays of a set and numpy's kinds of values that they may hold; other arrays in a file are not read."""

_ONE_EACH = ("limit", "start", "end")
"""Arrays of which a single number may stand for all instances."""

RESULT_ARRAYS = {"prize": "fiu", "cost": "fiu", "seconds": "fiu", "tour": "iu"}


@dataclass(frozen=True)
class BatchResult:
    """The routes for the first instances of a set: prizes, costs, seconds, and the nodes from start to end.

    Prize and cost are NaN where no plan was found.
    """

    prize: Array  # (instance,)
    cost: Array  # (instance,)
    seconds: Array  # (instance,)
    tour: npt.NDArray[np.int32]
    """(instance, stop), or (instance, route, stop) where an instance has several routes; padded with -1."""

    @classmethod
    def of(cls, results: Sequence[Result]) -> "BatchResult":
        """The results as arrays."""
        plans = [[] if result.plan is None else [tour.nodes for tour in result.plan.routes] for result in results]
        most = max((len(plan) for plan in plans), default=0)
        longest = max((len(nodes) for plan in plans for nodes in plan), default=0)
        table = np.full((len(results), max(1, most), longest), -1, dtype=np.int32)
        for number, plan in enumerate(plans):
            for place, nodes in enumerate(plan):
                table[number, place, : len(nodes)] = nodes
        missing = math.nan
        return cls(
            prize=np.array([missing if result.plan is None else result.prize for result in results], np.float64),
            cost=np.array([missing if result.plan is None else result.cost for result in results], np.float64),
            seconds=np.array([result.seconds for result in results], np.float64),
            tour=table if most > 1 else table[:, 0],
        )

    def __len__(self) -> int:
        return len(self.prize)

    def __getitem__(self, index: int) -> "BatchResult":
        """The result at `index` alone."""
        one = slice(index, index + 1)
        return BatchResult(self.prize[one], self.cost[one], self.seconds[one], self.tour[one])

    @property
    def padded(self) -> npt.NDArray[np.int32]:
        """(instance, route, stop) the nodes, padded with -1, also where each instance has one route."""
        return self.tour if self.tour.ndim == 3 else self.tour[:, None]

    def route(self, index: int) -> list[int]:
        """The nodes of the only route of the instance at `index`, without the padding."""
        routes = self.routes(index)
        if len(routes) != 1:
            raise ValueError(f"instance {index} has {len(routes)} routes, not one: read its `routes`")
        return routes[0]

    def routes(self, index: int) -> list[list[int]]:
        """The nodes of each route of the instance at `index`, without the padding; empty where there is no plan."""
        found = [[int(node) for node in row if node >= 0] for row in self.padded[index]]
        return [nodes for nodes in found if nodes]


def load_set(path: FilePath) -> InstanceSet:
    """The set of instances in a file."""
    arrays = load_arrays(path, SET_ARRAYS, MAX_SET_BYTES)
    _check_complete(path, arrays)
    return _set_of(path, arrays)


class SetFile:
    """A set of instances in a file that is read a piece at a time: the file may be larger than memory."""

    def __init__(self, path: FilePath):
        self.path = path
        with self._members() as members:
            self.count, self.size = members["prizes"].shape

    def __len__(self) -> int:
        return self.count

    def fingerprint(self) -> bytes:
        """A digest that tells whether the set is the same, made without reading all of it."""
        return fingerprint(self.path, SET_ARRAYS)

    def pieces(self, begin: int = 0, end: int | None = None, most: int | None = None) -> Iterator[InstanceSet]:
        """The instances from `begin` to before `end`, in order, at most `most`, or a few megabytes, at a time."""
        with self._members() as members:
            if members["prizes"].shape != (self.count, self.size):
                raise BadFile(self.path, "was changed while it was read")
            held = {name: member.whole() for name, member in members.items() if not member.in_rows}
            flowing = {name: member for name, member in members.items() if member.in_rows}
            for member in flowing.values():
                member.skip(begin)
            step = most or max(1, min(PIECE_ROWS, PIECE_BYTES // _row_bytes(members.values())))
            last = self.count if end is None else min(end, self.count)
            for at in range(begin, last, step):
                count = min(step, last - at)
                arrays = {name: array if not array.ndim else array[at : at + count] for name, array in held.items()}
                arrays |= {name: member.rows(count) for name, member in flowing.items()}
                yield _set_of(self.path, arrays, at)

    @contextlib.contextmanager
    def _members(self) -> Iterator[dict[str, Member]]:
        """A context with the arrays of the open file, none of them read yet."""
        with opened(self.path, SET_ARRAYS) as (archive, infos):
            check_packing(self.path, infos)
            _check_complete(self.path, infos)
            members = {name: Member(self.path, archive, info, SET_ARRAYS[name]) for name, info in infos.items()}
            _check_streamable(self.path, members)
            yield members


def _check_complete(path: FilePath, arrays: Mapping[str, object]) -> None:
    if "prizes" not in arrays or not arrays.keys() & {"coords", "costs"} or "limit" not in arrays:
        raise BadFile(path, f"a set needs prizes, limit and coords or costs, got {sorted(arrays) or 'none of them'}")


def _check_streamable(path: FilePath, members: dict[str, Member]) -> None:
    """Raises `BadFile` if shapes do not fit, or if an instance would take more than `MAX_SET_BYTES`."""
    prizes = members["prizes"].shape
    _check_prizes(path, prizes)
    given = {name: member.shape for name, member in members.items() if name not in _ONE_EACH or member.shape}
    try:
        check_shapes(given, *prizes)
    except ValueError as error:
        raise BadFile(path, str(error)) from error
    held = sum(member.kept_bytes for member in members.values() if member.shape and not member.in_rows)
    if held + _row_bytes(members.values()) > MAX_SET_BYTES:
        why = "its arrays are in Fortran order, whose rows cannot be read one by one" if held else "its numbers"
        raise BadFile(path, f"{why} take more than the {MAX_SET_BYTES} bytes that are read at a time")


def _row_bytes(members: Iterable[Member]) -> int:
    """The bytes that the arrays which are read in rows take in memory for an instance."""
    return max(1, sum(member.kept_bytes // member.shape[0] for member in members if member.in_rows))


def _check_prizes(path: FilePath, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or not shape[0]:
        raise BadFile(path, f"prizes must have shape (instances, nodes), got {shape}")
    check_size(path, shape[1])


def _set_of(path: FilePath, arrays: dict[str, npt.NDArray[Any]], first: int = 0) -> InstanceSet:
    """The set of these arrays; `first` is the place of its first instance in the file."""
    try:
        prizes = _floats("prizes", arrays["prizes"])
        _check_prizes(path, prizes.shape)
        count = len(prizes)
        return InstanceSet(
            prizes=prizes,
            limit=_one_each(_floats("limit", arrays["limit"]), count),
            start=_one_each(_node_numbers("start", arrays), count),
            end=_one_each(_node_numbers("end", arrays), count),
            coords=_floats("coords", arrays["coords"]) if "coords" in arrays else None,
            costs=_floats("costs", arrays["costs"]) if "costs" in arrays else None,
            names=_texts(arrays.get("names")),
            rules=_texts(arrays.get("rules")),
            source=str(path),
            first=first,
        )
    except ValueError as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(path, str(error)) from error


def save_set(instances: Sequence[Instance], path: FilePath) -> None:
    """Writes a set; where costs are Euclidean distances, the coordinates alone."""
    try:
        whole = InstanceSet.of(instances)
    except ValueError as error:
        raise BadFile(path, f"cannot be written: {error}") from error
    arrays = {name: getattr(whole, name) for name in ("coords", "costs", "prizes", "names", "rules")}
    arrays |= {name: _once(getattr(whole, name)) for name in _ONE_EACH}
    kept = {name: value for name, value in arrays.items() if value is not None}
    if sum(value.nbytes for value in kept.values()) > MAX_SET_BYTES:
        raise BadFile(path, f"cannot be written: the set takes more than {MAX_SET_BYTES} bytes; split it")
    if whole.names is not None and not isinstance(instances, InstanceSet):
        _check_names(path, whole.names, instances)
    write_file(path, lambda file: np.savez(file, **cast(Any, kept)))


def load_results(path: FilePath) -> BatchResult:
    """The results of a batch."""
    arrays = load_arrays(path, RESULT_ARRAYS, MAX_SET_BYTES)
    if missing := RESULT_ARRAYS.keys() - arrays.keys():
        raise BadFile(path, f"results need prize, cost, seconds and tour; missing: {', '.join(sorted(missing))}")
    prize, cost, seconds = (_floats(name, arrays[name]) for name in ("prize", "cost", "seconds"))
    tour = arrays["tour"]
    if not (prize.ndim == 1 and cost.shape == seconds.shape == prize.shape):
        raise BadFile(
            path, f"prize, cost and seconds must be of one length, got {prize.shape}, {cost.shape}, {seconds.shape}"
        )
    if tour.ndim not in (2, 3) or len(tour) != len(prize):
        raise BadFile(path, f"tour must have shape ({len(prize)}, stops), got {tour.shape}")
    if tour.size and not (int(tour.min()) >= -1 and int(tour.max()) <= np.iinfo(np.int32).max):
        raise BadFile(path, "tour must hold node numbers, padded with -1")
    return BatchResult(prize, cost, seconds, tour.astype(np.int32))


def save_results(results: Iterable[Result], path: FilePath) -> None:
    """Writes the results of a batch: prize, cost, seconds (b,) and tour (b, stops) padded with -1.

    Where a result has several routes, tour is (b, routes, stops). Without a plan prize and cost are NaN.
    """
    save_joined([BatchResult.of(list(results))], path)


def joined(parts: Sequence[BatchResult]) -> BatchResult:
    """The results of all parts, in order."""
    routes, stops = _room(parts)
    return BatchResult(
        prize=np.concatenate([part.prize for part in parts]),
        cost=np.concatenate([part.cost for part in parts]),
        seconds=np.concatenate([part.seconds for part in parts]),
        tour=np.concatenate([_widened(part, routes, stops) for part in parts]),
    )


def save_joined(parts: Sequence[BatchResult | FilePath], path: FilePath, durable: bool = False) -> None:
    """Writes results that come in parts, or in files of which each holds a part, as one file.

    No more than one part of a file is in memory at a time. A `durable` file survives a loss of power.
    """

    def each() -> Iterator[BatchResult]:
        return (part if isinstance(part, BatchResult) else load_results(part) for part in parts)

    count = sum(len(part) for part in each())
    routes, stops = _room(each())
    tour = (count, stops) if routes == 1 else (count, routes, stops)

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name in ("prize", "cost", "seconds"):
                write_array(archive, name, np.float64, (count,), (getattr(part, name) for part in each()))
            write_array(archive, "tour", np.int32, tour, (_widened(part, routes, stops) for part in each()))

    write_file(path, write, durable)


def _room(parts: Iterable[BatchResult]) -> tuple[int, int]:
    """How many routes, and stops of a route, the results have at most."""
    shapes = [part.padded.shape[1:] for part in parts]
    return max((routes for routes, _ in shapes), default=1), max((stops for _, stops in shapes), default=0)


def _widened(part: BatchResult, routes: int, stops: int) -> npt.NDArray[np.int32]:
    """The nodes of the results with room for that many routes and stops; one route has no dimension of its own."""
    tour = part.padded
    padded = np.pad(tour, ((0, 0), (0, routes - tour.shape[1]), (0, stops - tour.shape[2])), constant_values=-1)
    return padded if routes > 1 else padded[:, 0]


def _floats(name: str, array: npt.NDArray[Any]) -> Array:
    if array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > EXACT_INTEGERS:
        raise ValueError(f"{name} holds an integer beyond 2**53, which a float would round")
    return np.asarray(array, dtype=np.float64)


def _node_numbers(name: str, arrays: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    if name not in arrays:
        return np.zeros((), dtype=np.int64)
    return _floats(name, arrays[name]).astype(np.int64)


def _texts(array: npt.NDArray[Any] | None) -> npt.NDArray[np.str_] | None:
    if array is not None:
        array.tolist()  # raises ValueError where the bytes are no characters
    return array


def _one_each(array: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    return np.broadcast_to(array, (count,)) if array.ndim == 0 else array


def _once(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The first number if all are equal, else the array."""
    return array[0] if len(array) and (array == array[0]).all() else array


def _check_names(path: FilePath, stored: npt.NDArray[Any], instances: Sequence[Instance]) -> None:
    """Raises `BadFile` if a name was not stored as it is: NumPy's texts lose null characters at their end."""
    for row, instance in zip(stored, instances, strict=True):
        names = instance.names
        if names is not None and any(str(kept) != name for kept, name in zip(row, names, strict=True)):
            raise BadFile(path, "cannot be written: a name ends with a null character, which this format drops")
