"""The fields of a problem that a file holds, before they are checked together."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orienteer.data.text import FilePath, shown
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.rules import Budget, Route
from orienteer.model.spelling import did_you_mean

Node = int | str
"""A node as people name it: its number, counted from 0, or its name."""


@dataclass
class RouteFields:
    """The fields of one of several routes; those that are None are the problem's."""

    start: Node | None = None
    end: Node | None = None
    opens: float | None = None
    limit: float | None = None
    free_end: bool = False


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
    windows: Sequence[Any] | None = None
    routes: int | Sequence[RouteFields] | None = None
    groups: Sequence[Sequence[Node]] = ()
    budgets: Sequence[Budget] = ()
    opens: float = 0.0
    """When routes open that do not say so themselves."""
    free_end: bool = False

    def build(
        self,
        path: FilePath,
        limit: float | None = None,
        start: Node | None = None,
        end: Node | None = None,
        what: str = "",
        routes: int | Sequence[Route] | None = None,
    ) -> Instance:
        """The instance, or a `BadFile` that says why the fields make none; `what` begins its message.

        `limit`, `start` and `end`, unless None, override those of the file and of all its routes; `routes` overrides
        the routes. Where neither names a start, routes start at node 0; where neither names an end, they end where they
        start.
        """
        found = self._given(limit, start, end)
        given = found._routes(path) if routes is None else routes
        if found.limit is None:
            found.limit = _largest_limit(given)
        if found.limit is None:
            raise BadFile(path, f"{what}the file holds no limit, so one must be given")
        own = found._route(path, "", RouteFields())
        if isinstance(given, int):
            given = [own] * given
        elif given is None and own.opens:
            given = [own]
        try:
            with np.errstate(over="ignore"):  # sums of huge costs may become infinite, which no limit allows
                return Instance(
                    self.costs,
                    self.prizes,
                    found.limit,
                    own.start,
                    own.end,
                    self.coords,
                    None if self.names is None else tuple(self.names),
                    self.service,
                    [self.number(path, "required", node) for node in self.required],
                    self.windows,
                    given,
                    [[self.number(path, "groups", node) for node in group] for group in self.groups],
                    self.budgets,
                )
        except InvalidInstance as error:
            raise BadFile(path, f"{what}{error}") from error

    def _given(self, limit: float | None, start: Node | None, end: Node | None) -> "Fields":
        """These fields with what the caller gives in place of the file's, also in the routes."""
        given = {"limit": limit, "start": start, "end": end}
        changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if "end" in changes:
            changes["free_end"] = False
        found = replace(self, **changes)
        if found.routes is not None and not isinstance(found.routes, int):
            found.routes = [replace(route, **changes) for route in found.routes]
        return found

    def _routes(self, path: FilePath) -> int | list[Route] | None:
        if self.routes is None or isinstance(self.routes, int):
            return self.routes
        return [self._route(path, f"routes[{place}].", route) for place, route in enumerate(self.routes)]

    def _route(self, path: FilePath, field: str, route: RouteFields) -> Route:
        """A route whose nodes are numbers, and which has of the problem what it does not say itself."""
        start = self.start if route.start is None else route.start
        first = 0 if start is None else self.number(path, f"{field}start", start)
        end = self.end if route.end is None else route.end
        last = first if end is None else self.number(path, f"{field}end", end)
        free = route.free_end or (self.free_end and route.end is None)
        limit = self.limit if route.limit is None else route.limit
        return Route(
            first,
            None if free else last,
            self.opens if route.opens is None else route.opens,
            math.nan if limit is None else limit,
        )

    def number(self, path: FilePath, field: str, node: Node) -> int:
        """The number of a node given by number or name, or `BadFile` if no node has the name."""
        if not isinstance(node, str):
            return node
        if re.fullmatch(r"\d{1,9}", node, re.ASCII):
            return int(node)
        if self.names is None or node not in self.names:
            hint = "; this file has no names" if self.names is None else did_you_mean(node, self.names)
            raise BadFile(path, f"{field} must be a node's number or name, got {shown(node)}{hint}")
        return list(self.names).index(node)


def _largest_limit(routes: int | Sequence[Route] | None) -> float | None:
    """The largest limit of routes that all have one; else None."""
    if routes is None or isinstance(routes, int) or any(math.isnan(route.limit) for route in routes):
        return None
    return max((route.limit for route in routes), default=None)
