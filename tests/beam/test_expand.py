"""Single steps from paths to their children, each against slow loops."""

import numpy as np
import pytest

from backends import few, placed, read
from instances import all_families
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.expand import Expander
from orienteer.beam.score import PrizeScore
from orienteer.beam.states import States
from orienteer.data.generate import generate
from orienteer.model.instance import Instance


def after(backend: Backend, nodes: int, instances: list[Instance]) -> States:
    """The paths that have left their starts and those with that many more nodes, wherever these may be."""
    problems = backend.problems(instances)
    levels = [States.initial(problems)]
    for _ in range(nodes):
        row, node = (placed(backend, cells) for cells in np.nonzero(read(levels[-1].feasible())))
        levels.append(levels[-1].extended(row, node))
    columns = ("instance", "last", "visited", "cost", "prize", "score")
    return States(problems, *(problems.xp.concatenate([getattr(one, name) for one in levels]) for name in columns))


def expander_of(backend: Backend, states: States, branch: int | None = None) -> Expander:
    return backend.expander(states.problems, PrizeScore(), branch)


@pytest.mark.parametrize("prizes", ["uniform", "constant"])  # with equal prizes the cost decides, or the first node
@pytest.mark.parametrize(("costs", "apart"), [("euclidean", True), ("tmat", False)])
def test_what_going_on_leads_to(backend: Backend, prizes: str, costs: str, apart: bool) -> None:
    instances = [one for size in (3, 11) for one in generate(size, prizes, costs, seed=1, separate_end=apart)]
    _assert_stepped_on(backend, after(backend, 1, instances))


def test_what_going_on_leads_to_in_all_families(backend: Backend) -> None:
    """With missing ways, without prizes, and where nothing fits."""
    _assert_stepped_on(backend, after(backend, 0, all_families(5)))
    _assert_stepped_on(backend, after(backend, few(backend, 2, 1), all_families(few(backend, 5, 1))))


def _assert_stepped_on(backend: Backend, states: States, first: int = 1000) -> None:
    """Arrivals, what fits, and the best route of each instance: by prize, by cost, and by which came first."""
    expander = expander_of(backend, states)
    best = [read(getattr(expander.best, name)).tolist() for name in ("prize", "cost", "parent", "last")]
    known = [list(row) for row in zip(*best, strict=True)]
    arrival, fits = (read(one) for one in expander._step_on(states, first))
    problems = states.problems
    costs, to_end, straight, prizes = (
        read(getattr(problems, name)) for name in ("costs", "to_end", "straight", "prizes")
    )
    closed = 0
    for state, (row, last) in enumerate(zip(states.instance.tolist(), states.last.tolist(), strict=True)):
        limit = float(problems.budget[row])
        for node in range(problems.nodes):
            there = float(states.cost[state]) + costs[row, last, node]
            fit = there + to_end[row, node] <= limit and not bool(states.visited[state, node])
            assert (arrival[state, node], fits[state, node]) == (there, fit)
            total, prize = there + straight[row, node], float(states.prize[state]) + prizes[row, node]
            if fit and total <= limit:
                closed += 1
                if (prize, -total) > (known[row][0], -known[row][1]):
                    known[row] = [prize, total, first + state, node]
    found = [read(getattr(expander.best, name)).tolist() for name in ("prize", "cost", "parent", "last")]
    assert [list(row) for row in zip(*found, strict=True)] == known
    assert closed


@pytest.mark.parametrize("branch", [None, 1, 4])
def test_the_best_children_are_packed(backend: Backend, branch: int | None) -> None:
    """With ties, and numbers of a long log, which need more than 32 bits."""
    first, states = 2**33, after(backend, 1, list(generate(12, count=5, seed=1)))
    nodes = states.problems.nodes
    expander = expander_of(backend, states, branch)
    expander.log.used = first + len(states)
    rng, shape = np.random.default_rng(0), (len(states), nodes)
    score, arrival, fits = rng.integers(4, size=shape) / 4, rng.random(shape), rng.random(shape) < 0.7
    score[rng.random(shape) < 0.1] = -np.inf
    score[rng.random(shape) < 0.1] = np.nan
    node_set = rng.integers(-(2**62), 2**62, len(states))
    given = (placed(backend, one) for one in (node_set, arrival, fits, score))
    made = expander._chosen(states, *given)
    keys, owner = read(expander.both_keys), read(states.instance)
    wanted = []
    for state in range(len(states)):
        able = [node for node in range(nodes) if fits[state, node] and score[state, node] > -np.inf]
        if branch is not None:
            able = sorted(able, key=lambda node: -score[state, node])[:branch]
        with np.errstate(over="ignore"):
            wanted += [
                (owner[state], score[state, node], arrival[state, node], node_set[state] + keys[node],
                 (first + state) * nodes + node) for node in able
            ]  # fmt: skip
    candidates = made.candidates
    columns = (made.instance, candidates.score, candidates.cost, candidates.stamp, candidates.trail)
    assert len(wanted) > (300 if branch is None else 30)
    assert list(zip(*(read(one) for one in columns), strict=True)) == wanted
