"""The cost of a leg: read from a table, or computed from the coordinates of its two ends.

Kernels that call `leg` take either kind of costs; numba compiles them once for each kind that is used, so that a table
costs one access to memory, as if the kernel knew nothing else.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba.core import types
from numba.extending import overload

from orienteer.kernel.types import Floats

EARTH_RADIUS = 6_371_008.8
"""Mean radius of the Earth in metres (IUGG)."""
GEO_RADIUS = 6378.388
"""The Earth's radius in kilometres, as TSPLIB's GEO has it."""

EUCLIDEAN, MANHATTAN, GREAT_CIRCLE, EUC_2D, CEIL_2D, MAN_2D, MAX_2D, ATT, GEO = range(9)
"""How the cost of a leg follows from coordinates: `Points.kind`."""


class Points(NamedTuple):
    """Places whose legs cost what the distance between their points is, divided by a number such as a speed."""

    x: Floats
    y: Floats
    """(n,) coordinates; radians, longitude first, for kinds on the Earth."""
    kind: int
    divisor: float


Costs = Floats | Points
"""A table, (n, n), or points."""


def point_leg(costs: Points, here: int, there: int) -> float:
    """The cost of the leg between two points."""
    if here == there:
        return 0.0
    dx, dy = costs.x[here] - costs.x[there], costs.y[here] - costs.y[there]
    kind = costs.kind
    if kind == EUCLIDEAN:
        cost = math.sqrt(dx * dx + dy * dy)
    elif kind == EUC_2D:
        cost = math.floor(math.sqrt(dx * dx + dy * dy) + 0.5)
    elif kind == CEIL_2D:
        cost = math.ceil(math.sqrt(dx * dx + dy * dy))
    elif kind == ATT:
        cost = math.sqrt((dx * dx + dy * dy) / 10.0)
        near = math.floor(cost + 0.5)
        cost = near + (1.0 if near < cost else 0.0)
    elif kind == MANHATTAN:
        cost = abs(dx) + abs(dy)
    elif kind == MAN_2D:
        cost = math.floor(abs(dx) + abs(dy) + 0.5)
    elif kind == MAX_2D:
        cost = max(math.floor(abs(dx) + 0.5), math.floor(abs(dy) + 0.5))
    elif kind == GREAT_CIRCLE:
        across = math.cos(costs.y[here]) * math.cos(costs.y[there]) * math.sin(dx / 2) ** 2
        cost = 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, math.sin(dy / 2) ** 2 + across)))
    else:
        both = math.cos(costs.y[here] + costs.y[there])
        cosine = 0.5 * ((1.0 + math.cos(dx)) * math.cos(dy) - (1.0 - math.cos(dx)) * both)
        cost = math.floor(GEO_RADIUS * math.acos(min(1.0, max(-1.0, cosine))) + 1.0)
    return cost / costs.divisor


def leg(costs: Costs, here: int, there: int) -> float:
    """The cost of a leg, where `costs` are a table, (n, n), or `Points`."""
    return point_leg(costs, here, there) if isinstance(costs, Points) else _table_leg(costs, here, there)


def _table_leg(costs: Floats, here: int, there: int) -> float:
    return costs[here, there]


@overload(leg, strict=False)
def _leg(costs: Any, here: Any, there: Any) -> Callable[..., float]:
    return _table_leg if isinstance(costs, types.Array) else point_leg
