"""Several good routes that differ: a beam has them for nothing."""

import numpy as np
import numpy.typing as npt

from orienteer.beam.expand import Expander

APART = 0.25
"""Of any two alternatives, each visits at least this share of its nodes without the other."""


def alternatives(expander: Expander, row: int, count: int, best: list[int]) -> list[list[int]]:
    """Up to `count` - 1 routes of an instance beside its `best`, most prize first, all different enough.

    Start and end are not counted among the nodes that differ.
    """
    if not best:
        return []
    number, visited = expander.log.closing(row)
    inner = visited.copy()
    inner[:, [best[0], best[-1]]] = False
    chosen, sets = [best], [_as_set(best[1:-1], visited.shape[1])]
    for place in range(len(number)):
        if len(chosen) == count:
            break
        if all(_differ(inner[place], other) for other in sets):
            chosen.append(expander.log.route(int(number[place]), row))
            sets.append(inner[place])
    return chosen[1:]


def _differ(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> bool:
    common = int((one & other).sum())
    return all(int(nodes.sum()) - common >= max(1.0, APART * int(nodes.sum())) for nodes in (one, other))


def _as_set(nodes: list[int], size: int) -> npt.NDArray[np.bool_]:
    table = np.zeros(size, dtype=bool)
    table[nodes] = True
    return table
