"""Opening hours in compiled loops."""

from typing import Any

import numpy as np

from orienteer.kernel.compiled import inlined


@inlined
def begin_at(hours: Any, node: int, arrive: float) -> float:
    """When a visit begins after an arrival; infinite if all windows have closed.

    `hours` has the windows of all nodes, each node's in order, as `opens` and `closes`; those of a node begin at
    `first[node]`.
    """
    for window in range(hours.first[node], hours.first[node + 1]):
        if arrive <= hours.closes[window]:
            return max(arrive, hours.opens[window])
    return np.inf
