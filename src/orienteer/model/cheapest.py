"""The costs of cheapest paths through any nodes, in one problem or in many at once."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ROUNDS = 12
"""The most rounds over all legs at once before Dijkstra's algorithm, node by node, takes over. Each round allows paths
of one leg more; where costs are like distances, longer paths are no cheaper and the first round is the last."""
VALUES = 2**18
"""How many costs are looked at together: few enough to stay in a processor's cache."""


def cheapest_to(costs: Floats, node: Ints) -> Floats:
    """(problem, n) cost of the cheapest path from each node to a problem's `node`, (problem,).

    `costs` are (problem, n, n).
    """
    rows = np.arange(len(costs))
    best: Floats = costs[rows, :, node]
    best[rows, node] = 0.0
    part, before = costs, best
    for _ in range(ROUNDS):
        through = _through_another(part, before)
        cheaper = (through < before).any(axis=1)
        if not cheaper.any():
            return best
        after = np.minimum(through, before)
        best[rows] = after
        every = cheaper.all()  # where all problems go on, the costs, which may be many, need not be copied
        rows, part, before = (rows, part, after) if every else (rows[cheaper], part[cheaper], after[cheaper])
    for row in rows:
        best[row] = dijkstra(costs[row].T, int(node[row]))[0]
    return best


def dijkstra(costs: Floats, source: int) -> tuple[Floats, Ints]:
    """(n,) cost of the cheapest path from `source` to each node, and (n,) the last node but one of that path.

    `costs` are (n, n).
    """
    size = len(costs)
    best = np.full(size, np.inf)
    before = np.full(size, source)
    best[source] = 0.0
    open_nodes = np.ones(size, dtype=bool)
    for _ in range(size):
        node = int(np.argmin(np.where(open_nodes, best, np.inf)))
        if not open_nodes[node] or best[node] == np.inf:
            break
        open_nodes[node] = False
        with np.errstate(over="ignore"):  # a sum beyond all floats becomes infinite, and is beyond the limit too
            through = best[node] + costs[node]
        shorter = open_nodes & (through < best)
        best[shorter] = through[shorter]
        before[shorter] = node
    return best, before


def _through_another(costs: Floats, best: Floats) -> Floats:
    """(problem, n) for each node, the least sum of a leg to another node and that node's `best`, (problem, n)."""
    least = np.empty_like(best)
    step = max(1, VALUES // best.size)
    with np.errstate(over="ignore"):
        for first in range(0, best.shape[1], step):
            nodes = slice(first, first + step)
            np.minimum.reduce(costs[:, nodes] + best[:, None, :], axis=2, out=least[:, nodes])
    return least
