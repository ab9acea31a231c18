"""What networks read of partial paths, put together by one loop: step by step it is some seventy small tensors."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orienteer.kernel import ZERO, Floats, Ints, kernel
from orienteer.network.columns import (
    BASE_COUNT,
    BASE_MEAN,
    BASE_STEPS,
    CHOICE,
    CLOSEST,
    CURRENT,
    DETOUR,
    END,
    FAR,
    GLOBAL_COUNT,
    GLOBAL_HOPS,
    GLOBAL_WAY_HOME,
    HOME,
    LEAST_LEFT,
    LEG,
    PRIZE,
)

Singles = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


class Given(NamedTuple):
    """Some problems, and partial paths of theirs."""

    costs: Floats  # (problem, node, node)
    relative: Singles  # (problem, node, node) the costs in units of the limit
    to_end: Floats  # (problem, node)
    prizes: Floats  # (problem, node)
    budget: Floats  # (problem,)
    divisor: Floats  # (problem,) the limit, above zero
    end: Ints  # (problem,)
    instance: Ints  # (path,)
    last: Ints  # (path,)
    visited: Flags  # (path, node)
    cost: Floats  # (path,)
    symmetric: Flags  # (problem,) whether every leg costs the same in both directions


class Made(NamedTuple):
    """Tokens, and what is known of their states; see `Tokens` for the fields of the same names."""

    node: Ints
    present: Flags
    choice: Flags
    open: Flags
    nodes: Singles
    edges: Singles
    overall: Singles
    base: Singles
    hops: Singles
    unit: Singles


@kernel
def within_reach(given: Given, ways: Floats) -> tuple[Flags, Ints]:
    """(path, node) what each path may still visit, and (path,) how many tokens it has."""
    paths, nodes = given.visited.shape
    reach, size = np.zeros((paths, nodes), dtype=np.bool_), np.zeros(paths, dtype=np.int64)
    for path in range(paths):
        row, last = given.instance[path], given.last[path]
        cost, end, budget = given.cost[path], given.end[row], given.budget[row]
        way, to_end = ways[row, last], given.to_end[row]
        count = 1 if last == end else 2
        for node in range(nodes):
            if not given.visited[path, node] and cost + way[node] + to_end[node] <= budget:
                reach[path, node] = True
                count += node not in (last, end)
        size[path] = count
    return reach, size


@kernel
def gather_tokens(given: Given, reach: Flags, index: Ints, out: Made) -> None:
    """Writes the tokens of the paths at `index`, which `out` has room for."""
    nodes = reach.shape[1]
    width = out.node.shape[1]
    for state in range(len(index)):
        path = index[state]
        row, last = given.instance[path], given.last[path]
        end = given.end[row]
        size = ZERO
        for node in range(nodes):
            if reach[path, node] or node in (last, end):
                out.node[state, size] = node
                size += 1
        out.node[state, size:] = 0
        for token in range(width):
            out.present[state, token] = token < size
        left = max(given.divisor[row] - given.cost[path], given.divisor[row] * LEAST_LEFT)
        count = _tell_nodes(given, reach, path, state, size, left, out)
        nearest = _tell_edges(given, row, state, size, np.float32(given.divisor[row] / left), out)
        hops = np.float32(1.0) / max(nearest / np.float32(size), np.float32(CLOSEST))
        steps = min(hops, count)
        out.hops[state] = hops
        overall, base = out.overall[state], out.base[state]
        overall[GLOBAL_HOPS], overall[GLOBAL_COUNT] = np.log1p(hops), np.log1p(count)
        overall[GLOBAL_WAY_HOME] = min(given.to_end[row, last] / left, FAR)
        base[BASE_COUNT], base[BASE_STEPS], base[BASE_MEAN] = count, steps, np.sqrt(count * steps)


@kernel
def _tell_nodes(given: Given, reach: Flags, path: int, state: int, size: int, left: float, out: Made) -> np.float32:
    """Writes what is known of each node; how many may still be visited."""
    row, last = given.instance[path], given.last[path]
    legs, to_end, prizes = given.costs[row, last], given.to_end[row], given.prizes[row]
    end, budget, cost = given.end[row], given.budget[row], given.cost[path]
    worth, count = np.float32(0.0), np.float32(0.0)
    for token in range(size):
        node = out.node[state, token]
        if reach[path, node]:
            worth += np.float32(prizes[node])
            count += np.float32(1.0)
    unit = worth / max(count, np.float32(1.0)) if worth > 0 else np.float32(1.0)
    out.unit[state] = unit
    for token in range(out.node.shape[1]):
        if token >= size:
            out.choice[state, token] = out.open[state, token] = False
            out.nodes[state, token] = 0.0
            continue
        node = out.node[state, token]
        opened = reach[path, node]
        choice = not given.visited[path, node] and cost + legs[node] + to_end[node] <= budget
        leg, home = np.float32(min(legs[node] / left, FAR)), np.float32(min(to_end[node] / left, FAR))
        out.choice[state, token], out.open[state, token] = choice, opened
        seen = out.nodes[state, token]
        seen[PRIZE] = np.float32(prizes[node]) / unit if opened else 0.0
        seen[CURRENT], seen[END], seen[CHOICE] = node == last, node == end, choice
        seen[LEG] = 0.0 if node == last else leg
        seen[HOME] = 0.0 if node == end else home
        seen[DETOUR] = leg + home if opened else 0.0
    return count


@kernel
def _tell_edges(given: Given, row: int, state: int, size: int, factor: np.float32, out: Made) -> np.float32:
    """Writes costs between tokens in units of what is left; the sum of those to each one's nearest, at most 1 each."""
    costs, edges, node = given.relative[row], out.edges[state], out.node[state]
    total, far = np.float32(0.0), np.float32(FAR)
    for one in range(size):
        legs, told = costs[node[one]], edges[one]
        for other in range(size):
            told[other] = min(legs[node[other]] * factor, far)
        told[one] = far  # for now: it is not its own nearest
        nearest = np.float32(1.0)
        for other in range(size):
            nearest = min(nearest, told[other])
        told[one] = 0.0
        told[size:] = 0.0
        total += nearest
    edges[size:] = 0.0
    return total
