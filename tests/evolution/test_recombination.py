"""Edge recombination: what every child must be, and children known beforehand."""

import itertools

import numpy as np
import pytest

from orienteer.evolution.recombination import recombine
from orienteer.kernel import seed_state

KINDS = [(False, False), (False, True), (True, False), (True, True)]
"""Whether links may be walked backward, and whether the ends are one spot."""


def parents(seed, nodes=12):
    """Two random routes from node 0 to the last node."""
    rng = np.random.default_rng(seed)
    pair = []
    for _ in range(2):
        inner = rng.permutation(np.arange(1, nodes - 1))[: rng.integers(0, nodes - 1)]
        pair.append([0, *inner.tolist(), nodes - 1])
    return pair


def cross(one, two, nodes, turning, round_trip, state):
    padded = np.zeros((2, nodes), dtype=np.int64)
    padded[0, : len(one)], padded[1, : len(two)] = one, two
    child = np.zeros(nodes, dtype=np.int64)
    size = recombine(padded[0], len(one), padded[1], len(two), nodes, turning, round_trip, child, state)
    return child[:size].tolist()


def stretches(route, common):
    """The runs of nodes between neighbouring common ones, with those at both ends."""
    cuts = [place for place, node in enumerate(route) if node in common]
    return [route[a : b + 1] for a, b in itertools.pairwise(cuts)]


@pytest.mark.parametrize(("turning", "round_trip"), KINDS)
def test_a_child_is_made_of_its_parents_stretches(turning, round_trip):
    for seed in range(300):
        one, two = parents(seed)
        common = set(one) & set(two)
        child = cross(one, two, 12, turning, round_trip, seed_state(seed))
        assert len(set(child)) == len(child)
        assert (child[0], child[-1]) == (0, 11)
        assert common <= set(child) <= set(one) | set(two)
        links = stretches(one, common) + stretches(two, common)
        if turning:
            links += [link[::-1] for link in links]
        if turning and round_trip:  # both ends are one spot: a link may leave by either
            swap = {0: 11, 11: 0}
            links += [[swap.get(node, node) for node in link] for link in links]
        for stretch in stretches(child, common):
            assert stretch in links or len(stretch) == 2


@pytest.mark.parametrize(("turning", "round_trip"), KINDS)
def test_a_route_crossed_with_itself_is_itself(turning, round_trip):
    for seed in range(50):
        one, _ = parents(seed)
        child = cross(one, one, 12, turning, round_trip, seed_state(seed))
        backward = [0, *one[1:-1][::-1], 11]
        assert child == one or (turning and round_trip and child == backward)


def test_private_nodes_come_along():
    """Both parents go 0-3-5 with a node of their own in between, so the child has one of them on each leg."""
    seen = set()
    state = seed_state(1)
    for _ in range(50):
        seen.add(tuple(cross([0, 1, 3, 2, 5], [0, 4, 3, 5], 6, False, False, state)))
    assert seen == {(0, 1, 3, 2, 5), (0, 1, 3, 5), (0, 4, 3, 2, 5), (0, 4, 3, 5)}


def test_the_first_link_of_a_round_trip_is_not_walked_home_again():
    """With one common node a child that left by 0-1-3 must not come home by 3-1."""
    state = seed_state(2)
    for _ in range(200):
        child = cross([0, 1, 3, 2, 5], [0, 4, 3, 5], 6, True, True, state)
        assert len(set(child)) == len(child)


def test_parents_with_nothing_in_common_give_one_of_themselves():
    state = seed_state(3)
    seen = {tuple(cross([0, 1, 2, 5], [0, 3, 4, 5], 6, True, True, state)) for _ in range(60)}
    assert seen == {(0, 1, 2, 5), (0, 2, 1, 5), (0, 3, 4, 5), (0, 4, 3, 5)}
