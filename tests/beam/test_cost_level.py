"""Cost-level beam search: exact without bound, and like its slow twin with one."""

import itertools

import numpy as np
import pytest

from backends import cs_p, families, few, placed, remembering
from beam.slow_search import slow_cost_level_search
from instances import FAMILIES, shuffled, small_instance
from oracle import best_prize
from orienteer import Instance, check_tour, solve, solve_batch
from orienteer.beam.backend.protocol import Backend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.score import Children, PrizeScore


@pytest.mark.parametrize("tau", [None, 0.05, 0.4, 1000.0])
def test_unlimited_width_equals_the_oracle(backend: Backend, tau: float | None) -> None:
    """Fine levels, coarse ones that steps stay inside of, and one single level."""
    instances = families(backend, 40)
    found = solve_batch(instances, cs_p(backend, beam=None, tau=tau))
    for instance, result in zip(instances, found, strict=True):
        assert result.prize == pytest.approx(best_prize(instance))
        assert result.status == "optimal"


def test_unlimited_width_needs_no_sensible_score(backend: Backend) -> None:
    class Worst:
        def children(self, states):
            return Children(-states.prize[:, None] - states.problems.prizes[states.instance] + states.leg)

    instances = families(backend, 10)
    found = cost_level_search(backend, backend.problems(instances), Worst(), CostLevelConfig(beam=None, tau=0.5))
    for instance, route in zip(instances, found.routes(), strict=True):
        prize = check_tour(instance, route or instance.cheapest_route()).prize
        assert prize == pytest.approx(best_prize(instance))


class LeaningScore:
    """A score without ties that likes prize and dislikes cost; the twin computes it path by path."""

    def children(self, states):
        cost = states.cost[:, None] + states.leg
        return Children(states.prize[:, None] + states.problems.prizes[states.instance] - 0.37 * cost)

    def paths(self, states):
        return states.prize - 0.37 * states.cost


@pytest.mark.parametrize("family", ["euclidean", "asymmetric", "nonmetric", "holes"])
@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_equals_its_slow_twin(backend: Backend, family: str, spread: float) -> None:
    backend = remembering(backend, 2**20)  # the twin forgets nothing
    for seed in range(few(backend, 10, 1)):
        instance = small_instance(family, size=few(backend, 9, 7), seed=seed, round_trip=seed % 2 == 0)
        for width, tau in ((1, 0.1), (2, 0.3), (4, 0.05), (6, 1.0)):
            config = CostLevelConfig(beam=width, tau=tau, spread=spread)
            fast = cost_level_search(backend, backend.problems([instance]), LeaningScore(), config)
            slow = slow_cost_level_search(instance, lambda p: p.prize - 0.37 * p.cost, width, tau, spread)
            assert int(fast.log.expanded()[0]) == slow.expanded
            assert float(fast.best.prize[0]) == pytest.approx(slow.prize)
            assert float(fast.best.cost[0]) == pytest.approx(slow.cost)


def test_a_leg_shorter_than_a_level_is_followed(backend: Backend) -> None:
    """All nodes lie within one level: read once, it would hold single nodes only."""
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]])
    result = solve(Instance.from_coords(points, [0, 1, 1, 1], 0.4), cs_p(backend, tau=10.0, beam=5))
    assert result.prize == 3


def test_only_a_straight_last_leg_closes(backend: Backend) -> None:
    """From node 2 home goes only through node 1, already used: (0, 1, 2) is a path but no route."""
    inf = np.inf
    costs = [[0, 1, inf], [1, 0, 1], [inf, 1, 0]]
    result = solve(Instance(costs, [0, 1, 5], 10.0), cs_p(backend))
    assert result.tour.nodes == (0, 1, 0)


def test_the_limit_is_kept_in_float64(backend: Backend) -> None:
    """Three legs that add up to the limit and a hair more, far below what float32 can tell."""
    legs = np.array([0.1, 0.2, 0.3])
    costs = np.full((3, 3), 9.0)
    costs[0, 1], costs[1, 2], costs[2, 0], costs[1, 0] = *legs, 0.05
    fits = Instance(costs, [0, 1, 1], (legs[0] + legs[1]) + legs[2])
    assert solve(fits, cs_p(backend)).prize == 2
    short = fits.replace(limit=fits.limit * (1 - 1e-8))
    assert solve(short, cs_p(backend)).prize == 1


def test_looking_at_the_child_or_at_its_parent_is_the_same_for_a_true_score(backend: Backend) -> None:
    """With the optimal prize to go both estimate the same total (Bellman), and already one path finds the optimum."""

    class Truth:
        def children(self, states):
            cells = np.array(list(itertools.product(range(len(states)), range(states.problems.nodes))))
            rows, nodes = (placed(backend, one) for one in cells.T)
            return Children(self.paths(states.extended(rows, nodes)).reshape(len(states), -1))

        def paths(self, states):
            return placed(backend, [_best_total(self.instance, states, row) for row in range(len(states))], float)

    for family in FAMILIES:
        for seed in range(few(backend, 3, 1)):
            scorer = Truth()
            scorer.instance = small_instance(family, size=5, seed=seed, round_trip=seed % 2 == 0)
            problems = backend.problems([scorer.instance])
            found = [
                cost_level_search(backend, problems, scorer, CostLevelConfig(beam=1, tau=0.2, spread=0.0, score=by))
                for by in ("parent", "child")
            ]
            assert found[0].routes() == found[1].routes()
            prize = max(
                float(found[0].best.prize[0]), check_tour(scorer.instance, scorer.instance.cheapest_route()).prize
            )
            assert prize == pytest.approx(best_prize(scorer.instance))


