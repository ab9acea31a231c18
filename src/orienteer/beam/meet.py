"""Paths that meet: one from the start and one from the end make a route that the search may not have seen.

A beam drops paths at every level, and with them what they would have become. But it has logged their beginnings; and
where a problem is the same backwards, or is searched from both ends, what begins a route may end one as well.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.device import has_kernels
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Problems
from orienteer.model.instance import TOLERANCE

MARGIN = 1e-11
"""By this share the limit is lower from the end: more than the order of a sum can change by rounding, so that a route
which fits backwards fits forwards, and far less than the tolerance."""


@dataclass(frozen=True)
class Ends:
    """The paths of some instances that may meet: those of two rows of a batch, or of one row among themselves."""

    costs: Tensor  # (row, node, node) float64
    paths: SortedPaths
    front: Tensor  # (instance,) int64, the row with the paths from the start
    back: Tensor  # (instance,) int64, the row with those from the end; where it is the same, each path turned round
    budget: Tensor  # (instance,) float64, what a route may cost
    least: Tensor  # (instance,) float64, a prize that the stops of a route must exceed


def meet(problems: Problems, paths: SortedPaths, ways: int, known: Tensor) -> Tensor:
    """(2, instance) the logged paths from the start and from the end that make the best route; -1 if none is better.

    `known` is (instance,) the prize to be exceeded. Every instance has `ways` rows in the batch: with two, the second
    is the problem turned round. With one, paths meet only where the problem is the same backwards.
    """
    ends = both_ends(problems, paths, ways, known)
    best = torch.full((2, len(known)), -1, device=known.device)
    if has_kernels(ends.costs.device):
        from orienteer.beam.fused_meet import fused_meet

        best[:, ends.front // ways] = fused_meet(ends)
    else:
        best[:, ends.front // ways] = one_by_one(ends)
    return best


def both_ends(problems: Problems, paths: SortedPaths, ways: int, known: Tensor) -> Ends:
    """Which paths may meet."""
    front = torch.arange(0, problems.batch, ways, device=problems.device)
    if ways == 1:
        front = front[problems.symmetric & (problems.start == problems.end)]
    least = known[front // ways] - paths.ends[front]
    return Ends(problems.costs, paths, front, front + ways - 1, safe_budget(problems)[front], least)


def safe_budget(problems: Problems) -> Tensor:
    """(row,) what a route may cost whose legs are not added from start to end."""
    return problems.limit * ((1 - MARGIN) * (1 + TOLERANCE))


def one_by_one(ends: Ends) -> Tensor:
    """(2, instance) the best pair of each, on the CPU."""
    from orienteer.beam.backend.host.meet import best_meeting

    first, number = ends.paths.first.tolist(), ends.paths.number.cpu()
    columns = [one.cpu().numpy() for one in (ends.paths.last, ends.paths.cost, ends.paths.prize, ends.paths.stops)]
    best = []
    for front, back, budget, least in zip(
        ends.front.tolist(), ends.back.tolist(), ends.budget.tolist(), ends.least.tolist(), strict=True
    ):
        ahead, behind = (slice(first[row], first[row + 1]) for row in (front, back))
        costs = ends.costs[front].cpu().numpy()
        one, other = best_meeting(  # type: ignore[call-arg]
            *(column[ahead] for column in columns), *(column[behind] for column in columns),  # type: ignore[arg-type]
            costs, budget, least, front == back,
        )  # fmt: skip
        best.append([int(number[ahead][one]), int(number[behind][other])] if one >= 0 else [-1, -1])
    return torch.tensor(best, dtype=torch.int64, device=ends.costs.device).reshape(-1, 2).T
