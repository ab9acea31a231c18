"""NPZ files: sets of instances, and the results of a batch. Declared sizes are checked before anything is loaded."""

import math
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from orienteer.data.instance_set import InstanceSet
from orienteer.data.text import FilePath, check_size, shown, unreadable, write_file
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import EXACT_INTEGERS, Array
from orienteer.model.result import Result

MAX_SET_BYTES = 2**31
"""The most bytes that the arrays of one file may take in memory."""

MAX_RATIO = 100
"""The most that a member above a few megabytes may be compressed, unpacked to packed; more is refused as a zip bomb."""

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

    def __len__(self) -> int:
        return len(self.prize)

    def route(self, index: int) -> list[int]:
        """The nodes of the only route of the instance at `index`, without the padding."""
        routes = self.routes(index)
        if len(routes) != 1:
            raise ValueError(f"instance {index} has {len(routes)} routes, not one: read its `routes`")
        return routes[0]

    def routes(self, index: int) -> list[list[int]]:
        """The nodes of each route of the instance at `index`, without the padding; empty where there is no plan."""
        rows = self.tour[index] if self.tour.ndim == 3 else self.tour[index][None]
        found = [[int(node) for node in row if node >= 0] for row in rows]
        return [nodes for nodes in found if nodes]


def load_set(path: FilePath) -> InstanceSet:
    """The set of instances in a file."""
    arrays = _load(path, SET_ARRAYS)
    if "prizes" not in arrays or not arrays.keys() & {"coords", "costs"} or "limit" not in arrays:
        raise BadFile(path, f"a set needs prizes, limit and coords or costs, got {sorted(arrays) or 'none of them'}")
    try:
        prizes = _floats("prizes", arrays["prizes"])
        if prizes.ndim != 2 or not len(prizes):
            raise BadFile(path, f"prizes must have shape (instances, nodes), got {prizes.shape}")
        check_size(path, prizes.shape[1])
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
    arrays |= {name: _once(getattr(whole, name)) for name in ("limit", "start", "end")}
    kept = {name: value for name, value in arrays.items() if value is not None}
    if sum(value.nbytes for value in kept.values()) > MAX_SET_BYTES:
        raise BadFile(path, f"cannot be written: the set takes more than {MAX_SET_BYTES} bytes; split it")
    if whole.names is not None and not isinstance(instances, InstanceSet):
        _check_names(path, whole.names, instances)
    write_file(path, lambda file: np.savez(file, **cast(Any, kept)))


def load_results(path: FilePath) -> BatchResult:
    """The results of a batch."""
    arrays = _load(path, RESULT_ARRAYS)
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
    rows = list(results)
    plans = [[] if result.plan is None else [tour.nodes for tour in result.plan.routes] for result in rows]
    most = max((len(plan) for plan in plans), default=0)
    longest = max((len(nodes) for plan in plans for nodes in plan), default=0)
    table = np.full((len(rows), max(1, most), longest), -1, dtype=np.int32)
    for number, plan in enumerate(plans):
        for place, nodes in enumerate(plan):
            table[number, place, : len(nodes)] = nodes
    tour = table if most > 1 else table[:, 0]
    found = [result.plan is not None for result in rows]
    values = {
        "prize": [result.prize if there else math.nan for result, there in zip(rows, found, strict=True)],
        "cost": [result.cost if there else math.nan for result, there in zip(rows, found, strict=True)],
        "seconds": [result.seconds for result in rows],
    }
    arrays = {name: np.array(column, dtype=np.float64) for name, column in values.items()}
    write_file(path, lambda file: np.savez(file, **cast(Any, arrays | {"tour": tour})))


def _load(path: FilePath, wanted: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays that the file holds, of those `wanted` by name with the kinds of values that they may hold."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            chosen = {name: members[name] for name in wanted if name in members}
            _check_members(path, chosen)
            arrays: dict[str, npt.NDArray[Any]] = {}
            left = MAX_SET_BYTES
            for name, info in chosen.items():
                arrays[name] = _load_array(path, archive, info, wanted[name], left)
                left -= _kept_bytes(arrays[name].size, arrays[name].dtype)
            return arrays
    except BadFile:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    except Exception as error:  # zipfile and zlib raise all kinds of things on damaged bytes
        raise BadFile(path, f"not a readable NPZ file: {error}") from error


def _check_members(path: FilePath, members: dict[str, zipfile.ZipInfo]) -> None:
    total = sum(info.file_size for info in members.values())
    if total > MAX_SET_BYTES:
        raise BadFile(path, f"its arrays claim {total} bytes, more than the {MAX_SET_BYTES} that are read")
    for name, info in members.items():
        if info.file_size > 2**24 and info.file_size > MAX_RATIO * info.compress_size:
            raise BadFile(
                path, f"{name} claims {info.file_size} bytes from {info.compress_size}: refused as a zip bomb"
            )


def _kept_bytes(count: int, dtype: np.dtype[Any]) -> int:
    """The bytes that `count` values take in memory: numbers are kept as float64, however short they are in the file."""
    return count * max(8, dtype.itemsize)


def _load_array(
    path: FilePath, archive: zipfile.ZipFile, info: zipfile.ZipInfo, kinds: str, most: int
) -> npt.NDArray[Any]:
    """The array, or `BadFile` if its values are not of the `kinds` or would take more than `most` bytes."""
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as file:
        shape, fortran, dtype = _header(path, name, file)
        if dtype.kind not in kinds or (dtype.kind != "U" and dtype.itemsize > 8) or dtype.shape:
            raise BadFile(path, f"{name} must hold {'text' if kinds == 'U' else 'numbers'}, got {shown(str(dtype))}")
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size != info.file_size - file.tell():
            raise BadFile(
                path, f"{name} claims shape {shown(shape)}, but its data is {info.file_size - file.tell()} bytes"
            )
        if _kept_bytes(math.prod(shape), dtype) > most:
            raise BadFile(path, f"its numbers take more than the {MAX_SET_BYTES} bytes that are read")
        data = file.read(size)
        file.read(1)  # at the end of the member its checksum is compared
    if len(data) != size:
        raise BadFile(path, f"{name} is cut short")
    flat = np.frombuffer(data, dtype=dtype) if size else np.empty(0, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _header(path: FilePath, name: str, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(file)
        return np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # the header is parsed as Python text, so anything may go wrong
        raise BadFile(path, f"{name} has no readable array header: {shown(str(error))}") from error


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
