"""Several threads on one route, each in a part of the nodes of its own.

Since cost has one price everywhere, steps in different parts have nothing to do with each other but for the limit. In a
round each thread anneals its part: links between two parts stay as they are, and each thread may use an equal share of
what the limit leaves. Threads share nothing that they write, so that a result depends on the number of threads, not on
their speed. After a round the changes of all parts are added up, and the price becomes the mean of the threads' prices.
Parts are drawn anew now and then, since no step goes beyond its part.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from orienteer.kernel import Floats, Ints, State, kernel, next_int, next_word, seed_state
from orienteer.lns.large.anneal import Part, Prices, anneal_at_price, new_room
from orienteer.lns.route import Ground, Route, length

LEAST_PART = 100
"""The fewest nodes of a part; where there are fewer nodes for each thread, there are fewer threads."""
STAY = 4
"""Steps for each node after which parts are drawn anew."""
AROUND = 8
"""How many nearest nodes of each of its nodes a part grows over."""
OUTSIDE = -2
"""`before` of the nodes of other parts."""


class Crew:
    """Threads that wait for work; the caller's thread is one of them."""

    def __init__(self, threads: int, nodes: int):
        self.size = max(1, min(threads, nodes // LEAST_PART))
        self.pool = ThreadPoolExecutor(self.size - 1) if self.size > 1 else None

    def do(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> None:
        """Calls `work` with the arguments of each task and waits for all; no more tasks than threads."""
        waiting = [self.pool.submit(work, *task) for task in tasks[1:]] if self.pool else []
        work(*tasks[0])
        for future in waiting:
            future.result()

    def close(self) -> None:
        """Ends the threads."""
        if self.pool:
            self.pool.shutdown()


class Rounds:
    """The steps of a search, done by a crew."""

    def __init__(self, ground: Ground, prices: Prices, crew: Crew, seed: int):
        self.ground, self.prices, self.crew = ground, prices, crew
        self.state = seed_state(seed)
        others = [seed_state(int(next_word(self.state))) for _ in range(crew.size - 1)]
        self.rooms = [(new_room(prices), state) for state in (self.state, *others)]
        self.parts: list[Part] = []
        self.left = 0  # steps until parts are drawn anew

    def anneal(
        self, route: Route, price: Floats, budget: float, most: float, steps: int, begin: float, end: float
    ) -> None:
        """Does `steps` steps as `anneal_at_price` does; afterwards the route's totals are right, its links are not.

        Call `join` before anything else reads or changes the links.
        """
        if self.left <= 0:
            self.join(route)
            self._divide(route, price)
        self.left -= steps
        count, cost = len(self.parts), route.total[0]
        tasks = []
        for index, part in enumerate(self.parts):
            part.route.total[:] = cost / count, 0.0
            part.price[:] = price
            own = (steps + index) // count
            tasks.append((self.ground, part, self.prices, budget / count, most / count, own, begin, end))
        self.crew.do(anneal_at_price, tasks)
        route.total[0] = sum(part.route.total[0] for part in self.parts)
        route.total[1] += sum(part.route.total[1] for part in self.parts)
        price[0] = math.prod(part.price[0] for part in self.parts) ** (1 / count)

    def join(self, route: Route) -> None:
        """Writes the links of all parts to the route."""
        size = len(route.before)
        for part in self.parts:
            for whole, own in ((route.after, part.route.after), (route.before, part.route.before)):
                mine = (part.route.before != OUTSIDE) & (own != size)
                whole[mine] = own[mine]
        if self.parts:
            route.total[0] = length(self.ground, route)
        self.parts, self.left = [], 0

    def _divide(self, route: Route, price: Floats) -> None:
        """Draws parts of the route and of the nodes, one for each thread."""
        size, count = len(route.before), self.crew.size
        owner = divided(self.ground.near, count, self.state)
        beside = np.append(owner, -1)  # nobody has the node n, to which the links at both ends lead
        for index, (room, state) in enumerate(self.rooms):
            mine = owner == index
            own = Route(route.after.copy(), np.where(mine, route.before, OUTSIDE), np.zeros(2))
            visited = np.flatnonzero(own.before >= 0)
            for links in (own.after, own.before):
                links[visited[beside[links[visited]] != index]] = size
            anchor = 0 if mine[0] and own.after[0] < size else -1
            mine[0] = mine[size - 1] = False
            self.parts.append(Part(own, np.flatnonzero(mine), anchor, price.copy(), room, state))
        self.left = STAY * size


def divided(near: Ints, count: int, state: State) -> Ints:
    """(n,) the number of each node's part: `count` parts of nearly equal size, each as compact as halving allows."""
    owner = np.zeros(len(near), dtype=np.int64)
    waiting = [(0, count)]
    while waiting:
        part, share = waiting.pop()
        if share > 1:
            nodes, moved = np.flatnonzero(owner == part), share // 2
            first = nodes[next_int(state, len(nodes))]
            _grow_part(near, owner, first, part + share - moved, len(nodes) * moved // share)
            waiting += [(part, share - moved), (part + share - moved, moved)]
    return owner


@kernel
def _grow_part(near: Ints, owner: Ints, first: int, part: int, size: int) -> None:
    """Gives `size` nodes of the part of `first` to another part: the nearest to `first`, by way of near nodes."""
    old = owner[first]
    line = np.empty(size, dtype=np.int64)
    line[0], owner[first] = first, part
    done, count, spare = 0, 1, 0
    while count < size:
        if done == count:  # the rest of the old part is near none of these
            while owner[spare] != old:
                spare += 1
            line[count], owner[spare] = spare, part
            count += 1
            continue
        for index in range(min(AROUND, near.shape[1])):
            node = near[line[done], index]
            if owner[node] == old and count < size:
                line[count], owner[node] = node, part
                count += 1
        done += 1


def divide_a_little() -> None:
    """Compiles what several threads need beyond what one needs."""
    divided(np.array([[1], [0]]), 2, seed_state(0))
