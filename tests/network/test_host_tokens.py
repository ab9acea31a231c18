"""Tokens by one loop against those by plain tensors."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from orienteer.network.host_tokens import host_parts

from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.network import host_tokens
from orienteer.network.batching import in_batches, in_parts
from orienteer.network.features import Tokens, cheapest_ways, reachable


def _compare(states: States, ways: torch.Tensor, part: int) -> None:
    places = torch.arange(len(states))[None]
    plain = list(next(in_batches(states, reachable(states, ways), places, part)))
    for (index, given), (place, made) in zip(plain, host_parts(states, ways, part), strict=True):
        assert torch.equal(index, place)
        _assert_alike(given, made)


def _assert_alike(given: Tokens, made: Tokens) -> None:
    for field in fields(given):
        one, other = getattr(given, field.name), getattr(made, field.name)
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(other, one, rtol=1e-5, atol=1e-6, msg=lambda text: f"{field.name}: {text}")  # noqa: B023
        else:
            assert one == other, field.name


@pytest.mark.parametrize("costs", ["euclidean", "xasy", "tmat"])
@pytest.mark.parametrize("apart", [False, True])
def test_the_loop_tells_the_same(costs: str, apart: bool) -> None:
    some = [*generate(23, "uniform", costs, count=3, seed=3, separate_end=apart), *generate(9, "constant", costs)]
    problems = Problems.from_instances(some)
    states, ways = States.initial(problems), cheapest_ways(problems.costs)
    generator = torch.Generator().manual_seed(0)
    for _ in range(5):
        _compare(states, ways, 7)
        row, node = states.feasible().nonzero(as_tuple=True)
        chosen = torch.randperm(len(row), generator=generator)[:17]
        states = states.extended(row[chosen], node[chosen])


def test_nothing_left_and_nothing_to_win() -> None:
    """A limit next to zero, prizes of zero, nodes in one place, a node alone."""
    nowhere = Instance.from_coords([(0, 0), (0, 0), (1, 0)], [0.0, 0.0, 2.0], 1e-300)
    alone = Instance(np.zeros((1, 1)), [1.0], 1.0)
    problems = Problems.from_instances([nowhere, alone])
    _compare(States.initial(problems), cheapest_ways(problems.costs), 2)


def test_a_cpu_goes_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    states = States.initial(Problems.from_instances(list(generate(5, count=2))))
    monkeypatch.setattr(host_tokens, "host_parts", lambda *given: iter(["by the loop"]))
    assert list(in_parts(states, cheapest_ways(states.problems.costs), 2)) == ["by the loop"]
