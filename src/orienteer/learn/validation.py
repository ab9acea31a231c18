"""How good a policy is: its greedy routes on instances that training never sees."""

from dataclasses import replace

import torch
from torch import Tensor

from orienteer.beam.problems import Problems
from orienteer.beam.score import Scorer
from orienteer.beam.states import States
from orienteer.learn.environment import advance
from orienteer.learn.instances import Recipe, draw, fixed_size

SEED = 20200625
"""Seed of the validation instances."""


class Validation:
    """Fixed instances of the paper's kinds, as many sizes of them as the recipe holds."""

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


def greedy_prize(scorer: Scorer, problems: Problems) -> Tensor:
    """(instance,) prize of the route that always goes to the child with the best score."""
    states = States.initial(problems)
    while True:
        feasible = states.feasible()
        stuck = ~feasible.any(1)
        if stuck.all():
            return states.prize
        children = scorer.children(states)
        node = torch.where(feasible, children.scores, -torch.inf).argmax(1)
        moved = advance(states, node)
        states = replace(
            moved,
            last=torch.where(stuck, states.last, moved.last),
            visited=torch.where(stuck[:, None], states.visited, moved.visited),
            cost=torch.where(stuck, states.cost, moved.cost),
            prize=torch.where(stuck, states.prize, moved.prize),
            memory=children.memory,
        )


def _joined(parts: list[Problems], device: torch.device) -> Problems:
    """One batch of several, padded alike."""
    nodes = max(part.nodes for part in parts)
    wide = [_padded(part, nodes) for part in parts]
    fields = ("costs", "prizes", "limit", "start", "end", "to_end")
    return Problems(**{name: torch.cat([getattr(part, name) for part in wide]).to(device) for name in fields})


def _padded(problems: Problems, nodes: int) -> Problems:
    """The problems with more nodes that nothing reaches."""
    more = nodes - problems.nodes
    pad = torch.nn.functional.pad
    return replace(
        problems,
        costs=pad(problems.costs, (0, more, 0, more), value=torch.inf),
        prizes=pad(problems.prizes, (0, more)),
        to_end=pad(problems.to_end, (0, more), value=torch.inf),
    )
