"""PyVRP: iterated local search for vehicle routing, here with optional clients that carry prizes, a vehicle a route.

PyVRP takes whole numbers and cuts decimals off without a word, so all is scaled. Times are counted in a power of ten
of the problem's unit where all of them are whole in it, else in millionths of the longest limit; then legs and visits
are rounded up and windows inwards, so that no plan seems to fit that does not. A unit of distance costs 1. The step
between prizes (the largest number of which all prizes are multiples) is worth several times what all routes may cost
together: prize comes first, and distance breaks ties.
"""

import math
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from orienteer.lab.bench.peer import Peer, Whole
from orienteer.model.errors import Unsupported
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.reduce import REDUCED
from orienteer.model.rules import Route

DECIMALS = 4
"""Prizes with more decimals have no step that all of them are multiples of."""


@dataclass(frozen=True)
class PyVrpConfig:
    """The scales on which costs and prizes become whole numbers."""

    limit: int = 1_000_000
    """The longest limit, in PyVRP's units, where times are not whole in any power of ten."""
    worth: int = 10
    """What a step between prizes is worth, in costs of all routes together. From 1 on distance only breaks ties; but
    PyVRP's penalties for breaking a limit, which begin at 50,000 a unit, are then too strict: in as many iterations
    it collects 1.7 % less of TOP. At 25 it finds no plan for some files of TOPTW."""
    steps: int = 100
    """The steps in the largest prize, where prizes have no step of their own, or one that would be below a millionth
    of the largest prize."""


class PyVrpPeer(Peer[PyVrpConfig]):
    """PyVRP on the instance as a problem with prizes."""

    name = "pyvrp"
    package = "pyvrp"
    distribution = "pyvrp"
    config_class = PyVrpConfig
    handles = REDUCED | {"required", "windows", "routes", "groups"}

    def check_handled(self, instance: Instance) -> None:
        super().check_handled(instance)
        for node, windows in enumerate(instance.windows or ()):
            if windows is not None and len(windows) > 1:
                raise Unsupported(f"pyvrp has one window for a node, node {node} has {len(windows)}")
        for node, count in Counter(node for group in instance.groups for node in group).items():
            if count > 1:
                raise Unsupported(f"pyvrp has one group for a node, node {node} is in {count}")

    def inner_routes(self, instance: Instance, seconds: float, seed: int) -> list[list[int]] | None:
        from pyvrp import solve
        from pyvrp.stop import MaxRuntime

        began = time.perf_counter()
        model = Model(instance, self.config)
        if not set(instance.required) <= set(model.nodes):
            return None
        routes: list[list[int]] = [[] for _ in instance.each_route]
        if not model.nodes:
            return routes
        data = model.data()
        left = max(0.0, seconds - (time.perf_counter() - began))  # the others' clocks do not stop for the model either
        best = solve(data, MaxRuntime(left), seed=seed, collect_stats=False).best
        if not best.is_feasible():
            return None if instance.required else routes
        free = {kind: model.numbers(route) for kind, route in enumerate(model.kinds)}
        for found in best.routes():
            number = free[found.vehicle_type()].pop(0)
            routes[number] = [model.nodes[visit.idx] for visit in found if visit.is_client()]
        return routes


