"""JSON files: one problem, with the schema of docs/reference/files.md, or one result."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from orienteer.data.cells import Cell, is_number
from orienteer.data.engine_table import engine_table
from orienteer.data.fields import Fields, Node
from orienteer.data.legs import NOTHING, Given, Matrix, legs, unit_of
from orienteer.data.places import OURS, Places
from orienteer.data.points import Points, read_points
from orienteer.data.rules_json import RULES, limits_of_budgets, rules_of, with_rules
from orienteer.data.text import MAX_WHOLE, FilePath, check_size, read_text, shown, write_lines
from orienteer.data.times import Times, as_unit
from orienteer.model.clock import Unit
from orienteer.model.distances import METRICS, euclidean, manhattan, measured_by
from orienteer.model.errors import BadFile, InvalidInstance
from orienteer.model.instance import Instance
from orienteer.model.numbers import Array
from orienteer.model.result import Result
from orienteer.model.spelling import did_you_mean

LEGS = ("metric", "speed", "costs", "table", "unit")
"""The keys that say what legs cost."""

SHARED = ("limit", "start", "end", *LEGS, *RULES, "comment")
"""The keys of both forms of a problem."""

ARRAYS = ("prizes", "coords", "names", "service", "windows", "on_earth")
"""The keys of a problem that has a list for each quantity."""

KEYS = ("places", *dict.fromkeys((*ARRAYS, *SHARED)))
"""The keys that a problem may have."""


def load_json(path: FilePath, given: Given = NOTHING) -> Fields:
    """The problem in a JSON file; what is given overrides what the file says."""
    return problem_fields(path, parse_json(path), OURS, given)


def problem_of(data: Any, path: FilePath = "problem") -> Instance:
    """The problem in a decoded JSON object, or a `BadFile` whose `field` is the path of the key at fault."""
    try:
        return problem_fields(path, data).build(path)
    except (BadFile, InvalidInstance) as error:
        message = error.message if isinstance(error, BadFile) else str(error)
        raise BadFile(path, message, field=_field_of(message, data)) from (error.__cause__ or error)
    except MemoryError as error:
        raise BadFile(path, "needs more memory than there is") from error


def problem_fields(
    path: FilePath,
    data: Any,
    layout: Places = OURS,
    given: Given = NOTHING,
) -> Fields:
    """The fields of a problem in a decoded JSON object; `layout` says how places are listed.

    What is given overrides what the object says.
    """
    if not isinstance(data, dict):
        raise BadFile(path, f"a problem must be a JSON object, got {shown(data)}")
    if unknown := data.keys() - set(KEYS):
        wrong = min(unknown, key=str)
        raise BadFile(path, f"unknown key {shown(wrong)}; known are {', '.join(KEYS)}{did_you_mean(wrong, KEYS)}")
    over = {"metric": given.metric, "speed": given.speed, "unit": given.unit}
    data = {key: value for key, value in (*data.items(), *over.items()) if value is not None}
    if "prizes" not in data and "places" not in data:
        raise BadFile(path, "prizes is missing, or places")
    if both := "places" in data and data.keys() & set(ARRAYS):
        raise BadFile(path, f"places and {min(both)} exclude each other")
    matrix = _matrix(path, data, given.matrix)
    pace = Cell(path, data["speed"], "speed").number(texts=False) if "speed" in data else None
    counted = _unit(path, data)
    times = Times(path, unit_of(matrix, pace, counted))
    if "places" in data:
        limits, data["budgets"] = limits_of_budgets(path, data.get("budgets", []))
        points = read_points(path, *layout.table(path, data["places"]), times, limits | given.budgets)
    else:
        points = _arrays(path, data)
    prizes = np.array(points.prizes)
    spots = (points.coords, points.on_earth, points.names)
    if matrix is None and points.coords is None:
        raise BadFile(path, "costs or coords are missing" if "prizes" in data else "costs or positions are missing")
    costs, in_metres = legs(path, len(prizes), *spots, matrix, _metric(path, data), pace, counted)
    plain = Fields(
        costs=costs,
        prizes=prizes,
        limit=Cell(path, data["limit"], "limit").span(times) if "limit" in data else None,
        start=_end(path, "start", data, points.start),
        end=_end(path, "end", data, points.end),
        coords=points.coords,
        names=points.names,
        in_metres=in_metres,
        on_earth=points.on_earth,
        called=layout.called if "places" in data else None,
        **points.rules,
    )
    found = with_rules(path, plain, data, times)
    return found if "places" in data else found.with_budgets(path, given.budgets)


def save_json(instance: Instance, path: FilePath) -> None:
    """Writes a problem, in the form of `problem_dict`."""
    data = problem_dict(instance)
    text = "{\n" + ",\n".join(f"  {json.dumps(key)}: {_laid_out(value)}" for key, value in data.items()) + "\n}"
    if len(text) > MAX_WHOLE:
        raise BadFile(path, f"cannot be written: more than {MAX_WHOLE} bytes of JSON; write NPZ instead")
    write_lines(path, [text])


def problem_dict(instance: Instance) -> dict[str, Any]:
    """A problem as plain values, which `problem_fields` reads.

    Costs that are distances of the coordinates are left out, since the reader computes them.
    """
    data: dict[str, Any] = {"limit": instance.limit, "start": instance.start}
    if instance.end is not None:
        data["end"] = instance.end
    if instance.names is not None:
        data["names"] = list(instance.names)
    data["prizes"] = instance.prizes.tolist()
    if instance.coords is not None:
        data["coords"] = instance.coords.tolist()
    if instance.on_earth:
        data["on_earth"] = True
    for metric in () if instance.on_earth else (euclidean, manhattan):
        if measured_by(instance.costs, instance.coords, metric):
            data["metric"] = metric.__name__
            break
    else:
        data["costs"] = [[None if cost == np.inf else cost for cost in row] for row in instance.costs.tolist()]
    return data | rules_of(instance)


def load_result(path: FilePath) -> Result:
    """The result in a JSON file, as `Result.to_json` writes it."""
    data = parse_json(path)
    try:
        return Result.from_dict(data)
    except KeyError as error:
        raise BadFile(path, f"a result needs the key {error}") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadFile(path, f"not a result: {error}") from error


def parse_json(path: FilePath) -> Any:
    """The values of a JSON file."""
    return parse_json_text(path, read_text(path))


def parse_json_text(path: FilePath, text: str) -> Any:
    """The values of a JSON text; unlike Python's `json.loads`, this refuses NaN, infinities and repeated keys."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise BadFile(path, f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise BadFile(path, "not read: nested too deeply") from error
    except ValueError as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(path, str(error)) from error


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (np.inf, -np.inf):
        raise ValueError(f"the number {shown(text)} is too large")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {shown(key)} appears twice")
            seen.add(key)
    return table


