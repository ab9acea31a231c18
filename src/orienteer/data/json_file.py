"""JSON files: one problem, with the schema of docs/files.md, or one result."""

import json
from typing import Any

import numpy as np

from orienteer.data.distances import METRICS, euclidean, manhattan, measured_by, pairwise
from orienteer.data.fields import Fields, Node
from orienteer.data.rules_json import RULES, rules_of, with_rules
from orienteer.data.text import MAX_WHOLE, FilePath, check_size, read_text, shown, write_lines
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.numbers import EXACT_INTEGERS, Array
from orienteer.model.result import Result
from orienteer.model.spelling import did_you_mean

KEYS = ("limit", "prizes", "start", "end", "metric", "coords", "costs", "names", *RULES, "comment")
"""The keys that a problem may have."""


def load_json(path: FilePath) -> Fields:
    """The problem in a JSON file."""
    return problem_fields(path, parse_json(path))


def problem_fields(path: FilePath, data: Any) -> Fields:
    """The problem that decoded JSON holds; `path` is what errors call the file."""
    if not isinstance(data, dict):
        raise BadFile(path, f"a problem must be a JSON object, got {shown(data)}")
    if unknown := data.keys() - set(KEYS):
        wrong = min(unknown)
        raise BadFile(path, f"unknown key {shown(wrong)}; known are {', '.join(KEYS)}{did_you_mean(wrong, KEYS)}")
    if "prizes" not in data:
        raise BadFile(path, "prizes is missing")
    prizes = _numbers(path, "prizes", data["prizes"])
    check_size(path, len(prizes))
    coords = _table(path, "coords", data["coords"], len(prizes), 2) if data.get("coords") is not None else None
    plain = Fields(
        costs=_costs(path, data, coords, len(prizes)),
        prizes=prizes,
        limit=_limit(path, data.get("limit")),
        start=_node(path, "start", data.get("start")),
        end=_node(path, "end", data.get("end")),
        coords=coords,
        names=_names(path, data.get("names")),
    )
    return with_rules(path, plain, data)


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
    for metric in (euclidean, manhattan):
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
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {shown(next(key for key in keys if keys.count(key) > 1))} appears twice")
    return table


def _costs(path: FilePath, data: dict[str, Any], coords: Array | None, size: int) -> Array:
    metric = data.get("metric")
    if data.get("costs") is not None:
        if metric is not None:
            raise BadFile(path, "costs and metric exclude each other")
        return _table(path, "costs", data["costs"], size, size, gaps=True)
    if coords is None:
        raise BadFile(path, "costs or coords are missing")
    name = "euclidean" if metric is None else metric
    if not isinstance(name, str) or name not in METRICS:
        raise BadFile(path, f"metric must be one of {', '.join(METRICS)}, got {shown(name)}")
    return pairwise(coords, METRICS[name])


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
        if type(value) is float or (type(value) is int and abs(value) <= EXACT_INTEGERS):
            numbers[place] = value
        elif value is None and gaps:
            numbers[place] = np.inf
        else:
            raise BadFile(path, f"{field}[{place}] must be a number{_reason(value)}, got {shown(value)}")
    return numbers


def _limit(path: FilePath, value: Any) -> float | None:
    if value is None or type(value) is float or (type(value) is int and abs(value) <= EXACT_INTEGERS):
        return value
    raise BadFile(path, f"limit must be a number{_reason(value)}, got {shown(value)}")


def _reason(value: Any) -> str:
    return " of at most 2**53" if type(value) is int else ""


def _node(path: FilePath, field: str, value: Any) -> Node | None:
    if value is None or type(value) in (int, str):
        return value
    raise BadFile(path, f"{field} must be a node's number or name, got {shown(value)}")


def _names(path: FilePath, value: Any) -> list[str] | None:
    if value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        return value
    raise BadFile(path, f"names must be a list of texts, got {shown(value)}")


def _laid_out(value: Any) -> str:
    """A value as JSON; of a table each row has its own line."""
    if isinstance(value, list) and any(isinstance(row, (list, dict)) for row in value):
        return "[\n    " + ",\n    ".join(json.dumps(row) for row in value) + "\n  ]"
    return json.dumps(value)
