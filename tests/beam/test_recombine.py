"""Stretches of routes exchanged for stretches of logged paths."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from orienteer.beam.ways import Found, put_together

from gpu import DEVICE, needs_triton
from instances import small_instances
from oracle import best_prize
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.recombine import good_paths, one_by_one, together
from orienteer.beam.score import PrizeScore
from orienteer.beam.solvers import PrizeCostLevelSearch
from orienteer.data.generate import generate
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.tour import Tour, check_tour
from orienteer.search.stop import MaxSteps, Progress, as_stop

KINDS = [("euclidean", False, 1), ("euclidean", True, 2), ("tmat", False, 1), ("tmat", False, 2), ("xasy", True, 2)]


def searched(instances: list[Instance], ways: int, beam: int, device: str = "cpu") -> Expander:
    problems = put_together(instances, ways, torch.device(device))
    return cost_level_search(problems, PrizeScore(), CostLevelConfig(beam))


def logged(expander: Expander, ways: int, number: int) -> list[list[int]]:
    """All paths of an instance from its start or, turned round, to its end, each with both ends."""
    log, row = expander.log, number * ways
    owner = log._instance[: log.used].tolist()
    start, end = int(log.problems.start[row]), int(log.problems.end[row])
    stops = zip(owner, log._stops(torch.arange(log.used)), strict=True)
    own = [(one - row, path) for one, path in stops if row <= one < row + ways]
    return [[start, *(path[::-1] if back else path), end] for back, path in own]


def judged(instance: Instance, route: list[int]) -> Tour | None:
    try:
        return check_tour(instance, route)
    except InfeasibleTour:
        return None


def exchanges(route: list[int], path: list[int], both_ways: bool) -> list[list[int]]:
    """All routes in which a stretch between two common nodes is that of the path; its ends are the route's."""
    place = {node: at for at, node in enumerate(route[1:-1], start=1)}
    spots = [(0, 0), *((at, place[node]) for at, node in enumerate(path[1:-1], start=1) if node in place)]
    spots.append((len(path) - 1, len(route) - 1))
    made = []
    for one, (first, left) in enumerate(spots):
        for second, right in spots[one + 1 :]:
            if left < right:
                made.append(route[: left + 1] + path[first + 1 : second] + route[right:])
            elif both_ways and left > right:
                made.append(route[: right + 1] + path[first + 1 : second][::-1] + route[left:])
    return made


@pytest.mark.parametrize(("costs", "apart", "ways"), KINDS)
def test_no_exchange_is_left_that_is_better(costs: str, apart: bool, ways: int) -> None:
    instances = list(generate(40, "uniform", costs, count=5, seed=6, separate_end=apart))
    expander = searched(instances, ways, beam=2)
    before = Found(expander, ways).routes()
    after = one_by_one(expander.problems, expander.log.by_cost(), ways, before)
    better = 0
    for number, (instance, old, new) in enumerate(zip(instances, before, after, strict=True)):
        was, now = check_tour(instance, old), check_tour(instance, new)
        assert (now.prize, -now.cost) >= (was.prize - 1e-9, -was.cost - 1e-9)
        better += now.prize > was.prize + 1e-9
        for path in logged(expander, ways, number):
            for route in exchanges(new, path, instance.symmetric):
                other = judged(instance, route)
                assert other is None or other.prize < now.prize + 1e-9
                assert other is None or other.prize < now.prize - 1e-9 or other.cost > now.cost * (1 - 1e-8)
    assert better


@pytest.mark.parametrize(("costs", "apart", "ways"), KINDS)
def test_good_paths_are_the_best_ones_that_close(costs: str, apart: bool, ways: int) -> None:
    instances = list(generate(12, "uniform", costs, count=3, seed=1, separate_end=apart))
    expander = searched(instances, ways, beam=3)
    paths = expander.log.by_cost()
    table = good_paths(expander.problems, paths, ways, 5)
    for number, (instance, row) in enumerate(zip(instances, table.tolist(), strict=True)):
        closed = [judged(instance, route) for route in logged(expander, ways, number)]
        prizes = {frozenset(tour.nodes): tour.prize for tour in closed if tour is not None}
        found = (paths.prize + paths.ends[number * ways])[[place for place in row if place >= 0]].tolist()
        assert found == pytest.approx(sorted(prizes.values(), reverse=True)[:5])


@given(st.lists(small_instances(), min_size=1, max_size=4))
def test_what_is_made_is_a_route_and_never_worse(instances: list[Instance]) -> None:
    """A batch of different sizes, some of which may have no route."""
    for both in (False, True):
        plain, made = (
            PrizeCostLevelSearch(
                CostLevelConfig(2, both=both, recombine=recombine, device="cpu", alternatives=3)
            ).solve_batch(instances)
            for recombine in (False, True)
        )
        for instance, one, other in zip(instances, plain, made, strict=True):
            assert one.prize <= other.prize <= best_prize(instance) * (1 + 1e-12)
            for tour in (other.tour, *other.alternatives):
                assert check_tour(instance, tour.nodes) == tour


