"""Models that encode once: equivariance, company, masks, memory."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from network_examples import CONFIGS, beginning, some_instance
from orienteer import Instance
from orienteer.beam.states import States
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.lab.networks.scorers import DecoderScore
from orienteer.lab.training.environment import advance

kinds = pytest.mark.parametrize("kind", ["attention", "pointer"])


def _scores(model: RouteModel, states: States, steps: int = 2) -> list[torch.Tensor]:
    """Log probabilities after each of some steps along the most prized nodes."""
    scorer, out = DecoderScore(model), []
    for _ in range(steps):
        children = scorer.children(states)
        out.append(children.scores)
        best = torch.where(states.feasible(), states.problems.prizes[states.instance], -1.0).argmax(1)
        states = replace(advance(states, best), memory=children.memory)
    return out


def _model(kind: Any, shown: bool = True) -> RouteModel:
    torch.manual_seed(3)
    return RouteModel(RouteConfig(kind, shown, CONFIGS["tuned"])).eval()


@kinds
@pytest.mark.parametrize("shown", [True, False])
def test_numbering_nodes_otherwise_numbers_scores_otherwise(kind: str, shown: bool) -> None:
    model = _model(kind, shown)
    instance = some_instance(9, 7, symmetric=False, end=4)
    order = np.random.default_rng(1).permutation(9)
    place = np.argsort(order)
    other = Instance(
        instance.costs[np.ix_(order, order)], instance.prizes[order], instance.limit, int(place[0]), int(place[4])
    )
    for one, two in zip(_scores(model, beginning(instance)), _scores(model, beginning(other)), strict=True):
        torch.testing.assert_close(one[0][torch.tensor(order)], two[0], rtol=1e-3, atol=1e-4)


@kinds
def test_padding_and_company_change_nothing(kind: str) -> None:
    model = _model(kind)
    small, large = some_instance(6, 1), some_instance(11, 2, symmetric=False)
    alone, together = _scores(model, beginning(small)), _scores(model, beginning(large, small))
    for one, two in zip(alone, together, strict=True):
        torch.testing.assert_close(one[0], two[1, :6], rtol=1e-3, atol=1e-4)
        assert torch.isinf(two[1, 6:]).all()


@kinds
def test_chances_add_up_to_one_over_feasible_nodes(kind: str) -> None:
    states = beginning(*(some_instance(7, seed) for seed in range(4)))
    scores = DecoderScore(_model(kind), part=3).children(states).scores
    assert torch.equal(scores > -torch.inf, states.feasible())
    torch.testing.assert_close(scores.exp().sum(1), torch.ones(4, dtype=scores.dtype))


@kinds
def test_a_path_without_a_choice_is_no_trouble(kind: str) -> None:
    states = beginning(some_instance(5, 1))
    stuck = replace(states, visited=torch.ones_like(states.visited))
    assert torch.isinf(DecoderScore(_model(kind)).children(stuck).scores).all()


def test_only_the_pointer_remembers() -> None:
    """Two paths to the same state by different ways: only a model with a memory can tell them apart."""
    coords = [[0.0, 0.0], [0.2, 0.0], [0.0, 0.2], [0.2, 0.2], [0.4, 0.4]]
    states = beginning(Instance.from_coords(coords, [0, 1, 2, 1, 1], 9.0))
    for kind, differs in (("attention", False), ("pointer", True)):
        scorer, ends = DecoderScore(_model(kind)), []
        for way in ((1, 2, 3), (2, 1, 3)):
            now = states
            for node in way:
                memory = scorer.children(now).memory
                now = replace(advance(now, torch.tensor([node])), memory=memory)
            ends.append(scorer.children(now))
        assert (ends[0].memory is not None) == differs
        if differs:
            assert ends[0].memory is not None
            assert ends[1].memory is not None
            assert not torch.allclose(ends[0].memory, ends[1].memory)
        else:
            torch.testing.assert_close(ends[0].scores, ends[1].scores)


def test_unknown_decoders_are_refused() -> None:
    with pytest.raises(ValueError, match="decoder must be one of attention, pointer, got 'oracle'"):
        RouteConfig("oracle")  # type: ignore[arg-type]
