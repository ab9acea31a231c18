"""The search for plans: its clocks after any steps, taking steps back, repeatability, problems without a plan."""

import numpy as np
import pytest

from orienteer import Budget, Instance, MaxSteps, NoImprovement, Route, check_plan, solve
from orienteer.kernel import seed_state
from orienteer.lns.plans.orders import (
    Orders,
    begin_step,
    exchange_tails,
    insert,
    new_orders,
    new_saved,
    refresh,
    save_route,
    take_back,
)
from orienteer.lns.plans.recreate import Candidates, by_order, by_ratio, gather, new_candidates, spot_cost
from orienteer.lns.plans.search import _phases, _starts, moves_for
from orienteer.model.plan_view import PlanView
from orienteer.search.run import Run


def town(seed: int, places: int = 30) -> Instance:
    """Two days with several windows a place, visit times, groups, a budget and a free end."""
    rng = np.random.default_rng(seed)
    opens = rng.integers(0, 60, places)
    windows = {
        node: [(float(opens[node]), float(opens[node] + 15)), (float(opens[node] + 130), float(opens[node] + 160))]
        for node in range(1, places)
        if rng.random() < 0.7
    }
    return Instance.from_coords(
        rng.random((places, 2)) * 30,
        rng.integers(1, 20, places),
        limit=80,
        service=[0, *rng.integers(0, 4, places - 1)],
        windows=windows,
        routes=[Route(0, 0, 0, 80), Route(0, None, 100, 90)],
        groups=[(3, 4, 5), (5, 6)],
        budgets=[Budget("fees", [0, *rng.integers(0, 9, places - 1)], 40)],
    )


def is_up_to_date(view: PlanView, orders: Orders) -> bool:
    """Whether everything that is kept up to date by steps is as it would be when worked out anew."""
    fresh = new_orders(view)
    visited = []
    for route in range(view.routes):
        size = orders.size[route]
        fresh.size[route] = size
        fresh.node[route, :size] = orders.node[route, :size]
        refresh(view, fresh, route)
        for field in ("begin", "latest"):
            if not np.array_equal(getattr(fresh, field)[route, :size], getattr(orders, field)[route, :size]):
                return False
        inner = orders.node[route, 1 : size - 1]
        visited += inner.tolist()
        if not (orders.route[inner] == route).all() or not (orders.place[inner] == np.arange(1, size - 1)).all():
            return False
    places = len(view.nodes)
    same = set(np.flatnonzero(orders.route[:places] >= 0).tolist()) == set(visited)
    return same and np.allclose(orders.used, view.weights[visited].sum(axis=0))


def known_spots(view: PlanView, orders: Orders, candidates: Candidates) -> int:
    """How many cheapest insertions are known of the routes as they are; all of these must be right."""
    count = 0
    for node in np.flatnonzero(orders.route[: len(view.nodes)] < 0).tolist():
        for route in np.flatnonzero(candidates.known[node] == orders.version).tolist():
            costs = [spot_cost(view, orders, node, route, place) for place in range(orders.size[route] - 1)]
            assert candidates.least[node, route] == pytest.approx(min(costs))
            if np.isfinite(min(costs)):
                assert costs[candidates.behind[node, route]] == pytest.approx(min(costs))
            count += 1
    return count


@pytest.mark.parametrize("seed", range(6))
def test_clocks_are_right_after_insertions_and_after_taking_them_back(seed: int) -> None:
    view = town(seed).plan_view
    places, state = len(view.nodes), seed_state(seed)
    orders, saved, candidates = new_orders(view), new_saved(view), new_candidates(view)
    known = 0
    for ratio in (False, True, False):
        begin_step(orders, saved)
        before = [orders.node[route, : orders.size[route]].tolist() for route in range(view.routes)]
        count = gather(view, orders, 0, places, candidates, saved)
        if ratio:
            by_ratio(view, orders, view.prizes, view.prizes, candidates, count, 1.0, 0.2, 0, True, saved, state)
        else:
            by_order(view, orders, view.prizes, candidates, count, False, 0, True, saved, state)
        assert is_up_to_date(view, orders)
        known += known_spots(view, orders, candidates)
        after = [orders.node[route, : orders.size[route]].tolist() for route in range(view.routes)]
        assert ratio or after != before or orders.total[0] > 0
        take_back(orders, saved)
        assert is_up_to_date(view, orders)
        known += known_spots(view, orders, candidates)
        assert [orders.node[route, : orders.size[route]].tolist() for route in range(view.routes)] == before
    assert known > 0


def line(*limits: float) -> tuple[PlanView, Orders]:
    """Places 1 to 7 on a line from 0, and two routes there and back: through 1, 2, 3 and through 4, 5."""
    points = np.column_stack([np.arange(8.0), np.zeros(8)])
    routes = [Route(0, 0, 0, limit) for limit in limits]
    view = Instance.from_coords(points, np.ones(8), limit=20, routes=routes).plan_view
    orders = new_orders(view)
    for route, stops in enumerate(([1, 2, 3], [4, 5])):
        for column, place in enumerate(stops):
            insert(view, orders, view.prizes, int(view.number[place]), route, column, new_saved(view))
    return view, orders


