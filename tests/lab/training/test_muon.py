"""Muon: moves of equal singular values, the same as torch's own where that exists."""

import pytest
import torch
from torch import nn

from orienteer.lab.training.muon import LENGTH, POINTING_DECAY, SLOWER, Muon, optimizers, orthogonal, settle
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 24, 8), (1, 8, 32)])
def test_singular_values_come_close_to_one_and_directions_stay(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    given = torch.randn(shape)
    made = orthogonal(given)
    assert made.shape == given.shape
    values = torch.linalg.svdvals(made)
    assert (values > 0.6).all()
    assert (values < 1.3).all()
    left, _, right = torch.linalg.svd(given, full_matrices=False)
    assert ((left @ right) * made).flatten(1).sum(1).div(min(shape[1:])).min() > 0.7


def test_a_matrix_of_zeros_stays_one() -> None:
    assert not orthogonal(torch.zeros(2, 4, 4)).any()


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this torch has no Muon of its own")
def test_moves_like_the_one_in_torch() -> None:
    torch.manual_seed(0)
    own = [nn.Parameter(torch.randn(12, 4)) for _ in range(2)] + [nn.Parameter(torch.randn(4, 4))]
    other = [nn.Parameter(one.detach().clone()) for one in own]
    one = Muon(own, 0.01, weight_decay=0.1)
    two = torch.optim.Muon(other, 0.01, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    for _ in range(3):
        for left, right in zip(own, other, strict=True):
            left.grad = torch.randn_like(left)
            right.grad = left.grad.clone()
        one.step()
        two.step()
    for left, right in zip(own, other, strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=0.01 * LENGTH * 12**0.5)  # torch's rounds to bfloat16


def test_matrices_of_the_layers_are_its_and_all_else_is_not() -> None:
    network = PolicyNetwork(PolicyConfig(16, 2, 2))
    muon, adam = optimizers(network, 1e-3, 0.01)
    inner = {id(one) for group in muon.param_groups for one in group["params"]}
    outer = {id(one) for group in adam.param_groups for one in group["params"]}
    assert not inner & outer
    assert inner | outer == {id(one) for one in network.parameters()}
    assert len(inner) == 4 * 2
    assert id(network.layers[0].attention.bias) in outer
    assert id(network.enter.weight) in outer


def test_a_run_goes_on_with_the_rates_that_it_is_given() -> None:
    network = PolicyNetwork(PolicyConfig(16, 2, 1))
    before, after = optimizers(network, 1e-3, 0.01), optimizers(network, 2e-3, 0.0)
    for parameter in network.parameters():
        parameter.grad = torch.ones_like(parameter)
    for old, new in zip(before, after, strict=True):
        old.step()
        rate = new.param_groups[0]["initial_lr"]
        settle(new, old.state_dict())
        assert (new.param_groups[0]["initial_lr"], new.param_groups[0]["weight_decay"]) == (rate, 0.0)
        assert new.state, "what it has gathered is kept"


def test_only_what_points_decays_fast() -> None:
    network = PolicyNetwork(PolicyConfig(16, 2, 1))
    torch.nn.init.ones_(network.query.weight)
    before = {name: one.detach().clone() for name, one in network.named_parameters()}
    for optimizer in optimizers(network, 3e-2, 0.0):
        for parameter in network.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
    moved = [name for name, one in network.named_parameters() if not torch.equal(one, before[name])]
    assert moved == ["query.weight"]
    torch.testing.assert_close(network.query.weight, before["query.weight"] * (1 - 3e-2 * SLOWER * POINTING_DECAY))
