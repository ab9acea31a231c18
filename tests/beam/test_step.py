"""Step-by-step beam search."""

import numpy as np
import pytest

from backends import families, few, placed, read, tsili_beam
from instances import small_instance
from oracle import best_prize
from orienteer import Instance, check_tour, solve_batch
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.score import Children, PrizeScore, TsiliScore
from orienteer.beam.step import StepConfig, step_search


def test_unlimited_width_equals_the_oracle(backend: Backend) -> None:
    instances = families(backend, 20)
    found = step_search(backend, backend.problems(instances), PrizeScore(), StepConfig(beam=None))
    for instance, route in zip(instances, found.routes(), strict=True):
        prize = check_tour(instance, route or instance.cheapest_route()).prize
        assert prize == pytest.approx(best_prize(instance))


def test_a_beam_of_one_is_greedy(backend: Backend) -> None:
    class Near:
        def children(self, states):
            return Children(-states.leg)

    points = np.array([[0, 0], [1, 0], [0, 2.5], [3, 0], [2, 3]], dtype=float)
    instance = Instance.from_coords(points, [0, 1, 1, 1, 1], 100.0)
    found = step_search(backend, backend.problems([instance]), Near(), StepConfig(beam=1))
    assert found.routes() == [[0, 1, 3, 4, 2, 0]]


def test_never_above_the_oracle(backend: Backend) -> None:
    instances = families(backend, 20)
    for instance, result in zip(instances, solve_batch(instances, tsili_beam(backend, beam=3)), strict=True):
        assert result.prize <= best_prize(instance) + 1e-9


def test_a_wider_beam_is_better_on_average() -> None:
    instances = [small_instance("euclidean", size=25, seed=seed) for seed in range(40)]
    means = [
        np.mean([r.prize for r in solve_batch(instances, "tsili-beam", beam=beam, device="cpu")])
        for beam in (1, 5, 100)
    ]
    assert means[0] < means[1] < means[2]


def test_as_many_steps_as_nodes_on_the_longest_path(backend: Backend) -> None:
    instance = small_instance("euclidean", size=7).replace(limit=100.0)
    steps: list[object] = []
    problems = backend.problems([instance])
    step_search(backend, problems, PrizeScore(), StepConfig(beam=2), lambda one: bool(steps.append(one)))
    assert len(steps) == 6


@pytest.mark.parametrize("search", ["step", "cost level"])
def test_memory_is_handed_from_parent_to_child(backend: Backend, search: str) -> None:
    """A score that remembers the sum of squares of the nodes it has passed, checked against each path's own nodes."""

    class Recurrent:
        calls = 0  # of paths

        def children(self, states):
            passed = read(states.last).astype(float) ** 2
            if states.memory is not None:
                passed += read(states.memory)[:, 0]
            squares = np.arange(states.problems.nodes) ** 2
            # The end is marked as visited from the start; here it is the start.
            assert np.array_equal(passed, (read(states.visited) * squares).sum(1))
            self.calls += len(states)
            scores = states.prize[:, None] + states.problems.prizes[states.instance]
            return Children(scores, placed(backend, passed[:, None]))

    size = few(backend, 9, 7)
    instances = [small_instance("euclidean", size, seed).replace(limit=2.0) for seed in range(few(backend, 5, 3))]
    problems, scorer = backend.problems(instances), Recurrent()
    if search == "step":
        found = step_search(backend, problems, scorer, StepConfig(beam=4))
    else:
        found = cost_level_search(backend, problems, scorer, CostLevelConfig(beam=4))
    assert scorer.calls == found.log.used == int(found.log.expanded().sum()) > 10 * len(instances)


def test_tsiligirides_score_bars_all_but_four(backend: Backend) -> None:
    """Ratios from the start: 4/1, 3/1, 2/1, 1/1, 0.5/1, and node 6 out of reach."""
    costs = np.ones((7, 7))
    costs[:, 6] = 50.0
    instance = Instance(costs, [0, 4, 3, 2, 1, 0.5, 9], 3.0)
    problems = backend.problems([instance])
    found = step_search(backend, problems, TsiliScore(), StepConfig())
    first = found.log.begin()
    scores = TsiliScore().children(first).scores[0]
    assert scores.tolist() == [-np.inf, 4, 3, 2, 1, -np.inf, -np.inf]
    assert found.routes() == [[0, 1, 2, 0]]


def test_free_and_worthless_nodes_have_finite_scores(backend: Backend) -> None:
    instance = Instance(np.zeros((4, 4)), [0, 0, 1, 2], 1.0)
    found = step_search(backend, backend.problems([instance]), TsiliScore(), StepConfig())
    assert float(found.best.prize[0]) == 3


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match=r"StepConfig.beam must be at most 2147483647 or None"):
        StepConfig(beam=2**31)
    with pytest.raises(ValueError, match=r"StepConfig.beam must be at least 1 or None, got 0"):
        StepConfig(beam=0)