def test_a_search_that_is_stopped_is_not_recombined() -> None:
    instances = list(generate(30, "uniform", "euclidean", count=3, seed=2))
    plain, made = (PrizeCostLevelSearch(CostLevelConfig(4, recombine=one, device="cpu")) for one in (False, True))
    for steps, same in ((20, True), (10_000, False)):
        left, right = (
            [one.prize for one in solver.solve_batch(instances, MaxSteps(steps))] for solver in (plain, made)
        )
        assert (left == right) is same
        left, right = ([solver.solve(one, MaxSteps(steps)).prize for one in instances] for solver in (plain, made))
        assert (left == right) is same


def test_a_wide_beam_has_more_routes_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Found, "recombined", lambda found, over, bases: asked.append(bases) or found)
    for beam in (10, 60):
        PrizeCostLevelSearch(CostLevelConfig(beam, device="cpu")).solve_batch(list(generate(8, count=1, seed=1)))
    assert asked == [40, 60]


def test_exchanges_end_when_it_is_over() -> None:
    instances = list(generate(40, "uniform", "euclidean", count=4, seed=6))
    expander = searched(instances, 1, beam=2)
    before, paths = Found(expander, 1).routes(), expander.log.by_cost()
    totals = []
    for looks in (0, 1, 3, 1000):
        over = partial(next, iter([False] * looks), True)
        after = one_by_one(expander.problems, paths, 1, before, over)
        assert looks or after == before
        totals.append(sum(check_tour(one, route).prize for one, route in zip(instances, after, strict=True)))
    assert totals == sorted(totals)
    assert totals[0] < totals[-1]


@pytest.mark.parametrize("batch", [False, True])
def test_a_stop_is_asked_while_routes_are_made(batch: bool) -> None:
    """One that ends when it is asked again after as many steps as before: with the first question after the search."""
    asked: list[int] = []

    def stop(now: Progress) -> bool:
        asked.append(now.steps)
        return now.steps > 0 and asked.count(now.steps) > 1

    (instance,) = generate(30, "uniform", "euclidean", count=1, seed=2)
    solver = PrizeCostLevelSearch(CostLevelConfig(4, device="cpu"))
    result = solver.solve_batch([instance], as_stop(stop))[0] if batch else solver.solve(instance, as_stop(stop))
    assert asked[-2:] == [result.steps] * 2
    assert asked.count(result.steps) == 2
    assert check_tour(instance, result.tour.nodes)


def test_few_looks_and_small_pieces_make_routes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (instance,) = generate(30, "uniform", "euclidean", count=1, seed=2)
    solver = PrizeCostLevelSearch(CostLevelConfig(4, device="cpu"))
    usual = solver.solve(instance)
    monkeypatch.setattr("orienteer.beam.paths.PACKED_AT_ONCE", 100)
    assert solver.solve(instance).tour == usual.tour
    monkeypatch.setattr("orienteer.beam.recombine.MOST_LOOKS", 1)
    expander = searched([instance], 1, 4)
    assert (good_paths(expander.problems, expander.log.by_cost(), 1, 5) >= 0).sum() == 1
    assert check_tour(instance, solver.solve(instance).tour.nodes)


def test_alone_and_in_a_batch_of_all_kinds() -> None:
    kinds = [generate(30, "uniform", costs, count=3, seed=2) for costs in ("euclidean", "tmat", "manhattan")]
    instances = [one for group in zip(*kinds, strict=True) for one in (*group, group[0].replace(end=1))]
    for both in (False, True):
        solver = PrizeCostLevelSearch(CostLevelConfig(4, both=both, device="cpu"))
        plain = PrizeCostLevelSearch(CostLevelConfig(4, both=both, recombine=False, device="cpu"))
        made = solver.solve_batch(instances)
        assert [one.tour for one in made] == [solver.solve(one).tour for one in instances]
        gains = [one.prize - other.prize for one, other in zip(made, plain.solve_batch(instances), strict=True)]
        assert min(gains) >= 0
        assert np.count_nonzero(gains) >= 3


@needs_triton
@pytest.mark.parametrize(("nodes", "share", "few", "seed"), [(15, 1.0, 2, 3), (70, 0.4, 1, 11)])
def test_kernels_make_the_same(nodes: int, share: float, few: int, seed: int) -> None:
    """Sets of 15 nodes are one word each, those of 70 nodes two. Shares of limits keep routes short.

    `few` is the width of the beam and the number of instances and of routes.
    """
    better = 0
    for costs, apart, ways in KINDS:
        drawn = generate(nodes, "uniform", costs, count=few, seed=seed, separate_end=apart)
        expander = searched([one.replace(limit=one.limit * share) for one in drawn], ways, few, DEVICE)
        routes = Found(expander, ways).routes()
        given = (expander.problems, expander.log.by_cost(), ways, routes)
        plain = one_by_one(*given, bases=few)
        assert together(*given, bases=few) == plain
        assert together(*given, lambda: True, bases=few) == routes
        better += plain != routes
    assert better >= 3
