"""The search of large problems at a price of cost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import small_instances
from oracle import best_prize
from orienteer import Instance, MaxSteps, check_tour, solve
from orienteer.kernel import seed_state
from orienteer.lns.large.anneal import Part, Prices, anneal_at_price, new_room
from orienteer.lns.large.grow import grow, new_heap
from orienteer.lns.large.search import START_STEPS, PriceMoves, improve_large, is_large, kernels_for, phases_for
from orienteer.lns.large.stops import visits_few
from orienteer.lns.large.trim import trim
from orienteer.lns.route import Ground, Route, length, new_route, write_nodes
from orienteer.lns.solver import NeighbourhoodSearch, _next_piece
from orienteer.model.distances import Distances, euclidean
from orienteer.model.view import NEAR
from orienteer.search.run import Run


def town(seed: int, places: int = 60, limit: float = 2.0) -> Instance:
    rng = np.random.default_rng(seed)
    return Instance.from_coords(rng.random((places, 2)), rng.integers(1, 9, places), limit)


def on_points(instance: Instance) -> Instance:
    """The same problem without a table."""
    assert instance.coords is not None
    return Instance(Distances(instance.coords, euclidean), instance.prizes, instance.limit, coords=instance.coords)  # type: ignore[arg-type]


def searched(instance: Instance, steps: int = 2000, seed: int = 1) -> Run:
    run = Run(instance, MaxSteps(steps))
    improve_large(run, seed, _next_piece, 0.0)
    return run


@settings(max_examples=40, deadline=None)
@given(small_instances())
def test_no_tiny_problem_is_solved_better_than_it_can_be(instance: Instance) -> None:
    run = searched(instance, 300)
    assert check_tour(instance, run.best.nodes) == run.best
    assert run.best.prize <= best_prize(instance) * (1 + 1e-12)


def test_a_small_problem_is_solved() -> None:
    """A problem with many good routes, by a search that is made for a hundred times as many nodes."""
    instance = town(3, 40)
    proven = solve(instance, "exact").prize
    assert searched(instance, 30_000).best.prize >= 0.98 * proven


def test_points_and_a_table_give_the_same_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orienteer.lns.large.ground.NEAR", NEAR)
    monkeypatch.setattr("orienteer.lns.large.ground.side_by_side", lambda points: np.arange(len(points)))
    instance = town(5)
    assert searched(on_points(instance)).best.nodes == searched(instance).best.nodes


def test_a_place_far_from_all_others_may_be_the_start() -> None:
    """No node has the start among its nearest; routes grew from near nodes only, and so not at all."""
    rng = np.random.default_rng(1)
    coords = np.vstack([[50.0, 50.0], rng.random((150, 2))])
    instance = Instance.from_coords(coords, np.ones(151), limit=150.0)
    assert searched(on_points(instance)).best.prize > 100


def test_all_places_can_be_visited() -> None:
    """The price falls as far as it may, and does not vanish."""
    instance = town(7, limit=100.0)
    assert searched(instance, 20_000).best.prize == instance.prizes.sum()


def test_steps_are_counted_and_a_result_is_never_worse_than_the_first_route() -> None:
    instance = on_points(town(9))
    first = solve(instance, "lns", MaxSteps(5000), seed=1)
    assert first.steps == 5000
    again = solve(instance, "lns", MaxSteps(10), seed=2, initial=first)
    assert again.prize >= first.prize


@pytest.mark.parametrize("steps", [30_000, 300_000])
def test_ten_times_the_steps_begin_with_the_same_steps(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of other lengths cooled at another pace, and ended in other regions: more time could find less."""
    monkeypatch.setattr("orienteer.lns.large.search.START_STEPS", 100)
    short, long = searched(town(13), steps), searched(town(13), 10 * steps)
    known = [step for step in long.trace if step.steps <= steps]
    assert [(step.steps, step.prize) for step in known] == [(step.steps, step.prize) for step in short.trace]
    assert long.best.prize >= short.best.prize


def test_phases_follow_each_other_and_few_steps_have_one() -> None:
    assert len(phases_for(START_STEPS * 1000, 1000, 600)) == 1
    assert len(phases_for(np.inf, 1000, 600)) == 1
    phases = phases_for(5e7, 1000, 600)
    assert phases[0].begins == 0
    assert phases[-1].ends == 1
    assert [phase.ends for phase in phases[:-1]] == pytest.approx([phase.begins for phase in phases[1:]])
    assert phases[0].ends < 0.02


def test_a_route_of_few_stops_has_more_starts() -> None:
    """A route through a tenth of the places ended wherever one of eight long searches happened to end."""
    assert len(phases_for(5e6, 1000, 100)) > 2 * len(phases_for(5e6, 1000, 600))


def region() -> Instance:
    """Places all over a square, and a limit for a twelfth of a tour."""
    return town(3, 700, limit=0.08 * 0.7 * 700**0.5)