def _matrix(path: FilePath, data: Mapping[str, Any], matrix: Matrix | None) -> Matrix | None:
    """The costs that the caller or one of two keys gives; None where they are distances."""
    if matrix is not None:
        return matrix
    if "costs" in data and (other := data.keys() & {"table", "metric", "speed"}):
        raise BadFile(path, f"costs and {min(other)} exclude each other")
    if "table" in data:
        return engine_table(path, data["table"], "table")
    if "costs" in data:
        return lambda size, _: _table(path, "costs", data["costs"], size, size, gaps=True)
    return None


def _unit(path: FilePath, data: Mapping[str, Any]) -> Unit | None:
    """The unit of costs that the keys unit and clock give."""
    units = [as_unit(path, data[key], what=key) for key in ("unit", "clock") if key in data]
    if len(set(units)) > 1:
        raise BadFile(path, f"unit and clock must be the same, got {units[0]} and {units[1]}")
    return units[0] if units else None


def _metric(path: FilePath, data: Mapping[str, Any]) -> str | None:
    name = data.get("metric")
    if name is not None and (not isinstance(name, str) or name not in METRICS):
        raise BadFile(path, f"metric must be one of {', '.join(METRICS)}, got {shown(name)}")
    return name


def _arrays(path: FilePath, data: Mapping[str, Any]) -> Points:
    """The points of a problem that has a list for each quantity; rules are read later."""
    prizes = _numbers(path, "prizes", data["prizes"])
    check_size(path, len(prizes))
    coords = _table(path, "coords", data["coords"], len(prizes), 2) if "coords" in data else None
    on_earth = data.get("on_earth", False)
    if not isinstance(on_earth, bool):
        raise BadFile(path, f"on_earth must be true or false, got {shown(on_earth)}")
    on_earth = on_earth or data.get("metric") == "great_circle"
    return Points(prizes.tolist(), coords, _names(path, data.get("names")), on_earth, {}, None, None)


def _end(path: FilePath, field: str, data: Mapping[str, Any], flagged: Node | None) -> Node | None:
    """Where routes start or end, by the key or by a place that says so."""
    value = data.get(field)
    if value is not None and type(value) not in (int, str):
        raise BadFile(path, f"{field} must be a node's number or name, got {shown(value)}")
    return flagged if value is None else value


def _table(path: FilePath, field: str, rows: Any, height: int, width: int, gaps: bool = False) -> Array:
    if not isinstance(rows, list) or len(rows) != height:
        got = f"{len(rows)} rows" if isinstance(rows, list) else shown(rows)
        raise BadFile(path, f"{field} must be a list of {height} rows, one a node, got {got}")
    for number, row in enumerate(rows):  # before anything is allocated
        if not isinstance(row, list) or len(row) != width:
            got = f"{len(row)}" if isinstance(row, list) else shown(row)
            raise BadFile(path, f"{field}[{number}] must be a list of {width} numbers, got {got}")
    table = np.empty((height, width))
    for number, row in enumerate(rows):
        table[number] = _numbers(path, f"{field}[{number}]", row, gaps)
    return table


def _numbers(path: FilePath, field: str, values: Any, gaps: bool = False) -> Array:
    """The values of a list as floats; with `gaps`, null stands for infinity."""
    if not isinstance(values, list):
        raise BadFile(path, f"{field} must be a list of numbers, got {shown(values)}")
    numbers = np.empty(len(values))
    for place, value in enumerate(values):
        if value is None and gaps:
            numbers[place] = np.inf
        else:
            numbers[place] = value if is_number(value) else Cell(path, value, f"{field}[{place}]").number(texts=False)
    return numbers


def _names(path: FilePath, value: Any) -> list[str] | None:
    if value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        return value
    raise BadFile(path, f"names must be a list of texts, got {shown(value)}")


def _field_of(message: str, data: Any) -> str | None:
    """The path of keys at the beginning of a message, which by our custom names the field first, if there is one."""
    found = re.match(r"([a-z_]+)((?:\[[^\]]*\]|\.[^\s:.\[]+)*)(?=[ :])", message)
    return found[0] if found and isinstance(data, dict) and found[1] in data else None


def _laid_out(value: Any) -> str:
    """A value as JSON; of a table each row has its own line."""
    if isinstance(value, list) and any(isinstance(row, (list, dict)) for row in value):
        return "[\n    " + ",\n    ".join(json.dumps(row) for row in value) + "\n  ]"
    return json.dumps(value)
