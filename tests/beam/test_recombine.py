"""Stretches of routes exchanged for stretches of logged paths."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends import cs_p, few, placed, read
from instances import small_instances
from oracle import best_prize
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend, Over
from orienteer.beam.candidates import Candidates
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.found import Found
from orienteer.beam.paths import SortedPaths
from orienteer.beam.problems import Array, Problems
from orienteer.beam.recombine import good_paths, never_over
from orienteer.beam.score import PrizeScore
from orienteer.data.generate import generate
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.tour import Tour, check_tour
from orienteer.search.stop import MaxSteps, Progress, as_stop

HOST = HostBackend()
KINDS = [("euclidean", False, 1), ("euclidean", True, 2), ("tmat", False, 1), ("tmat", False, 2), ("xasy", True, 2)]
every_kind = pytest.mark.parametrize(("costs", "apart", "directions"), KINDS)


def searched(backend: Backend, instances: list[Instance], directions: int, beam: int) -> Expander:
    problems = backend.problems(instances, directions)
    return cost_level_search(backend, problems, PrizeScore(), CostLevelConfig(beam))


def exchanged(
    expander: Expander, directions: int, routes: list[list[int]], over: Over = never_over, bases: int | None = None
) -> list[list[int]]:
    """What exchanges make of the routes and of a few good paths."""
    backend, problems, paths = expander.backend, expander.problems, expander.log.by_cost()
    chosen = good_paths(problems, paths, directions, bases or few(backend, 40, 2))
    return backend.exchanged(problems, paths, directions, routes, chosen, over)


def logged(expander: Expander, directions: int, number: int) -> list[list[int]]:
    """All paths of an instance from its start or, turned round, to its end, each with both ends."""
    log, row = expander.log, number * directions
    owner = log.instance[: log.used].tolist()
    start, end = int(log.problems.start[row]), int(log.problems.end[row])
    stops = zip(owner, log.stops(log.problems.arange(log.used)), strict=True)
    own = [(one - row, path) for one, path in stops if row <= one < row + directions]
    return [[start, *(path[::-1] if back else path), end] for back, path in own]


def judged(instance: Instance, route: list[int]) -> Tour | None:
    try:
        return check_tour(instance, route)
    except InfeasibleTour:
        return None


def exchanges(route: list[int], path: list[int], both_directions: bool) -> list[list[int]]:
    """All routes in which a stretch between two common nodes is that of the path; its ends are the route's."""
    place = {node: at for at, node in enumerate(route[1:-1], start=1)}
    spots = [(0, 0), *((at, place[node]) for at, node in enumerate(path[1:-1], start=1) if node in place)]
    spots.append((len(path) - 1, len(route) - 1))
    made = []
    for one, (first, left) in enumerate(spots):
        for second, right in spots[one + 1 :]:
            if left < right:
                made.append(route[: left + 1] + path[first + 1 : second] + route[right:])
            elif both_directions and left > right:
                made.append(route[: right + 1] + path[first + 1 : second][::-1] + route[left:])
    return made


@pytest.mark.parametrize(
    ("kind", "size", "seed"), list(zip(KINDS, (10, 10, 10, 10, 12), (24, 17, 9, 35, 586), strict=True))
)
def test_no_exchange_is_left_that_is_better(
    backend: Backend, kind: tuple[str, bool, int], size: int, seed: int
) -> None:
    """Sizes and seeds of small problems in which exchanges make a better route."""
    costs, apart, directions = kind
    nodes, count, number = few(backend, (40, 5, 6), (size, 1, seed))
    instances = list(generate(nodes, "uniform", costs, count=count, seed=number, separate_end=apart))
    expander = searched(backend, instances, directions, beam=few(backend, 2, 1))
    before = Found(expander, directions).routes()
    after = exchanged(expander, directions, before)
    better = 0
    for number, (instance, old, new) in enumerate(zip(instances, before, after, strict=True)):
        was, now = check_tour(instance, old), check_tour(instance, new)
        assert (now.prize, -now.cost) >= (was.prize - 1e-9, -was.cost - 1e-9)
        better += now.prize > was.prize + 1e-9
        for path in logged(expander, directions, number):
            for route in exchanges(new, path, instance.symmetric):
                other = judged(instance, route)
                assert other is None or other.prize < now.prize + 1e-9
                assert other is None or other.prize < now.prize - 1e-9 or other.cost > now.cost * (1 - 1e-8)
    assert better
    if few(backend, False, True):
        assert after == exchanged(searched(HOST, instances, directions, 1), directions, before, bases=2)


