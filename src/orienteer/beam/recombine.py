"""Better routes from what a search has logged: its paths put together from both ends, and exchanged in part."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from orienteer.beam.device import has_kernels
from orienteer.beam.meet import meet, safe_budget
from orienteer.beam.paths import PathLog, SortedPaths
from orienteer.beam.problems import Problems

BASES = 40
"""Routes of an instance whose stretches are exchanged, beside its best, at least; a wide beam has more good ones."""
MOST_LOOKS = 2**24
"""Stops of all paths times routes of an instance, at most: where there are many paths, there are fewer routes."""

Over = Callable[[], bool]
"""Whether to end early, with the best so far."""


def never() -> bool:
    """Does not end early."""
    return False


def recombined(
    log: PathLog, ways: int, routes: list[list[int]], prize: Tensor, over: Over = never, bases: int = BASES
) -> list[list[int]]:
    """The routes of a batch in which every instance has `ways` rows, or better ones made of what is in the log.

    `prize` is (instance,) that of the routes. Where there is none, and no two paths make one, an empty list stays.
    Stretches of the `bases` best paths are exchanged.
    """
    problems, paths = log.problems, log.by_cost()
    first = range(0, problems.batch, ways)
    joined = log.joined(first, *meet(problems, paths, ways, prize))
    best = [better or route for better, route in zip(joined, routes, strict=True)]
    return (together if has_kernels(problems.device) else one_by_one)(problems, paths, ways, best, over, bases)


@cache
def compile_kernels(device: torch.device) -> None:
    """Compiles what the CPU needs, or loads it from numba's cache; a GPU compiles what it needs as it goes."""
    if not has_kernels(device):
        log = PathLog(Problems.smallest())
        log.begin()
        recombined(log, 1, [[0, 1, 0]], torch.zeros(1, dtype=torch.float64))


def good_paths(problems: Problems, paths: SortedPaths, ways: int, count: int) -> Tensor:
    """(instance, count) places of the paths that bring most when they go straight to their other end; -1 for fewer.

    No two of an instance have the same stops.
    """
    batch, device = problems.batch, problems.device
    length = paths.first[1:] - paths.first[:-1]
    row = torch.repeat_interleave(torch.arange(batch, device=device), length, output_size=len(paths.cost))
    total = paths.cost + problems.straight[row, paths.last]
    place = (total <= problems.budget[row]).nonzero().squeeze(1)
    # By instance, then prize, then stops, then cost: equal sets lie next to each other, the cheapest first.
    place = place[total[place].argsort(stable=True)]
    for word in paths.stops.unbind(1):
        place = place[word[place].argsort(stable=True)]
    place = place[paths.prize[place].argsort(descending=True, stable=True)]
    place = place[(row[place] // ways).argsort(stable=True)]
    instance, stops = row[place] // ways, paths.stops[place]
    new = torch.ones_like(place, dtype=torch.bool)
    new[1:] = (instance[1:] != instance[:-1]) | (stops[1:] != stops[:-1]).any(1)
    place, instance = place[new], instance[new]
    rank = torch.arange(len(place), device=device) - torch.searchsorted(instance, instance)
    looks = torch.zeros_like(length).index_add_(0, row, paths.size + 1).view(-1, ways).sum(1)  # (instance,) a route
    enough = (MOST_LOOKS // looks).clamp(1, count)
    chosen = rank < enough[instance]
    table = torch.full((batch // ways, count), -1, device=device)
    table[instance[chosen], rank[chosen]] = place[chosen]
    return table


def one_by_one(
    problems: Problems,
    paths: SortedPaths,
    ways: int,
    routes: list[list[int]],
    over: Over = never,
    bases: int = BASES,
) -> list[list[int]]:
    """What exchanges make of each route and of the good paths of its instance, on the CPU."""
    chosen = good_paths(problems, paths, ways, bases).cpu().numpy()
    parent = paths.parent.cpu().numpy()
    columns = [one.cpu().numpy() for one in (paths.last, paths.cost, paths.prize, paths.stops)]
    costs, prizes = problems.costs.cpu().numpy(), problems.prizes.cpu().numpy()
    first, symmetric, budget = (one.tolist() for one in (paths.first, problems.symmetric, safe_budget(problems)))
    better = []
    for row, route, some in zip(range(0, problems.batch, ways), routes, chosen, strict=True):
        if not route:
            better.append(route)
            continue
        begin, own = first[row], slice(first[row], first[row + ways])
        given = (
            np.maximum(parent[own] - begin, -1), *(one[own] for one in columns), first[row + 1] - begin,
            costs[row], prizes[row], budget[row], symmetric[row],
        )  # fmt: skip
        better.append(_best_exchanged(route, some[some >= 0] - begin, over, given))
    return better


def _best_exchanged(route: list[int], bases: npt.NDArray[np.int64], over: Over, given: tuple[Any, ...]) -> list[int]:
    """The best of what exchanges make of a route and of the routes along some paths, up to when it is over."""
    from orienteer.beam.backend.host.exchange import exchanged

    best, best_prize, best_cost = np.array(route), -np.inf, np.inf
    for base in (-1, *bases):
        if over():
            break
        made, prize, cost = exchanged(np.array(route), base, *given)
        if prize > best_prize or (prize == best_prize and cost < best_cost):
            best, best_prize, best_cost = made, prize, cost
    return best.tolist()


def together(
    problems: Problems,
    paths: SortedPaths,
    ways: int,
    routes: list[list[int]],
    over: Over = never,
    bases: int = BASES,
) -> list[list[int]]:
    """The same for all at once, on a GPU."""
    from orienteer.beam.fused_exchange import fused_exchange, walk

    device, room = problems.device, problems.nodes + 1
    known = [number for number, route in enumerate(routes) if route]
    if not known:
        return routes
    instance = torch.tensor(known, device=device)
    chosen = good_paths(problems, paths, ways, bases)[instance]
    walked, sizes = walk(problems, paths, ways, chosen[chosen >= 0])
    filled = torch.tensor([routes[number] + [0] * (room - len(routes[number])) for number in known], device=device)
    nodes = torch.cat((filled, walked))
    size = torch.cat((torch.tensor([len(routes[number]) for number in known], device=device), sizes))
    owner = torch.cat((instance, instance[:, None].expand_as(chosen)[chosen >= 0]))
    prize, cost = fused_exchange(problems, paths, ways, owner * ways, nodes, size, over)
    order = cost.argsort(stable=True)
    order = order[prize[order].argsort(descending=True, stable=True)]
    order = order[owner[order].argsort(stable=True)]
    order = order[torch.searchsorted(owner[order], instance)]  # the first, best one of each
    better = list(routes)
    for number, row, length in zip(known, nodes[order].tolist(), size[order].tolist(), strict=True):
        better[number] = row[:length]
    return better
