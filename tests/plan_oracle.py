"""The slow truth about plans: tiny random problems with any rules, their best plan, and a twin of `check_plan`.

Nothing here uses the package's own clock, judge or search: `Problem` holds plain lists, and can also hold problems that
`Instance` refuses as contradictory.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from orienteer import Budget, Instance, InvalidInstance, Route

FEATURES = ("service", "free end", "required", "windows", "routes", "groups", "budgets")
SHARE = 1e-9
"""The tolerance, as a share of the largest time or of the budget."""


def subsets(features: Collection[str] = FEATURES) -> list[tuple[str, ...]]:
    """All sets of features, the empty one first."""
    return [chosen for count in range(len(features) + 1) for chosen in itertools.combinations(features, count)]


class Way(NamedTuple):
    """A route of a problem."""

    start: int
    end: int | None
    opens: float
    limit: float


class Purse(NamedTuple):
    """A budget of a problem."""

    name: str
    weights: list[float]
    most: float


@dataclass
class Problem:
    """A problem as plain lists; `windows` has a list for each node, empty where a visit may begin at any time."""

    costs: list[list[float]]
    prizes: list[float]
    ways: list[Way]
    service: list[float] = field(default_factory=list)
    required: list[int] = field(default_factory=list)
    windows: list[list[tuple[float, float]]] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    purses: list[Purse] = field(default_factory=list)

    @classmethod
    def of(cls, instance: Instance) -> "Problem":
        """The problem that an instance holds."""
        size = len(instance.prizes)
        routes = instance.routes or (Route(instance.start, instance.end, 0.0, instance.limit),)
        return cls(
            costs=instance.costs.tolist(),
            prizes=instance.prizes.tolist(),
            ways=[Way(route.start, route.end, route.opens, route.limit) for route in routes],
            service=[0.0] * size if instance.service is None else instance.service.tolist(),
            required=list(instance.required),
            windows=[[] if entry is None else list(entry) for entry in instance.windows or [None] * size],
            groups=[list(group) for group in instance.groups],
            purses=[Purse(one.name, one.weights.tolist(), one.most) for one in instance.budgets],
        )

    def instance(self) -> Instance:
        """The instance, or an `InvalidInstance` where the package sees that rules contradict each other."""
        first = self.ways[0]
        rules: dict[str, Any] = {"required": self.required, "groups": self.groups}
        rules["budgets"] = [Budget(*purse) for purse in self.purses]
        if any(self.service):
            rules["service"] = self.service
        if any(self.windows):
            rules["windows"] = [entry or None for entry in self.windows]
        if len(self.ways) > 1 or first.opens:
            rules["routes"] = [Route(*way) for way in self.ways]
        return Instance(self.costs, self.prizes, first.limit, first.start, first.end, **rules)

    @property
    def size(self) -> int:
        return len(self.prizes)

    @property
    def ends(self) -> set[int]:
        """Starts and ends of all routes."""
        return {way.start for way in self.ways} | {way.end for way in self.ways if way.end is not None}

    @property
    def inner(self) -> list[int]:
        """The nodes that may be stops on the way."""
        return [node for node in range(self.size) if node not in self.ends]

    @property
    def slack(self) -> float:
        return SHARE * max(abs(way.opens) + way.limit for way in self.ways)


def begin_of(problem: Problem, node: int, arrive: float) -> float:
    """When a visit begins after an arrival; infinite where the node has closed by then."""
    if not problem.windows or not problem.windows[node]:
        return arrive
    open_still = [max(arrive, opens) for opens, closes in problem.windows[node] if arrive <= closes + problem.slack]
    return min(open_still, default=math.inf)


def visit_of(problem: Problem, node: int) -> float:
    """How long a visit takes."""
    return problem.service[node] if problem.service else 0.0


def best_plan(problem: Problem | Instance) -> float | None:
    """The most prize of any plan, by trying every order of every set on every route; None where there is no plan.

    For each route, the sets of nodes that it could visit are found first, then all ways to give each route one of its
    sets are looked at; for problems of up to seven nodes.
    """
    problem = Problem.of(problem) if isinstance(problem, Instance) else problem
    if problem.size > 7:
        raise ValueError(f"the oracle is for at most 7 nodes, got {problem.size}")
    known: dict[Way, set[frozenset[int]]] = {}
    for way in problem.ways:
        if way not in known:
            known[way] = set(_sets(problem, way))
    shared: set[frozenset[int]] = {frozenset()}
    for way in problem.ways:
        shared = {mine | others for mine in known[way] for others in shared if not mine & others}
    ends = problem.ends
    allowed = [visited for visited in shared if not choice_broken(problem, visited | ends)]
    return max((math.fsum(problem.prizes[node] for node in visited | ends) for visited in allowed), default=None)


def _sets(problem: Problem, way: Way) -> Iterator[frozenset[int]]:
    """The set of every order of inner nodes that the route can visit, one by one."""
    latest = way.opens + way.limit + problem.slack
    inner = problem.inner
    paths: list[tuple[tuple[int, ...], float]] = [((way.start,), way.opens)]
    while paths:
        path, clock = paths.pop()
        last = path[-1]
        home = 0.0 if way.end in (None, last) else problem.costs[last][way.end]
        if clock + home <= latest:
            yield frozenset(path[1:])
        for node in inner:
            if node not in path:
                leave = begin_of(problem, node, clock + problem.costs[last][node]) + visit_of(problem, node)
                if leave <= latest:
                    paths.append(((*path, node), leave))


class Broken(NamedTuple):
    """A rule that a plan breaks: where, and by how much, as far as the rule has a place and an amount."""

    rule: str
    route: int | None = None
    stop: int | None = None
    amount: float | None = None


class Times(NamedTuple):
    """A stop of a route."""

    node: int
    arrive: float
    begin: float
    leave: float


class Verdict(NamedTuple):
    """All rules that a plan breaks; what the plan is worth and costs, and its times, where it breaks none."""

    broken: list[Broken]
    prize: float = math.nan
    costs: tuple[float, ...] = ()
    times: tuple[tuple[Times, ...], ...] = ()


def slow_check(problem: Problem | Instance, routes: Sequence[Sequence[int]]) -> Verdict:
    """What a plan is worth, or every rule that it breaks: the twin of `check_plan`."""
    problem = Problem.of(problem) if isinstance(problem, Instance) else problem
    broken = _shape_broken(problem, routes)
    if broken:
        return Verdict(broken)
    times = []
    for number, route in enumerate(routes):
        broken += _clock_broken(problem, number, route)
        times.append(tuple(_times(problem, problem.ways[number], route)))
    visited = problem.ends.union(*routes)
    broken += choice_broken(problem, visited)
    if broken:
        return Verdict(broken)
    costs = tuple(stops[-1].leave - way.opens for stops, way in zip(times, problem.ways, strict=True))
    return Verdict([], math.fsum(problem.prizes[node] for node in visited), costs, tuple(times))


def choice_broken(problem: Problem, visited: Collection[int]) -> list[Broken]:
    """What is wrong with a set of visited nodes, starts and ends among them, whatever their order."""
    broken = [Broken("required") for node in problem.required if node not in visited]
    broken += [Broken("group") for group in problem.groups if len(set(group).intersection(visited)) > 1]
    for purse in problem.purses:
        used = math.fsum(purse.weights[node] for node in visited)
        if used > purse.most * (1 + SHARE):
            broken.append(Broken("budget", amount=used - purse.most))
    return broken


def _shape_broken(problem: Problem, routes: Sequence[Sequence[int]]) -> list[Broken]:
    if len(routes) != len(problem.ways):
        return [Broken("number of routes")]
    broken, seen = [], set[int]()
    for number, (route, way) in enumerate(zip(routes, problem.ways, strict=True)):
        if len(route) < (1 if way.end is None else 2):
            broken.append(Broken("too short", number))
            continue
        broken += [Broken("no such node", number, k) for k, node in enumerate(route) if not 0 <= node < problem.size]
        if route[0] != way.start:
            broken.append(Broken("start", number))
        if way.end is not None and route[-1] != way.end:
            broken.append(Broken("end", number))
        for stop in range(1, len(route) - (way.end is not None)):
            if route[stop] in problem.ends:
                broken.append(Broken("end on the way", number, stop))
            elif route[stop] in seen:
                broken.append(Broken("twice", number, stop))
            seen.add(route[stop])
    return broken


def _times(problem: Problem, way: Way, route: Sequence[int]) -> Iterator[Times]:
    leave, before = way.opens, route[0]
    for node in route:
        arrive = leave + (0.0 if node == before else problem.costs[before][node])
        begin = begin_of(problem, node, arrive)
        leave, before = begin + visit_of(problem, node), node
        yield Times(node, arrive, begin, leave)


def _clock_broken(problem: Problem, number: int, route: Sequence[int]) -> list[Broken]:
    """What comes first on the route: a leg that is missing, a node that has closed, or the end after the limit."""
    way = problem.ways[number]
    for stop, now in enumerate(_times(problem, way, route)):
        if now.arrive == math.inf:
            return [Broken("no way", number, stop)]
        if now.begin == math.inf:
            closes = max(closes for _, closes in problem.windows[now.node])
            return [Broken("closed", number, stop, now.arrive - closes)]
    over = now.leave - way.opens - way.limit
    return [Broken("limit", number, None, over)] if over > problem.slack else []


def random_problem(rng: np.random.Generator, features: Collection[str] = (), size: int | None = None) -> Problem:
    """A tiny problem with these features and no others; some are contradictory, and some more have no plan.

    Costs are symmetric or not, whole or not, and legs may be missing. Routes open at any time, start and end together
    or apart, and differ in their limits. With a `size` above 7, too large for `best_plan`, limits and windows grow too.
    """
    whole = bool(rng.random() < 0.6)
    size = int(rng.integers(4, 8)) if size is None else size
    longer = max(1, size // 7)
    costs = _random_costs(rng, size, whole)
    ways = [way._replace(limit=way.limit * longer) for way in _random_ways(rng, size, features, whole)]
    prizes = rng.integers(0, 9, size).astype(float) if rng.random() < 0.5 else rng.random(size)
    problem = Problem(costs.tolist(), prizes.tolist(), ways)
    inner = problem.inner
    if "service" in features:
        takes = _drawn(rng, 0, 4, len(inner), whole)
        takes[int(rng.integers(len(inner)))] = 1.0
        problem.service = [0.0] * size
        for node, value in zip(inner, takes, strict=True):
            problem.service[node] = value
    if "required" in features:
        problem.required = _some(rng, inner, 1, 3)
    if "windows" in features:
        problem.windows = [[] for _ in range(size)]
        for node in _some(rng, inner, 1, len(inner)):
            problem.windows[node] = _random_windows(rng, ways, whole, longer)
    if "groups" in features:
        problem.groups = [_some(rng, inner, 2, 3) for _ in range(longer * int(rng.integers(1, 4)))]
    if "budgets" in features:
        for name in ("fees", "hours")[: int(rng.integers(1, 3))]:
            weights = np.array(_drawn(rng, 0, 5, size, whole))
            weights[list(problem.ends)] *= rng.random() < 0.3
            most = float(weights.sum() * rng.uniform(0.2, 1.0))
            problem.purses.append(Purse(name, weights.tolist(), math.floor(most) if whole else most))
    return problem


def random_instance(rng: np.random.Generator, features: Collection[str] = (), size: int | None = None) -> Instance:
    """As `random_problem`, drawn again where `Instance` refuses the problem as contradictory."""
    while True:
        try:
            return random_problem(rng, features, size).instance()
        except InvalidInstance:
            continue


def random_plan(rng: np.random.Generator, problem: Problem) -> list[list[int]]:
    """A plan of some inner nodes in any order, which breaks a rule of shape now and then."""
    stops = _some(rng, problem.inner, 0, len(problem.inner))
    rng.shuffle(stops)
    routes = [[way.start] for way in problem.ways]
    for node in stops:
        routes[int(rng.integers(len(routes)))].append(node)
    for route, way in zip(routes, problem.ways, strict=True):
        route.extend(() if way.end is None else (way.end,))
    if rng.random() < 0.15:
        _spoil(rng, routes, problem.size)
    return routes


def _spoil(rng: np.random.Generator, routes: list[list[int]], size: int) -> None:
    """Breaks a rule of shape, perhaps."""
    route = routes[int(rng.integers(len(routes)))]
    match int(rng.integers(4)):
        case 0:
            route.insert(int(rng.integers(len(route) + 1)), int(rng.integers(-1, size + 1)))
        case 1:
            del route[int(rng.integers(len(route)))]
        case 2:
            route.reverse()
        case 3:
            routes.append(list(route)) if rng.random() < 0.5 else routes.pop()


def _random_costs(rng: np.random.Generator, size: int, whole: bool) -> np.ndarray:
    points = rng.random((size, 2)) * 9
    kind = rng.random()
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    costs = distances if kind < 0.4 else rng.random((size, size)) * 9
    costs = np.rint(costs) if whole else costs
    if 0.4 <= kind < 0.6:
        costs = np.minimum(costs, costs.T)
    if rng.random() < 0.3:
        costs[rng.random((size, size)) < rng.choice([0.15, 0.45])] = np.inf
    np.fill_diagonal(costs, rng.choice([0.0, 3.0, np.inf]))  # which nobody travels
    return costs


def _random_ways(rng: np.random.Generator, size: int, features: Collection[str], whole: bool) -> list[Way]:
    """Routes between at most three places, so that at least two nodes are left to visit."""
    count = int(rng.integers(2, 4)) if "routes" in features else 1
    places = rng.permutation(size)[: 1 + int(rng.integers(min(3, size - 2)))]
    free = [False] * count
    if "free end" in features:
        free = (rng.random(count) < 0.6).tolist()
        free[int(rng.integers(count))] = True
    alike, ways = rng.random() < 0.4, list[Way]()
    for place in range(count):
        start = int(rng.choice(places))
        end = start if rng.random() < 0.5 else int(rng.choice(places))
        opens = 0.0 if rng.random() < 0.5 else _drawn(rng, -20, 40, 1, whole)[0]
        limit = _drawn(rng, 2, 22, 1, whole)[0]
        ways.append(Way(start, None if free[place] else end, opens, limit))
        if alike and place and not free[place] and not free[0]:
            ways[place] = ways[0]
    return ways


def _random_windows(
    rng: np.random.Generator, ways: Sequence[Way], whole: bool, longer: int
) -> list[tuple[float, float]]:
    """One to three windows about the time of a route, now and then all in the past, or without an end."""
    way = ways[int(rng.integers(len(ways)))]
    clock, windows = way.opens - (30.0 if rng.random() < 0.1 else float(rng.integers(-4, 6))), []
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        opens = clock + longer * _drawn(rng, 0, 10, 1, whole)[0]
        closes = opens + longer * _drawn(rng, 0, 8, 1, whole)[0]
        windows.append((opens, math.inf if rng.random() < 0.05 else closes))
        clock = closes + 1
    rng.shuffle(windows)
    return [(float(opens), float(closes)) for opens, closes in windows]


def _drawn(rng: np.random.Generator, low: int, high: int, count: int, whole: bool) -> list[float]:
    """Numbers from `low` to `high`, whole or not."""
    values: list[float] = (rng.integers(low, high + 1, count) if whole else rng.uniform(low, high, count)).tolist()
    return [float(value) for value in values]


def _some(rng: np.random.Generator, nodes: Sequence[int], least: int, most: int) -> list[int]:
    """A random subset of the nodes, of `least` to `most`."""
    count = int(rng.integers(least, min(most, len(nodes)) + 1))
    return sorted(int(node) for node in rng.permutation(nodes)[:count])
