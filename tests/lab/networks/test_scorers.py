"""The laboratory's networks as scores, by tensors and on the host."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from instances import small_instance
from network_examples import CONFIGS, beginning, some_instance
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.host.problems import HostProblems
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import AttentionNetwork
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.lab.networks.scorers import ActorScore, DecoderScore, OnHost, Remembered, TourScore, score_of
from orienteer.lab.training.environment import advance
from orienteer.network.config import PolicyConfig
from orienteer.network.cuda.look import TensorLook
from orienteer.network.plain import PLAIN
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.score import NetworkScore, ValueScore


def attention(name: str) -> AttentionNetwork:
    """A network of the paper's with an opinion of its own."""
    torch.manual_seed(0)
    network = AttentionNetwork(CONFIGS[name]).eval()
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network


def tours() -> PolicyNetwork:
    """A network for tours that has learned nothing."""
    torch.manual_seed(0)
    network = PolicyNetwork(PolicyConfig(16, 2, 1, goal="cost")).eval()
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network


def decoder(kind: str) -> RouteModel:
    torch.manual_seed(0)
    return RouteModel(RouteConfig(kind, True, CONFIGS["tuned"])).eval()  # type: ignore[arg-type]


def scores() -> dict[str, NetworkScore]:
    """A score of every method."""
    return {
        "dqn": score_of(attention("tuned"), "dqn"),
        "a2c": score_of(attention("actor"), "a2c"),
        "tour": score_of(tours(), "tour"),
        "at": score_of(decoder("attention"), "at"),
        "pn": score_of(decoder("pointer"), "pn"),
    }


def test_every_method_has_its_score() -> None:
    kinds = {name: type(score) for name, score in scores().items()}
    assert kinds == {"dqn": ValueScore, "a2c": ActorScore, "tour": TourScore, "at": DecoderScore, "pn": DecoderScore}


@pytest.mark.parametrize("name", ["dqn", "a2c"])
def test_a_path_at_its_end_is_worth_what_it_has(name: str) -> None:
    states = beginning(some_instance(5, 1))
    stuck = replace(states, visited=torch.ones_like(states.visited), prize=states.prize + 3)
    score = scores()[name]
    assert score.paths(stuck).tolist() == stuck.prize.tolist()
    assert torch.isinf(score.children(stuck).scores).all()


def test_an_actors_score_is_the_log_chance_of_the_whole_path() -> None:
    scorer = scores()["a2c"]
    states = beginning(some_instance(6, 2).replace(limit=9.0))  # something is left after the first choice
    first = scorer.children(states).scores
    assert torch.equal(first > -torch.inf, states.feasible())
    torch.testing.assert_close(first.exp().sum(1), torch.ones(1, dtype=first.dtype))
    node = first.argmax(1)
    later = advance(replace(states, score=first[:, node[0]]), node)
    second = scorer.children(later).scores
    torch.testing.assert_close(second.exp().sum(1), first[:, node[0]].exp())


def test_what_is_remembered_of_a_batch_serves_no_other() -> None:
    """Batches come and go, perhaps at the same place in memory, with one score for all of them."""
    shared = scores()
    for seed in range(5):
        states = beginning(some_instance(8, seed), some_instance(6, 20 + seed))
        for name, fresh in scores().items():
            assert torch.equal(shared[name].children(states).scores, fresh.children(states).scores)
        del states


def test_what_is_remembered_goes_with_its_problems() -> None:
    made: list[int] = []
    remembered = Remembered(lambda problems: made.append(problems.batch) or len(made))
    one, two = (beginning(some_instance(4, seed)).problems for seed in range(2))
    assert [remembered(one), remembered(two), remembered(one)] == [1, 2, 1]
    del one, two
    assert not remembered._made


@pytest.mark.parametrize("name", scores())
def test_the_host_gets_the_scores_of_tensors(name: str) -> None:
    """Of paths of every length, with what a recurrent score remembers of them."""
    instances = [some_instance(9, 1), some_instance(6, 2, symmetric=False, end=3)]
    there, here = scores()[name], OnHost(scores()[name])
    tensors, arrays = beginning(*instances), States.initial(HostProblems.from_instances(instances))
    for _ in range(3):
        assert arrays.visited.tolist() == tensors.visited.tolist()
        plain, own = there.children(tensors), here.children(arrays)
        np.testing.assert_array_equal(own.scores, plain.scores.numpy())
        if plain.memory is not None:
            np.testing.assert_array_equal(own.memory, plain.memory.numpy())
        np.testing.assert_array_equal(here.paths(arrays), there.paths(tensors).numpy())
        row, node = tensors.feasible().nonzero(as_tuple=True)
        tensors = replace(tensors, memory=plain.memory).extended(row, node)
        arrays = replace(arrays, memory=own.memory).extended(row.numpy(), node.numpy())
    assert here.passes == there.passes > 0


@pytest.mark.parametrize("name", scores())
def test_a_search_of_the_host_asks_each_path_once(name: str) -> None:
    host, score = HostBackend(), OnHost(scores()[name])
    problems = host.problems([some_instance(9, 1), some_instance(7, 2)])
    found = cost_level_search(host, problems, score, CostLevelConfig(2))
    assert score.passes == found.log.used > 10


def test_parts_change_nothing() -> None:
    states = beginning(*(some_instance(7, seed) for seed in range(5)))
    whole, parts = (TensorLook(attention("tuned"), PLAIN, part)(states) for part in (100, 2))
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_costs_stand_in_for_ways_in_large_problems_but_for_tours() -> None:
    """No tour may be barred because a detour that is cheaper than a leg was not looked for."""
    instance = small_instance("nonmetric", 8)
    told: dict[str, Problems] = {}
    for name in ("dqn", "tour"):
        problems = HostProblems.from_instances([instance])
        problems.__dict__["cheapest_ways"] = problems.costs  # as in a problem of thousands of nodes
        told[name] = OnHost(scores()[name])._turned(States.initial(problems)).problems
    true = HostProblems.from_instances([instance]).cheapest_ways
    assert not np.array_equal(true, instance.costs[None])
    np.testing.assert_array_equal(told["dqn"].cheapest_ways.numpy(), instance.costs[None])
    np.testing.assert_array_equal(told["tour"].cheapest_ways.numpy(), true)
