"""Lessons: every piece of a best route is a best route of the smaller problem it is taken for."""

import numpy as np
import pytest
import torch

from network_examples import own_costs
from oracle import best_prize
from orienteer import Instance
from orienteer.beam.backend.cuda.problems import cheapest_ways
from orienteer.construct.enumerate import Enumerate
from orienteer.data.generate import COSTS
from orienteer.lab.training.labels import FIRST_SEED, Label, LabelRecipe, draw_source, stray, tail
from orienteer.lab.training.lessons import Lessons, Library
from orienteer.network.batching import in_batches
from orienteer.network.columns import FAR
from orienteer.network.features import reachable

RECIPE = LabelRecipe(sizes=(4, 5), favoured=(), costs=COSTS, apart=0.4)


@pytest.fixture(scope="module")
def library() -> Library:
    """Problems of up to seven nodes with their best routes, and with the best ways to go on after a mistake."""
    labels, rng = [], np.random.default_rng(0)
    for seed in range(FIRST_SEED, FIRST_SEED + 30):
        source = draw_source(RECIPE, seed, np.random.default_rng(seed))
        instance = source.instance()
        whole = Enumerate().solve(instance).tour.nodes
        labels.append(Label(source, whole, 1))
        path = stray(instance, whole, rng)
        left = tail(instance, path)
        if left is None:
            continue
        rest, names = left
        route = Enumerate().solve(rest).tour.nodes
        labels.append(Label(source, (*path, *(int(names[node]) for node in route[1:])), len(path)))
    return Library.build(labels, torch.device("cpu"))


def _draw(library: Library, count: int, pieces: float, seed: int = 0) -> list[Lessons]:
    return library.draw(count, torch.Generator().manual_seed(seed), pieces)


@pytest.mark.parametrize("pieces", [0.0, 1.0])
def test_lessons_are_optimal(library: Library, pieces: float) -> None:
    seen = 0
    for lessons in _draw(library, 150, pieces):
        problems, states = lessons.states.problems, lessons.states
        for row in range(len(lessons.node)):
            instance = _smaller(lessons, row)
            assert float(lessons.value[row]) == pytest.approx(best_prize(instance), abs=1e-5)
            assert lessons.later[row, lessons.node[row]]
            assert not states.visited[row, lessons.node[row]]
            seen += 1
        assert (problems.start == states.last).all()
    assert seen >= 140


def test_where_to_go_next_can_be_gone_to(library: Library) -> None:
    for lessons in _draw(library, 500, 0.3):
        fits = lessons.states.feasible()
        assert fits.gather(1, lessons.node[:, None]).all()
        assert (lessons.reach | ~lessons.later).all()  # on detours a node may be reachable only through others


def test_backwards_too_the_network_sees_the_costs_of_its_problem(library: Library) -> None:
    for lessons in _draw(library, 60, 0.3):
        problems = lessons.states.problems
        costs = torch.stack([own_costs(problems, row) for row in range(len(lessons.node))])
        assert torch.equal(lessons.reach, reachable(lessons.states, cheapest_ways(costs)))
        [(index, given)] = next(in_batches(lessons.states, lessons.reach, torch.arange(len(costs))[None], 1000))
        row = index[:, None, None]
        seen = costs[row, given.node[:, :, None], given.node[:, None, :]] / problems.limit[row]
        both = given.present[:, :, None] & given.present[:, None, :] & ~torch.eye(given.node.shape[1], dtype=torch.bool)
        torch.testing.assert_close(given.edges, torch.where(both, seen.clamp_max(FAR), 0.0))


def test_half_of_the_lessons_are_walked_backwards(library: Library) -> None:
    """Backwards, costs are those of the other direction."""
    lessons = max(_draw(library, 400, 0.0), key=lambda some: len(some.node))
    pool = library.pools[0]
    problems = lessons.states.problems
    turned = [
        not any(torch.equal(own_costs(problems, row), own) for own in pool.costs)
        for row in (~problems.symmetric).nonzero()[:, 0].tolist()
    ]
    assert 0.3 < np.mean(turned) < 0.7


def test_same_seed_same_lessons(library: Library) -> None:
    one, two, other = (_draw(library, 50, 0.5, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(one.node, two.node)
    assert torch.equal(one.states.visited, two.states.visited)
    assert not torch.equal(one.states.visited, other.states.visited)


def test_labels_without_a_step_teach_nothing() -> None:
    source = draw_source(RECIPE, FIRST_SEED, np.random.default_rng(0))
    with pytest.raises(ValueError, match="labels hold nothing to learn from"):
        Library.build([Label(source, (0, 0), 1)], torch.device("cpu"))


def _smaller(lessons: Lessons, row: int) -> Instance:
    """The problem of a lesson, with only the nodes that it may use."""
    problems = lessons.states.problems
    start, end = int(problems.start[row]), int(problems.end[row])
    free = (~lessons.states.visited[row] & (problems.prizes[row] > 0)).nonzero()[:, 0].tolist()
    names = list(dict.fromkeys([start, *free, end]))
    costs = own_costs(problems, row).double().numpy()[np.ix_(names, names)]
    prizes = problems.prizes[row].double().numpy()[names]
    prizes[[0, names.index(end)]] = 0.0
    return Instance(costs, prizes, float(problems.limit[row]), 0, names.index(end))