@every_kind
def test_good_paths_are_the_best_ones_that_close(backend: Backend, costs: str, apart: bool, directions: int) -> None:
    nodes, count = few(backend, (12, 3), (6, 2))
    instances = list(generate(nodes, "uniform", costs, count=count, seed=1, separate_end=apart))
    expander = searched(backend, instances, directions, beam=few(backend, 3, 2))
    paths = expander.log.by_cost()
    table = good_paths(expander.problems, paths, directions, 5)
    for number, (instance, row) in enumerate(zip(instances, table.tolist(), strict=True)):
        closed = [judged(instance, route) for route in logged(expander, directions, number)]
        prizes = {frozenset(tour.nodes): tour.prize for tour in closed if tour is not None}
        found = (paths.prize + paths.ends[number * directions])[[place for place in row if place >= 0]].tolist()
        assert found == pytest.approx(sorted(prizes.values(), reverse=True)[:5])


def test_what_is_made_is_a_route_and_never_worse(backend: Backend) -> None:
    """A batch of different sizes, some of which may have no route."""

    @settings(max_examples=few(backend, 100, 3))
    @given(st.lists(small_instances(few(backend, 7, 5)), min_size=1, max_size=4))
    def check(instances: list[Instance]) -> None:
        for both in (False, True):
            plain, made = (
                cs_p(backend, beam=2, both=both, recombine=recombine, alternatives=3).solve_batch(instances)
                for recombine in (False, True)
            )
            for instance, one, other in zip(instances, plain, made, strict=True):
                assert one.prize <= other.prize <= best_prize(instance) * (1 + 1e-12)
                for tour in (other.tour, *(plan.tour for plan in other.alternatives)):
                    assert check_tour(instance, tour.nodes) == tour

    check()


def test_a_search_that_is_stopped_is_not_recombined() -> None:
    instances = list(generate(30, "uniform", "euclidean", count=3, seed=2))
    plain, made = (cs_p(HOST, beam=4, recombine=one) for one in (False, True))
    for steps, same in ((20, True), (10_000, False)):
        left, right = (
            [one.prize for one in solver.solve_batch(instances, MaxSteps(steps))] for solver in (plain, made)
        )
        assert (left == right) is same
        left, right = ([solver.solve(one, MaxSteps(steps)).prize for one in instances] for solver in (plain, made))
        assert (left == right) is same


class Asked(HostBackend):
    """Notes of how many routes of an instance stretches are to be exchanged, and exchanges none."""

    def __init__(self) -> None:
        super().__init__()
        self.bases: list[int] = []

    def exchanged(
        self,
        problems: Problems,
        paths: SortedPaths,
        directions: int,
        routes: list[list[int]],
        chosen: Array,
        over: Over,
    ) -> list[list[int]]:
        self.bases.append(chosen.shape[1])
        return routes


def test_a_wide_beam_has_more_routes_exchanged() -> None:
    backend = Asked()
    for beam in (10, 60):
        solver = cs_p(backend, beam=beam)
        solver.solve_batch(list(generate(8, count=1, seed=1)))
    assert backend.bases[-1] == 60
    assert set(backend.bases) == {40, 60}


def test_exchanges_end_when_it_is_over(backend: Backend) -> None:
    """The host asks before every route, a GPU before every round of all."""
    nodes, count, seed = few(backend, (40, 4, 6), (10, 1, 24))
    instances = list(generate(nodes, "uniform", "euclidean", count=count, seed=seed))
    expander = searched(backend, instances, 1, beam=few(backend, 2, 1))
    before = Found(expander, 1).routes()
    totals = []
    for looks in (0, 1, 3, 1000):
        after = exchanged(expander, 1, before, partial(next, iter([False] * looks), True))
        assert looks or after == before
        totals.append(sum(check_tour(one, route).prize for one, route in zip(instances, after, strict=True)))
    assert totals == sorted(totals)
    assert totals[0] < totals[-1]


