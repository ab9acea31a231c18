"""The cost-level beam search once more, in plain Python and for one instance: the twin of the fast one."""

import math
from dataclasses import dataclass, field

from orienteer import Instance


@dataclass
class Path:
    nodes: tuple[int, ...]
    cost: float
    prize: float
    score: float

    @property
    def twin_key(self) -> tuple[frozenset[int], int]:
        return frozenset(self.nodes), self.nodes[-1]


@dataclass
class Found:
    prize: float = -math.inf
    cost: float = math.inf
    expanded: int = 0
    queues: dict[int, list[Path]] = field(default_factory=dict)


def slow_cost_level_search(instance: Instance, score, width: int, tau: float, spread: float) -> Found:
    """Best closed prize and its cost, and how many paths were expanded. `score(path)` is called on each child."""
    found, seen = Found(), {}
    prizes = [float(p) for p in instance.prizes]
    worth = [p for p in prizes if p > 0]
    price = spread * (sum(worth) / len(worth) if worth else 0.0)
    ends = {instance.start, instance.end}
    empty = Path((instance.start,), 0.0, sum(prizes[v] for v in ends), 0.0)
    straight = 0.0 if instance.start == instance.end else float(instance.costs[instance.start, instance.end])
    if straight <= instance.budget:
        found.prize, found.cost = empty.prize, straight
    readings = [(0, [empty])]
    level = 0
    while readings or level <= math.ceil(instance.budget / tau):
        if not readings:
            waiting = found.queues.pop(level, [])
            fresh = [p for p in waiting if not seen.get(p.twin_key, math.inf) <= p.cost]
            if not fresh:
                level += 1
                continue
            seen.update((p.twin_key, p.cost) for p in fresh)
            readings = [(level, fresh)]
        _, paths = readings.pop()
        children = [c for path in paths for c in _children(instance, path, score, found)]
        found.expanded += len(paths)
        for place in sorted({math.ceil(c.cost / tau) for c in children}):
            arriving = [c for c in children if math.ceil(c.cost / tau) == place]
            _merge(found.queues.setdefault(place, []), arriving, seen, width, price)
    return found


def _children(instance, path, score, found):
    last = path.nodes[-1]
    for node in range(instance.size):
        cost = path.cost + float(instance.costs[last, node])
        if node in path.nodes or node == instance.end or not cost + instance.to_end[node] <= instance.budget:
            continue
        child = Path((*path.nodes, node), cost, path.prize + float(instance.prizes[node]), 0.0)
        child.score = score(child)
        total = cost + float(instance.costs[node, instance.end])
        if total <= instance.budget and (child.prize, -total) > (found.prize, -found.cost):
            found.prize, found.cost = child.prize, total
        yield child


def _merge(queue, arriving, seen, width, price):
    if len(queue) == width:
        worst = min(_crowded(queue, price), key=lambda pair: pair[0])[0]
        arriving = [c for c in arriving if c.score >= worst]
    arriving = [c for c in arriving if not seen.get(c.twin_key, math.inf) <= c.cost]
    cheapest = {}
    for path in [*queue, *arriving]:
        if path.twin_key not in cheapest or path.cost < cheapest[path.twin_key].cost:
            cheapest[path.twin_key] = path
    ranked = sorted(_crowded(list(cheapest.values()), price), key=lambda pair: -pair[0])
    queue[:] = [path for _, path in ranked[:width]]


def _crowded(paths, price):
    """Pairs of rank and path: each path pays for every better one with its last node."""
    ahead: dict[int, int] = {}
    pairs = []
    for path in sorted(paths, key=lambda path: -path.score):
        before = ahead.get(path.nodes[-1], 0)
        pairs.append((path.score - price * before, path))
        ahead[path.nodes[-1]] = before + 1
    return pairs
