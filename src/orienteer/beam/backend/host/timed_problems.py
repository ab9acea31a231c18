"""A problem with opening hours or required places as arrays: a plain problem, and a clock."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.beam.backend.host.problems import HostProblems
from orienteer.beam.problems import Array
from orienteer.kernel import Floats, Ints
from orienteer.model.cheapest import cheapest_to
from orienteer.model.instance import Instance
from orienteer.model.numbers import TOLERANCE, frozen
from orienteer.model.plan_view import PlanView


class Clock(NamedTuple):
    """What the rows of a problem know of time, counted from the opening of the route; the second row runs backwards."""

    opens: Floats
    """(row, node, window) when windows open, in order."""
    closes: Floats
    """(row, node, window) when windows close; minus infinity where a node has no further window."""
    home: Floats
    """(row, node) the least cost from the beginning of a visit to the end of the route."""
    latest: Floats
    """(row,) when a route must be at its end."""
    needed: Ints
    """(place,) the required places, those that are due first before others."""
    due: Floats
    """(row, place) when the visit of each required place must begin at the latest."""
    ways: Floats
    """(row, place, node) the least cost from the beginning of a visit of the node to each required place."""


@dataclass(frozen=True, eq=False)
class TimedProblems(HostProblems):
    """One problem, with a row for each direction, in the numbers of its `plan_view`: the start and the end come last.

    Prizes are scaled to a sum below 1, and a required place has a bonus of 1: so of two routes the one that visits more
    required places has the larger prize.
    """

    clock: Clock
    worth: Array  # (batch, node) float64, the scaled prizes without bonus

    @classmethod
    def of(cls, instance: Instance, directions: int) -> "TimedProblems":
        """The rows of an instance with one route."""
        view = instance.plan_view
        worth = _worth(instance, view)
        needed = np.flatnonzero(view.required)
        prizes = worth.copy()
        prizes[needed] += 1.0
        limit = float(view.closes[-1] - view.opens[-2]) / (1 + TOLERANCE)
        plain = Instance.unchecked(
            costs=view.costs, prizes=frozen(prizes), limit=limit, start=len(worth) - 2, end=len(worth) - 1
        )
        rows = HostProblems.from_instances([plain], directions)
        fields = rows.costs, rows.prizes, rows.limit, rows.start, rows.end, rows.to_end
        return cls(*fields, _clock(rows, view, needed), np.broadcast_to(worth, rows.prizes.shape))

    @cached_property
    def mean_prize(self) -> Array:
        return self.worth.sum(1) / (self.worth > 0).sum(1).clip(1)

    def complete(self, prize: float) -> bool:
        """Whether a route of that prize visits all required places."""
        return prize >= len(self.clock.needed)

    def has_required(self, route: list[int]) -> bool:
        """Whether there is a route, and it visits all required places."""
        return bool(route) and set(route).issuperset(self.clock.needed.tolist())


def _worth(instance: Instance, view: PlanView) -> Floats:
    """(node,) prizes, divided by a power of two above their sum."""
    start, end = view.ends[0].tolist()
    last = instance.prizes[end] if end not in (-1, start) else 0.0
    worth = np.concatenate((view.prizes, [instance.prizes[start], last]))
    return np.ldexp(worth, -math.frexp(worth.sum())[1])


def _clock(rows: HostProblems, view: PlanView, needed: Ints) -> Clock:
    opens, closes = _windows(view, rows.budget)
    due = np.where(closes > -np.inf, np.minimum(closes, (rows.budget[:, None] - rows.to_end)[:, :, None]), -np.inf)
    due = np.where(due >= opens, due, -np.inf).max(axis=2)
    needed = needed[np.argsort(due[0, needed], kind="stable")]
    ways = np.array([[cheapest_to(costs[None], np.array([node]))[0] for node in needed] for costs in rows.costs])
    ways = ways.reshape(len(rows.costs), len(needed), rows.nodes)
    return Clock(opens, closes, rows.to_end, rows.budget, needed, due[:, needed], ways)


def _windows(view: PlanView, latest: npt.NDArray[np.float64]) -> tuple[Floats, Floats]:
    """(row, node, window) opening and closing times, counted from the beginning of a route in either direction."""
    count = np.diff(view.first)
    shape = len(latest), len(count), int(count.max())
    opens, closes = np.zeros(shape), np.full(shape, -np.inf)
    zero = view.opens[-2]
    for node, (first, behind) in enumerate(zip(view.first[:-1], view.first[1:], strict=True)):
        begin, end = view.opens[first:behind] - zero, view.closes[first:behind] - zero
        opens[0, node, : len(begin)], closes[0, node, : len(begin)] = begin, end
        if len(latest) == 2:
            opens[1, node, : len(begin)], closes[1, node, : len(begin)] = latest[1] - end[::-1], latest[1] - begin[::-1]
    return opens, closes
