"""The fields of a problem that a file holds, before they are checked together."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from orienteer.data.text import FilePath, shown
from orienteer.data.times import Daily, Dotted, Times, on_days
from orienteer.model.clock import Unit, day_length, time_of_day
from orienteer.model.distances import Distances
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.rules import MOST_ROUTES, Budget, Route, Window
from orienteer.model.spelling import did_you_mean

Node = int | str
"""A node as people name it: its number, counted from 0, or its name."""


MOST_DAYS = 366
"""A route that takes more days than this, where windows hold every day, is surely a mistake."""


@dataclass
class RouteFields:
    """The fields of one of several routes; those that are None are the problem's."""

    start: Node | None = None
    end: Node | None = None
    opens: float | None = None
    limit: float | None = None
    closes: float | None = None
    """When the route must be at its end, in place of a limit."""
    free_end: bool = False
    name: str = ""
    source: tuple[FilePath, int | None] | None = None
    """The table and the line of the route, for messages; None where it stands in no table."""

    @classmethod
    def of(cls, route: Route) -> "RouteFields":
        """The fields of a route."""
        limit = None if math.isnan(route.limit) else route.limit
        return cls(route.start, route.end, route.opens, limit, None, route.end is None, route.name)


@dataclass
class Fields:
    """The fields of an instance that a reader found in a file; the caller may supply those that are None."""

    costs: Array
    prizes: Array
    limit: float | None = None
    start: Node | None = None
    end: Node | None = None
    coords: Array | None = None
    names: Sequence[str] | None = None
    service: Array | None = None
    required: Sequence[Node] = ()
    windows: Sequence[Sequence[Window | Daily] | None] | None = None
    routes: int | Sequence[RouteFields] | None = None
    groups: Sequence[Sequence[Node]] = ()
    budgets: Sequence[Budget] = ()
    free_end: bool = False
    clock: Unit | None = None
    avoided: Sequence[Node] = ()
    in_metres: bool = False
    """Whether costs are metres, so that no time of day can be meant."""
    unit: Unit | None = None
    """What costs are counted in, where a time of day is read; None where nobody said so."""
    of_day: bool = False
    """Whether a time of day was read."""
    dotted: Dotted | None = None
    """A number that looks like a time with a dot, which is refused among times of day."""
    on_earth: bool = False
    """Whether coordinates are longitude and latitude."""
    group_names: Sequence[str] = ()
    """What a file calls the first of the groups; the others have no names."""
    called: Callable[[int, str], str] | None = None
    """What messages call the value of a node in a column, such as ``places[3].prize``, where a file lists places."""

    def build(
        self,
        path: FilePath,
        limit: float | str | None = None,
        start: Node | None = None,
        end: Node | None = None,
        what: str = "",
    ) -> Instance:
        """The instance, or a `BadFile` that says why the fields make none; `what` begins its message.

        `limit`, `start` and `end`, unless None, override those of the file and of all its routes; where costs are
        times, a limit may be a text such as 4:00. Where neither names a start, routes start at node 0; where neither
        names an end, they end where they start. The windows of a start and of an end say when their routes open and
        close, unless the routes say so. Where the caller or a list of routes makes a start or an end of a place, its
        visit takes no time.
        """
        for field, node in (("start", start), ("end", end)):
            if node is not None:
                self._check_asked(path, field, node)
        found = self._given(self._asked_limit(path, limit), start, end)
        routes = found._routes(path, what)
        plain = self.routes is None and not routes[0].opens
        try:
            with np.errstate(over="ignore"):  # sums of huge costs may become infinite, which no limit allows
                return Instance(
                    found._costs(path, routes),
                    self.prizes,
                    max(route.limit for route in routes),
                    routes[0].start,
                    routes[0].end,
                    self.coords,
                    None if self.names is None else tuple(self.names),
                    found._service(path, start, end),
                    [self.number(path, "required", node) for node in self.required],
                    found._windows(routes),
                    None if plain else routes,
                    [[self.number(path, "groups", node) for node in group] for group in self.groups],
                    self.budgets,
                    self.clock,
                    self.on_earth,
                )
        except InvalidInstance as error:
            raise BadFile(path, f"{what}{self._as_written(str(error))}") from error

    def _as_written(self, message: str) -> str:
        """A message of `Instance` with the file's own words for the values of a node."""
        called = self.called
        if called is None:
            return message
        return _PER_NODE.sub(lambda found: called(int(found[2]), _COLUMNS[found[1]]), message)

    def _given(self, limit: float | None, start: Node | None, end: Node | None) -> "Fields":
        """These fields with what the caller gives in place of the file's, also in the routes."""
        given = {"limit": limit, "start": start, "end": end}
        changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if "end" in changes:
            changes["free_end"] = False
        found = replace(self, **changes)
        if found.routes is not None and not isinstance(found.routes, int):
            closes: dict[str, Any] = {"closes": None} if "limit" in changes else {}
            found.routes = [replace(route, **changes, **closes) for route in found.routes]
        return found

    def wishing(
        self, path: FilePath, free_end: bool = False, require: Sequence[Node] = (), avoid: Sequence[Node] = ()
    ) -> "Fields":
        """These fields with ends that are free, and with more nodes that must be visited or must not."""
        for field, nodes in (("require", require), ("avoid", avoid)):
            for node in nodes:
                self._check_asked(path, field, node)
        found = replace(self, required=[*self.required, *require], avoided=[*self.avoided, *avoid])
        if free_end:
            found.free_end = True
            if found.routes is not None and not isinstance(found.routes, int):
                found.routes = [replace(route, free_end=True) for route in found.routes]
        return found

    def with_budgets(self, path: FilePath, most: Mapping[str, float]) -> "Fields":
        """These fields with other limits of some budgets, by name."""
        names = [budget.name for budget in self.budgets]
        for name in most:
            if name not in names:
                known = f"; it has {', '.join(map(repr, names))}" if names else ""
                raise BadFile(path, f"there is no budget {shown(name)}{known}{did_you_mean(name, names)}")
        changed = [Budget(one.name, one.weights, most.get(one.name, one.most)) for one in self.budgets]
        return replace(self, budgets=changed)

    def _asked_limit(self, path: FilePath, limit: float | str | None) -> float | None:
        """The limit that a caller asks for as a number, or a `BadFile` whose field is the limit."""
        if not isinstance(limit, str):
            return limit
        if self.unit is None:
            wish = "limit must be a number, since costs of such a file are no times"
            raise BadFile(path, f"{wish}, got {shown(limit)}", field="limit")
        times = Times(path, self.unit)
        try:
            found = times.duration(limit, "limit")
        except BadFile as error:
            raise BadFile(path, error.message, field="limit") from error
        if self.in_metres:
            times.refuse_metres()
        return found

    def _routes(self, path: FilePath, what: str) -> list[Route]:
        if self.routes is None:
            return [self._route(path, what, RouteFields())]
        if isinstance(self.routes, int):
            if not 1 <= self.routes <= MOST_ROUTES:
                raise BadFile(path, f"routes must be from 1 to {MOST_ROUTES}, got {self.routes}")
            return [self._route(path, what, RouteFields())] * self.routes
        return [self._listed(path, f"{what}routes[{place}].", route) for place, route in enumerate(self.routes)]

    def _listed(self, path: FilePath, what: str, route: RouteFields) -> Route:
        """One of a list of routes; errors about one that stands in a table have its line in place of `what`."""
        try:
            return self._route(path, what, route)
        except BadFile as error:
            if route.source is None or not error.message.startswith(what.rstrip(".")):
                raise
            message = error.message.removeprefix(what.rstrip(".")).lstrip(".: ")
            raise BadFile(route.source[0], message, route.source[1], error.field) from error

    def _route(self, path: FilePath, what: str, route: RouteFields) -> Route:
        """A route whose nodes are numbers, and which has of the problem what it does not say itself."""
        own = what.rpartition("routes[")[0] if what.endswith(".") else what  # of the problem, not of the route
        start, at = (self.start, own) if route.start is None else (route.start, what)
        first = 0 if start is None else self.number(path, f"{at}start", start)
        end, at = (self.end, own) if route.end is None else (route.end, what)
        last = first if end is None else self.number(path, f"{at}end", end)
        free = route.free_end or (self.free_end and route.end is None)
        opens, closes = self._hours(first, route.opens)
        if not free and last != first:
            closes = min(closes, self._hours(last, opens)[1])
        limit = self.limit if route.limit is None else route.limit
        if route.closes is not None:
            limit = self._time_until(path, f"{what}closes", route, opens, route.closes)
        elif limit is None and math.isfinite(closes):
            limit = self._time_until(path, f"{what}closes of the start or the end", route, opens, closes)
        if limit is None:
            if not what.endswith("."):
                raise BadFile(path, f"{what}the file holds no limit, so one must be given")
            raise BadFile(
                path, f"{what.rstrip('.')}: the route has neither closes nor a limit, and the problem has no limit"
            )
        return Route(first, None if free else last, opens, limit, route.name)

    def _time_until(self, path: FilePath, field: str, route: RouteFields, opens: float, closes: float) -> float:
        """How much time a route has until it closes, or a `BadFile` that names the route if it has none."""
        if closes > opens:
            return closes - opens
        who = f"the route {shown(route.name)}" if route.name else "the route"
        first, last = (
            f"{time:.6g}" if self.clock is None else time_of_day(time, self.clock) for time in (opens, closes)
        )
        raise BadFile(path, f"{field} must be after {first}, when {who} opens, got {last}")

    def _hours(self, node: int, opens: float | None) -> Window:
        """When a route at this start or end opens, unless that is given, and when it closes, by the node's windows."""
        windows = self.windows[node] if self.windows is not None and 0 <= node < len(self.windows) else None
        if not windows:
            return (0.0 if opens is None else opens), math.inf
        unit = self.clock or "minutes"
        day = 0 if opens is None else math.floor(opens / day_length(unit))
        first, last = on_days(windows, [day], unit)[0]
        return (max(first, 0.0) if opens is None else opens), last

    def _windows(self, routes: Sequence[Route]) -> list[list[Window] | None] | None:
        """The windows of all nodes but starts and ends; those that hold every day on the days of the routes."""
        if self.windows is None:
            return None
        unit = self.clock or "minutes"
        day = day_length(unit)
        days = set[int]()
        if any(isinstance(window, Daily) for windows in self.windows for window in windows or ()):
            for route in routes:
                first, last = route.opens // day, (route.opens + route.limit) // day
                if not last - first < MOST_DAYS:
                    raise InvalidInstance(f"limit {route.limit:g} is longer than {MOST_DAYS} days, counted in {unit}")
                days.update(range(int(first), int(last) + 1))
        ends = {node for route in routes for node in (route.start, route.end)}
        return [
            None if not windows or node in ends else on_days(windows, sorted(days), unit)
            for node, windows in enumerate(self.windows)
        ]

    def _service(self, path: FilePath, start: Node | None, end: Node | None) -> Array | None:
        """Visit times, 0 where the caller or a list of routes lets routes start or end: the visit is over by then.

        A place that is the start by its own row keeps its visit time, which is then refused as a mistake in the file.
        """
        if self.service is None:
            return None
        named = [start, end]
        if self.routes is not None and not isinstance(self.routes, int):
            named += [node for route in self.routes for node in (route.start, route.end)]
        numbers = [self.number(path, "start", node) for node in named if node is not None]
        service = np.array(self.service, dtype=float)
        service[[node for node in numbers if 0 <= node < len(service)]] = 0.0
        return service

    def _costs(self, path: FilePath, routes: Sequence[Route]) -> Array:
        """The costs, without a way to and from the nodes that are avoided."""
        if not self.avoided:
            return self.costs
        ends, barred = {node for route in routes for node in (route.start, route.end)}, list[int]()
        required = [self.number(path, "required", node) for node in self.required]
        for node in self.avoided:
            number = self.number(path, "avoid", node)
            if number in ends:
                raise BadFile(path, f"avoid must not name a start or an end, got {shown(node)}")
            if number in required:
                raise BadFile(path, f"avoid must not name a place that is required, got {shown(node)}")
            barred.append(number)
        if isinstance(self.costs, Distances):
            return cast(Array, self.costs.without(barred))
        costs = self.costs.copy()
        costs[barred, :] = costs[:, barred] = math.inf
        return costs

    def number(self, path: FilePath, field: str, node: Node) -> int:
        """The number of a node given by number or name, or `BadFile` if no node has the name."""
        if not isinstance(node, str):
            return node
        if re.fullmatch(r"\d{1,9}", node, re.ASCII):
            return int(node)
        if self.names is None or node not in self.names:
            hint = "; this file has no names" if self.names is None else did_you_mean(node, self.names)
            raise BadFile(path, f"{field}: no place is called {shown(node)}{hint}", field=field)
        return list(self.names).index(node)

    def _check_asked(self, path: FilePath, field: str, node: Node) -> None:
        """Raises a `BadFile` whose field is this one if a node that the caller names is not in the file."""
        number = self.number(path, field, node)
        if isinstance(number, int) and not 0 <= number < len(self.prizes):
            raise BadFile(path, f"{field} must be a node from 0 to {len(self.prizes) - 1}, got {number}", field=field)


_COLUMNS = {"prizes": "prize", "names": "name", "service": "service", "windows": "windows"}
_PER_NODE = re.compile(r"\b(prizes|names|service|windows)\[(\d+)\]")
