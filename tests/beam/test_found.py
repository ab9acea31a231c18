"""Searches from both ends, and what they have found."""

import numpy as np
import pytest

from backends import cs_p, few
from oracle import best_prize
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.protocol import Backend
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.model.tour import check_tour
from orienteer.search.stop import MaxSteps, TargetPrize


def one_way_streets(backend: Backend) -> list[Instance]:
    nodes, count = few(backend, (30, 12), (7, 2))
    return list(generate(nodes, "uniform", "tmat", count=count, seed=3))


def test_the_better_of_both_ends_each_with_half_of_the_beam(backend: Backend) -> None:
    instances, beam = one_way_streets(backend), few(backend, 4, 2)
    both = cs_p(backend, beam=2 * beam, both=True, recombine=False)
    one = cs_p(backend, beam=beam, recombine=False)
    found = both.solve_batch(instances)
    ahead, back = one.solve_batch(instances), one.solve_batch([instance.turned() for instance in instances])
    assert [one.prize for one in found] == [max(two.prize, three.prize) for two, three in zip(ahead, back, strict=True)]
    better = {two.prize > three.prize for two, three in zip(ahead, back, strict=True)}
    assert better == {True, False} or few(backend, False, True)
    for instance, result in zip(instances, found, strict=True):
        assert check_tour(instance, result.tour.nodes) == result.tour
        assert both.solve(instance).tour == result.tour


def test_problems_that_are_the_same_backwards_get_the_whole_beam() -> None:
    host = HostBackend()
    round_trips = list(generate(20, "uniform", "euclidean", count=3, seed=5))
    there = [one.replace(end=1) for one in round_trips]
    solver = cs_p(host, beam=8, both=True)
    assert [solver.directions(one) for one in (*round_trips, *there)] == [1, 1, 1, 2, 2, 2]
    assert [cs_p(host, beam=1, both=True).directions(one) for one in there] == [1, 1, 1]
    mixed = solver.solve_batch([*there, *round_trips])
    assert [one.tour for one in mixed[3:]] == [one.tour for one in cs_p(host, beam=8).solve_batch(round_trips)]
    assert [one.tour for one in mixed] == [solver.solve(one).tour for one in (*there, *round_trips)]


def test_wide_beams_from_both_ends_find_the_best(backend: Backend) -> None:
    nodes, count = few(backend, (6, 5), (4, 2))
    solver = cs_p(backend, beam=few(backend, 2000, 100), both=True, recombine=False)
    for instance in generate(nodes, "uniform", "xasy", count=count, seed=1):
        assert solver.solve(instance).prize == pytest.approx(best_prize(instance))


def test_other_routes_go_from_start_to_end(backend: Backend) -> None:
    instances = one_way_streets(backend)[: few(backend, 12, 1)]
    solver = cs_p(backend, beam=few(backend, 8, 4), both=True, alternatives=3, recombine=few(backend, True, False))
    for instance, result in zip(instances, solver.solve_batch(instances), strict=True):
        for plan in result.alternatives:
            assert check_tour(instance, plan.nodes) == plan.tour


def test_stops_look_at_the_better_end(backend: Backend) -> None:
    instance = one_way_streets(backend)[0]
    solver = cs_p(backend, beam=few(backend, 8, 2), both=True, recombine=few(backend, True, False))
    assert solver.solve_batch([instance], MaxSteps(2))[0].steps == 2
    best = solver.solve(instance)
    again = solver.solve_batch([instance], TargetPrize(best.prize))[0]
    assert again.prize == best.prize
    assert again.steps <= best.steps


@pytest.mark.parametrize("alternatives", [1, 3])
def test_ties_between_the_ends_are_broken_alike_alone_and_in_a_batch(backend: Backend, alternatives: int) -> None:
    rng = np.random.default_rng(0)
    instances = []
    for _ in range(few(backend, 150, 2)):
        size = int(rng.integers(6, few(backend, 10, 8)))
        costs, prizes = rng.integers(2, 5, (size, size)), rng.integers(1, 3, size)
        instances.append(Instance(costs, prizes, float(rng.integers(6, 14)), end=int(rng.integers(size))))
    recombine = few(backend, True, False)
    solver = cs_p(backend, beam=6, both=True, alternatives=alternatives, recombine=recombine)
    for instance, result in zip(instances, solver.solve_batch(instances), strict=True):
        alone = solver.solve(instance)
        assert result.tour not in result.alternatives
        assert alone.prize == result.prize
        if alone.status != "optimal":  # else it ended as soon as it had collected all
            assert (alone.tour, alone.alternatives) == (result.tour, result.alternatives)


def test_no_alternatives_where_no_logged_path_can_close() -> None:
    """Everything is collected before a path that can go straight to the end is logged: that once was an IndexError."""
    inf = np.inf
    costs = [[0, 1, 2, inf], [inf, 0, 1, inf], [inf, inf, 0, 1], [inf, inf, inf, 0]]
    result = cs_p(HostBackend(), alternatives=2).solve(Instance(costs, np.ones(4), 4, end=3))
    assert result.tour.nodes == (0, 1, 2, 3)
    assert result.alternatives == ()
