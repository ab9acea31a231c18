"""Instances as arrays of a backend, and paths of them."""

import numpy as np
import pytest

from backends import cs_p, placed, read
from instances import shortest, small_instance
from oracle import best_prize
from orienteer import Instance, solve
from orienteer.beam.backend.host.problems import ways_or_costs
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.outlook import outlook
from orienteer.beam.score import PrizeScore, TsiliScore
from orienteer.beam.states import States
from orienteer.data.generate import generate


def test_padding_cannot_be_reached(backend: Backend) -> None:
    small, large = small_instance("euclidean", 3), small_instance("euclidean", 6).replace(limit=50.0)
    problems = backend.problems([small, large])
    assert (problems.batch, problems.nodes) == (2, 6)
    feasible = States.initial(problems).feasible()
    assert not feasible[0, 3:].any()
    assert feasible[1].sum() == 5


def test_prizes_add_up_the_same_in_any_order(backend: Backend) -> None:
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in plain floats."""
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1.0, 1e200):
        values = rng.random(40) * scale
        prizes = read(backend.problems([Instance(np.ones((40, 40)), values, 2.0)]).prizes[0])
        assert np.allclose(prizes, values, rtol=0, atol=1e-15 * values.sum())
        sums = {float(np.add.accumulate(prizes[rng.permutation(40)])[-1]) for _ in range(20)}
        assert len(sums) == 1


def test_prizes_without_a_grid_stay(backend: Backend) -> None:
    problems = backend.problems([Instance(np.ones((2, 2)), [0.0, 0.0], 2.0)])
    assert problems.prizes[0].tolist() == [0.0, 0.0]


def test_straight_is_the_direct_leg(backend: Backend) -> None:
    costs = [[7, 5, 9], [1, 0, 2], [4, 1, 0]]
    problems = backend.problems([Instance(costs, [1, 1, 1], 9.0, start=1, end=0)])
    assert problems.straight.tolist() == [[0, 1, 4]]
    assert problems.to_end.tolist() == [[0, 1, 2]]


def test_mean_prize_leaves_out_zeros(backend: Backend) -> None:
    problems = backend.problems([Instance(np.ones((3, 3)), [0, 1, 3], 9.0), Instance(np.ones((1, 1)), [0], 9.0)])
    assert problems.mean_prize.tolist() == [2, 0]


def test_prizes_alike(backend: Backend) -> None:
    alike = [Instance(np.ones((3, 3)), prizes, 9.0) for prizes in ([0, 2, 2], [2, 2, 2], [0, 1, 2], [0, 0, 0])]
    assert backend.problems(alike).alike.tolist() == [True, True, False, False]


def test_cheapest_ways_are_those_of_the_instances(backend: Backend) -> None:
    instances = [small_instance(family, 6, seed=3) for family in ("nonmetric", "holes")]
    ways = backend.problems(instances).cheapest_ways
    for instance, own in zip(instances, read(ways), strict=True):
        assert np.allclose(own, shortest(instance.costs), rtol=1e-12)


def test_cheapest_ways_of_large_problems_are_left_out() -> None:
    costs = small_instance("nonmetric", 8).costs[None]
    assert np.allclose(ways_or_costs(costs, most_nodes=8), shortest(costs[0]), rtol=1e-12)
    assert ways_or_costs(costs, most_nodes=7) is costs


def test_both_directions_lie_side_by_side(backend: Backend) -> None:
    instances = list(generate(5, "uniform", "tmat", count=2, seed=2, separate_end=True))
    problems = backend.problems(instances, directions=2)
    turned = backend.problems([row for one in instances for row in (one, one.turned())])
    for name in ("costs", "prizes", "start", "end", "to_end"):
        assert np.array_equal(read(getattr(problems, name)), read(getattr(turned, name))), name
    assert problems.symmetric.tolist() == [False] * 4


def test_what_fits_from_the_end_fits_from_the_start(backend: Backend) -> None:
    """Legs of 0.1, 0.2 and 0.3 cost more in this order than in the other, by the last digit."""
    assert 0.3 + 0.2 + 0.1 < 0.1 + 0.2 + 0.3
    instance = generate(5, "uniform", "tmat", count=1, seed=2)[0]
    ahead, back = backend.problems([instance], 2).budget.tolist()
    assert ahead == instance.budget
    assert instance.limit < back < ahead * (1 - 1e-12)


@pytest.mark.parametrize("nodes", [1, 7, 8, 63, 64, 65, 130])
def test_bits_are_those_of_the_sets(backend: Backend, nodes: int) -> None:
    problems = backend.problems([Instance([[0.0]], [1.0], 1.0)])
    sets = np.random.default_rng(nodes).random((50, nodes)) < 0.4
    words = read(problems.bits(placed(backend, sets)))
    assert words.shape == (50, -(-nodes // 64))
    assert np.array_equal(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :nodes], sets)


def test_outlook_adds_up_what_is_left(backend: Backend) -> None:
    """For every child: closeness of all pairs of nodes that it leaves, which is what fits now less the child."""
    instances = [small_instance("asymmetric", size, seed=3).replace(limit=9.0) for size in (6, 4, 6)]
    first = States.initial(backend.problems(instances))
    states = first.extended(placed(backend, [2, 0, 1, 0]), placed(backend, [1, 5, 2, 4]))
    fits = read(states.feasible())
    fast = outlook(states, states.feasible())
    for row in range(4):
        instance = instances[int(states.instance[row])]
        costs = instance.costs + np.diag(np.full(instance.size, np.inf))
        typical = costs.min(1).mean()
        near = (np.exp(-costs / typical) + np.exp(-costs.T / typical)) / 2
        for child in np.flatnonzero(fits[row]):
            left = [node for node in np.flatnonzero(fits[row]) if node != child]
            slow = typical * sum(near[one, other] for one in left for other in left if one != other)
            assert float(fast[row, child]) == pytest.approx(slow)


def test_closeness_of_one_node_or_no_costs_is_finite(backend: Backend) -> None:
    problems = backend.problems([Instance(np.zeros((3, 3)), [0, 1, 1], 1.0), Instance([[0.0]], [1], 1.0)])
    near, typical = problems.closeness
    assert np.isfinite(read(near)).all()
    assert (typical > 0).all()


def test_extended_paths(backend: Backend) -> None:
    instance = small_instance("asymmetric", 5, seed=1).replace(limit=50.0, start=0, end=0)
    first = States.initial(backend.problems([instance, instance]))
    second = first.extended(placed(backend, [1, 0]), placed(backend, [2, 3]))
    third = second.extended(placed(backend, [0]), placed(backend, [4]))
    assert third.instance.tolist() == [1]
    assert np.flatnonzero(read(third.visited[0])).tolist() == [0, 2, 4]
    assert float(third.cost[0]) == instance.costs[0, 2] + instance.costs[2, 4]
    assert float(third.prize[0]) == float(third.problems.prizes[1, [0, 2, 4]].sum())
    assert first.visited.sum() == 2  # the parents are untouched


def test_scores_of_children_are_scores_of_the_extended_paths(backend: Backend) -> None:
    instances = [small_instance("asymmetric", 6, seed).replace(limit=9.0) for seed in range(4)]
    states = States.initial(backend.problems(instances))
    rows, nodes = (placed(backend, cells) for cells in np.nonzero(read(states.feasible())))
    for scorer in (PrizeScore(), TsiliScore()):
        child = read(scorer.children(states).scores[rows, nodes])
        allowed = child > -np.inf
        path = read(scorer.paths(states.extended(rows, nodes)))
        assert allowed.sum() >= 16
        assert np.allclose(child[allowed], path[allowed], rtol=1e-12, atol=0)


def test_a_huge_prize_out_of_reach_rounds_nothing_away(backend: Backend) -> None:
    instance = Instance([[0, 1, 9], [1, 0, 9], [9, 9, 0]], [0, 1e-5, 1e14], 3)
    assert float(backend.problems([instance]).prizes[0, 1]) == pytest.approx(1e-5)
    assert solve(instance, cs_p(backend, beam=None)).prize == 1e-5


def test_turned_problems() -> None:
    (instance,) = generate(5, "uniform", "tmat", count=1, seed=2, separate_end=True)
    turned = instance.turned()
    assert (turned.start, turned.end) == (instance.end, instance.start)
    assert turned.turned() == instance
    fresh = Instance(turned.costs, turned.prizes, turned.limit, turned.start, turned.end)
    assert np.array_equal(turned.to_end, fresh.to_end)
    assert best_prize(turned) == pytest.approx(best_prize(instance))