@pytest.mark.parametrize("batch", [False, True])
def test_a_stop_is_asked_while_routes_are_made(backend: Backend, batch: bool) -> None:
    """One that ends when it is asked again after as many steps as before: with the first question after the search."""
    asked: list[int] = []

    def stop(now: Progress) -> bool:
        asked.append(now.steps)
        return now.steps > 0 and asked.count(now.steps) > 1

    (instance,) = generate(few(backend, 30, 10), "uniform", "euclidean", count=1, seed=2)
    solver = cs_p(backend, beam=few(backend, 4, 1))
    result = solver.solve_batch([instance], as_stop(stop))[0] if batch else solver.solve(instance, as_stop(stop))
    assert asked[-2:] == [result.steps] * 2
    assert asked.count(result.steps) == 2
    assert check_tour(instance, result.tour.nodes)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_stretch_may_be_turned_round_where_costs_are_symmetric(backend: Backend, symmetric: bool) -> None:
    """The path 0 2 3 4 1 knows a better way between 1 and 2 than over 5, but the other way round.

    Where it may not be turned round, the whole path is better than the route.
    """
    costs = np.ones((7, 7)) - np.eye(7)
    costs[0, 3] += 0.0 if symmetric else 0.5  # a leg that nobody takes
    problems = backend.problems([Instance(costs, [0.0, 1.0, 1.0, 5.0, 5.0, 2.0, 3.0], 6.0)])
    log = backend.expander(problems, PrizeScore()).log
    log.begin()
    for number, node in enumerate((2, 3, 4, 1)):
        cost, trail = placed(backend, [number + 1.0]), placed(backend, [number * 7 + node])
        log.add(Candidates.pack(problems.xp, cost, cost, trail, trail))
    one_round = partial(next, iter([False]), True)  # further rounds of a GPU would mend what the first does wrong
    better = backend.exchanged(problems, log.by_cost(), 1, [[0, 6, 1, 5, 2, 0]], problems.full((1, 0), 0), one_round)
    assert better == [[0, 6, 1, 4, 3, 2, 0] if symmetric else [0, 2, 3, 4, 1, 0]]


def test_paths_are_sorted_alike_in_small_pieces(backend: Backend) -> None:
    log = searched(backend, list(generate(few(backend, 30, 8), count=2, seed=3)), 1, 2).log
    whole, pieces = log.by_cost(), log.by_cost(packed_at_once=50)
    for field in dataclasses.fields(SortedPaths):
        assert np.array_equal(read(getattr(whole, field.name)), read(getattr(pieces, field.name))), field.name
    instance, cost = read(log.instance)[read(whole.number)], read(whole.cost)
    order = list(zip(instance.tolist(), cost.tolist(), strict=True))
    assert order == sorted(order)


def test_many_paths_leave_few_routes(backend: Backend) -> None:
    expander = searched(backend, list(generate(few(backend, 30, 8), count=1, seed=3)), 1, 2)
    paths = expander.log.by_cost()
    assert (good_paths(expander.problems, paths, 1, 5) >= 0).sum() == 5
    assert (good_paths(expander.problems, paths, 1, 5, most_stops=1) >= 0).sum() == 1


def test_alone_and_in_a_batch_of_all_kinds() -> None:
    kinds = [generate(30, "uniform", costs, count=3, seed=2) for costs in ("euclidean", "tmat", "manhattan")]
    instances = [one for group in zip(*kinds, strict=True) for one in (*group, group[0].replace(end=1))]
    for both in (False, True):
        solver, plain = (cs_p(HOST, beam=4, both=both, recombine=one) for one in (True, False))
        made = solver.solve_batch(instances)
        assert [one.tour for one in made] == [solver.solve(one).tour for one in instances]
        gains = [one.prize - other.prize for one, other in zip(made, plain.solve_batch(instances), strict=True)]
        assert min(gains) >= 0
        assert np.count_nonzero(gains) >= 3


def test_alone_and_in_a_batch(backend: Backend) -> None:
    kinds = ("euclidean", "tmat")
    instances = [one for costs in kinds for one in generate(few(backend, 15, 5), "uniform", costs, seed=3)]
    solver = cs_p(backend, beam=few(backend, 4, 2), both=True)
    assert [one.tour for one in solver.solve_batch(instances)] == [solver.solve(one).tour for one in instances]
