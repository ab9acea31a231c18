"""What the policy network reads of one partial path: a row of numbers for each feature, with tokens side by side."""

import numpy as np

from orienteer.kernel import ZERO, Bools, Floats, Ints, Singles, kernel
from orienteer.kernel.lanes import LANES, exp, load, spread, store, times
from orienteer.network.columns import (
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
    LEG,
    LIMIT_RATE,
    NODE_FEATURES,
    PRIZE,
    STEP_RATE,
)
from orienteer.network.host.arrange import INPUTS
from orienteer.network.host.layers import F0, F1
from orienteer.network.host.paths import PartialPaths

_STATE = len(NODE_FEATURES)
"""The first row of the features of the whole state."""
SLIGHT = np.float32(-21.0)
"""Exponents of edge functions are cut off here: the fourth power of the exponential is still a normal number."""


@kernel
def list_nodes(paths: PartialPaths, ways: Floats, path: int, node: Ints, opened: Bools) -> int:
    """Writes the nodes that are tokens of a path, and which of them are open; returns the number of tokens.

    Tokens are the current node, the end, and the open nodes: those that a way from the first to the end may pass.
    """
    row, last, cost = paths.instance[path], paths.last[path], paths.cost[path]
    end, budget = paths.end[row], paths.budget[row]
    count = ZERO
    for number in range(paths.visited.shape[1]):
        reached = cost + ways[row, last, number] + paths.to_end[row, number] <= budget
        reached &= not paths.visited[path, number]
        if reached | (number == last) | (number == end):
            node[count] = number
            opened[count] = reached
            count += 1
    return count


@kernel
def tell_nodes(
    paths: PartialPaths,
    path: int,
    node: Ints,
    opened: Bools,
    count: int,
    width: int,
    left: float,
    room: Singles,
    inputs: int,
) -> tuple[np.float32, np.float32]:
    """Writes the features of nodes; returns the number of open nodes and their mean prize, or 1 if all prizes are 0.

    `left` is what is left of the limit.
    """
    row, last, cost = paths.instance[path], paths.last[path], paths.cost[path]
    end, budget = paths.end[row], paths.budget[row]
    worth, many = F0, F0
    for token in range(count):
        if opened[token]:
            worth += np.float32(paths.prizes[row, node[token]])
            many += F1
    unit = worth / many if worth > F0 else F1
    for at in range(inputs, inputs + INPUTS * width):
        room[at] = F0
    for token in range(count):
        number = node[token]
        away, back = paths.costs[row, last, number], paths.to_end[row, number]
        leg, home = np.float32(min(away / left, FAR)), np.float32(min(back / left, FAR))
        if opened[token]:
            room[inputs + PRIZE * width + token] = np.float32(paths.prizes[row, number]) / unit
            room[inputs + DETOUR * width + token] = leg + home
        if (cost + away + back <= budget) & (not paths.visited[path, number]):
            room[inputs + CHOICE * width + token] = F1
        if number == last:
            room[inputs + CURRENT * width + token] = F1
        else:
            room[inputs + LEG * width + token] = leg
        if number == end:
            room[inputs + END * width + token] = F1
        else:
            room[inputs + HOME * width + token] = home
    return many, unit


@kernel
def tell_costs(
    costs: Singles,
    row: int,
    node: Ints,
    count: int,
    width: int,
    factor: np.float32,
    alike: bool,
    room: Singles,
    functions: int,
) -> np.float32:
    """Writes costs between tokens in units of what is left; returns the limit that is left in typical steps.

    A row of `functions` belongs to a token: costs from it to the others, and, where costs are not `alike` in both
    directions, costs to it from the others in the part before. `factor` turns the problem's `costs` into that unit.
    """
    total, block = F0, count * width
    back = functions if alike else functions + 3 * block
    for one in range(count):
        nearest, leave, at = F1, node[one], back + one * width
        for other in range(count):
            leg = min(costs[row, leave, node[other]] * factor, np.float32(FAR))
            room[at + other] = leg
            if other != one:
                nearest = min(nearest, leg)
        room[at + one] = F0
        total += nearest
        for other in range(count, width):
            room[at + other] = F0
            room[functions + one * width + other] = F0
        if not alike:
            for other in range(count):
                room[functions + other * width + one] = room[at + other]
    return F1 / max(total / np.float32(count), np.float32(CLOSEST))


@kernel
def tell_state(
    room: Singles,
    inputs: int,
    functions: int,
    count: int,
    width: int,
    alike: bool,
    unit: np.float32,
    hops: np.float32,
    many: np.float32,
    way_home: np.float32,
) -> None:
    """Writes what hangs on the typical step: the features of the whole state, and functions of costs.

    `functions` are (way, 3, token, width): costs and the slower exponential of each pair, that by the limit and that by
    the typical step. Costs there and in `inputs` are multiplied by `unit` first. `many` nodes are open.
    """
    far, choices = np.log1p(hops), np.log1p(many)
    for token in range(count):
        room[inputs + (_STATE + GLOBAL_HOPS) * width + token] = far
        room[inputs + (_STATE + GLOBAL_COUNT) * width + token] = choices
        room[inputs + (_STATE + GLOBAL_WAY_HOME) * width + token] = way_home * unit
        room[inputs + LEG * width + token] *= unit
        room[inputs + HOME * width + token] *= unit
        room[inputs + DETOUR * width + token] *= unit
    block = count * width
    by_limit, by_step, scale = spread(np.float32(-LIMIT_RATE)), spread(np.float32(-STEP_RATE) * hops), spread(unit)
    for way in range(1 if alike else 2):
        first = functions + 3 * way * block
        for at in range(first, first + block, LANES):
            cost = times(load(room, at), scale)
            store(room, at, cost)
            store(room, at + block, exp(times(cost, by_limit), SLIGHT))
            store(room, at + 2 * block, exp(times(cost, by_step), SLIGHT))
