"""Tables of routing engines as they come: answers of OSRM's `/table` and of Valhalla's `/sources_to_targets`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from orienteer.data.cells import is_number
from orienteer.data.text import FilePath, check_size, shown
from orienteer.model.clock import PER_HOUR, Unit
from orienteer.model.errors import BadFile
from orienteer.model.numbers import Array

METRES = {"kilometers": 1000.0, "km": 1000.0, "miles": 1609.344, "mi": 1609.344}
"""How long the units of Valhalla's distances are; OSRM's are metres."""


@dataclass(frozen=True)
class EngineTable:
    """Times in seconds or distances in metres from the row's place to the column's; infinite where there is no way."""

    path: FilePath
    durations: Array | None
    distances: Array | None

    @property
    def size(self) -> int:
        """How many places the table has."""
        found = self.durations if self.durations is not None else self.distances
        assert found is not None
        return len(found)

    def timed(self, speed: float | None) -> bool:
        """Whether costs are the durations: where there are any, unless a speed asks for the distances."""
        return self.durations is not None and (speed is None or self.distances is None)

    def costs(self, speed: float | None, unit: Unit | None) -> Array:
        """Durations in the unit, in seconds unless it is given; or distances, divided by the speed."""
        if not self.timed(speed):
            assert self.distances is not None
            return self.distances if speed is None else self.distances / speed
        assert self.durations is not None
        if speed is not None:
            raise BadFile(self.path, "a speed makes times of distances, but the table has durations alone")
        return self.durations * (PER_HOUR[unit] / PER_HOUR["seconds"]) if unit is not None else self.durations


def engine_table(path: FilePath, data: Any, field: str = "") -> EngineTable:
    """The table in a decoded answer; `field` names it in messages."""
    prefix = f"{field}." if field else ""
    if not isinstance(data, dict):
        raise BadFile(path, f"{field or 'the matrix'} must be the answer of a routing engine, got {shown(data)}")
    if data.get("code", "Ok") != "Ok" or "error" in data:
        reason = data.get("message", data.get("error", data.get("code")))
        raise BadFile(path, f"{field or 'the answer'} holds no table but the error {shown(reason)}")
    found, metres = data, 1.0
    if "sources_to_targets" in data:  # Valhalla
        found, prefix = data["sources_to_targets"], f"{prefix}sources_to_targets"
        metres = _metres(path, field, data.get("units", "kilometers"))
        if isinstance(found, list):
            rows = {"durations": "time", "distances": "distance"}
            found = {key: _members(path, prefix, found, member) for key, member in rows.items()}
            found = {key: table for key, table in found.items() if not _none(table)} or found
            names = dict.fromkeys(rows, prefix)
        elif isinstance(found, dict):
            names = {key: f"{prefix}.{key}" for key in ("durations", "distances")}
        else:
            raise BadFile(path, f"{prefix} must be a list of rows or an object, got {shown(found)}")
    else:
        names = {key: f"{prefix}{key}" for key in ("durations", "distances")}
    tables = {key: square_table(path, names[key], found[key]) for key in names if found.get(key) is not None}
    if not tables:
        wish = "durations or distances (OSRM) or sources_to_targets (Valhalla)"
        raise BadFile(path, f"{field or 'the answer'} needs {wish}, got {shown(list(data))}")
    durations, distances = tables.get("durations"), tables.get("distances")
    return _checked(path, EngineTable(path, durations, None if distances is None else distances * metres))


def _checked(path: FilePath, table: EngineTable) -> EngineTable:
    sizes = {len(found) for found in (table.durations, table.distances) if found is not None}
    if len(sizes) > 1:
        raise BadFile(path, f"durations and distances must have as many rows, got {' and '.join(map(str, sizes))}")
    return table


def _metres(path: FilePath, field: str, unit: Any) -> float:
    if not isinstance(unit, str) or unit not in METRES:
        prefix = f"{field}." if field else ""
        raise BadFile(path, f"{prefix}units must be one of {', '.join(METRES)}, got {shown(unit)}")
    return METRES[unit]


def _members(path: FilePath, field: str, rows: list[Any], member: str) -> list[Any]:
    """The times or the distances of Valhalla's rows of objects."""
    found = []
    for number, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(leg, dict) for leg in row):
            raise BadFile(path, f"{field}[{number}] must be a list of objects with time and distance, got {shown(row)}")
        found.append([leg.get(member) for leg in row])
    return found


def _none(table: list[Any]) -> bool:
    return all(value is None for row in table for value in row)


def square_table(path: FilePath, field: str, rows: Any, size: int | None = None) -> Array:
    """A square table of numbers, not below zero, of this size if it is given; None becomes infinite."""
    if not isinstance(rows, list) or (size is not None and len(rows) != size):
        got = f"{len(rows)} rows" if isinstance(rows, list) else shown(rows)
        many = "rows" if size is None else f"{size} rows, one a node"
        raise BadFile(path, f"{field} must be a list of {many}, got {got}")
    size = len(rows)
    check_size(path, size, table=True)
    for number, row in enumerate(rows):  # before anything is allocated
        if not isinstance(row, list) or len(row) != size:
            got = f"{len(row)}" if isinstance(row, list) else shown(row)
            raise BadFile(path, f"{field}[{number}] must be a list of {size} numbers, as many as rows, got {got}")
    table = np.empty((size, size))
    for number, row in enumerate(rows):
        for place, value in enumerate(row):
            if value is not None and not (is_number(value) and value >= 0):
                wish = f"{field}[{number}][{place}] must be a number, not negative, or null where there is no way"
                raise BadFile(path, f"{wish}, got {shown(value)}")
        table[number] = [np.inf if value is None else value for value in row]
    return table
