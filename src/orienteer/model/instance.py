"""The problem: places, prizes, costs between them, a limit, a start and an end."""

import copy
import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orienteer.model import rules
from orienteer.model.cheapest import cheapest_to, dijkstra
from orienteer.model.clock import UNITS, Unit
from orienteer.model.distances import METRICS, MOST_IN_TABLE, Distances, pairwise
from orienteer.model.errors import InvalidInstance
from orienteer.model.numbers import TOLERANCE, Array, check_sum, check_values, frozen, numbers
from orienteer.model.plan_view import PlanView, plan_view_of
from orienteer.model.reach import Reach, reach
from orienteer.model.reduce import reduced
from orienteer.model.rules import Budget, Feature, Route, Windows
from orienteer.model.spelling import did_you_mean
from orienteer.model.view import View, view_of


@dataclass(frozen=True, eq=False)
class Instance:
    """A general orienteering problem, checked once and never changed.

    The first seven fields are the plain problem; the others add what people plan, and their defaults add nothing. The
    clock is cost: a leg adds its cost, a visit adds `service`, arriving before a window opens waits.

    Parameters
    ----------
    costs
        (n, n) cost of travelling from the row's node to the column's. Any non-negative numbers: asymmetric, without a
        triangle inequality, ``inf`` where there is no leg. The diagonal is kept but never travelled.
    prizes
        (n,) what a first visit is worth; start and end count too.
    limit
        The most that a route may cost.
    start, end
        Node numbers, or names; start and end may be one node. With ``end=None`` the route may stop anywhere.
    coords
        (n, 2) positions, for pictures and files only.
    names
        A text for each node, all different.
    service
        (n,) what a visit costs, spent at the node; 0 at starts and ends. None where no visit costs anything.
    required
        Nodes that must be visited.
    windows
        For each node None, one pair (opens, closes) or several: when a visit may begin. Or a mapping with such an entry
        for some nodes.
    routes
        Several routes: a number of routes like that of `start`, `end` and `limit`, or a list of `Route`. Starts
        and ends of all routes are no other route's stops.
    groups
        Sets of nodes of which at most one is visited.
    budgets
        Sums over all visited nodes, each a `Budget` with its own limit.
    clock
        "minutes", "seconds" or "hours" where costs are counted in these and times are times of day, counted from
        midnight: then tables show times such as 09:30. None where times are mere numbers.
    on_earth
        Whether `coords` are longitude and latitude in degrees, so that routes can be written for maps.
    """

    costs: Array
    prizes: Array
    limit: float
    start: int = 0
    end: int = 0  # None for a free end, which only solvers that know of it see
    coords: Array | None = None
    names: tuple[str, ...] | None = None
    service: Array | None = None
    required: tuple[int, ...] = ()
    windows: Windows | None = None
    routes: tuple[Route, ...] | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    budgets: tuple[Budget, ...] = ()
    clock: Unit | None = None
    on_earth: bool = dataclasses.field(default=False, compare=False)  # not compared: some formats do not hold it

    if TYPE_CHECKING:  # arguments may be of more types than the fields that keep them

        def __init__(
            self,
            costs: npt.ArrayLike,
            prizes: npt.ArrayLike,
            limit: float,
            start: int | str = 0,
            end: int | str | None = 0,
            coords: npt.ArrayLike | None = None,
            names: Sequence[str] | None = None,
            service: npt.ArrayLike | None = None,
            required: Iterable[int | str] = (),
            windows: Sequence[Any] | Mapping[Any, Any] | None = None,
            routes: int | Sequence[Route] | None = None,
            groups: Iterable[Iterable[int | str]] = (),
            budgets: Iterable[Budget] = (),
            clock: Unit | None = None,
            on_earth: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "prizes", numbers("prizes", self.prizes, 1))
        if not len(self.prizes):
            raise InvalidInstance("prizes is empty: a problem needs at least one node")
        if not isinstance(self.costs, Distances):
            put(self, "costs", numbers("costs", self.costs, 2))
        put(self, "limit", rules.as_limit("limit", self.limit))
        if self.names is not None:
            put(self, "names", _names(self.names, self.size))
        put(self, "start", self.find("start", self.start))
        put(self, "end", None if self.end is None else self.find("end", self.end))
        _check_shapes(self.costs, self.prizes)
        if not isinstance(self.costs, Distances):  # which are distances of points that were checked
            check_values("costs", self.costs, infinite=True)
        check_values("prizes", self.prizes, infinite=False)
        check_sum(self.prizes)
        if self.coords is not None:
            put(self, "coords", _coords(self.coords, self.size))
        if self.clock is not None and self.clock not in UNITS:
            raise InvalidInstance(f"clock must be one of {', '.join(UNITS)}, or None, got {self.clock!r}")
        if self._has_rules():
            self._store_rules()
        if self.features:
            from orienteer.model.contradictions import check_contradictions  # plain problems have none of these

            check_contradictions(self)
            return
        cheapest = self.to_end[self.start]
        if cheapest > self.budget:
            raise InvalidInstance(
                f"limit {self.limit:g} is below {cheapest:g}, "
                f"the cheapest way from start {self.start} to end {self.end}"
            )

    def _has_rules(self) -> bool:
        """Whether a field beyond the plain problem was given."""
        lists = any(not isinstance(field, tuple) or field for field in (self.required, self.groups, self.budgets))
        return lists or any(field is not None for field in (self.service, self.windows, self.routes))

    def _store_rules(self) -> None:
        """Puts the fields beyond the plain problem into their stored form."""
        put, find = object.__setattr__, self.find
        routes = rules.as_routes(self.routes, Route(self.start, self.end, 0.0, self.limit), find)
        put(self, "start", routes[0].start)
        put(self, "end", routes[0].end)
        put(self, "limit", max(route.limit for route in routes))
        put(self, "routes", None if len(routes) == 1 and not routes[0].opens else routes)
        ends = self.ends
        if self.service is not None:
            put(self, "service", rules.as_service(self.service, self.size, ends))
        if self.windows is not None:
            put(self, "windows", rules.as_windows(self.windows, self.size, find))
        required = rules.as_nodes("required", self.required, find)
        put(self, "required", tuple(node for node in required if node not in ends))
        put(self, "groups", rules.as_groups(self.groups, find, ends))
        put(self, "budgets", rules.as_budgets(self.budgets, self.size, find))

    def find(self, field: str, node: Any) -> int:
        """The number of a node given by number or name."""
        return _node(field, node, self.size, self.names)

    @classmethod
    def from_coords(
        cls,
        coords: npt.ArrayLike,
        prizes: npt.ArrayLike,
        limit: float,
        start: int | str = 0,
        end: int | str | None = 0,
        names: Sequence[str] | None = None,
        metric: str = "euclidean",
        **more: Any,
    ) -> "Instance":
        """An instance whose costs are distances between points.

        `metric` is "euclidean", "manhattan", or "great_circle": metres between points of longitude and latitude, in
        degrees. `more` are the fields beyond the plain problem, such as ``service`` and ``windows``.
        """
        points = numbers("coords", coords, 2)
        points = _coords(points, len(points))
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
        if metric == "great_circle":
            more.setdefault("on_earth", True)
        if metric == "great_circle" or len(points) > MOST_IN_TABLE:
            return cls(pairwise(points, METRICS[metric]), prizes, limit, start, end, points, names, **more)
        with np.errstate(over="ignore"):  # an infinite distance is refused below, with the names of its points
            costs = distances(points, metric)
        if not np.isfinite(costs).all():
            row, column = np.argwhere(~np.isfinite(costs))[0]
            raise InvalidInstance(f"coords are too far apart: the distance from {row} to {column} overflows")
        return cls(costs, prizes, limit, start, end, points, names, **more)

    @classmethod
    def unchecked(cls, **known: Any) -> "Instance":
        """An instance made of all its fields, and perhaps of values that follow from them, such as `to_end`.

        Only for callers who have made the checks: arrays are taken as they are, and must be contiguous and read-only.
        """
        instance = object.__new__(cls)
        instance.__dict__.update(known)
        return instance

    def replace(self, **changes: Any) -> "Instance":
        """A copy with some fields changed, checked anew. A limit, a start or an end becomes that of every route.

        A node that becomes a start or an end loses its visit time and its windows, unless these are given too.
        """
        ends = self._ends_in(changes)
        if ends and self.service is not None:
            changes.setdefault("service", [0.0 if node in ends else time for node, time in enumerate(self.service)])
        if ends and self.windows is not None:
            changes.setdefault("windows", [None if node in ends else own for node, own in enumerate(self.windows)])
        if self.routes is not None and "routes" not in changes:
            own = {name: changes[name] for name in ("start", "end", "limit") if name in changes}
            changes["routes"] = [dataclasses.replace(route, **own) for route in self.routes]
        return dataclasses.replace(self, **changes)

    def _ends_in(self, changes: Mapping[str, Any]) -> set[int]:
        """The nodes that changed fields name as starts or ends; none where the nodes themselves are changed."""
        if {"prizes", "names"} & changes.keys():
            return set()
        routes, given = changes.get("routes"), [changes.get("start"), changes.get("end")]
        for route in routes if isinstance(routes, Sequence) else ():
            given += [route.start, route.end] if isinstance(route, Route) else []
        return {self.find("start", node) for node in given if node is not None}

    @property
    def size(self) -> int:
        """The number of nodes, start and end included."""
        return len(self.prizes)

    @cached_property
    def features(self) -> frozenset[Feature]:
        """What the problem has beyond the plain one; empty for a plain problem."""
        has: dict[Feature, bool] = {
            "service": self.service is not None,
            "free end": any(route.end is None for route in self.each_route),
            "required": bool(self.required),
            "windows": self.windows is not None,
            "routes": len(self.each_route) > 1,
            "groups": bool(self.groups),
            "budgets": bool(self.budgets),
        }
        return frozenset(feature for feature, there in has.items() if there)

    @cached_property
    def each_route(self) -> tuple[Route, ...]:
        """All routes; of a problem without `routes` the one from start to end."""
        return (Route(self.start, self.end, 0.0, self.limit),) if self.routes is None else self.routes

    @cached_property
    def ends(self) -> frozenset[int]:
        """Starts and ends of all routes."""
        return frozenset(node for route in self.each_route for node in (route.start, route.end) if node is not None)

    @cached_property
    def slack(self) -> float:
        """How far a time may be beyond a closing time, or the end of a route beyond its limit: the tolerance."""
        return TOLERANCE * max(abs(route.opens) + route.limit for route in self.each_route)

    @property
    def budget(self) -> float:
        """The limit with the tolerance added: what every search compares costs with."""
        return self.limit * (1 + TOLERANCE)

    @cached_property
    def to_end(self) -> Array:
        """(n,) cost of the cheapest path from each node to the end, through any other nodes."""
        if isinstance(self.costs, Distances):  # the direct way is the cheapest
            return frozen(self.costs[:, self.end])
        return frozen(cheapest_to(self.costs[None], np.array([self.end]))[0])

    @cached_property
    def from_start(self) -> Array:
        """(n,) cost of the cheapest path from the start to each node, through any other nodes."""
        if self.start == self.end and self.symmetric:
            return self.to_end
        if isinstance(self.costs, Distances):
            return frozen(self.costs[self.start])
        return frozen(cheapest_to(self.costs.T[None], np.array([self.start]))[0])

    @cached_property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """(n,) whether a path from start to end through the node, perhaps with repeated nodes, keeps the limit."""
        with np.errstate(over="ignore"):
            fits: npt.NDArray[np.bool_] = self.from_start + self.to_end <= self.budget
        fits.setflags(write=False)
        return fits

    @cached_property
    def reduced(self) -> "Instance":
        """The plain problem with visit times and a free end put into its costs; else the instance itself."""
        return reduced(self)

    @cached_property
    def reach(self) -> Reach:
        """How soon each route could visit each node, at the earliest."""
        return reach(self)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every leg costs the same in both directions."""
        return isinstance(self.costs, Distances) or bool(np.array_equal(self.costs, self.costs.T))

    @cached_property
    def view(self) -> View:
        """The problem in the form that searches read: nodes within reach, renumbered from the start to the end."""
        return view_of(self)

    @cached_property
    def plan_view(self) -> PlanView:
        """A problem with rules in the form that searches read."""
        return plan_view_of(self)

    def cheapest_route(self) -> list[int]:
        """The nodes of the cheapest path from start to end: a route that every instance has."""
        if self.start == self.end or self.costs[self.start, self.end] <= self.to_end[self.start]:
            return [self.start, self.end]
        following = dijkstra(self.costs.T, self.end)[1]
        route = [self.start]
        while route[-1] != self.end:
            route.append(int(following[route[-1]]))
        return route

    def turned(self) -> "Instance":
        """This problem from the end to the start: routes of the two are each other's, read backwards.

        Its clock runs backwards too: where a route could be late, the turned route is early and waits.
        """
        routes, windows = rules.turned(self.each_route, self.windows, self.service)
        other = copy.copy(self)  # what was checked stays true
        costs = self.costs if isinstance(self.costs, Distances) else frozen(np.ascontiguousarray(self.costs.T))
        exchanged = {"to_end": self.from_start, "from_start": self.to_end}
        for name in (
            "view",
            "plan_view",
            "reduced",
            "each_route",
            "ends",
            "reach",
            "slack",
        ):  # which know the direction
            other.__dict__.pop(name, None)
        other.__dict__.update(costs=costs, start=self.end, end=self.start, **exchanged)
        other.__dict__.update(routes=None if self.routes is None else tuple(routes), windows=windows)
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in dataclasses.fields(self) if f.compare)

    def __hash__(self) -> int:
        return hash((self.size, self.limit, self.start, self.end, self.prizes.tobytes()))

    def _repr_html_(self) -> str:
        from orienteer.model.show import instance_html

        return instance_html(self)

    def __repr__(self) -> str:
        counts = {
            "routes": len(self.each_route) if len(self.each_route) > 1 else 0,
            "service": 0 if self.service is None else np.count_nonzero(self.service),
            "required": len(self.required),
            "windows": sum(entry is not None for entry in self.windows or ()),
            "groups": len(self.groups),
            "budgets": len(self.budgets),
        }
        rules = "".join(f", {field}={count}" for field, count in counts.items() if count)
        return f"Instance(size={self.size}, limit={self.limit:g}, start={self.start}, end={self.end}{rules})"


def distances(coords: Array, metric: str = "euclidean") -> Array:
    """(..., n, n) distances between the points of (..., n, 2) coordinates."""
    dx = coords[..., :, None, 0] - coords[..., None, :, 0]
    dy = coords[..., :, None, 1] - coords[..., None, :, 1]
    if metric == "euclidean":
        return np.sqrt(dx * dx + dy * dy)
    if metric == "manhattan":
        return np.abs(dx) + np.abs(dy)
    raise ValueError(f"metric must be 'euclidean' or 'manhattan', got {metric!r}")


def _node(field: str, value: int | str, size: int, names: tuple[str, ...] | None) -> int:
    if isinstance(value, str):
        return _named_node(field, value, names)
    try:
        node = operator.index(value)
    except TypeError as error:
        raise InvalidInstance(f"{field} must be a whole number or a name, got {value!r}") from error
    if not 0 <= node < size:
        raise InvalidInstance(f"{field} must be a node from 0 to {size - 1}, got {node}")
    return node


def _named_node(field: str, name: str, names: tuple[str, ...] | None) -> int:
    if names is None:
        raise InvalidInstance(f"{field} must be a node's number where nodes have no names, got {name!r}")
    if name not in names:
        raise InvalidInstance(f"{field}: no place is called {name!r}{did_you_mean(name, names)}")
    return names.index(name)


def _check_shapes(costs: Array, prizes: Array) -> None:
    if costs.shape[0] != costs.shape[1]:
        raise InvalidInstance(f"costs must be a square matrix, got shape {costs.shape}")
    if len(costs) != len(prizes):
        raise InvalidInstance(
            f"prizes must have one value for each of the {len(costs)} nodes of costs, got {len(prizes)}"
        )


def _coords(coords: npt.ArrayLike, size: int) -> Array:
    points = numbers("coords", coords, 2)
    if points.shape != (size, 2):
        raise InvalidInstance(f"coords must have shape ({size}, 2), got {points.shape}")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise InvalidInstance(f"coords[{row}, {column}] must be finite, got {points[row, column]:g}")
    return points


def _names(names: Sequence[str], size: int) -> tuple[str, ...]:
    given = tuple(names)
    if len(given) != size:
        raise InvalidInstance(f"names must have one text for each of the {size} nodes, got {len(given)}")
    seen: dict[str, int] = {}
    for node, name in enumerate(given):
        if not isinstance(name, str):
            raise InvalidInstance(f"names[{node}] must be a text, got {name!r}")
        if name in seen:
            raise InvalidInstance(f"names[{node}] repeats names[{seen[name]}]: {name!r}")
        seen[name] = node
    return given


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, Distances) and isinstance(other, Distances):
        return value.same(other)
    if isinstance(value, np.ndarray | Distances) and isinstance(other, np.ndarray | Distances):
        return np.array_equal(value, other)
    return type(value) is type(other) and bool(value == other)
