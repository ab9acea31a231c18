"""How good a policy is: its greedy routes on instances that training never sees."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.score import Scorer
from orienteer.beam.states import States
from orienteer.lab.tours.instance import tour_problem
from orienteer.lab.training.environment import advance
from orienteer.lab.training.instances import Recipe, draw, fixed_size
from orienteer.model.instance import distances

SEED = 20200625
"""Seed of the validation instances."""


class Validation:
    """Fixed instances of the recipe's kinds of prizes, in those of the paper's sizes that the recipe covers."""

    def __init__(self, recipe: Recipe, count: int, device: torch.device):
        sizes = [size for size in (20, 50, 100) if recipe.smallest <= size <= recipe.largest] or [recipe.largest]
        self.names = [f"{kind}_{size}" for kind in recipe.prizes for size in sizes]
        generator = torch.Generator().manual_seed(SEED)
        parts = [draw(fixed_size(size, kind), count, generator)[0] for kind in recipe.prizes for size in sizes]
        self.count = count
        self.problems = _joined(parts, device)

    def __call__(self, scorer: Scorer) -> tuple[float, dict[str, float]]:
        """The mean share of all prizes that greedy routes collect, and the mean prize on each set."""
        prize = greedy_prize(scorer, self.problems)
        share = (prize / self.problems.prizes.sum(1)).mean().item()
        means = prize.view(len(self.names), self.count).mean(1).tolist()
        return share, dict(zip(self.names, means, strict=True))


class TourValidation:
    """Fixed tours in the unit square: of 20, 50 and 100 nodes the sizes with `within` nodes beside the start."""

    def __init__(self, within: tuple[int, int], count: int, device: torch.device):
        low, high = within
        sizes = [size for size in (20, 50, 100) if low < size <= high + 1] or [high + 1]
        self.names = [f"tour_{size}" for size in sizes]
        rng = np.random.default_rng(SEED)
        quick = [tour_problem(distances(rng.random((size, 2)))) for size in sizes for _ in range(count)]
        self.count = count
        self.quick = torch.tensor([one.limit for one in quick], dtype=torch.float64, device=device)
        # With room to spare, or a greedy tour that is longer than the quick one could not be finished.
        self.problems = TensorProblems.from_instances([one.replace(limit=2 * one.limit) for one in quick], device)

    def __call__(self, scorer: Scorer) -> tuple[float, dict[str, float]]:
        """The mean ratio of the quick tour's cost to the greedy tour's, and the mean cost on each set.

        A tour that misses a node counts as one that costs the limit, twice the quick one.
        """
        states = greedy_states(scorer, self.problems)
        cost = states.cost + self.problems.straight.gather(1, states.last[:, None])[:, 0]
        cost = torch.where(states.prize < self.problems.prizes.sum(1), self.problems.limit, cost)
        means = cost.view(len(self.names), self.count).mean(1).tolist()
        return (self.quick / cost).mean().item(), dict(zip(self.names, means, strict=True))


def greedy_prize(scorer: Scorer, problems: TensorProblems) -> Tensor:
    """(instance,) prize of the route that always goes to the child with the best score."""
    return greedy_states(scorer, problems).prize


def greedy_states(scorer: Scorer, problems: TensorProblems) -> States:
    """The paths that always go to the child with the best score, when they can go no further."""
    states = States.initial(problems)
    while True:
        feasible = states.feasible()
        if not feasible.any():
            return states
        children = scorer.children(states)
        best, node = torch.where(feasible, children.scores, -torch.inf).max(1)
        stuck = ~(best > -torch.inf)  # nowhere to go, or every way is barred
        if stuck.all():
            return states
        moved = advance(states, node)
        states = replace(
            moved,
            last=torch.where(stuck, states.last, moved.last),
            visited=torch.where(stuck[:, None], states.visited, moved.visited),
            cost=torch.where(stuck, states.cost, moved.cost),
            prize=torch.where(stuck, states.prize, moved.prize),
            memory=children.memory,
        )


def _joined(parts: list[TensorProblems], device: torch.device) -> TensorProblems:
    """Several batches as one, padded to the largest."""
    nodes = max(part.nodes for part in parts)
    wide = [_padded(part, nodes) for part in parts]
    fields = ("costs", "prizes", "limit", "start", "end", "to_end")
    return TensorProblems(**{name: torch.cat([getattr(part, name) for part in wide]).to(device) for name in fields})


def _padded(problems: TensorProblems, nodes: int) -> TensorProblems:
    """The problems with more padding: nodes that no route can reach."""
    more = nodes - problems.nodes
    pad = torch.nn.functional.pad
    return replace(
        problems,
        costs=pad(problems.costs, (0, more, 0, more), value=torch.inf),
        prizes=pad(problems.prizes, (0, more)),
        to_end=pad(problems.to_end, (0, more), value=torch.inf),
    )
