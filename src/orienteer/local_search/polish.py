"""A route made shorter and fuller by local search, after a beam search has missed small moves.

The larger a problem is, compared with those that the network learned from, the more such moves are left.
"""

from typing import NamedTuple

import numpy as np

from orienteer.kernel import ZERO, Floats, Ints, copy, kernel, ranked
from orienteer.local_search.drop_add import (
    add,
    add_while_fits,
    best_spot,
    drop,
    drop_until_fits,
    make_chain,
    route_cost,
    write_route,
)
from orienteer.local_search.selection import best_selection, is_wanted, least_detour, ordered
from orienteer.local_search.shorten import Shorten
from orienteer.model.view import View

NEAR = 20
"""How many of the nearest nodes of each node are looked at."""
LEAST = 1e-10
"""Savings up to this share of the budget are rounding."""
ROUNDING = 1e-12
"""Gains up to this share of a route's prize are rounding."""


class Work(NamedTuple):
    """A view's arrays, with prizes that a trial may change for a while, and room for a route as a chain."""

    costs: Floats
    prizes: Floats
    near_in: Ints
    near_out: Ints
    budget: float
    shorten: Shorten
    following: Ints
    leading: Ints
    looks: Ints
    """(1,) along how many more orders stops may be chosen anew."""


@kernel
def polished(route: Ints, view: View, budget: float, looks: int, bars: Floats, trials: int, shorten: Shorten) -> Ints:
    """A better route with the ends of `route`, or `route` itself.

    First the route is shortened and filled up in turn, until nothing more fits. Then its stops are chosen anew along
    several orders of the nodes. Then changes of a single node are tried, and stops are chosen anew once more.

    Parameters
    ----------
    route
        Nodes in the view's numbers, which cost no more than the budget.
    view
        The problem. Its near nodes are not used: finding the few that matter here is faster than making the view's.
    budget
        The most that the route may cost; it may be a little below the view's.
    looks
        Along how many orders, at most, stops are chosen anew.
    bars
        An order is made for each bar: besides the stops it places those nodes well whose prize, divided by the cost of
        their detour from the route, is at least the bar times the price of cost on the route's own order.
    trials
        How many changes are tried at most: a stop is left out, or another node is put in at the expense of some stops.
    shorten
        What `shorten_for` returns for the view's costs.
    """
    count = len(view.nodes)
    chain = np.empty((2, count), dtype=np.int64)
    near_out = _nearest(view.costs)
    near_in = near_out if view.symmetric else _nearest(view.costs.T.copy())
    work = Work(
        view.costs, view.prizes.copy(), near_in, near_out, budget, shorten, chain[0], chain[1], np.full(1, looks)
    )
    nodes, place = np.empty(count, dtype=np.int64), np.full(count, -1)
    size = _put(nodes, place, route)
    size = _chosen_anew(work, nodes, size, place, bars)
    if trials:
        size = _changed(work, nodes, size, place, trials)
        size = _chosen_anew(work, nodes, size, place, bars)
    return nodes[:size]


@kernel
def _chosen_anew(work: Work, nodes: Ints, size: int, place: Ints, bars: Floats) -> int:
    """The new size of a route, filled up and chosen anew along its own order and others until no order helps."""
    size = _filled_up(work, nodes, size, place)
    unchanged, at, price = 0, 0, 0.0
    while unchanged <= len(bars) and work.looks[0] > 0:
        work.looks[0] -= 1
        known = _prize(work, nodes[1:], size - 2)  # without the ends, by whose side all else may be rounding
        order = ordered(nodes, size, place, work.costs, work.prizes, work.budget)
        if at > 0:
            order = _other_order(work, order, nodes, size, place, bars[at - 1] * price)
        route, paid = best_selection(order, work.costs, work.prizes, work.budget, known * (1 + ROUNDING))
        price = price if at > 0 else paid
        unchanged += 1
        if len(route):
            size = _filled_up(work, nodes, _put(nodes, place, route), place)
            unchanged = 0
        if len(route) == 0 or at > 0:
            at = (at + 1) % (len(bars) + 1)
    return size


@kernel
def _other_order(work: Work, order: Ints, nodes: Ints, size: int, place: Ints, price: float) -> Ints:
    """An order that is short for the route's stops and all nodes whose prizes pay for their detours at this price."""
    wide, where, count = np.empty(len(place), dtype=np.int64), np.full(len(place), -1), ZERO
    for node in order:
        if place[node] >= 0 or work.prizes[node] >= price * least_detour(nodes, size, work.costs, node)[1]:
            wide[count], where[node] = node, count
            count += 1
    work.shorten(wide, count, where, work.costs, work.near_out, LEAST * work.budget)
    return ordered(wide, count, where, work.costs, work.prizes, work.budget)


