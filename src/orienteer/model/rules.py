"""What people add to the plain problem: visit times, opening hours, required places, several routes, groups, budgets.

Each function takes a field of `Instance` as the caller gave it and returns it in its one stored form, or raises
`InvalidInstance` with the field, the place and the value.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from orienteer.model.errors import InvalidInstance
from orienteer.model.numbers import LARGEST, Array, check_values, frozen, number, numbers

Feature = Literal["service", "free end", "required", "windows", "routes", "groups", "budgets"]
"""What a problem may have beyond the plain one, by the name that messages use."""

FEATURES: tuple[Feature, ...] = ("service", "free end", "required", "windows", "routes", "groups", "budgets")

Window: TypeAlias = tuple[float, float]
Windows: TypeAlias = tuple[tuple[Window, ...] | None, ...]
"""For each node its windows in order, which do not overlap; None where a visit may begin at any time."""

FindNode: TypeAlias = Callable[[str, Any], int]
"""Gives the number of a node, given by number or name; its first argument is the field, for messages."""

MOST_ROUTES = 10_000
"""More routes than this are surely a mistake."""


@dataclass(frozen=True)
class Route:
    """A person, a vehicle or a day: where its route starts and ends, when it opens and what it may cost.

    Nodes go by number or by name. Without `start` and `end` a route starts and ends at node 0, whatever the instance
    says; with ``end=None`` the route may stop anywhere. A route that opens at t must be at its end by t + limit; where
    a route has no `limit`, the instance's counts. `name` is for tables and pictures.
    """

    start: int = 0
    end: int | None = 0
    opens: float = 0.0
    limit: float = math.nan  # of a route without its own, until the instance gives it one
    name: str = field(default="", compare=False)  # not compared: routes that are alike share work

    if TYPE_CHECKING:  # arguments may be of more types than the fields that keep them

        def __init__(
            self,
            start: int | str = 0,
            end: int | str | None = 0,
            opens: float = 0.0,
            limit: float = math.nan,
            name: str = "",
        ) -> None: ...


@dataclass(frozen=True, eq=False)
class Budget:
    """A second limit: the weights of all visited nodes, such as entrance fees, may add up to `most`.

    `weights` holds a number for each node, or, as a mapping, those of some nodes, by number or by name; the others
    weigh nothing.
    """

    name: str
    weights: Any
    most: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        same = self.name == other.name and self.most == other.most
        return same and bool(np.array_equal(self.weights, other.weights))

    def __hash__(self) -> int:
        return hash((self.name, self.most))


def as_service(values: Any, size: int, ends: Iterable[int]) -> Array | None:
    """(n,) what a visit costs, or None where no visit costs anything."""
    service = numbers("service", values, 1)
    if service.shape != (size,):
        raise InvalidInstance(f"service must have one value for each of the {size} nodes, got {len(service)}")
    check_values("service", service, infinite=False)
    for node in ends:
        if service[node]:
            raise InvalidInstance(f"service[{node}] must be 0 at a start or an end, got {service[node]:g}")
    return service if service.any() else None


def as_nodes(field: str, values: Iterable[Any], find: FindNode) -> tuple[int, ...]:
    """The numbers of nodes given by number or name, in order, each once."""
    if isinstance(values, str):
        raise InvalidInstance(f"{field} must be a list of nodes, got the text {values!r}")
    given = _listed(field, values, "a list of nodes")
    return tuple(sorted({find(f"{field}[{place}]", value) for place, value in enumerate(given)}))


def as_windows(values: Any, size: int, find: FindNode) -> Windows | None:
    """The windows of all nodes in order, or None where no node has any.

    `values` has an entry for each node, or is a mapping with an entry for some. An entry is None, one pair (opens,
    closes), or several pairs.
    """
    table: list[Any] = [None] * size
    if isinstance(values, Mapping):
        for key, entry in values.items():
            table[find("windows", key)] = entry
    else:
        table = _listed("windows", values, "a list with an entry for each node, or a mapping")
        if len(table) != size:
            raise InvalidInstance(f"windows must have one entry for each of the {size} nodes, got {len(table)}")
    found = tuple(_node_windows(node, entry) for node, entry in enumerate(table))
    return None if all(entry is None for entry in found) else found


def as_routes(value: Any, default: Route, find: FindNode) -> tuple[Route, ...]:
    """All routes of a problem, their nodes by number, each with its limit.

    `value` is None for the one route `default`, a number for as many routes like it, or a list of routes.
    """
    if value is None:
        given = [default]
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if not 1 <= value <= MOST_ROUTES:
            raise InvalidInstance(f"routes must be from 1 to {MOST_ROUTES}, got {value}")
        given = [default] * int(value)
    elif isinstance(value, Sequence) and value and all(isinstance(route, Route) for route in value):
        given = list(value)
    else:
        raise InvalidInstance(f"routes must be a number or a list of at least one Route, got {value!r}")
    return tuple(_route(place, route, default, find, value is not None) for place, route in enumerate(given))


def as_groups(values: Iterable[Iterable[Any]], find: FindNode, ends: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """The groups, each the numbers of its nodes; groups of fewer than two nodes say nothing and are left out."""
    barred, groups = set(ends), []
    for place, group in enumerate(_listed("groups", values, "a list of lists of nodes")):
        nodes = as_nodes(f"groups[{place}]", group, find)
        if barred.intersection(nodes):
            node = min(barred.intersection(nodes))
            raise InvalidInstance(f"groups[{place}] has node {node}, a start or an end, which is always visited")
        if len(nodes) > 1:
            groups.append(nodes)
    return tuple(groups)


def as_budgets(values: Iterable[Any], size: int, find: FindNode) -> tuple[Budget, ...]:
    """The budgets, each with a weight for every node."""
    budgets = []
    for place, budget in enumerate(_listed("budgets", values, "a list of Budget")):
        field = f"budgets[{place}]"
        if not isinstance(budget, Budget) or not isinstance(budget.name, str):
            raise InvalidInstance(f"{field} must be a Budget with a text as its name, got {budget!r}")
        weights = _weights(f"{field}.weights", budget.weights, size, find)
        most = number(f"{field}.most", budget.most)
        if not 0 <= most <= LARGEST:
            raise InvalidInstance(f"{field}.most must be from 0 to {LARGEST:g}, got {most:g}")
        budgets.append(Budget(budget.name, weights, most))
    names = [budget.name for budget in budgets]
    if len(set(names)) < len(names):
        raise InvalidInstance(f"budgets must have different names, got {', '.join(map(repr, names))}")
    return tuple(budgets)


def _listed(field: str, values: Any, wish: str) -> list[Any]:
    try:
        return list(values)
    except TypeError as error:
        raise InvalidInstance(f"{field} must be {wish}, got {values!r}") from error


def _node_windows(node: int, entry: Any) -> tuple[Window, ...] | None:
    """A node's windows in order, those that touch or overlap made one."""
    if entry is None:
        return None
    try:
        pairs: npt.NDArray[np.float64] = numbers(f"windows[{node}]", [entry] if np.ndim(entry) == 1 else entry, 2)
    except ValueError as error:
        raise InvalidInstance(f"windows[{node}] must be pairs (opens, closes), got {entry!r}") from error
    if pairs.shape[1] != 2 or not len(pairs):
        raise InvalidInstance(f"windows[{node}] must be pairs (opens, closes), got {entry!r}")
    if np.isnan(pairs).any() or (np.abs(np.where(np.isinf(pairs), 0.0, pairs)) > LARGEST).any():
        raise InvalidInstance(f"windows[{node}] must hold numbers up to {LARGEST:g}, got {entry!r}")
    merged: list[Window] = []
    for opens, closes in sorted(pairs.tolist()):
        if closes < opens:
            raise InvalidInstance(f"windows[{node}] closes at {closes:g}, before it opens at {opens:g}")
        if merged and opens <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(closes, merged[-1][1]))
        else:
            merged.append((opens, closes))
    return None if merged == [(-math.inf, math.inf)] else tuple(merged)  # one that is always open says nothing


