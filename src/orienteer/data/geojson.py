"""GeoJSON: places as points, with the columns of CSV as their properties; and plans as lines and points."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from orienteer.data.cells import is_number
from orienteer.data.columns import COLUMNS
from orienteer.data.fields import Fields
from orienteer.data.json_file import parse_json, problem_fields
from orienteer.data.legs import NOTHING, Given, great_circle_speed, positions
from orienteer.data.places import Places
from orienteer.data.rules_json import rules_of
from orienteer.data.text import MAX_WHOLE, FilePath, shown, write_lines
from orienteer.model.clock import time_of_day
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.tour import Visit

OURS = "orienteer"
"""The key of a FeatureCollection under which stands what points cannot say: limit, start, routes and so on."""

AXES = ("x", "y", "lat", "lon")


def load_geojson(path: FilePath, given: Given = NOTHING) -> Fields:
    """The problem in a GeoJSON file; what is given overrides what the file says."""
    problem, layout = geojson_problem(path, parse_json(path))
    return problem_fields(path, problem, layout, given)


def geojson_problem(path: FilePath, data: Any) -> tuple[dict[str, Any], Places]:
    """The problem of a decoded FeatureCollection in the form that lists places, and how messages call these."""
    if not isinstance(data, dict) or data.get("type") != "FeatureCollection":
        raise BadFile(path, f"must be a GeoJSON object of type FeatureCollection, got {shown(data)}")
    features, own = data.get("features"), data.get(OURS)
    if not isinstance(features, list):
        raise BadFile(path, f"features must be a list, got {shown(features)}")
    if own is not None and not isinstance(own, dict):
        raise BadFile(path, f"{OURS} must be an object, got {shown(own)}")
    if own and "plan" in own:
        raise BadFile(path, "holds a plan, not a problem")
    if own and (wrong := own.keys() & {"places", "prizes", "coords", "names"}):
        raise BadFile(path, f"{OURS}.{min(wrong)} must be left out: the features say it")
    numbers = [number for number, feature in enumerate(features) if _is_point(path, number, feature)]
    if len(numbers) < len(features):
        others = f"{path}: {len(features) - len(numbers)} of {len(features)} features are no points and are not read"
        logging.getLogger("orienteer").warning("%s", others)
    places = [_place(path, number, features[number]) for number in numbers]
    return {"places": places, **(own or {})}, Places("features[{node}].properties.{column}", False, numbers)


def save_geojson(instance: Instance, path: FilePath) -> None:
    """Writes a problem whose places have longitude and latitude."""
    spots = positions(instance, path)
    rules = rules_of(instance)
    own: dict[str, Any] = {"limit": instance.limit, "start": instance.start}
    if instance.end is not None:
        own["end"] = instance.end
    own |= {key: rules[key] for key in ("clock", "routes", "free_end", "groups") if key in rules}
    own |= _legs(instance)
    if instance.budgets:
        own["budgets"] = {budget.name: budget.most for budget in instance.budgets}
    features = []
    for node in range(instance.size):
        properties: dict[str, Any] = {} if instance.names is None else {"name": instance.names[node]}
        properties["prize"] = float(instance.prizes[node])
        if node in instance.required:
            properties["required"] = True
        properties |= {key: rules[key][node] for key in ("service", "windows") if key in rules}
        if instance.budgets:
            properties["weights"] = {budget.name: float(budget.weights[node]) for budget in instance.budgets}
        features.append(_point(spots[node], properties))
    _write(path, _collection(features, own))


def plan_geojson(instance: Instance, plan: Plan, path: FilePath = "plan") -> dict[str, Any]:
    """A plan as a FeatureCollection: a line for each route, a point for each stop and each place that is left out.

    `path` is what an error names, where places have no longitude and latitude.
    """
    spots = positions(instance, path)
    lines, stops = [], []
    for number, (tour, visits) in enumerate(zip(plan.routes, plan.stops(instance), strict=True)):
        name = instance.each_route[number].name
        about = {"kind": "route", "route": number, **({"name": name} if name else {})}
        about |= {"prize": tour.prize, "cost": tour.cost, "nodes": list(tour.nodes)}
        way = [spots[node] for node in tour.nodes]
        line = {"type": "LineString", "coordinates": way if len(way) > 1 else way * 2}
        lines.append({"type": "Feature", "geometry": line, "properties": about})
        stops += [_point(spots[visit.node], _stop(instance, number, visit)) for visit in visits]
    left_out = [node for node in range(instance.size) if node not in plan.visited]
    rest = [_point(spots[node], {"kind": "left out", **_of_node(instance, node)}) for node in left_out]
    return _collection([*lines, *stops, *rest], {"plan": {"prize": plan.prize, "cost": plan.cost}})


def save_plan_geojson(instance: Instance, plan: Plan, path: FilePath) -> None:
    """Writes a plan as GeoJSON."""
    _write(path, plan_geojson(instance, plan, path))


def routes_of_geojson(path: FilePath, data: Mapping[str, Any]) -> list[Any]:
    """The nodes of each route in a plan as `plan_geojson` makes it."""
    features = data.get("features")
    kinds = [_properties(feature) for feature in features] if isinstance(features, list) else []
    routes = [about.get("nodes") for about in kinds if about.get("kind") == "route"]
    if not routes:
        raise BadFile(path, "there is no plan in it: no feature is of the kind 'route'")
    return routes


def _is_point(path: FilePath, number: int, feature: Any) -> bool:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise BadFile(path, f"features[{number}] must be a GeoJSON object of type Feature, got {shown(feature)}")
    geometry = feature.get("geometry")
    return isinstance(geometry, dict) and geometry.get("type") == "Point"


def _place(path: FilePath, number: int, feature: dict[str, Any]) -> dict[str, Any]:
    """The properties of a feature with the position in place of any that the properties have."""
    spot = feature["geometry"].get("coordinates")
    if not isinstance(spot, list) or len(spot) < 2 or not all(map(is_number, spot[:2])):
        wish = "must be a list of longitude and latitude"
        raise BadFile(path, f"features[{number}].geometry.coordinates {wish}, got {shown(spot)}")
    if abs(spot[0]) > 180 or abs(spot[1]) > 90:
        wish = "must be a longitude up to 180 and a latitude up to 90 degrees"
        raise BadFile(path, f"features[{number}].geometry.coordinates {wish}, got {shown(spot[:2])}")
    properties = feature.get("properties")
    if not isinstance(properties, dict | None):
        raise BadFile(path, f"features[{number}].properties must be an object, got {shown(properties)}")
    kept = {key: value for key, value in (properties or {}).items() if COLUMNS.get(key.strip().lower()) not in AXES}
    return {**kept, "lon": spot[0], "lat": spot[1]}


def _legs(instance: Instance) -> dict[str, Any]:
    """The speed by which costs are great circles, where there is one; else the costs."""
    speed = great_circle_speed(instance)
    if speed is None:
        return {"costs": [[None if cost == np.inf else cost for cost in row] for row in instance.costs.tolist()]}
    return {} if speed == 1 else {"speed": speed}


def _stop(instance: Instance, route: int, visit: Visit) -> dict[str, Any]:
    times = {key: getattr(visit, key) for key in ("arrive", "wait", "begin", "leave")}
    found = {"kind": "stop", "route": route, "stop": visit.place, **_of_node(instance, visit.node)}
    found |= {"prize": visit.prize, "cost": visit.cost, **times}
    if instance.clock is not None:
        found |= {f"{key}_time": time_of_day(times[key], instance.clock) for key in ("arrive", "begin", "leave")}
    return found


def _of_node(instance: Instance, node: int) -> dict[str, Any]:
    name = {} if instance.names is None else {"name": instance.names[node]}
    return {"node": node, **name, "prize": float(instance.prizes[node])}


def _properties(feature: Any) -> dict[str, Any]:
    found = feature.get("properties") if isinstance(feature, dict) else None
    return found if isinstance(found, dict) else {}


def _point(spot: list[float], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": spot}, "properties": properties}


def _collection(features: list[dict[str, Any]], own: dict[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": features, OURS: own}


def _write(path: FilePath, data: dict[str, Any]) -> None:
    """Writes a FeatureCollection with a line for each feature."""
    features = ",\n".join(json.dumps(feature) for feature in data["features"])
    text = f'{{"type": "FeatureCollection", "{OURS}": {json.dumps(data[OURS])}, "features": [\n{features}\n]}}'
    if len(text) > MAX_WHOLE:
        raise BadFile(path, f"cannot be written: more than {MAX_WHOLE} bytes of GeoJSON; write NPZ instead")
    write_lines(path, [text])
