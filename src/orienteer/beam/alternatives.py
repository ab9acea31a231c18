"""Several good routes that differ: a beam has logged several, and others are made from the best.

The longest paths of a beam have most of their nodes in common. Those that differ enough may be short; so routes are
also made by barring a share of the stops of every known route and filling up with other nodes.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from orienteer.beam.expand import Expander
from orienteer.beam.polish import polish
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.tour import Tour, check_tour

APART = 0.25
"""Of any two alternatives, each has at least this share of its stops for itself."""
LEFT_OUT = (0.3, 0.45, 0.6)
"""Shares of the stops of every known route that are barred in a new route: the first that makes it differ enough."""
DRAWS = 4
"""Routes that are made for each share: the first without the stops worth least, the others without random stops."""


def alternatives(expander: Expander, row: int, count: int, best: list[int]) -> list[list[int]]:
    """Up to `count` - 1 routes of an instance beside its `best`, most prize first, all different enough.

    Start and end are not counted among the nodes that differ.
    """
    if not best:
        return []
    number, visited = expander.log.closing(row)
    inner = visited.copy()
    inner[:, [best[0], best[-1]]] = False
    chosen, sets = [best], [_as_set(best[1:-1], visited.shape[1])]
    for place in range(len(number)):
        if len(chosen) == count:
            break
        if all(_differ(inner[place], other) for other in sets):
            chosen.append(expander.log.route(int(number[place]), row))
            sets.append(inner[place])
    return chosen[1:]


def varied(instance: Instance, best: list[int], logged: Sequence[list[int]], count: int) -> list[list[int]]:
    """Up to `count` - 1 routes beside the `best`, all different enough: the best of the `logged` and of new routes."""
    if not best:
        return []
    chosen = [check_tour(instance, best)]
    paths = [check_tour(instance, route) for route in logged]
    while len(chosen) < count:
        options = [tour for tour in (*paths, *_made(instance, chosen)) if _differs(instance, tour, chosen)]
        options = [tour for tour in options if tour.prize <= chosen[0].prize]  # a search's best stays its best
        if not options:
            break
        chosen.append(max(options, key=lambda tour: (tour.prize, -tour.cost)))
    return [list(tour.nodes) for tour in chosen[1:]]


def _made(instance: Instance, known: Sequence[Tour]) -> list[Tour]:
    """New routes that differ enough from all known ones, made by barring stops of these; none if none does."""
    rng = np.random.default_rng(len(known))
    for share in LEFT_OUT:
        made = [_without(instance, known, share, rng if draw else None) for draw in range(DRAWS)]
        good = [tour for tour in made if _differs(instance, tour, known)]
        if good:
            return good
    return []


def _without(instance: Instance, known: Sequence[Tour], share: float, rng: np.random.Generator | None) -> Tour:
    """A good route that avoids a `share` of the stops of each known route.

    Avoided are the stops worth least or, with `rng`, stops drawn at random.
    """
    prizes = instance.prizes.copy()
    for tour in known:
        stops = np.array(sorted(_inner(instance, tour)), dtype=np.int64)
        rank = np.argsort(instance.prizes[stops], kind="stable") if rng is None else rng.permutation(len(stops))
        prizes[stops[rank[: math.ceil(share * len(stops))]]] = 0.0
    barred = (prizes == 0.0) & (instance.prizes > 0.0)
    barred[[instance.start, instance.end]] = False
    begun = [node for node in known[0].nodes if not barred[node]]
    try:
        check_tour(instance, begun)
    except InfeasibleTour:  # leaving a stop out may cost more than it saves
        begun = instance.cheapest_route()
    (nodes,) = polish([instance.replace(prizes=prizes)], [begun])
    return check_tour(instance, nodes)


def _differs(instance: Instance, tour: Tour, others: Sequence[Tour]) -> bool:
    own, sets = _inner(instance, tour), [_inner(instance, other) for other in others]
    return all(_far_apart(len(own), len(one), len(own & one)) for one in sets)


def _inner(instance: Instance, tour: Tour) -> set[int]:
    return set(tour.nodes) - {instance.start, instance.end}


def _differ(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> bool:
    return _far_apart(int(one.sum()), int(other.sum()), int((one & other).sum()))


def _far_apart(one: int, other: int, common: int) -> bool:
    """Whether two routes differ enough, given the number of stops of each and how many they have in common."""
    return all(stops - common >= max(1.0, APART * stops) for stops in (one, other))


def _as_set(nodes: list[int], size: int) -> npt.NDArray[np.bool_]:
    table = np.zeros(size, dtype=bool)
    table[nodes] = True
    return table
