"""What the actor raises: plain and clipped, by hand."""

import math

import torch

from orienteer.lab.training.a2c import actor_gain


def test_without_a_bound_it_is_the_policy_gradient():
    now = torch.tensor([-1.0, -2.0], requires_grad=True)
    gain = actor_gain(now, torch.zeros(2), torch.tensor([2.0, -3.0]), 0.0)
    gain.sum().backward()
    assert gain.tolist() == [-2.0, 6.0]
    assert now.grad is not None
    assert now.grad.tolist() == [2.0, -3.0]


def test_a_choice_that_moved_far_enough_counts_no_more():
    """Chances of 0.5 moved to 0.7, 0.3, 0.7, 0.3, 0.5: where the advantage asks for no more, there is no gradient."""
    then = torch.full((5,), math.log(0.5))
    now = torch.tensor([0.7, 0.3, 0.7, 0.3, 0.5]).log().requires_grad_()
    gain = actor_gain(now, then, torch.tensor([1.0, 1.0, -1.0, -1.0, 1.0]), 0.2)
    gain.sum().backward()
    torch.testing.assert_close(gain.detach(), torch.tensor([1.2, 0.6, -1.4, -0.8, 1.0]))
    assert now.grad is not None
    torch.testing.assert_close(now.grad, torch.tensor([0.0, 0.6, -1.4, 0.0, 1.0]))
