"""A problem as searches read it: the start first, the end last, only nodes within reach, renumbered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from orienteer.model.instance import Instance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NEAR = 100
"""The most near nodes listed for each node; a search uses those of them that its route visits."""
ROUNDING = 1e-10
"""Savings up to this share of the budget are rounding."""


class View(NamedTuple):
    """A problem in its own numbers: routes run from node 0 to the last node, which are two nodes even in a round trip.

    A view holds plain contiguous arrays, so that it can be an argument of a kernel. All who ask an instance for its
    view share the arrays: nobody may write to them. They are not marked as read-only, since numba would compile every
    kernel once more for such arrays.
    """

    nodes: Ints
    """(m,) the instance's number of each node."""
    number: Ints
    """(n,) the view's number of each of the instance's nodes, -1 for those out of reach; 0 for a round trip's end."""
    costs: Floats
    """(m, m) finite, 0 on the diagonal; a leg that no route can afford costs twice the budget."""
    prizes: Floats
    """(m,) what each node is worth; of a round trip's two ends only node 0 has the prize."""
    near_in: Ints
    """(m, k) the nodes with the cheapest legs to each node, cheapest first, at most `NEAR`."""
    near_out: Ints
    """(m, k) the nodes with the cheapest legs from each node, cheapest first, at most `NEAR`."""
    fallback: Ints
    """A route that fits, for searches whose own route cannot be made to fit."""
    budget: float
    """The most that a route may cost."""
    least: float
    """Savings of cost up to this are rounding."""
    symmetric: bool
    """Whether every leg costs the same in both directions."""
    round_trip: bool
    """Whether start and end are the same node of the instance."""

    def numbers(self, nodes: Sequence[int]) -> Ints:
        """A route of the instance in the view's numbers."""
        route = self.number[np.asarray(nodes, dtype=np.int64)]
        route[-1] = len(self.nodes) - 1
        return route

    def route(self, numbers: Ints) -> list[int]:
        """A route of the view in the instance's numbers."""
        return self.nodes[numbers].tolist()


def view_of(instance: "Instance", near: int = NEAR) -> View:
    """A view of the instance's nodes within reach, with at most `near` near nodes for each.

    `instance.view` is this view, made once and kept.
    """
    return make_view(
        instance.costs,
        instance.prizes,
        instance.budget,
        instance.start,
        instance.end,
        instance.reachable,
        instance.cheapest_route(),
        near,
    )


def make_view(
    costs: Floats,
    prizes: Floats,
    budget: float,
    start: int,
    end: int,
    kept: npt.NDArray[np.bool_],
    fallback: Sequence[int] = (),
    near: int = NEAR,
) -> View:
    """The view of the nodes that are `kept`, (n,), and of start and end.

    `fallback` is a route in the instance's numbers that fits; without it the view's fallback is the leg from start to
    end. `near` is the most near nodes listed for each node.
    """
    nodes = in_order(kept, start, end)
    last = len(nodes) - 1
    table = np.asarray(costs).take(nodes, 0).take(nodes, 1)
    np.copyto(table, 2 * budget, where=table > budget)
    np.fill_diagonal(table, 0.0)
    worth = prizes[nodes]
    if start == end:
        table[0, last] = table[last, 0] = 0.0
        worth[last] = 0.0
    number = numbering(nodes, len(costs))
    symmetric = bool((table == table.T).all())
    near_out = nearest(table, near)
    return View(
        nodes=nodes,
        number=number,
        costs=table,
        prizes=worth,
        near_in=near_out if symmetric else nearest(np.ascontiguousarray(table.T), near),
        near_out=near_out,
        fallback=np.array([*(number[node] for node in fallback[:-1] or [start]), last], dtype=np.int64),
        budget=budget,
        least=ROUNDING * budget,
        symmetric=symmetric,
        round_trip=start == end,
    )


def in_order(kept: npt.NDArray[np.bool_], start: int, end: int) -> Ints:
    """The start, the other nodes that are `kept`, (n,), by number, and the end; a round trip's start stands twice."""
    inner = kept.copy()
    inner[start] = inner[end] = False
    return np.concatenate(([start], np.flatnonzero(inner), [end]))


def numbering(nodes: Ints, size: int) -> Ints:
    """(size,) the place of each node in `nodes`, -1 for the others; of a round trip's two ends the first counts."""
    number = np.full(size, -1, dtype=np.int64)
    number[nodes[::-1]] = np.arange(len(nodes) - 1, -1, -1)
    return number


def nearest(costs: Floats, near: int = NEAR) -> Ints:
    """(n, k) the other nodes that are cheapest to reach from each node, cheapest first; at most `near`.

    One sort of whole numbers replaces n indirect sorts of floats, seven times as fast with 100 nodes: floats that are
    not negative are in the order of their bits, and the lowest bits, which hold less than rounding, give way to the
    node's number. So equal costs are in the order of the nodes, on every machine.
    """
    size = len(costs)
    count = min(size - 1, near)
    if count <= 0:
        return np.empty((size, 0), dtype=np.int64)
    bits = size.bit_length()
    keys = (costs + 0.0).view(np.int64)  # the sum turns -0.0, whose bits would sort last, into 0.0
    keys &= -1 << bits
    keys |= np.arange(size)
    np.fill_diagonal(keys, np.iinfo(np.int64).max)
    if count < size - 1:
        keys = np.partition(keys, count, axis=1)[:, :count]
    keys.sort(axis=1)
    return keys[:, :count] & ((1 << bits) - 1)
