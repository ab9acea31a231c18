"""Paths put together from both ends."""

import numpy as np
import pytest
import torch
from orienteer.beam.meet import both_ends, meet, one_by_one
from orienteer.beam.ways import Found, put_together

from gpu import DEVICE, needs_triton
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.expand import Expander
from orienteer.beam.paths import as_bits
from orienteer.beam.score import PrizeScore
from orienteer.data.generate import generate
from orienteer.model.errors import InfeasibleTour
from orienteer.model.instance import Instance
from orienteer.model.tour import check_tour


def searched(instances: list[Instance], ways: int, beam: int = 4, device: str = "cpu") -> Expander:
    problems = put_together(instances, ways, torch.device(device))
    return cost_level_search(problems, PrizeScore(), CostLevelConfig(beam))


def met(expander: Expander, ways: int, known: torch.Tensor) -> list[list[int]]:
    log = expander.log
    pairs = meet(log.problems, log.by_cost(), ways, known)
    return log.joined(range(0, log.problems.batch, ways), *pairs)


def prize_of(instance: Instance, route: list[int]) -> float:
    try:
        return check_tour(instance, route).prize
    except InfeasibleTour:
        return -np.inf


def best_by_hand(expander: Expander, ways: int, number: int, instance: Instance) -> float:
    """The most prize of all routes along one path of an instance and backwards along one from its end."""
    log, row = expander.log, number * ways
    owner = log._instance[: log.used]
    ahead, back = ((owner == at).nonzero().squeeze(1).tolist() for at in (row, row + ways - 1))
    pairs = torch.tensor([(one, other) for one in ahead for other in back])
    routes = log.joined([row] * len(pairs), *pairs.T)
    return max(prize_of(instance, route) for route in routes)


def test_paths_are_read_back_alike_one_by_one_and_together() -> None:
    instances = list(generate(20, "uniform", "euclidean", count=3, seed=1))
    log = searched(instances, 1, 3).log
    number = torch.arange(-1, log.used)
    stops = log._stops(number)
    assert log._stops_together(number) == stops
    assert stops[0] == []
    assert log._stops_together(number[:1]) == [[]]
    assert max(map(len, stops)) > 3


@pytest.mark.parametrize("nodes", [1, 7, 8, 63, 64, 65, 130])
def test_bits_are_those_of_the_sets(nodes: int) -> None:
    sets = torch.rand(50, nodes, generator=torch.Generator().manual_seed(nodes)) < 0.4
    words = as_bits(sets).numpy()
    assert words.shape == (50, -(-nodes // 64))
    assert np.array_equal(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :nodes], sets.numpy())


@pytest.mark.parametrize(
    ("costs", "apart", "ways", "seed"),
    [("euclidean", False, 1, 5), ("euclidean", True, 2, 3), ("tmat", False, 2, 5), ("xasy", True, 2, 12)],
)
def test_no_pair_of_paths_makes_a_better_route(costs: str, apart: bool, ways: int, seed: int) -> None:
    instances = list(generate(20, "uniform", costs, count=3, seed=seed, separate_end=apart))
    expander = searched(instances, ways, beam=2)
    found = met(expander, ways, Found(expander, ways).prize)
    for number, (instance, route) in enumerate(zip(instances, found, strict=True)):
        known, most = float(Found(expander, ways).prize[number]), best_by_hand(expander, ways, number, instance)
        assert (check_tour(instance, route).prize if route else known) == pytest.approx(max(known, most))
    assert any(found)  # seeds were chosen so that there is something to find


def test_where_a_problem_is_not_the_same_backwards_one_end_is_not_enough() -> None:
    one_way = list(generate(20, "uniform", "tmat", count=3, seed=1))
    apart = list(generate(20, "uniform", "euclidean", count=3, seed=1, separate_end=True))
    for instances in (one_way, apart):
        expander = searched(instances, 1)
        assert met(expander, 1, expander.best.prize) == [[], [], []]


def test_looks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from orienteer.beam.backend.host import meet as kernel

    one = (np.zeros(3, dtype=np.int64), np.zeros(3), np.ones(3), np.zeros((3, 1), dtype=np.int64))
    found = kernel.best_meeting.py_func(*one, *one, np.zeros((2, 2)), 1.0, 0.0, False)
    assert found == (0, 0)
    monkeypatch.setattr(kernel, "MOST_LOOKS", -1)
    assert kernel.best_meeting.py_func(*one, *one, np.zeros((2, 2)), 1.0, 0.0, False) == (-1, -1)


def test_routes_of_exactly_the_limit_are_taken() -> None:
    """On a line of whole steps the best route out and back costs the limit itself."""
    places = np.arange(9.0)
    costs = np.abs(places[:, None] - places[None, :])
    instance = Instance(costs, np.r_[0.0, np.ones(8)], 16.0)
    expander = searched([instance], 1)
    assert prize_of(instance, *met(expander, 1, torch.tensor([7.0], dtype=torch.float64))) == 8.0
    assert met(expander, 1, torch.tensor([8.0], dtype=torch.float64)) == [[]]


@needs_triton
@pytest.mark.parametrize(
    ("nodes", "share", "costs", "ways"), [(20, 1.0, "euclidean", 1), (20, 1.0, "tmat", 2), (70, 0.4, "euclidean", 1)]
)
def test_the_kernel_finds_as_much(nodes: int, share: float, costs: str, ways: int) -> None:
    from orienteer.beam.fused_meet import fused_meet

    drawn = generate(nodes, "uniform", costs, count=3, seed=4)
    instances = [one.replace(limit=one.limit * share) for one in drawn]
    expander = searched(instances, ways, 3, DEVICE)
    prize = Found(expander, ways).prize
    found = 0
    for known in (prize, prize - 0.5, torch.full_like(prize, -torch.inf)):
        ends = both_ends(expander.problems, expander.log.by_cost(), ways, known)
        plain, fused = one_by_one(ends), fused_meet(ends)
        first = range(0, ways * len(instances), ways)
        for instance, one, other in zip(
            instances, expander.log.joined(first, *plain), expander.log.joined(first, *fused), strict=True
        ):
            assert bool(one) == bool(other)
            if one:
                found += 1
                assert check_tour(instance, one).prize == pytest.approx(check_tour(instance, other).prize)
    assert found >= 2 * len(instances)
