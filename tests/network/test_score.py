"""The learned heuristic over scripted networks: parent and child agree where Bellman's equation holds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from backends import few, placed, read
from network_examples import some_instance
from oracle import best_prize
from orienteer import Instance
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.problems import Array
from orienteer.beam.states import States
from orienteer.network.score import ValueScore

Told = Callable[[States, int, int], float]
"""The action value of a state, by its row, and of a node."""


class ScriptedLook:
    """A network that says of every choice what it is told to; the value is that of the best."""

    def __init__(self, backend: Backend, told: Told):
        self.backend, self.told = backend, told
        self.passes = 0

    def __call__(self, states: States) -> tuple[Array, Array]:
        self.passes += len(states)
        feasible = read(states.feasible())
        action = np.full(feasible.shape, -np.inf)
        for row, node in np.argwhere(feasible).tolist():
            action[row, node] = self.told(states, row, node)
        value = np.where(np.isinf(action.max(1)), 0.0, action.max(1))
        return placed(self.backend, action), placed(self.backend, value)

    def reachable(self, states: States) -> Array:
        ways = states.problems.cheapest_ways
        return states.feasible(states.cost[:, None] + ways[states.instance, states.last])


def perfect(instances: list[Instance]) -> Told:
    """Values that satisfy Bellman's equation: the most prize to go, by trying everything."""

    def told(states: States, row: int, node: int) -> float:
        instance = instances[int(states.instance[row])]
        visited = read(states.visited)[row].copy()
        cost = float(states.cost[row]) + instance.costs[int(states.last[row]), node]
        return float(instance.prizes[node]) + most_to_go(instance, visited, node, cost)

    return told


def most_to_go(instance: Instance, visited: npt.NDArray[np.bool_], last: int, cost: float) -> float:
    """The most prize that can still be added to a path."""
    visited = visited.copy()
    visited[last] = True
    best = 0.0
    for node in range(instance.size):
        there = cost + instance.costs[last, node]
        if not visited[node] and there + instance.to_end[node] <= instance.budget:
            best = max(best, instance.prizes[node] + most_to_go(instance, visited, node, there))
    return best


def by_prize(states: States, row: int, node: int) -> float:
    """Nothing but the prize of the node."""
    return float(states.problems.prizes[states.instance[row], node])


def test_parent_and_child_agree_where_bellmans_equation_holds(backend: Backend) -> None:
    instances = [some_instance(few(backend, 6, 5), seed, end=seed % 2 * 3) for seed in range(few(backend, 4, 2))]
    scorer = ValueScore(ScriptedLook(backend, perfect(instances)))
    problems = backend.problems(instances)
    states = States.initial(problems)
    cells = np.nonzero(read(states.feasible()))
    children = read(scorer.children(states).scores)[cells]
    rows, nodes = (placed(backend, one) for one in cells)
    np.testing.assert_allclose(children, read(scorer.paths(states.extended(rows, nodes))), rtol=1e-12)
    for beam in (1, 3):
        routes = {}
        for mode in ("parent", "child"):
            config = CostLevelConfig(beam=beam, score=mode)  # type: ignore[arg-type]
            found = cost_level_search(backend, problems, scorer, config)
            routes[mode] = found.routes()
            assert found.best.prize.tolist() == pytest.approx([best_prize(one) for one in instances])
        assert routes["parent"] == routes["child"]


def test_parents_need_far_fewer_passes(backend: Backend) -> None:
    problems = backend.problems([some_instance(few(backend, 30, 8), 1)])
    passes = {}
    for mode in ("parent", "child"):
        scorer = ValueScore(ScriptedLook(backend, by_prize))
        cost_level_search(backend, problems, scorer, CostLevelConfig(beam=2, score=mode))  # type: ignore[arg-type]
        passes[mode] = scorer.passes
    assert passes["child"] > few(backend, 5, 1) * passes["parent"]


def test_a_path_at_its_end_is_worth_what_it_has(backend: Backend) -> None:
    states = States.initial(backend.problems([some_instance(5, 1)]))
    everything = states.visited | ~states.visited
    stuck = replace(states, visited=everything, prize=states.prize + 3)
    scorer = ValueScore(ScriptedLook(backend, by_prize))
    assert scorer.paths(stuck).tolist() == stuck.prize.tolist()
    assert np.isinf(read(scorer.children(stuck).scores)).all()


def test_beyond_what_it_knows_a_path_is_ranked_by_what_was_said_on_the_way(backend: Backend) -> None:
    look = ScriptedLook(backend, lambda states, row, node: 1.0 + (3 * int(states.last[row]) + node) % 7)
    first = States.initial(backend.problems([some_instance(40, 1), some_instance(9, 2)]))
    size = int(look.reachable(first)[0].sum())
    assert size > 20
    plain, wary = ValueScore(look), ValueScore(look, known=20)
    told, mixed = (read(score.children(first).scores) for score in (plain, wary))
    assert np.array_equal(told, mixed), "nothing has been said before"
    second = first.extended(placed(backend, [0, 0, 1]), placed(backend, [3, 4, 5]))
    second = replace(second, score=placed(backend, [7.0, -2.0, 100.0]))
    told, mixed = (read(score.children(second).scores) for score in (plain, wary))
    assert np.array_equal(told[2], mixed[2]), "the small problem beside it is known"
    own, choices = read(second.prize + look(second)[1]), np.isfinite(told)
    assert choices.any(1).all()
    expected = told + (1 - (20 / size) ** 2) * (read(second.score) - own)[:, None]
    np.testing.assert_allclose(mixed[:2][choices[:2]], expected[:2][choices[:2]], rtol=1e-6)


def test_problems_that_it_knows_are_not_looked_at_twice(backend: Backend) -> None:
    """In a batch of problems that are no larger than `known`, the first states are not looked at once more."""
    look = ScriptedLook(backend, by_prize)
    states = States.initial(backend.problems([some_instance(9, 2)]))
    for known in (9, None):
        scores = ValueScore(look, known).children(states).scores
        assert np.array_equal(read(scores), read(ValueScore(look, 8).children(states).scores))
        assert ValueScore(look, known).trust(states.problems) is None