def _route(place: int, route: Route, default: Route, find: FindNode, listed: bool) -> Route:
    field = f"routes[{place}]." if listed else ""
    start = find(f"{field}start", route.start)
    end = None if route.end is None else find(f"{field}end", route.end)
    opens = number(f"{field}opens", route.opens)
    if not abs(opens) <= LARGEST:
        raise InvalidInstance(f"{field}opens must be a number up to {LARGEST:g}, got {opens:g}")
    limit = default.limit if route.limit != route.limit else as_limit(f"{field}limit", route.limit)
    if not isinstance(route.name, str):
        raise InvalidInstance(f"{field}name must be a text, got {route.name!r}")
    return replace(route, start=start, end=end, opens=opens, limit=limit)


def turned(each: Sequence[Route], windows: Windows | None, service: Array | None) -> tuple[list[Route], Windows | None]:
    """All routes and the windows of the problem that runs backwards in space and in time."""
    both = min(route.opens for route in each) + max(route.opens + route.limit for route in each)
    routes = []
    for route in each:
        if route.end is None:
            raise ValueError("a problem with a free end cannot be turned: its routes would begin anywhere")
        routes.append(Route(route.end, route.start, both - route.opens - route.limit, route.limit))
    if windows is None:
        return routes, None
    takes = [0.0] * len(windows) if service is None else service.tolist()
    mirrored = (
        entry and tuple((both - closes - visit, both - opens - visit) for opens, closes in reversed(entry))
        for entry, visit in zip(windows, takes, strict=True)
    )
    return routes, tuple(mirrored)


def as_limit(field: str, value: Any) -> float:
    """A limit on costs: positive and finite, and so small that sums of costs stay finite."""
    limit = number(field, value)
    if not (limit > 0 and math.isfinite(limit)):
        raise InvalidInstance(f"{field} must be positive and finite, got {limit:g}")
    if limit > LARGEST:
        raise InvalidInstance(f"{field} must be at most {LARGEST:g}, so that sums of costs stay finite, got {limit:g}")
    return limit


def _weights(field: str, values: Any, size: int, find: FindNode) -> Array:
    if isinstance(values, Mapping):
        table = np.zeros(size)
        for key, weight in values.items():
            table[find(field, key)] = number(field, weight)
        weights = frozen(table)
    else:
        weights = numbers(field, values, 1)
    if weights.shape != (size,):
        raise InvalidInstance(f"{field} must have one value for each of the {size} nodes, got {len(weights)}")
    check_values(field, weights, infinite=False)
    if float(weights.sum()) > LARGEST:
        raise InvalidInstance(f"{field} must add up to at most {LARGEST:g}")
    return weights
