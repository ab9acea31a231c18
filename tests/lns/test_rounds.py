"""Several threads on one route of a large problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orienteer import Instance, MaxSteps, check_tour, solve
from orienteer.kernel import seed_state
from orienteer.lns.large.anneal import Prices
from orienteer.lns.large.rounds import LEAST_PART, Crew, Rounds, divided
from orienteer.lns.large.search import PriceMoves
from orienteer.lns.route import Ground, length, new_route, write_nodes


def town(seed: int, places: int) -> Instance:
    rng = np.random.default_rng(seed)
    return Instance.from_coords(rng.random((places, 2)), rng.integers(1, 9, places), limit=0.2 * places**0.5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9))
def test_parts_have_nearly_the_same_size(seed: int, count: int) -> None:
    near = town(seed, 90).view.near_out[:, :3]  # so few that parts must go on at nodes near none of theirs
    sizes = np.bincount(divided(near, count, seed_state(seed)), minlength=count)
    assert len(sizes) == count
    assert sizes.sum() == len(near)
    assert sizes.max() - sizes.min() <= 4


def test_a_part_is_in_one_place() -> None:
    """Of a hundred nodes in a row, each near the next, half are on one side or in the middle."""
    near = np.array([[max(0, node - 1), min(99, node + 1)] for node in range(100)])
    owner = divided(near, 2, seed_state(3))
    assert (owner[1:] != owner[:-1]).sum() <= 2


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 4), st.floats(0.3, 30.0))
def test_threads_leave_one_route_whose_totals_are_true(seed: int, threads: int, price: float) -> None:
    """Links between two parts stay; no part takes more than its share of what is left."""
    view = town(seed % 5, LEAST_PART * threads).view
    ground, size = Ground(view.costs, view.prizes, view.near_out), len(view.prizes)
    crew = Crew(threads, size)
    rounds = Rounds(ground, Prices(**vars(PriceMoves(hot=0.1, cold=0.01))), crew, seed)
    route, prices = new_route(ground, np.array([0, 5, 9, size - 1])), np.array([price, 1e-6])
    most = max(view.budget, route.total[0])
    nodes = np.zeros(size, dtype=np.int64)
    for _ in range(3):
        rounds.anneal(route, prices, view.budget, most, 400, 0.0, 0.5)
        fixed = [(part.route.before == size).sum() + (part.route.after == size).sum() for part in rounds.parts]
        rounds.anneal(route, prices, view.budget, most, 401, 0.5, 1.0)
        assert fixed == [(part.route.before == size).sum() + (part.route.after == size).sum() for part in rounds.parts]
        total = route.total.copy()
        rounds.join(route)
        stops = nodes[: write_nodes(route, nodes)]
        assert len(set(stops.tolist())) == len(stops) == (route.before >= 0).sum()
        assert (route.before[stops[1:]] == stops[:-1]).all()
        assert total[0] == pytest.approx(length(ground, route))
        assert total[0] <= most * (1 + 1e-9)
        assert total[1] == pytest.approx(ground.prizes[stops].sum())
    crew.close()


def test_a_result_depends_on_the_number_of_threads_but_not_on_their_speed() -> None:
    instance = town(1, 500)
    one, two, again = (solve(instance, "lns", MaxSteps(40_000), seed=3, threads=threads) for threads in (1, 2, 2))
    assert check_tour(instance, two.tour.nodes) == two.tour
    assert two.tour == again.tour
    assert two.tour != one.tour
    assert two.steps == 40_000
    assert two.prize >= 0.95 * one.prize


def test_auto_hands_threads_on_and_small_parts_are_not_made() -> None:
    instance = town(2, 450)
    results = [solve(instance, "auto", MaxSteps(5000), seed=1, threads=threads) for threads in (4, 64)]
    assert results[0].tour == results[1].tour
    assert results[0].settings["threads"] == 4
    with pytest.raises(ValueError, match="threads must be a whole number"):
        solve(instance, "auto", threads=0)
