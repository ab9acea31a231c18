"""Networks as scores: parent and child agree where Bellman's equation holds, and what it saves."""

from dataclasses import replace

import pytest
import torch
from orienteer.network.scorers import ActorScore, DecoderScore, TourScore, ValueScore
from torch import Tensor

from network_examples import CONFIGS, beginning, some_instance
from oracle import best_prize
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.problems import Problems
from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import AttentionNetwork
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.lab.training.environment import advance
from orienteer.network.batching import take
from orienteer.network.config import PolicyConfig
from orienteer.network.features import cheapest_ways, reachable
from orienteer.network.policy_network import PolicyNetwork


class PerfectScore(ValueScore):
    """The score of a network whose q satisfies Bellman's equation: the best prize to go, by trying everything."""

    def __init__(self) -> None:
        super().__init__(AttentionNetwork(CONFIGS["paper"]))

    def _estimate(self, states: States) -> tuple[Tensor, Tensor]:
        self.passes += len(states)
        feasible = states.feasible()
        action = torch.where(feasible, 0.0, -torch.inf).double()
        for row, node in feasible.nonzero().tolist():
            child = advance(take(states, torch.tensor([row])), torch.tensor([node]))
            action[row, node] = states.problems.prizes[states.instance[row], node] + _to_go(child)
        return action, action.amax(1)


def _to_go(state: States) -> float:
    """The most prize that can still be added to one path."""
    best = 0.0
    for node in state.feasible()[0].nonzero()[:, 0].tolist():
        child = advance(state, torch.tensor([node]))
        best = max(best, float(child.prize - state.prize) + _to_go(child))
    return best


def test_parent_and_child_agree_where_bellmans_equation_holds() -> None:
    instances = [some_instance(6, seed, end=seed % 2 * 3) for seed in range(4)]
    states = beginning(*instances)
    scorer = PerfectScore()
    scores = scorer.children(states).scores
    rows, nodes = states.feasible().nonzero(as_tuple=True)
    torch.testing.assert_close(scores[rows, nodes], scorer.paths(states.extended(rows, nodes)))
    problems = Problems.from_instances(instances)
    for beam in (1, 3):
        routes = {}
        for mode in ("parent", "child"):
            found = cost_level_search(problems, PerfectScore(), CostLevelConfig(beam=beam, score=mode))
            routes[mode] = found.routes()
            assert found.best.prize.tolist() == pytest.approx([best_prize(one) for one in instances])
        assert routes["parent"] == routes["child"]


def test_parents_need_far_fewer_passes() -> None:
    network = AttentionNetwork(CONFIGS["tuned"]).eval()
    problems = Problems.from_instances([some_instance(30, 1)])
    passes = {}
    for mode in ("parent", "child"):
        scorer = ValueScore(network)
        cost_level_search(problems, scorer, CostLevelConfig(beam=2, score=mode))
        passes[mode] = scorer.passes
    assert passes["child"] > 5 * passes["parent"]


def test_a_path_at_its_end_is_worth_what_it_has() -> None:
    states = beginning(some_instance(5, 1))
    stuck = States(
        states.problems,
        states.instance,
        states.last,
        torch.ones_like(states.visited),
        states.cost,
        states.prize + 3,
        states.score,
    )
    for scorer in (ValueScore(AttentionNetwork(CONFIGS["tuned"])), ActorScore(AttentionNetwork(CONFIGS["actor"]))):
        assert scorer.paths(stuck).tolist() == stuck.prize.tolist()
        assert torch.isinf(scorer.children(stuck).scores).all()


def test_an_actors_score_is_the_log_chance_of_the_whole_path() -> None:
    scorer = ActorScore(AttentionNetwork(CONFIGS["actor"]).eval())
    states = beginning(some_instance(6, 2))
    first = scorer.children(states).scores
    assert torch.equal(first > -torch.inf, states.feasible())
    torch.testing.assert_close(first.exp().sum(1), torch.ones(1, dtype=first.dtype))
    node = first.argmax(1)
    later = advance(States(**{**vars(states), "score": first[:, node[0]]}), node)
    second = scorer.children(later).scores
    torch.testing.assert_close(second.exp().sum(1), first[:, node[0]].exp())


def test_what_is_remembered_of_a_batch_serves_no_other() -> None:
    """Batches come and go, perhaps at the same place in memory, with one score for all of them."""
    network = AttentionNetwork(CONFIGS["tuned"]).eval()
    torch.nn.init.normal_(network.advantage.weight)
    model = RouteModel(RouteConfig("pointer", True, CONFIGS["tuned"])).eval()
    shared = ValueScore(network), DecoderScore(model)
    for seed in range(5):
        states = beginning(some_instance(8, seed), some_instance(6, 20 + seed))
        for one, fresh in zip(shared, (ValueScore(network), DecoderScore(model)), strict=True):
            assert torch.equal(one.children(states).scores, fresh.children(states).scores)
        del states


def test_beyond_what_it_knows_a_path_is_ranked_by_what_was_said_on_the_way() -> None:
    network = PolicyNetwork(PolicyConfig(16, 2, 1)).eval()
    first = beginning(some_instance(40, 1), some_instance(9, 2))
    ways = cheapest_ways(first.problems.costs)
    size = int(reachable(first, ways)[0].sum())
    assert size > 20
    plain, wary = ValueScore(network), ValueScore(network, known=20)
    assert torch.equal(wary.children(first).scores, plain.children(first).scores), "nothing has been said before"
    second = first.extended(torch.tensor([0, 0, 1]), torch.tensor([3, 4, 5]))
    second = replace(second, score=torch.tensor([7.0, -2.0, 100.0], dtype=torch.float64))
    said, mixed = plain.children(second).scores, wary.children(second).scores
    assert torch.equal(said[2], mixed[2]), "the small problem beside it is known"
    own, choices = second.prize + plain._estimate(second)[1], said.isfinite()
    assert choices.any(1).all()
    expected = said + (1 - (20 / size) ** 2) * (second.score - own)[:, None]
    torch.testing.assert_close(mixed[:2][choices[:2]], expected[:2][choices[:2]])
    assert ValueScore(network, known=size)._trust(first.problems) is None


def test_cheapest_ways_of_large_problems_are_left_out_but_for_tours(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = beginning(some_instance(8, 5, symmetric=False, end=3)).problems
    network, ways = PolicyNetwork(PolicyConfig(8, 2, 1)), cheapest_ways(problems.costs)
    assert torch.equal(ValueScore(network).ways_of(problems), ways)
    monkeypatch.setattr("orienteer.network.scorers.MOST_FOR_WAYS", 7)
    assert torch.equal(ValueScore(network).ways_of(problems), problems.costs)
    assert torch.equal(TourScore(network).ways_of(problems), ways)
