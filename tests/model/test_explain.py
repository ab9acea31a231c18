"""Why a place is not in a plan: by examples worked out by hand, and beside the slow twin of the judge."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer import Budget, InfeasibleTour, Instance, Plan, Route, check_plan
from orienteer.model.explain import Explanation, closest, explain, inserted
from orienteer.model.plan import broken_on_route
from plan_oracle import FEATURES, Problem, random_instance, random_plan, slow_check

LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))  # nodes 0 to 4 on a line, a unit apart
PRIZES = [0.0, 1.0, 2.0, 4.0, 8.0]
NAMES = ["home", "a", "b", "c", "d"]


def _explained(node: int | str, *routes: list[int], limit: float = 4.0, **rules: Any) -> Explanation:
    instance = Instance(LINE, PRIZES, limit, names=NAMES, **rules)
    return explain(instance, check_plan(instance, routes), node)


def test_the_limit_stops_a_place() -> None:
    """Node 3 costs 2 more than the way back from node 2, at which the limit is used up."""
    found = _explained("c", [0, 1, 2, 0], limit=4.5)
    assert (found.node, found.name, found.prize) == (3, "c", 4.0)
    assert (found.detour, found.slack, found.reason, found.excess) == (2.0, 0.5, "limit", 1.5)
    assert (found.before, found.after) in {(1, 2), (2, 0)}
    assert not found.fits


def test_nothing_stops_a_place_on_the_way() -> None:
    found = _explained(1, [0, 2, 0])
    assert (found.fits, found.reason, found.detour, found.excess) == (True, "nothing", 0.0, 0.0)


def test_a_visit_counts_in_the_detour() -> None:
    found = _explained(1, [0, 2, 0], limit=5.0, service=[0, 3, 0, 0, 0])
    assert (found.detour, found.slack, found.reason, found.excess) == (3.0, 1.0, "limit", 2.0)


def test_a_window_of_the_place() -> None:
    """Node 1 closes at 0.75, and is reached at 1 at the soonest."""
    found = _explained(1, [0, 2, 0], windows={1: (0.0, 1.0)})
    assert found.fits
    found = _explained(1, [0, 2, 0], windows={1: (0.0, 0.75)})
    assert (found.reason, found.excess, found.before, found.after) == ("window", 0.25, 0, 2)


def test_a_window_of_a_later_stop() -> None:
    """A visit to node 1 takes 1: before node 2 this is 0.5 late for node 2, anywhere 1 too much for a limit of 4."""
    found = _explained(1, [0, 2, 0], windows={2: (0.0, 2.5)}, service=[0, 1, 0, 0, 0], limit=4.0)
    assert [(one.rule, one.excess, one.node) for one in found.broken] == [("limit", 1.0, None)]
    found = _explained(1, [0, 2, 0], windows={2: (0.0, 2.5), 1: (0.0, 2.0)}, service=[0, 1, 0, 0, 0], limit=5.0)
    assert [(one.rule, one.excess, one.node) for one in found.broken] == [("window", 0.5, 2)]


def test_groups_and_budgets_come_before_time() -> None:
    found = _explained(3, [0, 2, 0], groups=[[2, 3]], budgets=[Budget("fee", [0, 0, 2, 5, 0], 6)])
    assert [(one.rule, one.excess) for one in found.broken] == [("limit", 2.0), ("group", 1.0), ("budget", 1.0)]
    assert found.reason == "group"
    assert _explained(1, [0, 2, 0], budgets=[Budget("fee", [0, 5, 2, 0, 0], 6)]).reason == "budget"


def test_the_route_that_comes_closest() -> None:
    routes = [Route(0, 0, 0.0, 4.0), Route(4, None, 0.0, 0.5)]
    found = _explained(3, [0, 2, 0], [4], routes=routes)
    assert (found.route, found.before, found.after, found.excess) == (1, 4, None, 0.5)


def test_no_way_to_a_place() -> None:
    costs = LINE.copy()
    costs[3, :] = costs[:, 3] = np.inf
    instance = Instance(costs, PRIZES, 4.0)
    found = explain(instance, check_plan(instance, [[0, 2, 0]]), 3)
    assert (found.reason, found.to_dict()["excess"], found.to_dict()["detour"]) == ("way", None, None)


@pytest.mark.parametrize(("node", "what"), [(0, "a start or an end"), ("b", "in the plan")])
def test_what_needs_no_explanation(node: int | str, what: str) -> None:
    with pytest.raises(ValueError, match=f"is {what}"):
        _explained(node, [0, 2, 0])


def test_the_closest_come_first() -> None:
    instance = Instance(LINE, PRIZES, 4.0)
    plan = check_plan(instance, [[0, 2, 0]])
    assert [(one.node, one.excess) for one in closest(instance, plan)] == [(1, 0.0), (3, 2.0), (4, 4.0)]
    assert [one.node for one in closest(instance, plan, most=1)] == [1]


@given(seed=st.integers(0, 2**32 - 1), features=st.sets(st.sampled_from(FEATURES)))
def test_a_place_fits_where_the_twin_of_the_judge_lets_it_in(seed: int, features: set[str]) -> None:
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, sorted(features))
    problem = Problem.of(instance)
    plan = _some_plan(rng, instance, problem)
    if plan is None:
        return
    for node in set(problem.inner) - plan.visited:
        found = explain(instance, plan, node)
        allowed = [routes for routes in _insertions(plan, problem, node) if not slow_check(problem, routes).broken]
        assert found.fits == bool(allowed)
        assert found.distance[1] == min(_lacking(instance, routes) for routes in _insertions(plan, problem, node))
        assert not found.fits or check_plan(instance, inserted(plan, found)).prize >= plan.prize


def _lacking(instance: Instance, routes: list[list[int]]) -> float:
    broken = [one for number, nodes in enumerate(routes) for one in broken_on_route(instance, number, nodes)]
    return max((one.excess for one in broken), default=0.0)


def _some_plan(rng: np.random.Generator, instance: Instance, problem: Problem) -> Plan | None:
    for _ in range(50):
        try:
            return check_plan(instance, random_plan(rng, problem))
        except InfeasibleTour:
            continue
    return None


def _insertions(plan: Plan, problem: Problem, node: int) -> list[list[list[int]]]:
    found = []
    for number, way in enumerate(problem.ways):
        for place in itertools.count(1):
            routes = [list(tour.nodes) for tour in plan.routes]
            if place > len(routes[number]) - (way.end is not None):
                break
            routes[number].insert(place, node)
            found.append(routes)
    return found
