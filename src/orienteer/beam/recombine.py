"""Better routes from the paths that a search has logged: two paths joined, or stretches of a route exchanged.

A beam drops paths at every level, and with them the routes that they would have become. But the log has the beginnings
of these routes; and where a problem is the same backwards, or is searched from both ends, a logged path may also be
the end of a route.
"""

from orienteer.beam.backend.protocol import Ends, Over
from orienteer.beam.expand import Expander
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems

BASES = 40
"""Routes of an instance whose stretches are exchanged, beside its best; a beam wider than this asks for as many."""
MOST_STOPS = 2**24
"""Stops of all paths times routes of an instance, at most: where there are many paths, there are fewer routes."""

ROUNDS = 100
"""The most exchanges of a route."""
SAVING = 1e-9
"""An exchange for the same prize saves at least this share of the budget: less might be rounding, back and forth."""


def never_over() -> bool:
    """The `Over` that never ends early."""
    return False


def recombined(
    expander: Expander,
    directions: int,
    routes: list[list[int]],
    prize: Array,
    over: Over = never_over,
    bases: int = BASES,
) -> list[list[int]]:
    """The routes of a batch in which every instance has `directions` rows, or better routes made of its logged paths.

    `prize` is (instance,) the prize of each route. An empty route stays empty where no two paths can be joined.
    Stretches of the `bases` best paths are exchanged.
    """
    problems, log, backend = expander.problems, expander.log, expander.backend
    paths = log.by_cost()
    ends = both_ends(problems, paths, directions, prize)
    pairs = problems.full((2, len(prize)), -1)
    pairs[:, ends.front // directions] = backend.best_pairs(ends)
    joined = log.joined(range(0, problems.batch, directions), pairs[0], pairs[1])
    best = [better or route for better, route in zip(joined, routes, strict=True)]
    chosen = good_paths(problems, paths, directions, bases)
    return backend.exchanged(problems, paths, directions, best, chosen, over)


def both_ends(problems: Problems, paths: SortedPaths, directions: int, known: Array) -> Ends:
    """The paths that may meet, for a prize above the (instance,) `known` prize.

    With two directions, paths from the start meet paths from the end. With one, paths meet among themselves where
    the problem is the same backwards.
    """
    front = problems.arange(problems.batch // directions) * directions
    if directions == 1:
        front = front[problems.symmetric & (problems.start == problems.end)]
    least = known[front // directions] - paths.ends[front]
    return Ends(problems.costs, paths, front, front + directions - 1, problems.safe_budget[front], least)


def good_paths(
    problems: Problems, paths: SortedPaths, directions: int, count: int, most_stops: int = MOST_STOPS
) -> Array:
    """(instance, count) places of the paths that bring most when they go straight to their other end; -1 fills up.

    No two of an instance have the same stops.
    """
    xp, batch = problems.xp, problems.batch
    length = paths.first[1:] - paths.first[:-1]
    row = problems.repeated(problems.arange(batch), length, len(paths.cost))
    total = paths.cost + problems.straight[row, paths.last]
    place = xp.argwhere(total <= problems.budget[row])[:, 0]
    # By instance, then prize, then stops, then cost: equal sets lie next to each other, the cheapest first.
    place = place[problems.order(total[place])]
    for word in range(paths.stops.shape[1]):
        place = place[problems.order(paths.stops[place, word])]
    place = place[problems.order(paths.prize[place], falling=True)]
    place = place[problems.order(row[place] // directions)]
    instance, stops = row[place] // directions, paths.stops[place]
    new = place >= 0
    new[1:] = (instance[1:] != instance[:-1]) | (stops[1:] != stops[:-1]).any(1)
    place, instance = place[new], instance[new]
    rank = problems.arange(len(place)) - xp.searchsorted(instance, instance)
    looks = xp.bincount(
        row // directions, weights=xp.asarray(paths.size + 1, dtype=xp.float64), minlength=batch // directions
    )
    enough = (most_stops // looks).clip(1, count)
    chosen = rank < enough[instance]
    table = problems.full((batch // directions, count), -1)
    table[instance[chosen], rank[chosen]] = place[chosen]
    return table
