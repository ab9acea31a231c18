"""Searches from both ends."""

import numpy as np
import pytest
import torch
from orienteer.beam.ways import put_together

from oracle import best_prize
from orienteer.beam.cost_level import CostLevelConfig
from orienteer.beam.solvers import PrizeCostLevelSearch
from orienteer.data.generate import generate
from orienteer.model.instance import Instance
from orienteer.model.tour import check_tour
from orienteer.search.stop import MaxSteps, TargetPrize


def search(both: bool, beam: int = 8, **settings: int) -> PrizeCostLevelSearch:
    return PrizeCostLevelSearch(CostLevelConfig(beam, both=both, device="cpu", **settings))


@pytest.fixture(scope="module")
def one_way_streets() -> list[Instance]:
    return list(generate(30, "uniform", "tmat", count=12, seed=3))


def test_the_better_of_both_ends_each_with_half_of_the_beam(one_way_streets: list[Instance]) -> None:
    found = search(both=True, recombine=False).solve_batch(one_way_streets)
    ahead = search(both=False, beam=4, recombine=False).solve_batch(one_way_streets)
    back = search(both=False, beam=4, recombine=False).solve_batch([one.turned() for one in one_way_streets])
    assert [one.prize for one in found] == [max(two.prize, three.prize) for two, three in zip(ahead, back, strict=True)]
    assert {two.prize > three.prize for two, three in zip(ahead, back, strict=True)} == {True, False}
    for instance, result in zip(one_way_streets, found, strict=True):
        assert check_tour(instance, result.tour.nodes) == result.tour
        assert search(both=True, recombine=False).solve(instance).tour == result.tour


def test_problems_that_are_the_same_backwards_get_the_whole_beam() -> None:
    round_trips = list(generate(20, "uniform", "euclidean", count=3, seed=5))
    there = [one.replace(end=1) for one in round_trips]
    solver = search(both=True)
    assert [solver.ways(one) for one in (*round_trips, *there)] == [1, 1, 1, 2, 2, 2]
    assert [search(both=True, beam=1).ways(one) for one in there] == [1, 1, 1]
    mixed = solver.solve_batch([*there, *round_trips])
    assert [one.tour for one in mixed[3:]] == [one.tour for one in search(both=False).solve_batch(round_trips)]
    assert [one.tour for one in mixed] == [solver.solve(one).tour for one in (*there, *round_trips)]


def test_wide_beams_from_both_ends_find_the_best() -> None:
    for instance in generate(6, "uniform", "xasy", count=5, seed=1):
        assert search(both=True, beam=2000).solve(instance).prize == pytest.approx(best_prize(instance))


def test_other_routes_go_from_start_to_end(one_way_streets: list[Instance]) -> None:
    for instance, result in zip(
        one_way_streets, search(both=True, alternatives=3).solve_batch(one_way_streets), strict=True
    ):
        for tour in result.alternatives:
            assert check_tour(instance, tour.nodes) == tour


def test_stops_look_at_the_better_end(one_way_streets: list[Instance]) -> None:
    instance = one_way_streets[0]
    assert search(both=True).solve_batch([instance], MaxSteps(2))[0].steps == 2
    best = search(both=True).solve(instance)
    again = search(both=True).solve_batch([instance], TargetPrize(best.prize))[0]
    assert again.prize == best.prize
    assert again.steps <= best.steps


def test_what_fits_from_the_end_fits_from_the_start() -> None:
    """Legs of 0.1, 0.2 and 0.3 cost more in this order than in the other, by the last digit."""
    assert 0.3 + 0.2 + 0.1 < 0.1 + 0.2 + 0.3
    instance = generate(5, "uniform", "tmat", count=1, seed=2)[0]
    ahead, back = put_together([instance], 2, torch.device("cpu")).budget.tolist()
    assert ahead == instance.budget
    assert instance.limit < back < ahead * (1 - 1e-12)


@pytest.mark.parametrize("alternatives", [1, 3])
def test_ties_between_the_ends_are_broken_alike_alone_and_in_a_batch(alternatives: int) -> None:
    rng = np.random.default_rng(0)
    instances = []
    for _ in range(150):
        size = int(rng.integers(6, 10))
        costs, prizes = rng.integers(2, 5, (size, size)), rng.integers(1, 3, size)
        instances.append(Instance(costs, prizes, float(rng.integers(6, 14)), end=int(rng.integers(size))))
    solver = search(both=True, beam=6, alternatives=alternatives)
    for instance, result in zip(instances, solver.solve_batch(instances), strict=True):
        alone = solver.solve(instance)
        assert result.tour not in result.alternatives
        assert alone.prize == result.prize
        if alone.status != "optimal":  # else it ended as soon as it had collected all
            assert (alone.tour, alone.alternatives) == (result.tour, result.alternatives)


def test_turned_problems() -> None:
    (instance,) = generate(5, "uniform", "tmat", count=1, seed=2, separate_end=True)
    turned = instance.turned()
    assert (turned.start, turned.end) == (instance.end, instance.start)
    assert turned.turned() == instance
    assert np.array_equal(
        turned.to_end, Instance(turned.costs, turned.prizes, turned.limit, turned.start, turned.end).to_end
    )
    assert best_prize(turned) == pytest.approx(best_prize(instance))
