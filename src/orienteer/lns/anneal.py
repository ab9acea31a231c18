"""The loop of the neighbourhood search: ruin, recreate, accept or put back."""

import math
from typing import NamedTuple

from orienteer.kernel import Floats, Ints, State, lean, next_float, next_int
from orienteer.lns.recreate import Candidates, by_order, by_ratio, nearest_absent
from orienteer.lns.route import Graph, Route, length, link, unlink, write_nodes
from orienteer.lns.ruin import ruin


class Moves(NamedTuple):
    """What a step may do: the fields of `NeighbourhoodConfig` in the instance's units of cost and prize."""

    budget: float
    """The most that a route may cost."""
    hot: float
    """Temperature at the start, in prize."""
    cold: float
    """Temperature at the end, in prize."""
    slack_price: float
    """What a unit of unused cost is worth when routes are compared, in prize."""
    floor: float
    """Added to insertion costs before prizes are divided by them."""
    remove: int
    """The most stops removed in a step."""
    longest: int
    """The most stops of a string that is removed."""
    strings: int
    """The most strings removed in a step."""
    spare: float
    """The probability that a string leaves one stop inside it."""
    fewest: int
    """The fewest candidates for insertion in a step."""
    most: int
    """The most candidates for insertion in a step."""
    ratio_share: float
    """The probability that a route is recreated by `by_ratio`; otherwise by `by_order`."""
    noise: float
    """The random factor on a candidate's prize is between 1 - noise and 1 + noise."""
    blink: float
    """The probability that `by_order` passes a candidate that fits over."""


class Best(NamedTuple):
    """Room for the best route found."""

    nodes: Ints
    """(n,) the route's nodes in order, in the first `size[0]` entries."""
    size: Ints
    """(1,) how many nodes the route has; 0 as long as `anneal` has found no better route."""
    total: Floats
    """(2,) cost and prize."""


@lean
def anneal(
    graph: Graph,
    route: Route,
    best: Best,
    moves: Moves,
    candidates: Candidates,
    removed: Ints,
    steps: int,
    begin: float,
    end: float,
    state: State,
) -> None:
    """Does `steps` steps of ruin and recreation on `route`, while the temperature falls.

    `begin` and `end` say how far it has fallen before the first and after the last of these steps, from 0 at
    `moves.hot` to 1 at `moves.cold`. `candidates` and `removed` are room for the work of a step.
    """
    inner = len(graph.prizes) - 2
    cooling = math.log(moves.cold / moves.hot)
    for step in range(steps):
        temperature = moves.hot * math.exp(cooling * (begin + (end - begin) * step / steps))
        cost, prize = route.total[0], route.total[1]
        seed = 1 + next_int(state, inner)
        gone = ruin(
            graph,
            route,
            seed,
            1 + next_int(state, moves.remove),
            moves.longest,
            moves.strings,
            moves.spare,
            removed,
            state,
        )
        most = moves.fewest + next_int(state, moves.most - moves.fewest + 1)
        count = nearest_absent(graph, route, seed, most, candidates.node)
        if next_float(state) < moves.ratio_share:
            power = graph.powers[next_int(state, len(graph.powers))]
            put = by_ratio(graph, route, candidates, count, moves.budget, moves.floor, power, moves.noise, state)
        else:
            sort = next_float(state) < 0.5
            put = by_order(graph, route, candidates, count, moves.budget, sort, moves.blink, state)
        fits = route.total[0] <= moves.budget
        if fits and _better(route, best):
            fits = _note(graph, route, best, moves.budget)
        gain = route.total[1] - prize + moves.slack_price * (cost - route.total[0])
        if not fits or (gain < 0 and next_float(state) >= math.exp(gain / temperature)):
            restore(route, candidates.inserted, put, removed, gone)
            route.total[0], route.total[1] = cost, prize


@lean
def restore(route: Route, inserted: Ints, put: int, removed: Ints, gone: int) -> None:
    """Takes a step back: the `put` nodes `inserted` go out and the `gone` stops `removed` come back, last first."""
    for i in range(put - 1, -1, -1):
        unlink(route, inserted[i])
    for i in range(gone - 1, -1, -1):
        link(route, removed[i, 0], removed[i, 1])


@lean
def _better(route: Route, best: Best) -> bool:
    """Whether the route collects more than the best, or as much at a lower cost, by more than rounding."""
    margin = 1e-12 * best.total[1]
    if route.total[1] > best.total[1] + margin:
        return True
    return route.total[1] >= best.total[1] - margin and route.total[0] < best.total[0] * (1 - 1e-9)


@lean
def _note(graph: Graph, route: Route, best: Best, budget: float) -> bool:
    """Keeps the route as the best if its cost, added up anew without rounding of past steps, fits; says whether."""
    cost = length(graph, route)
    route.total[0] = cost
    if cost > budget:
        return False
    best.size[0] = write_nodes(route, best.nodes)
    best.total[0], best.total[1] = cost, route.total[1]
    return True
