"""Places as JSON objects, one each: the key `places` of a problem, and the features of GeoJSON."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orienteer.data.columns import COLUMNS
from orienteer.data.points import WEIGHTS, Header, Row
from orienteer.data.text import FilePath, check_size, shown
from orienteer.model.errors import BadFile
from orienteer.model.spelling import did_you_mean

KEYS = (*dict.fromkeys(COLUMNS.values()), WEIGHTS, "id", "comment")
"""The keys of a place; the other titles of columns are taken as well."""

PRIZE = 1.0
"""What a place without a prize is worth."""


MOST_KEYS = 200
"""How many different keys beside ours are looked at: a table has a cell for each in every row."""


@dataclass(frozen=True)
class Places:
    """How a file lists its places: what messages call a value, and whether it is ours or comes from elsewhere.

    Objects from elsewhere may have any keys, and names that are missing or repeat.
    """

    field: str = "places[{node}].{column}"
    ours: bool = True
    numbers: Sequence[int] | None = None
    """The places' numbers within a list that holds other things as well."""
    lines: Sequence[int] | None = None
    """The places' lines."""

    def called(self, node: int, column: str) -> str:
        """What messages call the value of a node in a column."""
        return self.field.format(node=node if self.numbers is None else self.numbers[node], column=column)

    def table(self, path: FilePath, places: Any) -> tuple[Header, list[Row]]:
        """The header and the rows of a table of places."""
        if not isinstance(places, list):
            raise BadFile(path, f"places must be a list of objects, got {shown(places)}")
        check_size(path, len(places))
        found = [self._place(path, node, place) for node, place in enumerate(places)]
        if any(place.get("name") is not None for place in found):
            for place, name in zip(found, self._names(path, [place.get("name") for place in found]), strict=True):
                place["name"] = name
        titles = dict.fromkeys(itertools.chain.from_iterable(found))
        for axes in (("x", "y"), ("lat", "lon")):  # an axis brings the other with it
            if any(axis in titles for axis in axes):
                titles |= dict.fromkeys(axes)
        if all(place.get("name") is None for place in found):
            titles.pop("name", None)
        for key in [key for key in titles if key not in KEYS][MOST_KEYS:]:
            del titles[key]
        rows = [
            Row([place.get(title) for title in titles], self.lines[node] if self.lines else None, self.called(node, ""))
            for node, place in enumerate(found)
        ]
        return Header(list(titles), prize=PRIZE, warns=not self.ours), rows

    def _place(self, path: FilePath, node: int, place: Any) -> dict[str, Any]:
        """The values of a place by the names of columns."""
        where = self.called(node, "").rstrip(".")
        if not isinstance(place, dict):
            raise BadFile(path, f"{where} must be an object, got {shown(place)}")
        found: dict[str, Any] = {}
        for key, value in place.items():
            column = COLUMNS.get(key if self.ours else key.strip().lower()) or key
            if self.ours and column not in KEYS:
                hint = did_you_mean(key, [*COLUMNS, *KEYS])
                raise BadFile(path, f"{where} has the unknown key {shown(key)}; known are {', '.join(KEYS)}{hint}")
            if column in found and self.ours:
                raise BadFile(path, f"{where} has {column} twice")
            found.setdefault(column, value)
        return found

    def _names(self, path: FilePath, names: Sequence[Any]) -> list[str]:
        if not self.ours:
            return unique_names([_as_name(name) for name in names])
        for node, name in enumerate(names):
            if not isinstance(name, str):
                wish = "must be a text, since other places have names" if name is None else "must be a text"
                raise BadFile(path, f"{self.called(node, 'name')} {wish}, got {shown(name)}")
        return list(names)


OURS = Places()
"""The places of our own JSON."""


def unique_names(names: Sequence[str | None]) -> list[str]:
    """Names that all differ: a place without one is called by its number, and names that repeat get a number."""
    taken = {name for name in names if name is not None}
    found: list[str] = []
    seen = set[str]()
    counts: dict[str, int] = {}
    for place, name in enumerate(names):
        text = base = f"place {place}" if name is None else name
        while text in seen or (text in taken and text != name):
            counts[base] = counts.get(base, 1) + 1
            text = f"{base} {counts[base]}"
        seen.add(text)
        found.append(text)
    return found


def _as_name(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, (int, float)) else None