def stops(view: PlanView, orders: Orders) -> list[list[int]]:
    return [view.nodes[orders.node[route, 1 : orders.size[route] - 1]].tolist() for route in range(view.routes)]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("one_first", "other_first", "after", "lengths"),
    [
        (2, 2, [[1, 5], [4, 2, 3]], [10, 10]),
        (1, 1, [[4, 5], [1, 2, 3]], [10, 6]),
        (4, 3, [[1, 2, 3], [4, 5]], [6, 10]),
        (4, 1, [[1, 2, 3, 4, 5], []], [10, 0]),
    ],
)
def test_two_routes_exchange_what_comes_behind_two_columns(
    one_first: int, other_first: int, after: list[list[int]], lengths: list[float], plain: bool
) -> None:
    view, orders = line(20, 20)
    saved = new_saved(view)
    begin_step(orders, saved)
    before = stops(view, orders)
    for route in range(2):
        save_route(orders, route, saved)
    exchange_tails(view, orders, 0, one_first, 1, other_first, plain, saved)
    assert stops(view, orders) == after
    assert is_up_to_date(view, orders) or plain
    assert [orders.begin[route, orders.size[route] - 1] for route in range(2)] == lengths
    take_back(orders, saved)
    assert stops(view, orders) == before
    assert is_up_to_date(view, orders)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("limits", [(20, 19), (10, 10)])
def test_routes_that_end_at_other_times_or_would_be_late_keep_their_tails(
    limits: tuple[float, float], plain: bool
) -> None:
    """1, 2, 3 takes 6 and 4, 5 takes 10; 4, 2, 3 and 1, 5 take 10, and 4, 5, 2, 3 would take 12."""
    view, orders = line(*limits)
    exchange_tails(view, orders, 0, 2, 1, 2 if limits[0] != limits[1] else 3, plain, new_saved(view))
    assert stops(view, orders) == [[1, 2, 3], [4, 5]]


@pytest.mark.parametrize("seed", range(4))
def test_same_seed_and_steps_give_the_same_plan(seed: int) -> None:
    instance = town(seed)
    one, two = (solve(instance, "lns", MaxSteps(3000), seed=5) for _ in range(2))
    assert one.plan == two.plan
    assert check_plan(instance, [tour.nodes for tour in one.routes]) == one.plan
    assert [(moment.steps, moment.prize) for moment in one.trace] == [(m.steps, m.prize) for m in two.trace]


def test_a_plan_to_begin_with_is_never_lost() -> None:
    instance = town(1)
    good = solve(instance, "lns", MaxSteps(5000), seed=1)
    again = solve(instance, "lns", MaxSteps(1), seed=2, initial=good)
    assert again.prize >= good.prize


def test_required_places_are_in_or_there_is_no_plan() -> None:
    instance = town(2)
    free = solve(instance, "lns", MaxSteps(2000), seed=1)
    assert free.plan is not None
    left_out = sorted(set(range(1, instance.size)) - free.plan.visited)[0]
    try:
        strict = instance.replace(required=[left_out])
    except ValueError:
        pytest.skip("out of reach")
    result = solve(strict, "lns", MaxSteps(2000), seed=1)
    assert result.plan is None or left_out in result.plan.visited
    assert (result.plan is None) == (result.status == "none found")


def test_settings_are_chosen_by_what_the_problem_has() -> None:
    windows = town(1).replace(groups=(), budgets=())
    assert moves_for(windows).big < moves_for(windows.replace(windows=None)).big
    assert moves_for(windows).look == 0


@pytest.mark.parametrize(("steps", "starts"), [(1000, 1), (320_000, 1), (340_000, 2), (1_000_000, 6), (9_000_000, 16)])
def test_there_are_as_many_starts_as_the_allowance_is_good_for(steps: int, starts: int) -> None:
    """Without windows, a hundred places have 100,000 steps each start, of 60 % of all steps."""
    plain = Instance.from_coords(np.random.default_rng(1).random((101, 2)), np.ones(101), limit=2, routes=2)
    assert _starts(Run(plain, MaxSteps(steps)), moves_for(plain), 1e-5, 100) == starts


def test_without_an_allowance_the_temperature_falls_again_and_again() -> None:
    """A criterion that nobody can foresee gives cycles: a later one begins as the first did, no hotter."""
    phases = _phases(moves_for(town(1)), 1)
    assert all(phase.at(share) >= 0 for phase in phases for share in np.linspace(phase.begins, phase.ends, 5))
    result = solve(town(1), "lns", NoImprovement(130_000), seed=1)
    assert result.steps > 130_000
    assert result.prize >= solve(town(1), "lns", MaxSteps(20_000), seed=1).prize
