"""Tokens of partial paths on a CPU, by one loop in place of many small tensors."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import torch
from torch import Tensor

from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.network.columns import BASE_FEATURES, GLOBAL_FEATURES, NODE_FEATURES
from orienteer.network.features import Tokens
from orienteer.network.host.tokens import Given, Made, gather_tokens, within_reach


def host_parts(states: States, ways: Tensor, part: int) -> Iterator[tuple[Tensor, Tokens]]:
    """Places and tokens of the states, sorted by size and cut into parts of at most `part` states."""
    given = _given(states)
    reach, size = within_reach(given, np.ascontiguousarray(ways.numpy()))
    order = size.argsort(kind="stable")
    for first in range(0, len(order), part):
        index = order[first : first + part]
        made = _room(len(index), int(size[index[-1]]))
        gather_tokens(given, reach, index, made)
        places = torch.from_numpy(index)
        symmetric = states.problems.symmetric[states.instance[places]]
        tensors = {name: torch.from_numpy(array) for name, array in made._asdict().items()}
        yield places, Tokens(**tensors, symmetric=symmetric, total=int(size[index].sum()))


@cache
def compile_tokens() -> None:
    """Compiles the loops, or loads them from numba's cache."""
    problems = Problems.smallest()
    list(host_parts(States.initial(problems), problems.costs, 1))


def _given(states: States) -> Given:
    problems = states.problems
    tensors = (
        problems.costs, problems.relative_costs, problems.to_end, problems.prizes, problems.budget, problems.divisor,
        problems.end, states.instance, states.last, states.visited, states.cost, problems.symmetric,
    )  # fmt: skip
    return Given(*(np.ascontiguousarray(one.numpy()) for one in tensors))  # compiled once, for plain arrays


def _room(states: int, width: int) -> Made:
    """Arrays for so many states of that many tokens."""
    single = np.float32
    present, choice, open_ = (np.empty((states, width), dtype=np.bool_) for _ in range(3))
    return Made(
        node=np.empty((states, width), dtype=np.int64),
        present=present,
        choice=choice,
        open=open_,
        nodes=np.empty((states, width, len(NODE_FEATURES)), dtype=single),
        edges=np.empty((states, width, width), dtype=single),
        overall=np.empty((states, len(GLOBAL_FEATURES)), dtype=single),
        base=np.empty((states, len(BASE_FEATURES)), dtype=single),
        hops=np.empty(states, dtype=single),
        unit=np.empty(states, dtype=single),
    )