@kernel
def _put(nodes: Ints, place: Ints, route: Ints) -> int:
    """Writes `route` to `nodes` and its positions to `place`; returns its size."""
    place[:] = -1
    for at in range(len(route)):
        nodes[at] = route[at]
        place[route[at]] = at
    return len(route)


@kernel
def _filled_up(work: Work, nodes: Ints, size: int, place: Ints) -> int:
    """The new size of a route after it is shortened and filled up, in turn, until nothing more fits."""
    last = len(place) - 1
    while True:
        work.shorten(nodes, size, place, work.costs, work.near_out, LEAST * work.budget)
        make_chain(nodes, size, work.following, work.leading)
        cost = route_cost(nodes, size, work.costs)
        add_while_fits(
            0, last, work.following, work.leading, place, work.costs, work.prizes, work.near_in, work.near_out, cost,
            work.budget,
        )  # fmt: skip
        before, size = size, write_route(0, last, work.following, nodes, place)
        if size == before:
            return size


@kernel
def _changed(work: Work, nodes: Ints, size: int, place: Ints, trials: int) -> int:
    """The new size of a route after `trials` changes of one node, or fewer once no change makes it better."""
    inner = ranked(-work.prizes[1:-1])  # where trials run out, low prizes go without one
    best, best_size = nodes.copy(), size
    most, least = _prize(work, nodes, size), route_cost(nodes, size, work.costs)
    unchanged = 0
    for trial in range(trials):
        if unchanged == len(inner):
            break
        node = 1 + inner[trial % len(inner)]
        unchanged += 1
        if place[node] < 0 and not is_wanted(node, 0, len(place) - 1, work.costs, work.prizes, work.budget):
            continue
        size = _with_change(work, nodes, size, place, node)
        prize, cost = _prize(work, nodes, size), route_cost(nodes, size, work.costs)
        better = prize > most * (1 + ROUNDING) or (prize == most and cost < least - LEAST * work.budget)
        if better and cost <= work.budget:
            best_size, most, least = size, prize, cost
            copy(nodes[:size], best)
            unchanged = 0
        size = _put(nodes, place, best[:best_size])
    return size


@kernel
def _with_change(work: Work, nodes: Ints, size: int, place: Ints, node: int) -> int:
    """The new size of the route after `node` was left out or put in, and the other stops were fitted to that."""
    last, worth = len(place) - 1, work.prizes[node]
    make_chain(nodes, size, work.following, work.leading)
    if place[node] >= 0:
        drop(node, work.following, work.leading, place)
        work.prizes[node] = 0.0  # so that other nodes fill its place
        size = _filled_up(work, nodes, write_route(0, last, work.following, nodes, place), place)
    else:
        behind, added = best_spot(
            node, 0, last, work.following, work.leading, place, work.costs, work.near_in, work.near_out
        )
        cost = route_cost(nodes, size, work.costs) + added
        add(node, behind, work.following, work.leading, place)
        work.prizes[node] = np.inf  # so that other nodes are dropped
        drop_until_fits(0, last, work.following, work.leading, place, work.costs, work.prizes, cost, work.budget)
        size = write_route(0, last, work.following, nodes, place)
    work.prizes[node] = worth
    return _filled_up(work, nodes, size, place)


@kernel
def _prize(work: Work, nodes: Ints, size: int) -> float:
    """What the route collects."""
    total = 0.0
    for at in range(size):
        total += work.prizes[nodes[at]]
    return total


@kernel
def _nearest(costs: Floats) -> Ints:
    """(n, k) the `NEAR` other nodes that are cheapest to reach from each node, cheapest first."""
    count = len(costs)
    few = min(count - 1, NEAR)
    near, away = np.empty((count, few), dtype=np.int64), np.empty(few)
    for here in range(count):
        known = 0
        for there in range(count):
            cost = costs[here, there]
            if there == here or (known == few and cost >= away[few - 1]):
                continue
            at = known if known < few else few - 1
            while at > 0 and away[at - 1] > cost:
                away[at], near[here, at] = away[at - 1], near[here, at - 1]
                at -= 1
            away[at], near[here, at] = cost, there
            known = min(known + 1, few)
    return near
