"""What a problem has beyond the plain one, as JSON: in files of their own, and in the texts `rules` of NPZ sets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orienteer.data.cells import Cell, is_number
from orienteer.data.fields import Fields, Node, RouteFields
from orienteer.data.table import in_unit
from orienteer.data.text import FilePath, shown
from orienteer.data.times import Daily, Times, as_unit
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.rules import Budget, Window
from orienteer.model.spelling import did_you_mean

RULES = ("service", "required", "windows", "routes", "groups", "budgets", "free_end", "clock")
"""The keys beyond the plain problem."""

ROUTE = ("name", "start", "end", "opens", "limit", "closes", "free_end")
BUDGET = ("name", "weights", "most")


def rules_of(instance: Instance) -> dict[str, Any]:
    """The fields beyond the plain problem, as far as the instance has them, in the form that `with_rules` reads."""
    data: dict[str, Any] = {}
    if instance.clock is not None:
        data["clock"] = instance.clock
    if instance.service is not None:
        data["service"] = instance.service.tolist()
    if instance.required:
        data["required"] = list(instance.required)
    if instance.windows is not None:
        data["windows"] = [None if node is None else [_written(pair) for pair in node] for node in instance.windows]
    if instance.routes is not None:
        data["routes"] = [
            ({"name": route.name} if route.name else {})
            | {"start": route.start}
            | ({"free_end": True} if route.end is None else {"end": route.end})
            | {"opens": route.opens, "limit": route.limit}
            for route in instance.routes
        ]
    elif instance.end is None:
        data["free_end"] = True
    if instance.groups:
        data["groups"] = [list(group) for group in instance.groups]
    if instance.budgets:
        data["budgets"] = [
            {"name": budget.name, "most": budget.most, "weights": budget.weights.tolist()}
            for budget in instance.budgets
        ]
    return data


def with_rules(path: FilePath, fields: Fields, data: Mapping[str, Any], times: Times | None = None) -> Fields:
    """The fields with those of `RULES` that `data` has; other keys are left alone.

    What the fields have already stays: required nodes, groups and budgets are added. `times` reads times.
    """
    given = {key: data[key] for key in RULES if data.get(key) is not None}
    size = len(fields.prizes)
    clock = as_unit(path, given["clock"], what="clock") if "clock" in given else None
    times = times or Times(path, clock or "minutes")
    groups = [_nodes(path, f"groups[{i}]", group) for i, group in enumerate(_list(path, "groups", given))]
    budgets = [_budget(path, fields, i, budget) for i, budget in enumerate(_list(path, "budgets", given))]
    found = replace(
        fields,
        service=_per_node(path, given["service"], size, times) if "service" in given else fields.service,
        required=[*fields.required, *_nodes(path, "required", given.get("required", []))],
        windows=_windows(path, fields, given["windows"], times) if "windows" in given else fields.windows,
        routes=_routes(path, given["routes"], times) if "routes" in given else fields.routes,
        groups=[*fields.groups, *groups],
        budgets=[*fields.budgets, *budgets],
        free_end=_flag(path, "free_end", given.get("free_end", fields.free_end)),
        clock=clock,
    )
    return in_unit(found, times)


def limits_of_budgets(path: FilePath, value: Any) -> tuple[dict[str, float], list[Any]]:
    """The limits, by name, of budgets whose weights stand with the places, and the budgets that have their own."""
    if isinstance(value, dict):
        return {name: Cell(path, most, f"budgets.{name}").amount() for name, most in value.items()}, []
    limits: dict[str, float] = {}
    others: list[Any] = []
    for place, budget in enumerate(_list(path, "budgets", {"budgets": value})):
        field = f"budgets[{place}]"
        if isinstance(budget, dict) and budget.get("weights") is None:
            _check_keys(path, field, budget, BUDGET)
            if not isinstance(budget.get("name"), str):
                raise BadFile(path, f"{field}.name must be a text, got {shown(budget.get('name'))}")
            limits[budget["name"]] = Cell(path, budget.get("most"), f"{field}.most").amount()
        else:
            others.append(budget)
    return limits, others


def _written(pair: Window) -> list[float | None]:
    return [None if math.isinf(time) else time for time in pair]


def _list(path: FilePath, key: str, data: dict[str, Any]) -> list[Any]:
    values = data.get(key, [])
    if not isinstance(values, list):
        raise BadFile(path, f"{key} must be a list, got {shown(values)}")
    return values


def _flag(path: FilePath, field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadFile(path, f"{field} must be true or false, got {shown(value)}")
    return value


def _per_node(path: FilePath, values: Any, size: int, times: Times) -> Array:
    if not isinstance(values, list) or len(values) != size:
        got = f"{len(values)} values" if isinstance(values, list) else shown(values)
        raise BadFile(path, f"service must be a list of {size} numbers, one a node, got {got}")
    return np.array([Cell(path, value, f"service[{node}]").duration(times) for node, value in enumerate(values)])


def _nodes(path: FilePath, field: str, values: Any) -> list[Node]:
    if not isinstance(values, list) or not all(type(node) in (int, str) for node in values):
        raise BadFile(path, f"{field} must be a list of nodes' numbers or names, got {shown(values)}")
    return values


def _windows(path: FilePath, fields: Fields, values: Any, times: Times) -> list[Sequence[Window | Daily] | None]:
    """The windows of all nodes, from a list with an entry for each or an object with entries for some."""
    size = len(fields.prizes)
    table: list[Any] = [None] * size
    if isinstance(values, dict):
        for key, entry in values.items():
            table[_place(path, fields, "windows", key)] = entry
    elif isinstance(values, list) and len(values) == size:
        table = values
    else:
        got = f"{len(values)} entries" if isinstance(values, list) else shown(values)
        raise BadFile(path, f"windows must be a list of {size} entries, one a node, or an object, got {got}")
    return [Cell(path, entry, f"windows[{node}]").windows(times) for node, entry in enumerate(table)]


def _routes(path: FilePath, value: Any, times: Times) -> int | list[RouteFields]:
    if type(value) is int:
        return value
    if not isinstance(value, list) or not value:
        raise BadFile(path, f"routes must be a number or a list of at least one route, got {shown(value)}")
    return [_route(path, f"routes[{place}]", route, times) for place, route in enumerate(value)]


def _route(path: FilePath, field: str, data: Any, times: Times) -> RouteFields:
    _check_keys(path, field, data, ROUTE)
    given = {key: value for key, value in data.items() if value is not None}
    for key in ("start", "end"):
        if key in given and type(given[key]) not in (int, str):
            raise BadFile(path, f"{field}.{key} must be a node's number or name, got {shown(given[key])}")
    for key, read in (("opens", Cell.moment), ("limit", Cell.duration), ("closes", Cell.moment)):
        if key in given:
            given[key] = read(Cell(path, given[key], f"{field}.{key}"), times)
    if "name" in given and not isinstance(given["name"], str):
        raise BadFile(path, f"{field}.name must be a text, got {shown(given['name'])}")
    _flag(path, f"{field}.free_end", given.get("free_end", False))
    return RouteFields(**given)


def _budget(path: FilePath, fields: Fields, place: int, data: Any) -> Budget:
    field = f"budgets[{place}]"
    _check_keys(path, field, data, BUDGET)
    if missing := [key for key in BUDGET if data.get(key) is None]:
        raise BadFile(path, f"{field} needs {', '.join(BUDGET)}; missing: {', '.join(missing)}")
    weights = data["weights"]
    if isinstance(weights, dict):
        table = [0.0] * len(fields.prizes)
        for key, weight in weights.items():
            table[_place(path, fields, f"{field}.weights", key)] = weight
        weights = table
    if not isinstance(weights, list) or not all(map(is_number, weights)):
        raise BadFile(
            path, f"{field}.weights must be a list of numbers, one a node, or an object, got {shown(weights)}"
        )
    if not isinstance(data["name"], str) or not is_number(data["most"]):
        raise BadFile(path, f"{field} needs a text as its name and a number as its most, got {shown(data)}")
    return Budget(data["name"], np.array(weights, dtype=np.float64), data["most"])


def _place(path: FilePath, fields: Fields, field: str, node: Node) -> int:
    """The number of a node of the problem."""
    number = fields.number(path, field, node)
    if not 0 <= number < len(fields.prizes):
        raise BadFile(path, f"{field} must name nodes from 0 to {len(fields.prizes) - 1}, got {number}")
    return number


def _check_keys(path: FilePath, field: str, data: Any, known: Sequence[str]) -> None:
    if not isinstance(data, dict):
        raise BadFile(path, f"{field} must be an object, got {shown(data)}")
    if unknown := data.keys() - set(known):
        wrong = min(unknown)
        hint = did_you_mean(wrong, known)
        raise BadFile(path, f"{field} has the unknown key {shown(wrong)}; known are {', '.join(known)}{hint}")
