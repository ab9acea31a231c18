"""Double Q-learning: targets by hand, masks, and a run that overfits."""

import pytest
import torch

from orienteer.lab.training.dqn import DqnSettings, choose, double_target, lambda_returns
from orienteer.lab.training.schedule import cosine, linear

NONE = -torch.inf


def test_target_of_double_q_learning_on_three_states_by_hand() -> None:
    """From s0 to s1 for 2: the network prefers node 1 there, which its target thinks worth 3. From s1 to s2 for 1:
    only node 2 is left, worth 4 to the target. From s2 to the end for 5."""
    reward = torch.tensor([2.0, 1.0, 5.0])
    done = torch.tensor([False, False, True])
    online = torch.tensor([[0.0, 9.0, 8.0], [NONE, NONE, 1.0], [NONE, NONE, NONE]])
    target = torch.tensor([[7.0, 3.0, 6.0], [NONE, NONE, 4.0], [NONE, NONE, NONE]])
    assert double_target(reward, done, online, target).tolist() == [5.0, 5.0, 5.0]


def test_single_q_learning_would_be_more_hopeful() -> None:
    online = torch.tensor([[1.0, 2.0]])
    target = torch.tensor([[10.0, 3.0]])
    none = torch.zeros(1)
    assert double_target(none, none.bool(), online, target).item() == 3.0 < target.max().item()


def test_lambda_returns_by_hand() -> None:
    """Two steps of two routes, lambda one half; the first route ends with its first step."""
    reward = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    done = torch.tensor([[True, False], [False, False]])
    expected = torch.tensor([[9.0, 9.0], [4.0, 4.0], [8.0, 8.0]])
    returns = lambda_returns(reward, done, expected, 0.5)
    assert returns[1].tolist() == [10.0, 10.0]  # 2 + 8
    assert returns[0].tolist() == [1.0, 1 + 0.5 * 4 + 0.5 * 10]


def test_lambda_zero_is_one_step_and_lambda_one_is_the_whole_route() -> None:
    reward, done = torch.ones(3, 1), torch.zeros(3, 1, dtype=torch.bool)
    expected = torch.full((4, 1), 7.0)
    assert lambda_returns(reward, done, expected, 0.0)[:, 0].tolist() == [8.0, 8.0, 8.0]
    assert lambda_returns(reward, done, expected, 1.0)[:, 0].tolist() == [10.0, 9.0, 8.0]


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_masked_nodes_are_never_chosen(epsilon: float) -> None:
    generator = torch.Generator().manual_seed(0)
    feasible = torch.rand(500, 6, generator=generator) < 0.4
    feasible[0] = False
    action = torch.where(feasible, torch.randn(500, 6, generator=generator), NONE)
    node, stuck = choose(action, epsilon, generator)
    assert torch.equal(stuck, ~feasible.any(1))
    assert stuck[0]
    assert feasible[torch.arange(500), node][~stuck].all()
    best = action.argmax(1) == node
    assert best.all() if epsilon == 0 else not best[~stuck].all()


def test_every_allowed_node_is_explored() -> None:
    generator = torch.Generator().manual_seed(1)
    action = torch.tensor([[5.0, NONE, 1.0, -3.0]]).expand(300, 4)
    assert set(choose(action, 1.0, generator)[0].tolist()) == {0, 2, 3}


def test_schedules() -> None:
    assert [linear(x, 1.0, 0.0, 0.5) for x in (0.0, 0.25, 0.5, 1.0)] == [1.0, 0.5, 0.0, 0.0]
    assert cosine(0.02) == 1.0
    assert cosine(1.0) == pytest.approx(0.0)
    assert 0 < cosine(0.0) < cosine(0.01) < 1


def test_the_paper_is_the_default() -> None:
    settings = DqnSettings()
    assert (settings.memory, settings.learning_rate, settings.iterations) == (1024, 1e-3, 20_000)


def test_a_batch_larger_than_a_roll_out_is_refused() -> None:
    with pytest.raises(ValueError, match="batch must be at most environments \\* steps = 8, got 9"):
        DqnSettings(environments=4, steps=2, batch=9, memory=0)
