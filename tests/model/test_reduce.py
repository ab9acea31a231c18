"""Visit times and a free end as a plain problem: the same routes, costs and prizes, judged by the rules themselves."""

import itertools
import pickle

import numpy as np
import pytest

from oracle import best_prize
from orienteer import InfeasibleTour, Instance, check_plan, check_tour
from orienteer.model.reduce import lifted, lowered
from plan_oracle import best_plan, random_instance

CASES = 60


@pytest.mark.parametrize("features", [("service",), ("free end",), ("service", "free end")], ids=", ".join)
def test_every_route_costs_and_collects_the_same(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng([9, len(features[0]), len(features)])
    for _ in range(CASES):
        instance = random_instance(rng, features)
        plain = instance.reduced
        assert plain.features == frozenset()
        assert plain.symmetric or not instance.symmetric
        for nodes in every_route(rng, instance):
            assert tuple(lifted(instance, tuple(lowered(instance, nodes)))) == tuple(nodes)
            try:
                tour = check_plan(instance, [nodes]).tour
            except InfeasibleTour:
                with pytest.raises(InfeasibleTour):
                    check_tour(plain, lowered(instance, nodes))
                continue
            same = check_tour(plain, lowered(instance, nodes))
            assert (same.prize, same.cost) == pytest.approx((tour.prize, tour.cost))
        if plain.size <= 7:
            assert best_prize(plain) == pytest.approx(best_plan(instance))


def every_route(rng: np.random.Generator, instance: Instance) -> list[list[int]]:
    """Some of all orders of all sets of inner nodes."""
    inner = [node for node in range(instance.size) if node not in instance.ends]
    orders = [order for count in range(len(inner) + 1) for order in itertools.permutations(inner, count)]
    chosen = [orders[k] for k in rng.permutation(len(orders))[:15]]
    end = [] if instance.end is None else [instance.end]
    return [[instance.start, *order, *end] for order in chosen]


@pytest.mark.parametrize("features", [("service",), ("free end",), ("service", "free end")], ids=", ".join)
def test_nodes_within_reach_are_those_of_the_rules(features: tuple[str, ...]) -> None:
    """A free end, which every node reaches at no cost, must not make all nodes seem near."""
    rng = np.random.default_rng([10, len(features[0]), len(features)])
    for _ in range(CASES):
        instance = random_instance(rng, features)
        fits = instance.reach.fits[0]
        np.testing.assert_array_equal(instance.reduced.reachable[: instance.size], fits)


def test_other_rules_are_left_as_they_are() -> None:
    instance = Instance(np.ones((3, 3)), [1, 2, 3], 4, service=[0, 1, 1], required=[1])
    assert instance.reduced is instance
    plain = Instance(np.ones((3, 3)), [1, 2, 3], 4)
    assert plain.reduced is plain
    assert plain.turned().reduced is not plain


def test_by_hand() -> None:
    """Half of a visit goes to each leg of its node; the last node is the free end."""
    instance = Instance([[0, 3, 5], [3, 0, 1], [5, 1, 0]], [0, 2, 4], 8, end=None, service=[0, 2, 1])
    assert instance.reduced.costs.tolist() == [[0, 4, 5.5, 0], [4, 2, 2.5, 1], [5.5, 2.5, 1, 0.5], [0, 1, 0.5, 0]]
    assert instance.reduced.end == 3
    assert check_tour(instance.reduced, [0, 1, 2, 3]).cost == check_plan(instance, [[0, 1, 2]]).cost == 3 + 2 + 1 + 1
    assert pickle.loads(pickle.dumps(instance.reduced)) == instance.reduced
