"""A travelling salesman's problem as an instance."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from orienteer.data.fields import Node
from orienteer.data.files import read_fields
from orienteer.data.text import FilePath
from orienteer.lab.tours.heuristic import good_route, quick_route
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.tour import route_cost


def tour_problem(
    costs: npt.ArrayLike, coords: npt.ArrayLike | None = None, start: int = 0, names: Sequence[str] | None = None
) -> Instance:
    """The instance whose best routes are the shortest tours: every node is worth one, the limit is a quick tour's cost.

    Within that limit everything can be visited, so that of two routes the one with more nodes and then the cheaper one
    is better. `InvalidInstance` where no tour is found, which may happen where ways are missing.
    """
    table = np.asarray(costs)
    if table.ndim != 2:
        raise InvalidInstance(f"costs must have 2 dimension(s), got shape {table.shape}")
    most = np.where(np.isfinite(table), table, 0.0).sum() if table.dtype.kind in "iuf" else 0.0
    loose = Instance(costs, np.ones(len(table)), max(float(most), 1.0), start, start, coords, names)
    route = known_route(loose)
    if route is None:
        raise InvalidInstance("costs have no tour that could be found: too many ways are missing")
    return loose.replace(limit=route_cost(loose, route) or 1.0)


def known_route(instance: Instance) -> list[int] | None:
    """A route through every node within the limit, by the quick heuristic, or by a better one where that finds none."""
    for find in (quick_route, _good_route):
        route = find(instance.costs, instance.start, instance.end)
        if route is not None and route_cost(instance, route) <= instance.budget:
            return route
    return None


def read_tour_problem(
    path: FilePath,
    format: str | None = None,
    *,
    start: Node | None = None,
    index: int | None = None,
    matrix: FilePath | None = None,
    metric: str | None = None,
) -> Instance:
    """The tour through all places of a file of any format, or `BadFile`; its prizes and its limit do not count.

    The parameters are those of `orienteer.data.files.read`.
    """
    found = read_fields(path, format, index=index, matrix=matrix, metric=metric)
    chosen = found.start if start is None else start
    first = 0 if chosen is None else found.number(path, "start", chosen)
    try:
        return tour_problem(found.costs, found.coords, first, found.names)
    except InvalidInstance as error:
        raise BadFile(path, str(error)) from error


def _good_route(costs: npt.NDArray[np.float64], start: int, end: int) -> list[int] | None:
    return good_route(costs, start, end, seed=0)