def test_a_route_of_few_stops_begins_with_an_evolution() -> None:
    """It finds the region where a long search at a price of cost may end elsewhere."""
    instance, steps = region(), 450_000
    assert visits_few(instance)
    assert not visits_few(town(3, 450, limit=7.0)), "half a tour"
    result = solve(instance, "lns", MaxSteps(steps), seed=1)
    again = solve(instance, "lns", MaxSteps(steps), seed=1)
    assert result.tour == again.tour
    assert any(kernel.startswith("orienteer.evolution") for kernel in NeighbourhoodSearch().kernels(instance))
    assert any(0 < step.steps < 2000 for step in result.trace), "steps at a price of cost show no route so early"


def test_the_given_route_of_few_stops_is_improved_and_none_is_evolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NeighbourhoodSearch, "_evolve_shortly", None)
    first = solve(region(), "tsili")
    assert solve(region(), "lns", MaxSteps(2000), initial=first).prize >= first.prize


def test_a_tenth_is_a_tenth_of_the_whole_where_a_share_is_used() -> None:
    steps, used = 1e8, 0.002
    inner = phases_for((0.1 - used) * steps, 1000, 600, 10 * used)
    outer = phases_for((1 - used) * steps, 1000, 600, used)
    tenth = (0.1 - used) / (1 - used)
    assert [phase.ends for phase in outer[: len(inner)]] == pytest.approx([tenth * phase.ends for phase in inner])


def test_a_route_that_is_given_is_improved() -> None:
    """A hot search would lose the route before it has cooled down."""
    instance = town(9, 120, limit=4.0)
    poor = solve(instance, "tsili")
    better = searched(instance, 5000)
    run = Run(instance, MaxSteps(5000))
    run.begin_with(poor.tour.nodes)
    improve_large(run, 1, _next_piece, 0.0)
    assert run.best.prize > poor.prize
    assert run.best.prize >= 0.95 * better.best.prize


def test_large_problems_and_those_without_a_table_are_searched_here() -> None:
    assert not is_large(town(1))
    assert is_large(on_points(town(1)))
    assert is_large(town(1, 500, limit=20.0))
    assert not is_large(town(1, 500, limit=0.01)), "nearly all places are out of reach"
    assert kernels_for(on_points(town(1)))[0].endswith("points_a_little")


@pytest.fixture
def ground() -> Ground:
    view = town(11).view
    return Ground(view.costs, view.prizes, view.near_out)


def ends(ground: Ground) -> Route:
    return new_route(ground, np.array([0, len(ground.prizes) - 1]))


def stops(route: Route) -> list[int]:
    nodes = np.zeros(len(route.after), dtype=np.int64)
    return nodes[: write_nodes(route, nodes)].tolist()


def test_a_grown_route_fits_and_leaves_nothing_that_would_fit_cheaply(ground: Ground) -> None:
    route, size = ends(ground), len(ground.prizes)
    grow(ground, route, 2.0, 1e-3, new_heap(40 * size), np.zeros(size))
    assert route.total[0] == pytest.approx(length(ground, route))
    assert route.total[0] <= 2.0
    assert route.total[1] == ground.prizes[stops(route)].sum()


def test_a_route_that_is_trimmed_fits_and_keeps_what_brings_most(ground: Ground) -> None:
    route, size = ends(ground), len(ground.prizes)
    grow(ground, route, 3.0, 1e-3, new_heap(40 * size), np.zeros(size))
    whole = set(stops(route))
    trim(ground, route, 1.5, 1e-3)
    assert length(ground, route) <= 1.5
    assert set(stops(route)) < whole
    assert len(stops(route)) > 5
    trim(ground, route, 0.0, 1e-3)
    assert stops(route) == [0, size - 1]


def test_two_stops_at_the_same_place_are_trimmed() -> None:
    """Neither saves anything without the other: no price was high enough, and the search hung."""
    places = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    costs = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    twins = Ground(costs, np.array([0.0, 5.0, 4.0, 9.0, 0.0]), np.argsort(costs, axis=1, kind="stable")[:, 1:])
    route = new_route(twins, np.array([0, 1, 2, 4]))
    trim(twins, route, 5.0, 1e-3)
    assert stops(route) == [0, 4]
    route = new_route(twins, np.array([0, 1, 2, 3, 4]))
    trim(twins, route, 5.0, 1e-3)
    assert length(twins, route) <= 5.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 100.0), st.integers(1, 12))
def test_totals_stay_true_however_steps_are_taken_back(seed: int, price: float, remove: int) -> None:
    view = town(seed % 7).view
    ground = Ground(view.costs, view.prizes, view.near_out)
    route, moves = ends(ground), Prices(**vars(PriceMoves(remove=remove)))
    prices = np.array([price, 1e-6])
    part = Part(route, np.arange(1, len(ground.prizes) - 1), 0, prices, new_room(moves), seed_state(seed))
    anneal_at_price(ground, part, moves, 2.0, 2.1, 500, 0.0, 1.0)
    nodes = stops(route)
    assert len(set(nodes)) == len(nodes)
    assert route.total[0] == pytest.approx(length(ground, route))
    assert route.total[0] <= 2.1 * (1 + 1e-9)
    assert route.total[1] == pytest.approx(ground.prizes[nodes].sum())
    absent = np.setdiff1d(np.arange(len(ground.prizes)), nodes)
    assert (route.before[absent] == -1).all()
