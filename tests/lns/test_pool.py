"""The pool of routes: the best choice over all of it, by enumeration, and routes that may not stand for each other."""

import itertools

import numpy as np
import pytest

from orienteer import Instance, MaxSteps, Route, solve
from orienteer.lns.plans.orders import new_orders
from orienteer.lns.plans.pool import Pool, _kinds
from orienteer.lns.plans.search import _parts, moves_for
from orienteer.model.plan_view import PlanView


def days(routes: list[Route]) -> Instance:
    """Twelve places with one window each, all of them within reach of every route."""
    rng = np.random.default_rng(3)
    windows = {node: [(0.0, 90.0)] for node in range(1, 13)}
    return Instance.from_coords(rng.random((13, 2)), rng.integers(1, 20, 13), limit=100, windows=windows, routes=routes)


def add(pool: Pool, view: PlanView, *routes: list[int]) -> tuple[int, ...]:
    """Adds a plan with these places."""
    orders = new_orders(view)
    for route, nodes in enumerate(routes):
        orders.node[route, 1 : len(nodes) + 1] = nodes
        orders.size[route] = len(nodes) + 2
    return pool.add(orders.node, orders.size)


@pytest.mark.parametrize("seed", range(5))
def test_no_exchange_of_one_route_improves_the_choice(seed: int) -> None:
    """The choice is worth as much as the best of the plans, and changing any one of its routes gains nothing."""
    view = days([Route(0, 0)] * 2).plan_view
    pool, rng = Pool(view, view.prizes), np.random.default_rng(seed)
    plans = [[rng.permutation(12)[:3].tolist() for _ in range(2)] for _ in range(8)]
    numbers = [add(pool, view, *plan) for plan in plans]

    def worth(*routes: list[int]) -> float:
        return float(view.prizes[sorted({node for route in routes for node in route})].sum())

    chosen = [route.tolist() for route in pool.best_choice(numbers[0])]
    visited = list(itertools.chain(*chosen))
    assert len(visited) == len(set(visited))
    value = worth(*chosen)
    assert value >= max(worth(*plan) for plan in plans)
    known = [route for plan in plans for route in plan]
    whole = [next(route for route in known if set(stops) <= set(route)) for stops in chosen]
    assert all(worth(whole[0], route) <= value and worth(route, whole[1]) <= value for route in known)


def test_routes_stand_for_each_other_only_with_the_same_ends_and_hours() -> None:
    same, other = Route(0, 0, 0, 100), Route(0, 0, 5, 80)
    view = days([same, other, same]).plan_view
    assert _kinds(view) == [0, 1, 0]
    pool = Pool(view, view.prizes)
    first = add(pool, view, [0], [1], [2])
    add(pool, view, [0, 3, 4], [1], [2, 5, 6])
    assert [set(route.tolist()) for route in pool.best_choice(first)] in (
        [{0, 3, 4}, {1}, {2, 5, 6}],
        [{2, 5, 6}, {1}, {0, 3, 4}],
    )
    better = add(pool, view, [7, 8, 9, 10, 11], [1], [2])
    assert 1 in pool.best_choice(better)[1].tolist()


def test_a_full_pool_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    view = days([Route(0, 0)] * 2).plan_view
    monkeypatch.setattr("orienteer.lns.plans.pool.MOST", 4)
    pool = Pool(view, view.prizes)
    add(pool, view, [0], [1])
    add(pool, view, [2], [3])
    last = add(pool, view, [4], [5])
    assert last == (0, 1)
    assert sorted(node for route in pool.best_choice(last) for node in route.tolist()) == [4, 5]


def test_parts_of_a_piece_are_all_of_it() -> None:
    parts = _parts(10, 0.5, 1.0, 4)
    assert sum(steps for steps, _, _ in parts) == 10
    assert parts[0][1] == 0.5
    assert parts[-1][2] == pytest.approx(1.0)
    assert [steps for steps, _, _ in _parts(2, 0.0, 1.0, 4)] == [1, 1]


def test_a_search_with_a_pool_is_repeatable() -> None:
    problem = days([Route(0, 0, 0, 2), Route(0, 0, 0, 2)])
    assert moves_for(problem).pool
    assert not moves_for(problem.replace(routes=None)).pool
    one, two = (solve(problem, "lns", MaxSteps(20_000), seed=1) for _ in range(2))
    assert one.plan == two.plan
