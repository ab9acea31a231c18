"""Paths put together from both ends."""

import numpy as np
import pytest

from backends import few, placed, read
from orienteer.beam.backend.host.meet import best_meeting
from orienteer.beam.backend.protocol import Backend, Ends
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.found import Found
from orienteer.beam.paths import SortedPaths
from orienteer.beam.recombine import both_ends
from orienteer.beam.score import PrizeScore
from orienteer.data.generate import generate
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.tour import check_tour


def searched(backend: Backend, instances: list[Instance], directions: int, beam: int = 4) -> Expander:
    problems = backend.problems(instances, directions)
    return cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(beam))


def met(backend: Backend, expander: Expander, directions: int, known: list[float]) -> list[list[int]]:
    """The best route that two paths of an instance make, if it brings more than is known; else an empty list."""
    log, problems = expander.log, expander.problems
    ends = both_ends(problems, log.by_cost(), directions, placed(backend, known, np.float64))
    rows = (ends.front // directions).tolist()
    routes: list[list[int]] = [[] for _ in known]
    for row, route in zip(rows, log.joined(ends.front.tolist(), *backend.best_pairs(ends)), strict=True):
        routes[row] = route
    return routes


def prize_of(instance: Instance, route: list[int]) -> float:
    try:
        return check_tour(instance, route).prize
    except InfeasibleTour:
        return -np.inf


def best_by_hand(backend: Backend, expander: Expander, directions: int, number: int, instance: Instance) -> float:
    """The most prize of all routes along one path of an instance and backwards along one from its end."""
    log, row = expander.log, number * directions
    owner = read(log.instance[: log.used])
    ahead, back = (np.flatnonzero(owner == at) for at in (row, row + directions - 1))
    pairs = np.array([(one, other) for one in ahead for other in back])
    routes = log.joined([row] * len(pairs), *(placed(backend, side) for side in pairs.T))
    return max(prize_of(instance, route) for route in routes)


def test_paths_are_read_back(backend: Backend) -> None:
    """Each path is its parent's and its last node, and visits just these; no path has the number -1."""
    log = searched(backend, list(generate(few(backend, 20, 6), count=3, seed=1)), 1, 3).log
    stops = log.stops(placed(backend, np.arange(-1, log.used)))
    assert stops[0] == []
    assert log.stops(placed(backend, [-1])) == [[]]
    trail, visited, start = read(log.trail), read(log.visited), read(log.problems.start)
    for number, path in enumerate(stops[1:]):
        if trail[number] < 0:
            assert path == []
        else:
            parent, last = divmod(trail[number], log.problems.nodes)
            assert path == [*stops[1 + parent], last]
        own = start[int(log.instance[number])]  # the end as well
        assert sorted({own, *path}) == np.flatnonzero(visited[number]).tolist()
    assert max(map(len, stops)) > 3


@pytest.mark.parametrize(
    ("costs", "apart", "directions", "seed"),
    [("euclidean", False, 1, 5), ("euclidean", True, 2, 3), ("tmat", False, 2, 5), ("xasy", True, 2, 12)],
)
def test_no_pair_of_paths_makes_a_better_route(
    backend: Backend, costs: str, apart: bool, directions: int, seed: int
) -> None:
    nodes, count = few(backend, (20, 3), (7, 1))
    instances = list(generate(nodes, "uniform", costs, count=count, seed=seed, separate_end=apart))
    found = _assert_best(backend, instances, directions, beam=2)
    assert found > few(backend, 0, -1)  # seeds were chosen so that there is something to find in larger problems


def test_no_pair_of_paths_makes_a_better_route_where_sets_of_nodes_are_two_words(backend: Backend) -> None:
    """With a share of the limit, routes stay short."""
    drawn = generate(70, count=few(backend, 3, 1), seed=4)
    _assert_best(backend, [one.replace(limit=0.4 * one.limit) for one in drawn], 1, few(backend, 3, 1))


def _assert_best(backend: Backend, instances: list[Instance], directions: int, beam: int) -> int:
    """In how many instances two paths make a better route than the search has found."""
    expander = searched(backend, instances, directions, beam)
    prize = read(Found(expander, directions).prize)
    most = [best_by_hand(backend, expander, directions, number, one) for number, one in enumerate(instances)]
    for known in (prize, prize - 0.5, np.full_like(prize, -np.inf)):
        routes = met(backend, expander, directions, known.tolist())
        for instance, route, least, best in zip(instances, routes, known, most, strict=True):
            if route:
                assert check_tour(instance, route).prize == pytest.approx(best)
            else:
                assert best <= least + 1e-9
    return sum(map(bool, met(backend, expander, directions, prize.tolist())))


def test_where_a_problem_is_not_the_same_backwards_one_end_is_not_enough(backend: Backend) -> None:
    nodes = few(backend, 20, 4)
    one_way = list(generate(nodes, "uniform", "tmat", count=3, seed=1))
    apart = list(generate(nodes, "uniform", "euclidean", count=3, seed=1, separate_end=True))
    for instances in (one_way, apart):
        expander = searched(backend, instances, 1)
        assert met(backend, expander, 1, [-np.inf] * 3) == [[], [], []]


def test_looks_are_bounded() -> None:
    one = (np.zeros(3, dtype=np.int64), np.zeros(3), np.ones(3), np.zeros((3, 1), dtype=np.int64))
    given = (*one, *one, np.zeros((2, 2)), 1.0, 0.0, False)
    assert best_meeting(*given) == (0, 0)
    assert best_meeting(*given, -1) == (-1, -1)


def test_routes_of_exactly_the_limit_are_taken(backend: Backend) -> None:
    """On a line of whole steps the best route out and back costs the limit itself."""
    last = few(backend, 8, 4)
    places = np.arange(last + 1.0)
    costs = np.abs(places[:, None] - places[None, :])
    instance = Instance(costs, np.r_[0.0, np.ones(last)], 2.0 * last)
    expander = searched(backend, [instance], 1)
    assert prize_of(instance, *met(backend, expander, 1, [last - 1.0])) == last
    assert met(backend, expander, 1, [float(last)]) == [[]]


def test_the_best_of_all_pairs_is_found(backend: Backend) -> None:
    """Dear paths bring more, so that a pair uses up its budget, with any share of it for either path."""
    rng, nodes, budget = np.random.default_rng(0), 70, 0.9
    sizes = [40, 70, 33, 5, 50, 64, 45, 90, 60, 60, 35, 80, 90]
    first, stops = np.cumsum([0, *sizes]), rng.random((sum(sizes), nodes)) < 0.03
    cost = np.concatenate([np.sort(rng.random(size)) for size in sizes])
    last, prize = rng.integers(nodes, size=len(cost)), cost + rng.random(len(cost)) / 4
    costs, number = rng.random((len(sizes), nodes, nodes)) / 5, rng.permutation(len(cost))
    front, back = np.array([0, 2, 4, 8, 10, 6, 12, 7]), np.array([1, 3, 5, 9, 11, 6, 12, 7])
    costs[[6, 7, 12]] += costs[[6, 7, 12]].transpose(0, 2, 1)  # where paths are turned round, costs are symmetric
    least = np.array([0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.5, 5.0])  # nothing is above the last
    bits = backend.problems([Instance(costs[6], np.zeros(nodes), 1.0)]).bits(placed(backend, stops))
    given = [placed(backend, one) for one in (first, number, np.empty(0), last, cost, prize)]
    paths = SortedPaths(*given, bits, given[2], given[2])
    ends = Ends(
        placed(backend, costs), paths, placed(backend, front), placed(backend, back),
        placed(backend, np.full(len(front), budget)), placed(backend, least),
    )  # fmt: skip
    found = read(backend.best_pairs(ends))
    for row, other, bound, pair in zip(front, back, least, found.T, strict=True):
        one, two = (np.arange(first[at], first[at + 1]) for at in (row, other))
        total = cost[one, None] + costs[row, last[one, None], last[two]] + cost[two]
        apart = ~(stops[one, None] & stops[two]).any(2)
        gain = np.where((total <= budget) & apart, prize[one, None] + prize[two], -np.inf)
        if gain.max() <= bound:
            assert pair.tolist() == [-1, -1]
        else:
            places = np.argsort(number)[pair]
            assert gain[places[0] - one[0], places[1] - two[0]] == gain.max()
    assert (found >= 0).all(0).tolist() == [True] * 7 + [False]
