"""Recreation without windows: detours that are known, lengths and plans after any steps."""

from itertools import pairwise

import numpy as np
import pytest

from orienteer import Budget, Instance, MaxSteps, Route, check_plan, solve
from orienteer.kernel import seed_state
from orienteer.lns.plans.anneal import ruin
from orienteer.lns.plans.detours import BEST, Detours, detour_by_order, detour_by_ratio, new_detours, room
from orienteer.lns.plans.detours import cheapest_detour as compiled_cheapest_detour
from orienteer.lns.plans.orders import Orders, begin_step, new_orders, new_saved, take_back
from orienteer.lns.plans.recreate import gather, new_candidates
from orienteer.lns.plans.search import in_units, moves_for
from orienteer.model.plan_view import PlanView


def team(seed: int, places: int = 30) -> Instance:
    """Three different routes, asymmetric costs that break the triangle inequality, groups and a budget."""
    rng = np.random.default_rng(seed)
    spots = rng.random((places, 2)) * 30
    costs = np.hypot(*(spots[:, None] - spots[None]).T) * rng.uniform(0.6, 1.4, (places, places))
    return Instance(
        costs,
        rng.integers(0, 20, places),
        limit=80,
        service=[0, 0, *rng.integers(0, 4, places - 2)],
        routes=[Route(0, 0, 0, 70), Route(0, None, 100, 50), Route(0, 1, 5, 60)],
        groups=[(3, 4, 5), (5, 6)],
        budgets=[Budget("fees", [0, 0, *rng.integers(0, 9, places - 2)], 60)],
    )


def detour_costs(view: PlanView, orders: Orders, node: int, route: int) -> list[float]:
    """What each spot of a route costs, from the table of costs alone."""
    stops = orders.node[route, : orders.size[route]].tolist()
    costs = view.costs
    return [costs[i, node] + costs[node, j] - costs[i, j] for i, j in pairwise(stops)]


def check(view: PlanView, orders: Orders, detours: Detours) -> int:
    """Checks all that steps keep up to date; returns how many detours were known."""
    visited, known = [], 0
    for route in range(view.routes):
        stops = orders.node[route, : orders.size[route]]
        legs = view.costs[stops[:-1], stops[1:]]
        assert (orders.leg[route, : len(legs)] == legs).all()
        opens, closes = view.opens[view.first[stops[0]]], view.closes[view.first[stops[-1]]]
        assert orders.begin[route, 0] == opens
        assert room(orders, route) == pytest.approx(closes - opens - legs.sum())
        assert (orders.place[stops] == np.arange(len(stops))).all()
        assert (orders.route[stops[1:-1]] == route).all()
        visited += stops[1:-1].tolist()
        for node in np.flatnonzero(orders.route[: len(view.nodes)] < 0).tolist():
            if detours.known[node, route] == orders.version[route]:
                known += 1
                stop, costs = detours.stop[node, route], detour_costs(view, orders, node, route)
                if stop < 0:
                    assert min(costs) >= detours.least[node, route] - 1e-9
                else:
                    assert min(costs) == pytest.approx(detours.least[node, route])
                    assert costs[orders.place[stop]] == pytest.approx(min(costs))
    assert sorted(visited) == np.flatnonzero(orders.route[: len(view.nodes)] >= 0).tolist()
    assert orders.total[0] == pytest.approx(view.prizes[visited].sum())
    assert orders.used == pytest.approx(view.weights[visited].sum(axis=0))
    return known


@pytest.mark.parametrize("seed", range(6))
def test_lengths_and_known_detours_are_right_after_any_steps(seed: int) -> None:
    instance = team(seed)
    view = instance.plan_view
    places, state = len(view.nodes), seed_state(seed)
    orders, saved, candidates, detours = new_orders(view), new_saved(view), new_candidates(view), new_detours(view)
    moves = in_units(view, moves_for(instance))
    assert moves.plain
    known = 0
    for step in range(60):
        before = [orders.node[route, : orders.size[route]].tolist() for route in range(view.routes)]
        begin_step(orders, saved)
        ruin(view, orders, view.prizes, step % places, moves, saved, state)
        check(view, orders, detours)
        least = [min(0.0, room(orders, route)) for route in range(view.routes)]  # a ruin may lengthen a route here
        count = gather(view, orders, step % places, places, candidates, saved)
        if step % 2:
            detour_by_ratio(view, orders, view.prizes, view.prizes, candidates, count, 1, 0.2, detours, saved, state)
        else:
            detour_by_order(view, orders, view.prizes, candidates, count, step % 4 == 0, detours, saved, state)
        known += check(view, orders, detours)
        assert all(room(orders, route) >= least[route] for route in range(view.routes))
        if step % 3 == 2:
            take_back(orders, saved)
            assert [orders.node[route, : orders.size[route]].tolist() for route in range(view.routes)] == before
            known += check(view, orders, detours)
    assert known > 0
    assert orders.total[0] > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_detour_is_the_cheapest_and_the_dice_ask_for_the_next(seed: int) -> None:
    instance = team(seed).replace(groups=(), budgets=())
    view = instance.plan_view
    places, state = len(view.nodes), seed_state(seed)
    orders, saved, candidates, detours = new_orders(view), new_saved(view), new_candidates(view), new_detours(view)
    count = gather(view, orders, 0, places, candidates, saved)
    detour_by_order(view, orders, view.prizes, candidates, count // 2, False, detours, saved, state)
    for node in np.flatnonzero(orders.route[:places] < 0).tolist():
        for route in range(view.routes):
            costs = detour_costs(view, orders, node, route)
            for most in (min(costs) + 1, min(costs) - 1, np.inf):
                cost, place = compiled_cheapest_detour(view, orders, detours, node, route, most, BEST)
                assert (place >= 0) == (min(costs) < most)
                if place >= 0:
                    assert cost == pytest.approx(min(costs)) == pytest.approx(costs[place])
            second, other = compiled_cheapest_detour(view, orders, detours, node, route, np.inf, np.uint64(0))
            assert other != place
            if len(costs) > 1:
                assert second == pytest.approx(sorted(costs)[1])
            else:
                assert other == -1


@pytest.mark.parametrize("seed", range(4))
def test_plans_without_windows_pass_the_check_and_are_repeatable(seed: int) -> None:
    instance = team(seed)
    one, two = (solve(instance, "lns", MaxSteps(3000), seed=5) for _ in range(2))
    assert one.plan == two.plan
    assert check_plan(instance, [tour.nodes for tour in one.routes]) == one.plan


def test_it_finds_what_the_search_with_clocks_finds() -> None:
    """One window as long as the day is no rule, but it makes the search keep clocks."""
    for seed in range(4):
        plain = team(seed, 15)
        clocks = plain.replace(windows={node: [(0.0, 1000.0)] for node in range(2, 15)})
        assert not moves_for(clocks).plain
        prizes = [solve(instance, "lns", MaxSteps(20_000), seed=1).prize for instance in (plain, clocks)]
        assert prizes[0] == prizes[1]
