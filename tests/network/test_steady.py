"""A pass over the paths of a recorded step against the pass by plain tensors."""

import pytest
import torch

from gpu import DEVICE, NATIVE, needs_triton
from network_examples import shaken, some_instance, wandering
from orienteer.beam.backend.cuda.paths import TensorLog
from orienteer.beam.states import States
from orienteer.network.batching import evaluate
from orienteer.network.config import PolicyConfig
from orienteer.network.plain import PLAIN
from orienteer.network.policy_network import PolicyNetwork

pytestmark = needs_triton
TOLERANCE = {"rtol": 2e-2, "atol": 6e-2} if NATIVE else {"rtol": 5e-3, "atol": 5e-3}  # edges are float16
BEYOND = 3
"""Paths that a step has room for beyond those that are there."""


def step_of(states: States):  # type: ignore[no-untyped-def]
    """A recorded step whose paths are the states."""
    from orienteer.beam.backend.cuda.recorded import Step

    problems, count = states.problems, len(states)
    log = TensorLog(problems, count + BEYOND)
    begun = states.last == problems.start[states.instance]
    log.trail[:count] = torch.where(begun, -1, states.last)
    log.instance[:count], log.cost[:count] = states.instance, states.cost
    log.prize[:count], log.visited[:count] = states.prize, states.visited
    counters = torch.tensor([count, 0, 0, 0], device=DEVICE)
    action = torch.full((count + BEYOND, problems.nodes), torch.nan, device=DEVICE)
    return Step(
        problems, log, counters, count + BEYOND, action, torch.full((count + BEYOND,), torch.nan, device=DEVICE)
    )


@pytest.mark.parametrize("heads", [2, 4])  # four heads have a kernel of their own
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_recorded_pass_equals_the_plain_pass(heads: int, symmetric: bool) -> None:
    from orienteer.network.cuda.look import TensorLook

    instances = [some_instance(11, 1, symmetric), some_instance(6, 2, symmetric, end=3), some_instance(2, 3)]
    states = wandering(*instances, steps=3, device=DEVICE)
    network = shaken(PolicyNetwork(PolicyConfig(hidden=16 * heads * (1 if heads == 4 else 2), heads=heads, layers=2)))
    network = network.float().to(DEVICE).eval()
    step = step_of(states)
    launch = TensorLook(network).recorded(step)
    assert launch is not None
    launch()
    ((action, value),) = evaluate([network], states, states.problems.cheapest_ways, 1000, PLAIN)
    assert (action > -torch.inf).any()
    assert torch.equal(step.action[: len(states)] > -torch.inf, action > -torch.inf)
    torch.testing.assert_close(step.action[: len(states)], action, **TOLERANCE)
    torch.testing.assert_close(step.value[: len(states)], value, **TOLERANCE)
    assert step.value[len(states) :].isnan().all()  # nobody wrote beyond the paths


def test_networks_without_kernels_are_left_to_others() -> None:
    from orienteer.network.cuda.look import TensorLook

    states = wandering(some_instance(5, 1), steps=1, device=DEVICE)
    for config in (PolicyConfig(hidden=24, heads=3, layers=1), PolicyConfig(hidden=64, layers=1, goal="cost")):
        assert TensorLook(PolicyNetwork(config)).recorded(step_of(states)) is None
