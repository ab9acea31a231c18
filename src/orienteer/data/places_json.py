"""A problem as a list of places: the form of JSON that people and the page edit (docs/reference/files.md)."""

import math
from typing import Any

import numpy as np

from orienteer.data.fields import Fields, RouteFields
from orienteer.data.places import unique_names
from orienteer.data.text import FilePath
from orienteer.data.times import Daily
from orienteer.model.clock import PER_HOUR, Unit
from orienteer.model.distances import METRICS, pairwise, scale_of
from orienteer.model.rules import Window


def places_of(path: FilePath, fields: Fields) -> dict[str, Any]:
    """What a reader found in a file, as JSON with `places`; what has its default is left out.

    Costs that are distances between the places become their metric and speed, others stay a table.
    """
    size = len(fields.prizes)
    metric, speed = _metric(fields)
    required = {fields.number(path, "required", node) for node in fields.required}
    avoided = {fields.number(path, "avoid", node) for node in fields.avoided}
    groups: list[list[str]] = [[] for _ in range(size)]
    for name, group in zip(_group_names(fields), fields.groups, strict=True):
        for node in group:
            groups[fields.number(path, "groups", node)].append(name)
    axes = ("lon", "lat") if fields.on_earth else ("x", "y")
    places = []
    for node in range(size):
        place: dict[str, Any] = {"name": f"place {node}" if fields.names is None else fields.names[node]}
        if fields.coords is not None:
            place |= dict(zip(axes, fields.coords[node].tolist(), strict=True))
        place["prize"] = _short(fields.prizes[node])
        if fields.service is not None and fields.service[node]:
            place["service"] = _short(fields.service[node])
        if fields.windows is not None and (windows := fields.windows[node]):
            texts = [_window(window, fields.clock) for window in windows]
            known = [text for text in texts if text is not None]
            place["windows"] = ";".join(known) if len(known) == len(texts) else [_pair(window) for window in windows]
        place |= {key: True for key, nodes in (("required", required), ("avoid", avoided)) if node in nodes}
        if groups[node]:
            place["group"] = "; ".join(groups[node])
        # The first place has all weights, since a reader wants each budget to have some.
        weights = {one.name: _short(one.weights[node]) for one in fields.budgets if one.weights[node] or not node}
        places.append(place | ({"weights": weights} if weights else {}))
    return {"places": places, **_rules(path, fields), **_costs(fields, metric, speed)}


def _group_names(fields: Fields) -> list[str]:
    """A name for each group: its own, without the semicolon that parts names, or else its number."""
    own = [name.replace(";", ",") for name in fields.group_names]
    return unique_names([*own, *(f"group {number + 1}" for number in range(len(own), len(fields.groups)))])


def _rules(path: FilePath, fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, node in (("start", fields.start), ("end", fields.end)):
        if node is not None:
            found[key] = fields.number(path, key, node)
    if fields.limit is not None:
        found["limit"] = _short(fields.limit)
    if fields.free_end:
        found["free_end"] = True
    if isinstance(fields.routes, int):
        found["routes"] = fields.routes
    elif fields.routes is not None:
        found["routes"] = [_route(path, fields, route) for route in fields.routes]
    if fields.budgets:
        found["budgets"] = {budget.name: _short(budget.most) for budget in fields.budgets}
    if fields.clock is not None:
        found["clock"] = fields.clock
    elif fields.unit not in (None, "minutes"):
        found["unit"] = fields.unit
    return found


def _route(path: FilePath, fields: Fields, route: RouteFields) -> dict[str, Any]:
    found: dict[str, Any] = {"name": route.name} if route.name else {}
    for key, node in (("start", route.start), ("end", route.end)):
        if node is not None:
            found[key] = fields.number(path, key, node)
    for key, time in (("opens", route.opens), ("closes", route.closes)):
        if time is not None:
            found[key] = _short(time) if fields.clock is None else _moment(time, fields.clock)
    if route.limit is not None:
        found["limit"] = _short(route.limit)
    return found | ({"free_end": True} if route.free_end else {})


def _metric(fields: Fields) -> tuple[str | None, float]:
    """The metric by which costs are distances between the places, and the speed; None where they are a table."""
    for name in ("great_circle",) if fields.on_earth else ("euclidean", "manhattan"):
        scale = scale_of(fields.costs, fields.coords, METRICS[name])
        if scale is not None and fields.coords is not None:
            distances = pairwise(fields.coords, METRICS[name])
            for speed in (float(f"{1 / scale:.12g}"), 1 / scale):  # the first is what somebody wrote, most likely
                if np.array_equal(distances / speed, fields.costs):
                    return name, speed
    return None, 1.0


def _costs(fields: Fields, metric: str | None, speed: float) -> dict[str, Any]:
    if metric is None:
        return {"costs": [[None if math.isinf(cost) else _short(cost) for cost in row] for row in fields.costs]}
    return {
        **({"metric": metric} if metric == "manhattan" else {}),
        **({"speed": _short(speed)} if speed != 1 else {}),
    }


def _window(window: Window | Daily, clock: Unit | None) -> str | None:
    """A window in times of day as text, with its day where it does not hold every day; None where it is in numbers."""
    if isinstance(window, Daily):
        return f"{_of_day(window.opens)}-{_of_day(window.closes)}"
    if clock is None or not math.isfinite(window[0]) or not math.isfinite(window[1]):
        return None
    first, last = (3600 * time / PER_HOUR[clock] for time in window)
    midnight = 86400 * math.floor(first / 86400)
    whole = first == round(first) and last == round(last)
    if not whole or first < 0 or last - midnight >= 100 * 3600 or midnight >= 9999 * 86400:
        return None
    return f"day {midnight // 86400 + 1} {_of_day(round(first) - midnight)}-{_of_day(round(last) - midnight)}"


def _pair(window: Window | Daily) -> list[Any]:
    if isinstance(window, Daily):
        return [_of_day(window.opens), _of_day(window.closes)]
    return [None if math.isinf(time) else _short(time) for time in window]


def _moment(time: float, clock: Unit) -> float | int | str:
    seconds = 3600 * time / PER_HOUR[clock]
    if seconds < 0 or seconds != round(seconds):
        return _short(time)
    day, rest = divmod(round(seconds), 86400)
    if day >= 9999:
        return _short(time)
    return f"day {day + 1} {_of_day(rest)}" if day else _of_day(rest)


def _of_day(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    return f"{hours:02d}:{rest // 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")


def _short(value: float) -> float | int:
    """The number, as a whole one where it is that."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