class Model:
    """A problem in PyVRP's words: clients are `nodes` in order, vehicle types are `kinds`, the different routes."""

    def __init__(self, instance: Instance, config: PyVrpConfig):
        self.instance = instance
        self.config = config
        self.kinds = list(dict.fromkeys(instance.each_route))
        self.ends = sorted(instance.ends)
        barred = _barred_by_required(instance)
        fits = set(np.flatnonzero(instance.reach.fits.any(axis=0)).tolist())
        self.nodes = [
            node
            for node in range(instance.size)
            if node not in instance.ends | barred
            and node in fits
            and (instance.prizes[node] > 0 or node in instance.required)
            and self.window(node)[0] <= self.window(node)[1]
        ]

    def numbers(self, kind: Route) -> list[int]:
        """The routes of the problem that are alike, by number."""
        return [number for number, route in enumerate(self.instance.each_route) if route == kind]

    def data(self) -> Any:
        """The `ProblemData`."""
        from pyvrp import ClientGroup, Depot, Location, ProblemData, VehicleType

        places = [*self.ends, *self.nodes, self.instance.size]
        legs = self.legs()[np.ix_(places, places)]
        timed = self.instance.windows is not None
        groups = [[self.nodes.index(node) for node in group if node in self.nodes] for group in self.instance.groups]
        groups = [group for group in groups if len(group) > 1]
        vehicles = [
            VehicleType(
                len(self.numbers(kind)),
                start_depot=self.ends.index(kind.start),
                end_depot=len(self.ends) if kind.end is None else self.ends.index(kind.end),
                **self.span(kind),
            )
            for kind in self.kinds
        ]
        return ProblemData(
            locations=[Location(0, 0) for _ in legs],
            clients=self.clients(groups),
            depots=[
                *(Depot(place, *self.window(node)) for place, node in enumerate(self.ends)),
                Depot(len(places) - 1),
            ],
            vehicle_types=vehicles,
            distance_matrices=[legs],
            duration_matrices=[legs if timed else np.zeros_like(legs)],
            groups=[ClientGroup(group, required=False) for group in groups],
        )

    def clients(self, groups: list[list[int]]) -> list[Any]:
        """A client for each of `nodes`; `groups` are those of clients by their places in `nodes`."""
        from pyvrp import Client

        prizes = self.prizes()
        group_of = {client: number for number, group in enumerate(groups) for client in group}
        visits = self.visits if self.instance.windows is not None else np.zeros_like(self.visits)
        return [
            Client(
                len(self.ends) + client,
                service_duration=int(visits[node]),
                tw_early=self.window(node)[0],
                tw_late=self.window(node)[1],
                prize=int(prizes[node]),
                required=node in self.instance.required,
                group=group_of.get(client),
            )
            for client, node in enumerate(self.nodes)
        ]

    def span(self, kind: Route) -> dict[str, int]:
        """What keeps a route within its limit: without windows a distance, which PyVRP counts twice as fast as time."""
        if self.instance.windows is None:
            return {"max_distance": self._down(kind.limit)}
        opens = self._up(kind.opens - self.first)
        return {"tw_early": opens, "tw_late": self._down(kind.opens + kind.limit - self.first)}

    def legs(self) -> Whole:
        """(n + 1, n + 1) costs, the last place a free end; without windows with the visit before the leg."""
        size = self.instance.size
        whole = np.zeros((size + 1, size + 1), dtype=np.int64)
        whole[:-1, :-1] = self._all_up(
            np.minimum(self.instance.costs, 2 * self.instance.limit)
        )  # dearer is out of reach
        if self.instance.windows is None:
            whole[:-1] += self.visits[:, None]
        np.fill_diagonal(whole, 0)
        return whole

    @cached_property
    def visits(self) -> Whole:
        """(n,) what visits cost."""
        service = self.instance.service
        return self._all_up(np.zeros(self.instance.size) if service is None else service)

    def window(self, node: int) -> tuple[int, int]:
        """When a visit may begin, from when the first route opens to when the last one must have ended."""
        whole = 0, self._down(self.last - self.first)
        windows = None if self.instance.windows is None else self.instance.windows[node]
        if windows is None:
            return whole
        opens, closes = (min(max(bound, self.first), self.last) - self.first for bound in windows[0])
        return self._up(opens), self._down(closes) if windows[0][1] >= self.first else -1

    def prizes(self) -> Whole:
        """(n,) prizes, of which a step is worth more than all routes together may cost."""
        routes = sum(self._down(route.limit) for route in self.instance.each_route)
        prizes = np.zeros(self.instance.size)
        prizes[self.nodes] = self.instance.prizes[self.nodes]
        largest = float(prizes.max())
        step = step_of(prizes)
        if step is None or largest > 1e6 * step:
            step = largest / self.config.steps or 1.0
        scaled = np.round(prizes / step * self.config.worth * (routes + 1)).astype(np.int64)
        return np.where(prizes > 0, np.maximum(scaled, 1), 0)

    @property
    def first(self) -> float:
        """When the first route opens."""
        return min(route.opens for route in self.instance.each_route)

    @property
    def last(self) -> float:
        """When the last route must have ended."""
        return max(route.opens + route.limit for route in self.instance.each_route)

    @cached_property
    def scale(self) -> float:
        """PyVRP's units in the problem's unit of time."""
        limit = self.instance.limit
        power = 10.0 ** (5 - math.floor(math.log10(limit)))
        routes = self.instance.each_route
        times = [np.array([value for route in routes for value in (route.opens, route.limit)])]
        times.append(np.minimum(self.instance.costs, 2 * limit).ravel())
        times += [] if self.instance.service is None else [self.instance.service]
        pairs = [pair for windows in self.instance.windows or () for pair in windows or ()]
        times += [np.clip(np.array(pairs).ravel(), self.first, self.last)] if pairs else []
        exact = all(bool((np.abs(some * power - np.rint(some * power)) <= 1e-6).all()) for some in times)
        return power if exact else self.config.limit / limit

    def _all_up(self, times: Array) -> Whole:
        """Rounded up, from the sixth decimal on, which may be an error of the scaling."""
        return np.ceil(np.round(times * self.scale, 6)).astype(np.int64)

    def _up(self, time: float) -> int:
        return math.ceil(round(time * self.scale, 6))

    def _down(self, time: float) -> int:
        return math.floor(round(time * self.scale, 6))


def step_of(prizes: Array) -> float | None:
    """The largest number of which all prizes are multiples; None where they have too many decimals."""
    for decimals in range(DECIMALS + 1):
        scaled = prizes * 10.0**decimals
        if scaled.max() < 2**53 and (np.abs(scaled - np.rint(scaled)) <= 1e-6).all():
            return int(np.gcd.reduce(np.rint(scaled).astype(np.int64))) / 10.0**decimals or None
    return None


def _barred_by_required(instance: Instance) -> frozenset[int]:
    """Nodes of groups whose one visit is another, required node's."""
    required = set(instance.required)
    return frozenset(
        node for group in instance.groups if required & set(group) for node in group if node not in required
    )
