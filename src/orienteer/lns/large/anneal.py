"""Ruin and recreation at a price of cost.

On a large problem the best of a thousand small changes is not to be waited for: what a change frees in one place is
needed in another. So cost has a price, the same everywhere. A step is judged by prize less price times cost alone, and
may take the route over its limit. The price rises while the route is too long and falls while room is left. What a
step takes does not depend on the number of nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from orienteer.kernel import Floats, Ints, State, lean, next_float, next_int
from orienteer.kernel.legs import leg
from orienteer.lns.large.ground import cheapest_detour
from orienteer.lns.recreate import nearest_absent, sort_by_prize
from orienteer.lns.route import Ground, Route, link, unlink

LOOKS = 256
"""Steps after which temperature and price are set anew."""
STEER = 16.0
"""How fast the price moves: the share by which a route is too long, times this, in as many steps as there are nodes."""
MOST_OFF = 0.1
"""By which share of the limit a route counts as too long or too short at most."""


class Prices(NamedTuple):
    """What a step may do, in the problem's units of cost and prize."""

    hot: float
    cold: float
    """Temperature at the start and at the end, in cost; in prize it is that times the price."""
    remove: int
    """The most stops removed in a step."""
    longest: int
    """The most stops of a string that is removed."""
    strings: int
    """The most strings removed in a step."""
    spare: float
    """The probability that a string leaves one stop inside it."""
    fewest: int
    most: int
    """The fewest and the most candidates for insertion in a step."""
    noise: float
    """The random factor on a candidate's prize is between 1 - noise and 1 + noise."""
    lowest: float
    highest: float
    """The price at which a step inserts, as a share of the true one, is drawn between these two."""
    force: float
    """The probability that the first candidate goes in whatever it costs: a far group of nodes pays only as a whole."""
    sort_share: float
    """The probability that candidates are taken by falling prize, otherwise in random order."""
    close: float
    """The probability that a seed that is not visited gives way to a node near the route."""


class Room(NamedTuple):
    """Room for the work of a step."""

    removed: Ints
    """(k, 2) the stops that went, and the node before each."""
    candidates: Ints
    inserted: Ints


def new_room(prices: Prices) -> Room:
    """Room for a step of these moves."""
    removed = np.zeros((prices.remove + 1, 2), dtype=np.int64)
    return Room(removed, np.zeros(prices.most + 1, dtype=np.int64), np.zeros(prices.most + 1, dtype=np.int64))


class Part(NamedTuple):
    """What a thread works on: the whole route, or what of it lies in a part of the nodes."""

    route: Route
    """Links that leave the part lead to n, as behind the end: nothing is put there, and the nodes that have them stay.
    `before` of nodes outside of the part is less than -1: they are neither on the route nor to be put on it."""
    seeds: Ints
    """The nodes of the part, but for start and end: those around which steps are taken."""
    anchor: int
    """The start, behind which nodes go that have no stop near them, or -1 where the start is not in the part."""
    price: Floats
    """(2,) the price of cost, and the least that it may fall to."""
    room: Room
    state: State


@lean
def anneal_at_price(
    ground: Ground, part: Part, prices: Prices, budget: float, most: float, steps: int, begin: float, end: float
) -> None:
    """Does `steps` steps, while the temperature falls from `begin` to `end`, 0 to 1, and the price is steered.

    The price is steered so that the route's total becomes the budget. No step takes the total over `most`.
    """
    route, price, room, state = part.route, part.price, part.room, part.state
    cooling = math.log(prices.cold / prices.hot)
    steer = STEER * min(LOOKS, steps) / len(part.seeds)
    temperature = prices.cold
    for step in range(steps):
        if step % LOOKS == 0:
            off = (route.total[0] - budget) / budget
            price[0] = max(price[1], price[0] * math.exp(steer * max(-MOST_OFF, min(MOST_OFF, off))))
            temperature = price[0] * prices.hot * math.exp(cooling * (begin + (end - begin) * step / steps))
        cost, prize = route.total[0], route.total[1]
        seed = _seed(ground, part, prices.close)
        gone = _ruin(ground, route, seed, prices, room, state)
        put = _recreate(ground, part, seed, price[0], prices, most)
        gain = route.total[1] - prize - price[0] * (route.total[0] - cost)
        fits = route.total[0] <= max(most, cost)
        if not fits or (gain < 0 and next_float(state) >= math.exp(gain / temperature)):
            for i in range(put - 1, -1, -1):
                unlink(route, room.inserted[i])
            for i in range(gone - 1, -1, -1):
                link(route, room.removed[i, 0], room.removed[i, 1])
            route.total[0], route.total[1] = cost, prize