def _best_total(instance, states, row):
    """The most prize that a route beginning with this path can collect, by trying all ways to go on."""
    visited = {v for v in range(instance.size) if states.visited[row, v]} | {int(states.last[row])}
    last, cost = int(states.last[row]), float(states.cost[row])
    closes = last == instance.end or cost + instance.costs[last, instance.end] <= instance.budget
    best = -np.inf

    def go_on(last, cost, prize, visited):
        nonlocal best
        if cost + instance.costs[last, instance.end] <= instance.budget:
            best = max(best, prize)
        for node in range(instance.size):
            if node not in visited and cost + instance.costs[last, node] <= instance.budget:
                go_on(node, cost + instance.costs[last, node], prize + instance.prizes[node], visited | {node})

    go_on(last, cost, float(states.prize[row]), visited)
    return best if closes or best > -np.inf else -1e9


def test_numbering_does_not_matter_to_a_score_without_ties(backend: Backend) -> None:
    for family in ("euclidean", "asymmetric", "nonmetric"):
        for seed in range(few(backend, 10, 1)):
            instance = small_instance(family, size=few(backend, 12, 6), seed=seed)
            problems = backend.problems([instance, shuffled(instance)])
            found = cost_level_search(backend, problems, LeaningScore(), CostLevelConfig(beam=3))
            assert float(found.best.prize[0]) == pytest.approx(float(found.best.prize[1]))


def test_a_wider_beam_is_better_on_average() -> None:
    instances = [small_instance("euclidean", size=25, seed=seed) for seed in range(40)]
    means = [np.mean([r.prize for r in solve_batch(instances, "cs-p", beam=beam, device="cpu")]) for beam in (1, 5, 30)]
    assert means[0] < means[1] < means[2]


def test_branch_limits_the_children_of_a_path(backend: Backend) -> None:
    size = few(backend, 15, 6)
    instances = [small_instance("euclidean", size, seed) for seed in range(few(backend, 10, 3))]
    problems = backend.problems(instances)
    one = cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(beam=None, branch=1))
    assert one.log.used <= size * len(instances)
    everything = cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(beam=3))
    all_named = cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(beam=3, branch=size))
    assert all_named.routes() == everything.routes()


def test_branch_takes_the_best_children(backend: Backend) -> None:
    """From the start nodes 1, 2, 3 fit; with two children a path node 3, of the least prize, is never gone to first."""
    instance = Instance(np.ones((4, 4)), [0, 3, 2, 1], 2.0)
    found = cost_level_search(backend, backend.problems([instance]), PrizeScore(), CostLevelConfig(branch=2))
    assert found.log.used == 3


@pytest.mark.parametrize("branch", [None, 1])
def test_a_score_of_minus_infinity_or_nan_bars_a_path(backend: Backend, branch: int | None) -> None:
    class OnlyNodeTwo:
        def children(self, states):
            scores = np.full((len(states), states.problems.nodes), -np.inf)
            scores[:, 1], scores[:, 2] = np.nan, 1.0
            return Children(placed(backend, scores))

    instance = small_instance("euclidean", 6).replace(start=0, end=0, limit=50.0)
    config = CostLevelConfig(tau=1.0, branch=branch)
    found = cost_level_search(backend, backend.problems([instance]), OnlyNodeTwo(), config)
    assert found.log.used == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam": 0}, "CostLevelConfig.beam must be at least 1 or None, got 0"),
        ({"beam": 10**16}, "CostLevelConfig.beam must be at most 2147483647 or None, got 10000000000000000"),
        ({"branch": 0}, "CostLevelConfig.branch must be at least 1 or None, got 0"),
        ({"tau": 0.0}, "CostLevelConfig.tau must be positive or None, got 0.0"),
        ({"tau": float("nan")}, "CostLevelConfig.tau must be positive or None, got nan"),
        ({"spread": -1.0}, "CostLevelConfig.spread must be at least 0, got -1.0"),
        ({"score": "aunt"}, "CostLevelConfig.score must be 'parent' or 'child', got 'aunt'"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostLevelConfig(**settings)


def test_too_many_levels(backend: Backend) -> None:
    with pytest.raises(ValueError, match="tau must make at most 1000000 levels, got 1e-09"):
        solve(small_instance("euclidean"), cs_p(backend, tau=1e-9))


def test_a_fine_tau_walks_past_empty_levels(backend: Backend) -> None:
    """A search must come back to its watch soon, though hundreds of thousands of levels are empty."""
    instance = small_instance("euclidean", size=5)
    levels = few(backend, 200_000, 20_000)
    result = solve(instance, cs_p(backend, tau=instance.limit / levels, beam=2, spread=0.0, recombine=False))
    assert result.prize == solve(instance, cs_p(backend, recombine=False)).prize
    assert result.steps < 200
