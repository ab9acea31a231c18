"""Random sets of problems: the paper's, asymmetric costs, and street networks.

The arguments determine the set, on every machine.
"""

import math
from collections.abc import Callable

import numpy as np

from orienteer.data.draws import Draws
from orienteer.data.families import FAMILIES, Places
from orienteer.data.instance_set import InstanceSet
from orienteer.data.npz import MAX_SET_BYTES
from orienteer.data.text import MAX_NODES
from orienteer.model.errors import InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array

COSTS = tuple(FAMILIES)
"""The families of costs: euclidean, manhattan, tmat, xasy, road."""

PRIZES = ("constant", "uniform", "distance", "clustered")
"""The kinds of prize."""


def generate(
    n: int,
    prizes: str = "uniform",
    costs: str = "euclidean",
    limit: float | None = None,
    count: int = 1,
    seed: int = 0,
    separate_end: bool = False,
    first: int = 0,
) -> InstanceSet:
    """`count` random problems of `n` prized nodes each.

    Node 0 is the start, nodes 1 to n carry the prizes. A route ends at node 0 too or, with `separate_end`, at node
    n + 1; start and end are worth nothing. Problem i depends on all arguments but `count` and `first`. A problem whose
    end cannot be reached within the limit is drawn again.

    Parameters
    ----------
    prizes, costs
        One of `PRIZES` and one of `COSTS`.
    limit
        The most that a route may cost; by default that of `default_limit`.
    first
        The number i of the first problem: large sets are made in parts.
    """
    _check(n, prizes, costs, limit, count, seed)
    most = default_limit(n, costs) if limit is None else float(limit)
    size = n + (2 if separate_end else 1)
    tables = size * size if costs != "euclidean" else 2 * size
    if count * tables * 8 > MAX_SET_BYTES:
        raise ValueError(f"count must keep the set below {MAX_SET_BYTES} bytes, got {count} problems of {size} nodes")
    drawn = [_draw(n, size, prizes, costs, most, seed, index) for index in range(first, first + count)]
    places = [own for own, _ in drawn]
    return InstanceSet(
        prizes=np.array([values for _, values in drawn]),
        limit=np.full(count, most),
        start=np.zeros(count, dtype=np.int64),
        end=np.full(count, size - 1 if separate_end else 0, dtype=np.int64),
        coords=None if places[0].coords is None else np.array([own.coords for own in places]),
        costs=None if places[0].costs is None else np.array([own.costs for own in places]),
        source="generated set",
    )


def default_limit(n: int, costs: str = "euclidean") -> float:
    """A limit that lets a route visit about half of the nodes.

    In the plane and on roads it is the paper's 2, 3 and 4 for n = 20, 50 and 100; between and beyond, it is linear in
    the square root of n, as the length of shortest round trips is. For tmat it is linear in n with GREAT's 4 at
    n = 100; for xasy it is GREAT's 0.4.
    """
    if costs == "tmat":
        return (700 + 33 * n) / 1000
    if costs == "xasy":
        return 0.4
    knots = [(20, 2.0), (50, 3.0), (100, 4.0)]
    (n0, t0), (n1, t1) = knots[:2] if n <= 50 else knots[1:]
    slope = (t1 - t0) / (math.sqrt(n1) - math.sqrt(n0))
    return math.floor((t0 + slope * (math.sqrt(n) - math.sqrt(n0))) * 100 + 0.5) / 100


def draw_prizes(kind: str, draws: Draws, places: Places, n: int) -> Array:
    """(n,) prizes of nodes 1 to n."""
    return _PRIZES[kind](draws, places, n)


ATTEMPTS = 1000
"""How often a problem is drawn, at most, until its end can be reached within the limit."""
HOT_SPOTS = 3
"""How many hot spots clustered prizes have."""


def _check(n: int, prizes: str, costs: str, limit: float | None, count: int, seed: int) -> None:
    if prizes not in PRIZES:
        raise ValueError(f"prizes must be one of {', '.join(PRIZES)}, got {prizes!r}")
    if costs not in COSTS:
        raise ValueError(f"costs must be one of {', '.join(COSTS)}, got {costs!r}")
    for field, value, least in (("n", n, 1), ("count", count, 1), ("seed", seed, 0)):
        if value < least:
            raise ValueError(f"{field} must be at least {least}, got {value}")
    if n > MAX_NODES - 2:
        raise ValueError(f"n must be at most {MAX_NODES - 2}, got {n}")
    if limit is not None and not (limit > 0 and math.isfinite(limit)):
        raise ValueError(f"limit must be positive and finite, got {limit}")


def _draw(n: int, size: int, prizes: str, costs: str, limit: float, seed: int, index: int) -> tuple[Places, Array]:
    """Places and prizes of problem `index`."""
    for attempt in range(ATTEMPTS):
        draws = Draws(seed, COSTS.index(costs), n, size, index, attempt)
        places = FAMILIES[costs](draws, size)
        if _solvable(places, limit, round_trip=size == n + 1):
            values = np.zeros(size)
            values[1 : n + 1] = draw_prizes(prizes, draws, places, n)
            return places, values
    raise ValueError(f"limit must let a route reach its end; {limit} did not in {ATTEMPTS} draws")


def _solvable(places: Places, limit: float, round_trip: bool) -> bool:
    if round_trip or places.costs_from(0)[-1] <= limit:
        return True
    if places.costs is None:
        return False
    try:  # without a triangle inequality a detour may be cheaper
        Instance(places.costs, np.zeros(len(places.costs)), limit, 0, len(places.costs) - 1)
    except InvalidInstance:
        return False
    return True


def _constant(draws: Draws, places: Places, n: int) -> Array:
    return np.ones(n)


def _uniform(draws: Draws, places: Places, n: int) -> Array:
    return draws.integers(1, 100, n) / 100.0


def _distance(draws: Draws, places: Places, n: int) -> Array:
    """Prizes that grow with the distance from the start: 0.01 to 1 in steps of 0.01.

    Distances are multiplied before they are divided, as in the sets of the paper; so the farthest may be worth 0.99.
    """
    away = places.costs_from(0)[1 : n + 1]
    farthest = away.max()
    return (1.0 + np.floor(99.0 * away / farthest)) / 100.0 if farthest > 0 else np.ones(n)


def _clustered(draws: Draws, places: Places, n: int) -> Array:
    """Prizes that fall with the distance from the nearest hot spot: 1 to 0.01 in steps of 0.01, by a cube."""
    spots = draws.choose(min(HOT_SPOTS, n), n) + 1
    away = np.min([places.costs_from(int(spot))[1 : n + 1] for spot in spots], axis=0)
    farthest = away.max()
    near = 1.0 - away / farthest if farthest > 0 else np.ones(n)
    return (1.0 + np.floor(99.0 * (near * near * near))) / 100.0


_PRIZES: dict[str, Callable[[Draws, Places, int], Array]] = {
    "constant": _constant,
    "uniform": _uniform,
    "distance": _distance,
    "clustered": _clustered,
}
