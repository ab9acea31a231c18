"""The text format of Tsiligirides' and Chao's problems: "Tmax P", then "x y score"; point 1 starts, point 2 ends."""

from itertools import islice

import numpy as np

from orienteer.data.fields import Fields
from orienteer.data.text import MAX_NODES, FilePath, amount, check_size, read_lines, real, whole, write_lines
from orienteer.model.distances import euclidean, measured_by, pairwise
from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance


def load_chao(path: FilePath) -> Fields:
    """The problem in a file of points with plain Euclidean distances."""
    lines = read_lines(path)
    number, first = next(lines, (1, ""))
    header = first.split()
    if len(header) != 2:
        raise BadFile(path, f"the first line must be 'Tmax P', got {len(header)} values", number)
    limit = real(path, header[0], "Tmax", number)
    if (paths := whole(path, header[1], "P", number)) != 1:
        raise BadFile(path, f"P must be 1, a single route, got {paths}", number)
    points = []
    for number, line in islice(lines, MAX_NODES + 1):
        row = line.split()
        if len(row) != 3:
            raise BadFile(path, f"a point must be 'x y score', got {len(row)} values", number)
        x, y = (real(path, token, what, number) for token, what in zip(row, "xy", strict=False))
        points.append((x, y, amount(path, row[2], "score", number)))
    if len(points) < 2:
        raise BadFile(path, f"a start and an end are needed, got {len(points)} point(s)", number)
    check_size(path, len(points), number)
    table = np.array(points)
    coords = table[:, :2]
    return Fields(pairwise(coords, euclidean), table[:, 2], limit, 0, 1, coords)


def save_chao(instance: Instance, path: FilePath) -> None:
    """Writes a problem that has Euclidean costs, starts at node 0, ends at node 1 and names no nodes."""
    if (instance.start, instance.end) != (0, 1):
        raise BadFile(path, "cannot be written: in this format node 0 starts and node 1 ends the route")
    if instance.names is not None:
        raise BadFile(path, "cannot be written: this format holds no names")
    if instance.coords is None or not measured_by(instance.costs, instance.coords, euclidean):
        raise BadFile(path, "cannot be written: this format holds Euclidean distances of coordinates alone")
    rows = zip(instance.coords.tolist(), instance.prizes.tolist(), strict=True)
    lines = [f"{instance.limit!r}\t1", *(f"{x!r}\t{y!r}\t{prize!r}" for (x, y), prize in rows)]
    write_lines(path, lines)
