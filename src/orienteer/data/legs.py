"""What legs cost: distances between points, perhaps divided by a speed, or a matrix."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from orienteer.data.columns import ACCEPTED
from orienteer.data.engine_table import EngineTable
from orienteer.data.text import FilePath, shown
from orienteer.model.clock import Unit
from orienteer.model.distances import METRICS, great_circle, measured_by, pairwise, scale_of
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.spelling import did_you_mean

Matrix = EngineTable | Callable[[int, Sequence[str] | None], Array]
"""The table of an engine, or a function from the number and the names of places to the costs between them."""


@dataclass(frozen=True)
class Given:
    """What the caller says of costs, budgets and routes, in place of what the file says; None leaves it to the file."""

    matrix: Matrix | None = None
    metric: str | None = None
    speed: float | None = None
    unit: str | None = None
    budgets: dict[str, float] = field(default_factory=dict)
    """Limits by name; the file keeps its others."""
    routes: bool = False
    """Whether the caller gives the routes, in place of those of the file."""


NOTHING = Given()


def legs(
    path: FilePath,
    size: int,
    coords: Array | None,
    on_earth: bool,
    names: Sequence[str] | None = None,
    matrix: Matrix | None = None,
    metric: str | None = None,
    speed: float | None = None,
    unit: Unit | None = None,
) -> tuple[Array, bool]:
    """The costs between `size` places, and whether they are metres, so that no time of day can be meant.

    They are the `matrix`, or distances between `coords` by the `metric`, divided by the `speed`. Durations of a
    routing engine are seconds unless the `unit` says otherwise.
    """
    if speed is not None and not 0 < speed < math.inf:
        raise BadFile(path, f"speed must be above 0, got {speed:g}")
    if matrix is not None:
        if metric is not None:
            raise BadFile(path, "matrix and metric exclude each other")
        if isinstance(matrix, EngineTable):
            if matrix.size != size:
                raise BadFile(matrix.path, f"the table has {matrix.size} places, the problem {size}")
            with np.errstate(over="ignore"):
                return matrix.costs(speed, unit), speed is None and not matrix.timed(speed)
        if speed is not None:
            raise BadFile(path, "matrix and speed exclude each other")
        return matrix(size, names), False
    if coords is None:
        raise BadFile(path, f"there are neither x, y nor lat, lon columns, nor a matrix; columns are {ACCEPTED}")
    if metric is None:
        metric = "great_circle" if on_earth else "euclidean"
    if metric not in METRICS:
        hint = did_you_mean(metric, METRICS)
        raise BadFile(path, f"metric must be one of {', '.join(METRICS)}, got {shown(metric)}{hint}")
    if (METRICS[metric] is great_circle) != on_earth:
        raise BadFile(path, "the metric great_circle goes with lat, lon, the others with x, y")
    distances = pairwise(coords, METRICS[metric])
    if speed is None:
        return distances, on_earth
    with np.errstate(over="ignore"):  # a speed close to 0 makes legs infinite, which no limit allows
        return distances / speed, False


def unit_of(matrix: Matrix | None, speed: float | None, given: Unit | None) -> Unit:
    """What costs are counted in, where times of day are read: durations of a routing engine are seconds."""
    if given is not None:
        return given
    return "seconds" if isinstance(matrix, EngineTable) and matrix.timed(speed) else "minutes"


def great_circle_speed(instance: Instance) -> float | None:
    """The speed by which costs are exactly great-circle metres divided by it; None where they are not."""
    if instance.coords is None or not instance.on_earth:
        return None
    if measured_by(instance.costs, instance.coords, great_circle):
        return 1.0
    factor = scale_of(instance.costs, instance.coords, great_circle)
    if not factor:
        return None
    distances = pairwise(instance.coords, great_circle)
    speeds = (*(round(1 / factor, digits) for digits in (2, 6, 9)), 1 / factor)
    with np.errstate(over="ignore"):
        return next((speed for speed in speeds if speed and np.array_equal(distances / speed, instance.costs)), None)


def positions(instance: Instance, path: FilePath) -> list[list[float]]:
    """Longitude and latitude of each place, or `BadFile` where they have none."""
    if instance.coords is None or not instance.on_earth:
        raise BadFile(path, "cannot be written: this format holds longitude and latitude, which the places do not have")
    if (np.abs(instance.coords) > [180, 90]).any():
        raise BadFile(path, "cannot be written: coords must be longitudes up to 180 and latitudes up to 90 degrees")
    return instance.coords.tolist()
