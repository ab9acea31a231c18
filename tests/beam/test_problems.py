"""Instances as tensors, and paths of them."""

import numpy as np
import pytest
import torch

from instances import small_instance
from orienteer import Instance, solve
from orienteer.beam.outlook import outlook
from orienteer.beam.problems import Problems
from orienteer.beam.score import PrizeScore, TsiliScore
from orienteer.beam.states import States


def test_padding_cannot_be_reached():
    small, large = small_instance("euclidean", 3), small_instance("euclidean", 6).replace(limit=50.0)
    problems = Problems.from_instances([small, large])
    assert (problems.batch, problems.nodes) == (2, 6)
    feasible = States.initial(problems).feasible()
    assert not feasible[0, 3:].any()
    assert feasible[1].sum() == 5


def test_prizes_add_up_the_same_in_any_order():
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in plain floats."""
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1.0, 1e200):
        values = rng.random(40) * scale
        prizes = Problems.from_instances([Instance(np.ones((40, 40)), values, 2.0)]).prizes[0].numpy()
        assert np.allclose(prizes, values, rtol=0, atol=1e-15 * values.sum())
        sums = {float(np.add.accumulate(prizes[rng.permutation(40)])[-1]) for _ in range(20)}
        assert len(sums) == 1


def test_prizes_without_a_grid_stay():
    problems = Problems.from_instances([Instance(np.ones((2, 2)), [0.0, 0.0], 2.0)])
    assert problems.prizes[0].tolist() == [0.0, 0.0]


def test_straight_is_the_direct_leg():
    costs = [[7, 5, 9], [1, 0, 2], [4, 1, 0]]
    problems = Problems.from_instances([Instance(costs, [1, 1, 1], 9.0, start=1, end=0)])
    assert problems.straight.tolist() == [[0, 1, 4]]
    assert problems.to_end.tolist() == [[0, 1, 2]]


def test_mean_prize_leaves_out_zeros():
    problems = Problems.from_instances([Instance(np.ones((3, 3)), [0, 1, 3], 9.0), Instance(np.ones((1, 1)), [0], 9.0)])
    assert problems.mean_prize.tolist() == [2, 0]


def test_prizes_alike():
    alike = [Instance(np.ones((3, 3)), prizes, 9.0) for prizes in ([0, 2, 2], [2, 2, 2], [0, 1, 2], [0, 0, 0])]
    assert Problems.from_instances(alike).alike.tolist() == [True, True, False, False]


def test_outlook_adds_up_what_is_left():
    """For every child: closeness of all pairs of nodes that it leaves, which is what fits now less the child."""
    instances = [small_instance("asymmetric", size, seed=3).replace(limit=9.0) for size in (6, 4, 6)]
    problems = Problems.from_instances(instances)
    first = States.initial(problems)
    states = first.extended(torch.tensor([2, 0, 1, 0]), torch.tensor([1, 5, 2, 4]))
    fits = states.feasible()
    fast = outlook(states, fits)
    for row in range(4):
        instance = instances[int(states.instance[row])]
        costs = instance.costs + np.diag(np.full(instance.size, np.inf))
        typical = costs.min(1).mean()
        near = (np.exp(-costs / typical) + np.exp(-costs.T / typical)) / 2
        for child in fits[row].nonzero()[:, 0].tolist():
            left = [v for v in fits[row].nonzero()[:, 0].tolist() if v != child]
            slow = typical * sum(near[u, w] for u in left for w in left if u != w)
            assert float(fast[row, child]) == pytest.approx(slow)


def test_closeness_of_one_node_or_no_costs_is_finite():
    problems = Problems.from_instances([Instance(np.zeros((3, 3)), [0, 1, 1], 1.0), Instance([[0.0]], [1], 1.0)])
    near, typical = problems.closeness
    assert near.isfinite().all()
    assert (typical > 0).all()


def test_extended_paths():
    instance = small_instance("asymmetric", 5, seed=1).replace(limit=50.0, start=0, end=0)
    first = States.initial(Problems.from_instances([instance, instance]))
    second = first.extended(torch.tensor([1, 0]), torch.tensor([2, 3]))
    third = second.extended(torch.tensor([0]), torch.tensor([4]))
    assert third.instance.tolist() == [1]
    assert third.visited.nonzero()[:, 1].tolist() == [0, 2, 4]
    assert float(third.cost[0]) == instance.costs[0, 2] + instance.costs[2, 4]
    assert float(third.prize[0]) == float(third.problems.prizes[1, [0, 2, 4]].sum())
    assert first.visited.sum() == 2  # the parents are untouched


def test_scores_of_children_are_scores_of_the_extended_paths():
    instances = [small_instance("asymmetric", 6, seed).replace(limit=9.0) for seed in range(4)]
    states = States.initial(Problems.from_instances(instances))
    rows, nodes = states.feasible().nonzero(as_tuple=True)
    for scorer in (PrizeScore(), TsiliScore()):
        child = scorer.children(states).scores[rows, nodes]
        allowed = child > -torch.inf
        path = scorer.paths(states.extended(rows, nodes))
        assert allowed.sum() >= 16
        assert torch.allclose(child[allowed], path[allowed], rtol=1e-12)


def test_a_huge_prize_out_of_reach_rounds_nothing_away():
    instance = Instance([[0, 1, 9], [1, 0, 9], [9, 9, 0]], [0, 1e-5, 1e14], 3)
    assert Problems.from_instances([instance]).prizes[0, 1] == pytest.approx(1e-5)
    assert solve(instance, "cs-p", beam=None, device="cpu").prize == 1e-5
