"""The published files of team orienteering and the best known value of each, by the tables beside them."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.data.files import read
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance


@dataclass(frozen=True)
class VariantFile:
    """A problem and the best that is known of it."""

    kind: str
    """Its format: top, toptw or mctopmtw."""
    path: Path
    routes: int
    best: float
    """The best known value."""

    @property
    def name(self) -> str:
        """The file's name with the number of routes, which alone tells some problems apart."""
        return f"{self.path.stem}.{self.routes}"

    def read(self) -> Instance:
        """The problem."""
        return read(self.path, self.kind, routes=self.routes if self.kind == "toptw" else None)


def listed_files(kind: str, folder: Path) -> list[VariantFile]:
    """All files of a kind in the order of their table in `folder`.

    "top" are those of team orienteering whose value is recent, all in sets 4, 6 and 7; "top-small" are sets 1 to 3.
    """
    if kind == "toptw":
        rows = _rows(folder / "toptw_best_known.csv", "instance", "routes", "best_known_2020")
        found = [(f"{row['instance']}.txt", row["routes"], row["best_known_2020"]) for row in rows]
    elif kind == "mctopmtw":
        rows = _rows(folder / "mctopmtw_best_known.csv", "instance", "routes", "constructed")
        found = [(f"MCTOPMTW-{row['routes']}-{row['instance']}.txt", row["routes"], row["constructed"]) for row in rows]
    else:
        rows = _rows(folder / "top_best_known.csv", "instance", "best_known", "source")
        small = kind == "top-small"
        wanted = [row for row in rows if (row["instance"][1] in "123" if small else row["source"] == "recent")]
        found = [(f"{row['instance']}.txt", row["instance"][3], row["best_known"]) for row in wanted]
    kind = kind.removesuffix("-small")
    return [VariantFile(kind, folder / kind / name, int(routes), float(best)) for name, routes, best in found]


def spread(files: Sequence[VariantFile], count: int) -> list[VariantFile]:
    """`count` files at equal distances, the first one included: of N files those at the places floor(k N / count)."""
    if count > len(files):
        raise ValueError(f"--count must be at most {len(files)}, the number of files listed, got {count}")
    return [files[place * len(files) // count] for place in range(count)]


def _rows(path: Path, *columns: str) -> list[dict[str, str]]:
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
                raise BadFile(path, f"needs the columns {', '.join(columns)}; missing: {', '.join(missing)}", 1)
            return list(reader)
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror or error}; --data names the folder") from error
