"""Recorded gradients are those of a plain step; and parts of a step joined together have the same losses."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from orienteer.lab.training.expert import ExpertSettings, Teacher, _at_once, _batches, _joined
from orienteer.lab.training.labels import FIRST_SEED, Label, LabelRecipe, draw_source
from orienteer.lab.training.lessons import Library
from orienteer.lab.training.losses import Part, tensors, with_tensors
from orienteer.lab.training.presets import for_tours
from orienteer.lab.training.recorded import Recorder
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork

SETTINGS = ExpertSettings(PolicyConfig(32, 2, 2), labels=("some",), batch=24, part=64, steps=2)
TOURS = for_tours(SETTINGS)
RECIPE = LabelRecipe(sizes=(5, 130), favoured=(), costs=("euclidean", "tmat"))


def _library(device: str) -> Library:
    """Problems of two widths."""
    rng = np.random.default_rng(0)
    sources = [draw_source(RECIPE, seed, rng) for seed in range(FIRST_SEED, FIRST_SEED + 12)]
    assert {source.n > 110 for source in sources} == {False, True}
    labels = [Label(source, (0, 1, 2, 3, 1 + source.n if source.separate_end else 0), 1) for source in sources]
    return Library.build(labels, torch.device(device))


def _steps(device: str, settings: ExpertSettings = SETTINGS) -> list[list[Part]]:
    """Steps of lessons of problems of two widths."""
    return _batches(_library(device), torch.Generator(device).manual_seed(1), settings)


def _teacher(device: str, settings: ExpertSettings = SETTINGS) -> Teacher:
    torch.manual_seed(0)
    network = PolicyNetwork(settings.network)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return Teacher(network, settings).to(device)


def test_joined_parts_have_the_losses_of_the_parts() -> None:
    teach = _teacher("cpu")
    for parts in _steps("cpu"):
        assert len(parts) == 2
        [joined] = _joined(parts, SETTINGS.part)
        assert joined.tokens.node.shape[1] == 208
        assert joined.tokens.total == sum(part.tokens.total for part in parts)
        apart = sum(teach(part)[1] * part.share for part in parts)
        torch.testing.assert_close(teach(joined)[1] * joined.share, apart, rtol=1e-4, atol=1e-5)
        assert len(_joined(parts, 20)) == 2, "more than go through the network at a time"


@pytest.mark.parametrize("settings", [SETTINGS, TOURS], ids=["op", "tsp"])
def test_steps_made_at_once_have_the_losses_of_their_parts(settings: ExpertSettings) -> None:
    teach = _teacher("cpu", settings)
    apart = _steps("cpu", settings)
    drawn = _library("cpu").draw(settings.batch * settings.steps, torch.Generator().manual_seed(1), settings.pieces)
    places = [torch.arange(len(one.node) // settings.steps * settings.steps).view(settings.steps, -1) for one in drawn]
    whole = _at_once(list(zip(drawn, places, strict=True)), settings)
    assert whole is not None
    for one, parts in zip(whole, apart, strict=True):
        assert one.tokens.total == sum(part.tokens.total for part in parts)
        assert one.share == pytest.approx(sum(part.share for part in parts))
        losses = sum(teach(part)[1] * part.share for part in parts)
        torch.testing.assert_close(teach(one)[1] * one.share, losses, rtol=1e-4, atol=1e-5)
    assert _at_once(list(zip(drawn, places, strict=True)), replace(settings, part=20)) is None, "too many at a time"


def test_a_part_is_its_tensors() -> None:
    part = _steps("cpu")[0][0]
    doubled = with_tensors(part, [one.clone() for one in tensors(part)])
    assert doubled.share == part.share
    assert doubled.tokens.total == part.tokens.total
    for one, two in zip(tensors(part), tensors(doubled), strict=True):
        assert one is not two
        assert torch.equal(one, two)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("settings", [SETTINGS, TOURS], ids=["prizes", "tours"])
def test_recorded_gradients_are_those_of_a_plain_step(settings: ExpertSettings) -> None:
    teach, plain = _teacher("cuda", settings), _teacher("cuda", settings)
    recorder = Recorder(teach)
    for parts in _steps("cuda", settings):
        [part] = _joined(parts, settings.part)
        losses = recorder(part)
        loss, split = plain(part)
        plain.zero_grad(set_to_none=True)
        torch.autograd.backward(loss * part.share)
        torch.testing.assert_close(losses, split * part.share, rtol=1e-3, atol=1e-3)
        for one, two in zip(teach.parameters(), plain.parameters(), strict=True):
            assert one.grad is not None
            assert two.grad is not None
            torch.testing.assert_close(one.grad, two.grad, rtol=2e-2, atol=2e-3)