@lean
def _seed(ground: Ground, part: Part, close: float) -> int:
    """A random node; of those far from the route, most give way to one near it."""
    before, seeds, state = part.route.before, part.seeds, part.state
    seed = seeds[next_int(state, len(seeds))]
    if before[seed] < 0 and next_float(state) < close:
        for _ in range(20):
            other = seeds[next_int(state, len(seeds))]
            if before[other] >= 0:
                near = ground.near[other, next_int(state, min(10, ground.near.shape[1]))]
                return near if 0 < near < len(before) - 1 and before[near] >= -1 else other
    return seed


@lean
def _ruin(ground: Ground, route: Route, seed: int, prices: Prices, room: Room, state: State) -> int:
    """Removes strings of stops around the seed; returns how many stops went."""
    nodes = len(ground.prizes)
    target = 1 + next_int(state, prices.remove)
    gone, cut = 0, 0
    for index in range(-1, ground.near.shape[1]):
        node = seed if index < 0 else ground.near[seed, index]
        if route.before[node] < 0 or route.before[node] >= nodes or route.after[node] >= nodes:
            continue
        size = min(1 + next_int(state, prices.longest), target - gone)
        for _ in range(next_int(state, size)):
            left = route.before[node]
            if route.before[left] >= nodes:
                break
            node = left
        spared = 1 + next_int(state, size - 2) if size > 2 and next_float(state) < prices.spare else -1
        for place in range(size):
            if route.after[node] >= nodes:
                break
            following = route.after[node]
            if place != spared:
                take_out(ground, route, node)
                room.removed[gone, 0], room.removed[gone, 1] = node, route.before[node]
                unlink(route, node)
                gone += 1
            node = following
        cut += 1
        if gone >= target or cut >= prices.strings:
            break
    return gone


@lean
def take_out(ground: Ground, route: Route, node: int) -> None:
    """Counts a stop out, before it is unlinked."""
    left, right = route.before[node], route.after[node]
    route.total[0] -= detour(ground, left, node, right)
    route.total[1] -= ground.prizes[node]


@lean
def detour(ground: Ground, left: int, node: int, right: int) -> float:
    """What a stop between two others costs."""
    return leg(ground.costs, left, node) + leg(ground.costs, node, right) - leg(ground.costs, left, right)


@lean
def _recreate(ground: Ground, part: Part, seed: int, price: float, prices: Prices, most: float) -> int:
    """Inserts what pays, near the seed; takes what does not pay in the end out again; returns how many stay."""
    route, room, state = part.route, part.room, part.state
    count = _gather(ground, route, seed, prices, room, state)
    asked = price * (prices.lowest + (prices.highest - prices.lowest) * next_float(state))
    forced = next_float(state) < prices.force
    put = 0
    for index in range(count):
        node = room.candidates[index]
        cost, left = cheapest_detour(ground, route, node, part.anchor)
        factor = 1.0 - prices.noise + 2.0 * prices.noise * next_float(state)
        pays = ground.prizes[node] * factor > asked * cost or (forced and index == 0)
        if pays and route.total[0] + cost <= most:
            link(route, node, left)
            route.total[0] += cost
            route.total[1] += ground.prizes[node]
            room.inserted[put] = node
            put += 1
    kept = 0
    for index in range(put):
        node = room.inserted[index]
        if ground.prizes[node] < price * detour(ground, route.before[node], node, route.after[node]):
            take_out(ground, route, node)
            unlink(route, node)
        else:
            room.inserted[kept] = node
            kept += 1
    return kept


@lean
def _gather(ground: Ground, route: Route, seed: int, prices: Prices, room: Room, state: State) -> int:
    """Lists nodes near the seed that are not on the route, in random order or by prize; returns how many."""
    nodes = room.candidates
    most = prices.fewest + next_int(state, prices.most - prices.fewest + 1)
    count = nearest_absent(ground, route, seed, most, nodes)
    for i in range(count - 1, 0, -1):
        j = next_int(state, i + 1)
        nodes[i], nodes[j] = nodes[j], nodes[i]
    if next_float(state) < prices.sort_share:
        sort_by_prize(ground, nodes, count)
    return count
