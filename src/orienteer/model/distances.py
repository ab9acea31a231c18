"""Distances between points: plain distances, great circles, and TSPLIB's integers.

A table of n * n distances is computed in blocks of rows. Where there are many points no table is made: `Distances`
computes what is asked for.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from orienteer.model.errors import InvalidInstance, Unsupported
from orienteer.model.numbers import Array

EARTH_RADIUS = 6_371_008.8
"""Mean radius of the Earth in metres (IUGG)."""

Metric = Callable[[Array, Array], Array]
"""Distances between (k, 1, 2) and (1, n, 2) points."""


MOST_IN_TABLE = 3_000
"""Up to how many points `pairwise` makes a table."""
LARGEST_TABLE = 10_000
"""Up to how many points a table is made for a method that needs one: 800 MB."""


def pairwise(coords: Array, metric: Metric) -> Array:
    """(n, n) distances between the points `coords`, (n, 2); zero from a point to itself.

    Beyond `MOST_IN_TABLE` points they are `Distances`, which can be used as an array.
    """
    if len(coords) > MOST_IN_TABLE:
        _check_extent(coords, metric)
        return cast(Array, Distances(coords, metric))
    return _table(coords, metric)


class Distances(NDArrayOperatorsMixin):
    """The costs of all legs between points, computed when they are asked for.

    An index with numbers or arrays of numbers computes just those legs. Whatever else is done with the costs makes a
    table of them, which is kept, or raises `Unsupported` where it would be too large.
    """

    ndim = 2

    def __init__(
        self, coords: Array, metric: Metric, divisor: float = 1.0, barred: npt.NDArray[np.bool_] | None = None
    ):
        """`divisor` divides all distances; to and from points that are `barred`, (n,), there is no way."""
        self.coords, self.metric, self.divisor = coords, metric, divisor
        self.barred = np.zeros(len(coords), dtype=np.bool_) if barred is None else barred
        self.shape = len(coords), len(coords)

    def __len__(self) -> int:
        return len(self.coords)

    @property
    def T(self) -> "Distances":  # noqa: N802 - numpy's name
        """The costs of all legs the other way, which are the same."""
        return self

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key, slice(None))
        if len(parts) != 2 or any(part is None or part is Ellipsis for part in parts):
            return self.table[key]
        rows, columns = parts
        everything = np.arange(len(self))
        sliced = isinstance(rows, slice), isinstance(columns, slice)
        here, there = (everything[part] if isinstance(part, slice) else np.asarray(part) for part in (rows, columns))
        if any(sliced) and here.ndim and there.ndim:
            here = here[:, None]
        return self.legs(here, there)

    def legs(self, here: Any, there: Any) -> Any:
        """The costs of legs between nodes, by number or by arrays of numbers that fit together."""
        with np.errstate(all="ignore"):
            costs = self.metric(self.coords[here], self.coords[there]) / self.divisor
        costs = np.where(np.asarray(here) == there, 0.0, costs)
        barred = self.barred[here] | self.barred[there]
        return np.where(barred, np.inf, costs)[()] if barred.any() else costs[()]

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other > 0 and self.divisor == 1.0:
            return Distances(self.coords, self.metric, float(other), self.barred)
        return self.table / other

    def without(self, nodes: list[int]) -> "Distances":
        """These costs with no way to and from some nodes."""
        barred = self.barred.copy()
        barred[nodes] = True
        return Distances(self.coords, self.metric, self.divisor, barred)

    def same(self, other: "Distances") -> bool:
        """Whether all legs cost the same as those of `other`."""
        return (
            self.metric is other.metric
            and self.divisor == other.divisor
            and np.array_equal(self.coords, other.coords)
            and np.array_equal(self.barred, other.barred)
        )

    @cached_property
    def table(self) -> Array:
        """The costs as a plain array, (n, n)."""
        if len(self) > LARGEST_TABLE:
            size = 8e-9 * len(self) ** 2
            raise Unsupported(
                f"a table of all costs between {len(self)} nodes would take {size:.0f} GB; tables are made for up to "
                f"{LARGEST_TABLE} nodes, and only lns and auto, for plain problems, work without a table"
            )
        table = _table(self.coords, self.metric) / self.divisor
        table[self.barred] = table[:, self.barred] = np.inf
        table.setflags(write=False)
        return table

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.table.copy() if copy else self.table

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        tables = [one.table if isinstance(one, Distances) else one for one in inputs]
        return getattr(ufunc, method)(*tables, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and numpy look for must not make a table
            raise AttributeError(name)
        return getattr(self.table, name)


def _check_extent(coords: Array, metric: Metric) -> None:
    """Raises `InvalidInstance` where a coordinate is not finite, or points may be too far apart to have a distance."""
    for node, axis in np.argwhere(~np.isfinite(coords)):
        raise InvalidInstance(f"coords[{node}, {axis}] must be finite, got {coords[node, axis]:g}")
    with np.errstate(all="ignore"):
        widest = metric(coords.min(axis=0), coords.max(axis=0))
    if not np.isfinite(widest):
        raise InvalidInstance("coords are too far apart to have a distance")


def _table(coords: Array, metric: Metric) -> Array:
    table = np.empty((len(coords), len(coords)))
    for rows, block in _blocks(coords, metric):
        table[rows] = block
    return table


def measured_by(costs: Array, coords: Array | None, metric: Metric) -> bool:
    """Whether the costs are exactly the distances between the points `coords`; False where these are None."""
    if coords is None:
        return False
    if isinstance(costs, Distances):
        return costs.same(Distances(coords, metric))
    try:
        return all(np.array_equal(costs[rows], block) for rows, block in _blocks(coords, metric))
    except InvalidInstance:
        return False


def scale_of(costs: Array, coords: Array | None, metric: Metric) -> float | None:
    """By which factor the costs are distances between the points `coords`; None where they are not.

    Legs that do not exist count for any distance: a place may be barred.
    """
    if coords is None:
        return None
    if isinstance(costs, Distances):
        return 1 / costs.divisor if costs.metric is metric and np.array_equal(costs.coords, coords) else None
    factor: float | None = None
    try:
        for rows, block in _blocks(coords, metric):
            legs = costs[rows]
            there = np.isfinite(legs)
            apart = there & (block > 0)
            with np.errstate(all="ignore"):
                if factor is None and apart.any():
                    factor = float(legs[apart][0] / block[apart][0])
                if not np.allclose(legs[there], block[there] * (factor or 1.0), rtol=1e-9, atol=0.0):
                    return None
    except InvalidInstance:
        return None
    return 1.0 if factor is None else factor or None


def euclidean(here: Array, there: Array) -> Array:
    """Straight lines."""
    dx, dy = here[..., 0] - there[..., 0], here[..., 1] - there[..., 1]
    dx *= dx
    dy *= dy
    dx += dy
    return np.sqrt(dx)


def manhattan(here: Array, there: Array) -> Array:
    """Along the axes."""
    return np.abs(here[..., 0] - there[..., 0]) + np.abs(here[..., 1] - there[..., 1])


def great_circle(here: Array, there: Array) -> Array:
    """Metres on the Earth between (longitude, latitude) in degrees, by the haversine formula."""
    lon, lat = np.radians(here[..., 0] - there[..., 0]), np.radians(here[..., 1] - there[..., 1])
    across = np.cos(np.radians(here[..., 1])) * np.cos(np.radians(there[..., 1])) * np.sin(lon / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(1.0, np.sin(lat / 2) ** 2 + across)))


def truncated(here: Array, there: Array, decimals: int) -> Array:
    """Straight lines, cut off after some decimals, as the files of orienteering with time windows have it."""
    scale = 10.0**decimals
    return np.floor(euclidean(here, there) * scale + 1e-9) / scale  # so much that 0.3 * 10 counts as 3


METRICS: dict[str, Metric] = {"euclidean": euclidean, "manhattan": manhattan, "great_circle": great_circle}
"""The metrics that JSON and CSV files may name."""


def euc_2d(here: Array, there: Array) -> Array:
    """TSPLIB EUC_2D: the nearest integer, halves upwards."""
    return _nint(euclidean(here, there))


def ceil_2d(here: Array, there: Array) -> Array:
    """TSPLIB CEIL_2D: the next integer."""
    return np.ceil(euclidean(here, there))


def man_2d(here: Array, there: Array) -> Array:
    """TSPLIB MAN_2D: along the axes, the nearest integer."""
    return _nint(manhattan(here, there))


def max_2d(here: Array, there: Array) -> Array:
    """TSPLIB MAX_2D: the larger of the two differences, each rounded."""
    return np.maximum(_nint(np.abs(here[..., 0] - there[..., 0])), _nint(np.abs(here[..., 1] - there[..., 1])))


def att(here: Array, there: Array) -> Array:
    """TSPLIB ATT: pseudo-Euclidean, rounded up to an integer."""
    dx, dy = here[..., 0] - there[..., 0], here[..., 1] - there[..., 1]
    true = np.sqrt((dx * dx + dy * dy) / 10.0)
    near = _nint(true)
    return near + (near < true)


def geo(here: Array, there: Array) -> Array:
    """TSPLIB GEO: kilometres on an idealised Earth between (latitude, longitude) as degrees.minutes.

    The degrees are the whole part. The format's paper says the nearest integer there, but its published optima and
    every program since take the whole part.
    """
    here, there = geo_radians(here), geo_radians(there)
    q1 = np.cos(here[..., 1] - there[..., 1])
    q2 = np.cos(here[..., 0] - there[..., 0])
    q3 = np.cos(here[..., 0] + there[..., 0])
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return np.floor(6378.388 * np.arccos(np.clip(cosine, -1.0, 1.0)) + 1.0)


TSPLIB_METRICS: dict[str, Metric] = {
    "EUC_2D": euc_2d,
    "CEIL_2D": ceil_2d,
    "MAN_2D": man_2d,
    "MAX_2D": max_2d,
    "ATT": att,
    "GEO": geo,
}
"""The distances of coordinates that an OPLib file may ask for."""


def geo_degrees(coords: Array) -> Array:
    """TSPLIB's degrees.minutes as degrees."""
    whole = np.trunc(coords)
    return whole + 5.0 * (coords - whole) / 3.0


_BLOCK = 2**18
"""About how many distances a block holds."""


def _blocks(coords: Array, metric: Metric) -> Iterator[tuple[slice, Array]]:
    step = max(1, _BLOCK // max(1, len(coords)))
    for first in range(0, len(coords), step):
        rows = slice(first, min(first + step, len(coords)))
        with np.errstate(all="ignore"):
            block = metric(coords[rows, None, :], coords[None, :, :])
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = 0.0
        if not np.isfinite(block).all():
            for node, axis in np.argwhere(~np.isfinite(coords)):
                raise InvalidInstance(f"coords[{node}, {axis}] must be finite, got {coords[node, axis]:g}")
            row, column = np.argwhere(~np.isfinite(block))[0]
            raise InvalidInstance(f"coords {first + row} and {column} are too far apart to have a distance")
        yield rows, block


def _nint(values: Array) -> Array:
    return np.floor(values + 0.5)


def geo_radians(coords: Array) -> npt.NDArray[np.float64]:
    """TSPLIB's degrees.minutes as radians."""
    pi = 3.141592  # as TSPLIB defines it
    whole = np.trunc(coords)
    return pi * (whole + 5.0 * (coords - whole) / 3.0) / 180.0
