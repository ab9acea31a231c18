"""What networks see: no units, and only what still matters."""

import dataclasses

import numpy as np
import torch

from network_examples import beginning, seen, some_instance
from orienteer import Instance
from orienteer.beam.backend.cuda.problems import cheapest_ways
from orienteer.beam.states import States
from orienteer.lab.training.environment import advance
from orienteer.network.features import Tokens, reachable, to_nodes


def _fields_close(one: Tokens, other: Tokens, but: tuple[str, ...] = ()) -> None:
    for field in dataclasses.fields(one):
        if field.name not in (*but, "kit"):
            torch.testing.assert_close(getattr(one, field.name), getattr(other, field.name), rtol=1e-5, atol=1e-6)


def test_the_unit_of_costs_does_not_matter() -> None:
    instance = some_instance(9, 0)
    far = instance.replace(costs=instance.costs * 1609.344, limit=instance.limit * 1609.344)
    _fields_close(seen(beginning(instance)), seen(beginning(far)))


def test_the_unit_of_prizes_only_scales_the_values() -> None:
    instance = some_instance(9, 1)
    rich = instance.replace(prizes=instance.prizes * 100)
    one, other = seen(beginning(instance)), seen(beginning(rich))
    _fields_close(one, other, but=("unit",))
    torch.testing.assert_close(100 * one.unit, other.unit, rtol=1e-6, atol=0.0)


def test_a_line_of_nodes_by_hand() -> None:
    """Nodes at 0, 1, 2, 9 with limit 5: the last is out of reach; after node 1, 4 are left."""
    coords = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    instance = Instance.from_coords(coords, [0.0, 1.0, 3.0, 8.0], 5.0)
    given = seen(beginning(instance))
    assert given.node.tolist() == [[0, 1, 2]]
    assert given.choice.tolist() == [[False, True, True]]
    assert given.unit.item() == 2.0  # the mean of 1 and 3
    assert given.nodes[0, :, 0].tolist() == [0.0, 0.5, 1.5]
    torch.testing.assert_close(given.edges[0, 0], torch.tensor([0.0, 0.2, 0.4], dtype=torch.float64))
    torch.testing.assert_close(given.hops, torch.tensor([5.0], dtype=torch.float64))  # neighbours are 1 apart
    after = seen(advance(beginning(instance), torch.tensor([1])))
    assert after.node.tolist() == [[0, 1, 2]]  # the end, the current node, the only choice
    assert after.choice.tolist() == [[False, False, True]]
    assert after.nodes[0, :, 1].tolist() == [0.0, 1.0, 0.0]
    assert after.nodes[0, :, 2].tolist() == [1.0, 0.0, 0.0]
    torch.testing.assert_close(after.edges[0, 1], torch.tensor([0.25, 0.0, 0.25], dtype=torch.float64))


def test_a_node_behind_a_detour_is_seen_but_no_choice() -> None:
    """The direct way to node 2 is too dear, the way through node 1 is not."""
    costs = np.full((3, 3), 0.3)
    costs[0, 2] = 5.0
    states = beginning(Instance(costs, [0.0, 1.0, 1.0], 1.0))
    given = seen(states)
    assert given.node.tolist() == [[0, 1, 2]]
    assert given.choice.tolist() == [[False, True, False]]
    assert reachable(states, None).tolist() == [[False, True, False]]


def test_cheapest_ways_are_those_of_the_instance() -> None:
    instance = some_instance(8, 5, symmetric=False, end=3)
    states = beginning(instance)
    ways = cheapest_ways(states.problems.costs)[0]
    np.testing.assert_allclose(ways[:, 3], instance.to_end, rtol=1e-12)
    np.testing.assert_allclose(ways[0], instance.from_start, rtol=1e-12)


def test_values_go_back_to_node_numbers_and_only_choices_have_one() -> None:
    states = beginning(some_instance(5, 2), some_instance(8, 3))
    given = seen(states, more=2)
    table = to_nodes(given, given.node.double() + 10, states.problems.nodes, -torch.inf)
    feasible = states.feasible()
    assert torch.equal(table > -torch.inf, feasible)
    rows, nodes = feasible.nonzero(as_tuple=True)
    assert torch.equal(table[rows, nodes], nodes.double() + 10)


def test_a_path_without_anything_left_is_still_a_problem() -> None:
    states = beginning(some_instance(4, 1))
    broke = States(
        states.problems, states.instance, states.last, states.visited, states.problems.limit, states.prize, states.score
    )
    given = seen(broke)
    for field in dataclasses.fields(given):
        assert field.name == "kit" or torch.isfinite(torch.as_tensor(getattr(given, field.name)).double()).all(), (
            field.name
        )


def test_huge_units_are_still_numbers() -> None:
    plain = some_instance(6, 1)
    huge = plain.replace(costs=plain.costs * 1e300, limit=plain.limit * 1e300, coords=None)
    torch.testing.assert_close(seen(beginning(huge)).edges, seen(beginning(plain)).edges)
