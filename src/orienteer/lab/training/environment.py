"""Thousands of routes under construction at a time, as tensors; each state is a smaller problem of the same kind."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.states import States
from orienteer.lab.training.instances import Recipe, draw

_PROBLEM_FIELDS = ("costs", "prizes", "limit", "start", "end", "to_end")
_STATE_FIELDS = ("instance", "last", "visited", "cost", "prize", "score")


def advance(states: States, node: Tensor) -> States:
    """The paths of `states`, each longer by a node; its `score` and `memory` stay."""
    problems, row = states.problems, states.instance
    return replace(
        states,
        last=node,
        visited=states.visited.scatter(1, node[:, None], True),
        cost=states.cost + problems.costs[row, states.last, node],
        prize=states.prize + problems.prizes[row, node],
    )


class Environment:
    """Routes that grow by a node at each step, and begin anew on another instance when they can grow no further.

    Every environment has two rows of `problems`, one in use and one in store, so that it can go on without asking
    the host; `refresh` fills the stores anew. An environment that ends twice in between meets an instance again.
    """

    def __init__(self, recipe: Recipe, count: int, generator: torch.Generator):
        self.recipe, self.count, self.generator = recipe, count, generator
        self.problems, self.ways = draw(recipe, 2 * count, generator)
        self.states = _begin(self.problems, torch.arange(count, device=generator.device))

    def step(self, node: Tensor, stuck: Tensor) -> tuple[Tensor, Tensor, States]:
        """Adds `node` to every path but those that are `stuck`.

        Returns the prizes won, whether each route is at its end, and the states reached, before any new beginning.
        """
        before = self.states
        moved = advance(before, node)
        reward = torch.where(stuck, 0.0, moved.prize - before.prize)
        done = stuck | ~moved.feasible().any(1)
        other = (before.instance + self.count) % (2 * self.count)
        self.states = _where(done, _begin(self.problems, other), moved)
        return reward, done, moved

    def refresh(self) -> None:
        """New instances in every row that is not in use."""
        problems, ways = draw(self.recipe, self.count, self.generator)
        store = (self.states.instance + self.count) % (2 * self.count)
        for field in _PROBLEM_FIELDS:
            getattr(self.problems, field)[store] = getattr(problems, field)
        if self.ways is not self.problems.costs:
            self.ways[store] = ways
        self.problems = replace(self.problems)  # a new object: the old one has cached results of the old instances
        self.states = replace(self.states, problems=self.problems)

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on, as tensors."""
        return {
            "problems": {field: getattr(self.problems, field) for field in _PROBLEM_FIELDS},
            "ways": self.ways,
            "states": {field: getattr(self.states, field) for field in _STATE_FIELDS},
        }

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.problems = TensorProblems(**saved["problems"])
        self.ways = saved["ways"] if self.recipe.asymmetric else self.problems.costs
        self.states = States(self.problems, **saved["states"])


def _begin(problems: TensorProblems, rows: Tensor) -> States:
    """The empty paths of the problems at `rows`."""
    start, end = problems.start[rows], problems.end[rows]
    visited = torch.zeros(len(rows), problems.nodes, dtype=torch.bool, device=problems.device)
    visited.scatter_(1, start[:, None], True).scatter_(1, end[:, None], True)
    prize = (problems.prizes[rows] * visited).sum(1)
    zero = torch.zeros_like(prize)
    return States(problems, rows, start, visited, zero, prize, zero)


def _where(condition: Tensor, one: States, other: States) -> States:
    fields = {
        field: torch.where(
            condition[:, None] if field == "visited" else condition, getattr(one, field), getattr(other, field)
        )
        for field in _STATE_FIELDS
    }
    return States(one.problems, **fields)
