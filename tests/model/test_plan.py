"""The judge of plans: against a slow twin on random plans, and rule by rule on a plan worked out by hand."""

import math
import re
from typing import Any

import numpy as np
import pytest

from orienteer import Budget, InfeasibleTour, Instance, InvalidInstance, Plan, Route, Tour, check_plan, check_tour
from plan_oracle import Broken, Problem, Verdict, random_plan, random_problem, slow_check, subsets

CASES = 12
"""Random problems for each set of features, with `PLANS` random plans each."""
PLANS = 10

LINE = [[abs(i - j) * 1.0 for j in range(5)] for i in range(5)]  # nodes 0 to 4 on a line, a unit apart
NAMES = ["home", "mill", "pond", "barn", "hotel"]
TOWN = Instance(
    LINE,
    [0.0, 1.0, 2.0, 4.0, 8.0],
    6.0,
    names=NAMES,
    service=[0, 0.5, 0, 0, 0],
    required=["pond"],
    windows={"mill": [(9, 10.5), (13, 14)]},
    routes=[Route(0, 0, 10), Route("hotel", None, 20, 3)],
    groups=[["mill", "barn"]],
    budgets=[Budget("fees", {"mill": 3, "pond": 2.5, "hotel": 1}, 5)],
)
"""Two routes: from 10 to 16 about home, and from 20 to 23 from the hotel to anywhere; no mill and pond for the fees."""
LOOSE = TOWN.replace(required=(), groups=(), budgets=())


def test_a_plan_by_hand() -> None:
    """To the mill at 11, where a visit begins at 13 and takes half an hour; home at 14.5. The pond from the hotel."""
    plan = check_plan(TOWN.replace(budgets=()), [[0, 1, 0], [4, 2]])
    assert plan == Plan((Tour((0, 1, 0), 1.0, 4.5), Tour((4, 2), 10.0, 2.0)), 11.0, 6.5)
    assert plan.visited == {0, 1, 2, 4}
    first, second = plan.stops(TOWN)
    assert [tuple(stop) for stop in first] == [
        (0, 0, "home", 0.0, 0.0, 0.0, 10.0, 0.0, 10.0, 10.0),
        (1, 1, "mill", 1.0, 1.0, 3.5, 11.0, 2.0, 13.0, 13.5),
        (2, 0, "home", 0.0, 1.0, 4.5, 14.5, 0.0, 14.5, 14.5),
    ]
    assert [(stop.node, stop.prize, stop.arrive) for stop in second] == [(4, 8.0, 20.0), (2, 2.0, 22.0)]


def test_prizes_of_shared_ends_count_once() -> None:
    instance = Instance(LINE, [5, 1, 2, 4, 8], 8, routes=3)
    plan = check_plan(instance, [[0, 0], [0, 4, 0], [0, 1, 0]])
    assert [tour.prize for tour in plan.routes] == [5, 8, 1]
    assert plan.prize == 14
    with pytest.raises(ValueError, match="this plan has 3 routes, not one: read its `routes`"):
        _ = plan.tour


def test_a_plain_problem_has_a_plan_of_one_route() -> None:
    instance = Instance(LINE, [0, 1, 2, 4, 8], 6, routes=[Route(opens=7.5)])
    assert instance.features == frozenset()
    plan = check_plan(instance, [[0, 3, 0]])
    assert plan == Plan.of(check_tour(instance, [0, 3, 0]))
    assert [stop.arrive for stop in plan.stops(instance)[0]] == [7.5, 10.5, 13.5]
    with pytest.raises(InfeasibleTour, match="the problem has one route, got 2"):
        check_plan(instance, [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("instance", "routes", "message"),
    [
        (TOWN, [[0, 2, 0]], "the plan has 1 route, the problem 2: list an idle route with its start and end only"),
        (TOWN, [[0, 2, 0], [4], [4]], "the plan has 3 routes, the problem 2"),
        (TOWN, [[0, 2, 0], []], "Route 2: a route needs its start, got 0 node(s)"),
        (TOWN, [[0], [4]], "Route 1: a route needs its start and its end, got 1 node(s)"),
        (TOWN, [[0, 7, 0], [4]], "Route 1, stop 1: there is no node 7 among 5"),
        (TOWN, [[0, 2, 0], [4, -1]], "Route 2, stop 1: there is no node -1 among 5"),
        (TOWN, [[2, 0], [4]], "Route 1: the route begins at node 2 (pond), not at the start 0 (home)"),
        (TOWN, [[0, 2], [4]], "Route 1: the route stops at node 2 (pond), not at the end 0 (home)"),
        (TOWN, [[0, 4, 0], [4]], "Route 1, stop 1: node 4 (hotel) is a start or an end and no stop on the way"),
        (TOWN, [[0, 2, 0], [4, 4]], "Route 2, stop 1: node 4 (hotel) is a start or an end and no stop on the way"),
        (TOWN, [[0, 2, 0], [4, 2]], "Route 2, stop 1: node 2 (pond) is visited twice; first at Route 1, stop 1"),
        (TOWN, [[0, 2, 2, 0], [4]], "Route 1, stop 2: node 2 (pond) is visited twice; first at Route 1, stop 1"),
        (
            TOWN,
            [[0, 0], [4, 1]],
            "Route 2, stop 1: node 1 (mill) closes at 14, the route arrives at 23, 9 too late",
        ),
        (
            LOOSE.replace(windows={1: (9, 10.25)}),
            [[0, 1, 0], [4]],
            "Route 1, stop 1: node 1 (mill) closes at 10.25, the route arrives at 11, 0.75 too late",
        ),
        (TOWN, [[0, 1, 3, 0], [4, 2]], "Route 1: the route costs 8.5, more than the limit 6, by 2.5"),
        (
            LOOSE.replace(windows=None, service=[0, 1.25, 0, 0, 0]),
            [[0, 0], [4, 1]],
            "Route 2: the route costs 4.25, more than the limit 3, by 1.25",
        ),
        (
            LOOSE.replace(routes=[Route(name="Ann"), Route(4, None, 20, 10 / 3, "Bo")]),
            [[0, 0], [4, 0]],
            "Route 2 (Bo), stop 1: node 0 (home) is a start or an end and no stop on the way",
        ),
        (
            LOOSE.replace(routes=[Route(name="Ann"), Route(0, None, 20, 10 / 3, "Bo")]),
            [[0, 0], [0, 4]],
            "Route 2 (Bo): the route costs 4, more than the limit 3.33333, by 0.666667",
        ),
        (TOWN, [[0, 0], [4, 3]], "required node 2 (pond) is not visited"),
        (
            TOWN,
            [[0, 1, 0], [4, 3, 2]],
            "at most one of mill and barn may be visited, but node 1 (mill) and node 3 (barn) are",
        ),
        (TOWN, [[0, 1, 0], [4, 2]], "budget 'fees': 6.5 is used, 5 allowed, 1.5 too much"),
        (TOWN, [[0, 2.0, 0], [4]], "stop 1 must be a node's number, got 2.0"),
        (Instance(LINE, np.ones(5), 6, end=None), [[0, 3, 1, 3]], "stop 3: node 3 is visited twice; first at stop 1"),
        (Instance(LINE, np.ones(5), 3, required=[1]), [[0, 2, 0]], "the route costs 4, more than the limit 3, by 1"),
    ],
)
def test_each_rule_has_its_message(instance: Instance, routes: list[list[Any]], message: str) -> None:
    with pytest.raises(InfeasibleTour) as caught:
        check_plan(instance, routes)
    assert str(caught.value) == message


def test_a_missing_leg_is_no_late_arrival() -> None:
    """It was told as `closes at inf, the route arrives at inf, nan too late`, or as a cost of infinity."""
    costs = [[0, 1, 1], [1, 0, math.inf], [1, 1, 0]]
    for rules in ({"windows": {2: (0, math.inf)}}, {"windows": {2: (0, 5)}}, {"required": [2]}):
        instance = Instance(costs, [0, 1, 1], 9, names=["home", "mill", "pond"], **rules)
        with pytest.raises(InfeasibleTour, match=r"^stop 2: there is no way to node 2 \(pond\) from node 1 \(mill\)$"):
            check_plan(instance, [[0, 1, 2, 0]])


@pytest.mark.parametrize("late", [0.0, 0.9e-9, 1.1e-9])
def test_the_tolerance_at_its_edge(late: float) -> None:
    """Closing times, limits and budgets have the one tolerance, as a share of opening and limit, or of the budget."""
    share = 1 + late
    instance = Instance([[0, 1], [1, 0]], [0, 1], 2.0, windows={1: (0, 1)}, budgets=[Budget("fee", [0, 1], 1)])
    changed = [
        instance.replace(windows={1: (0, 1 - 2 * late)}),
        instance.replace(limit=2 / share),
        instance.replace(budgets=[Budget("fee", [0, share], 1)]),
    ]
    if late < 1e-9:
        assert all(check_plan(one, [[0, 1, 0]]).prize == 1 for one in changed)
        return
    for one, message in zip(changed, ("closes at", "more than the limit", "budget 'fee'"), strict=True):
        with pytest.raises(InfeasibleTour, match=message):
            check_plan(one, [[0, 1, 0]])


def test_the_tolerance_grows_with_the_clock() -> None:
    """The sums of a route that opens late are rounded by more than its limit tells."""
    late = Instance([[0, 1], [1, 0]], [0, 1], 2 - 1.5e-9, required=[1], routes=[Route(opens=8.0)])
    assert late.slack == pytest.approx(1e-8)
    assert check_plan(late, [[0, 1, 0]]).prize == 1
    with pytest.raises(InvalidInstance, match="exceed its limit"):
        late.replace(limit=2 - 1.5e-8)


RULES = {
    "number of routes": r"the problem has one route, got \d+|the plan has \d+ routes?, the problem \d+",
    "too short": r"a route needs its start",
    "no such node": r"there is no node -?\d+ among",
    "start": r"the route begins at node",
    "end": r"the route stops at node",
    "end on the way": r"is a start or an end and no stop on the way",
    "twice": r"is visited twice",
    "no way": r"there is no way to node",
    "closed": r"closes at \S+, the route arrives at \S+, (?P<amount>\S+) too late$",
    "limit": r"the route costs \S+, more than the limit \S+, by (?P<amount>\S+)$",
    "required": r"^required node \d+ is not visited",
    "group": r"^at most one of nodes (\d+, )*\d+ and (\d+|\d+ others) may be visited, but",
    "budget": r"^budget '\w+': \S+ is used, \S+ allowed, (?P<amount>\S+) too much$",
}


def told(message: str, routes: int) -> Broken:
    """What a message of `check_plan` says in the words of the twin."""
    matches = {rule: re.search(pattern, message) for rule, pattern in RULES.items()}
    ((rule, match),) = [(rule, match) for rule, match in matches.items() if match]
    amount = match.groupdict().get("amount")
    route = re.search(r"^Route (\d+)", message)
    stop = re.search(r"^(?:Route \d+, )?stop (\d+)", message)
    whole = rule in ("number of routes", "required", "group", "budget")
    where = None if whole else int(route[1]) - 1 if route else 0
    assert whole or (route is not None) == (routes > 1), message
    return Broken(rule, where, int(stop[1]) if stop else None, float(amount) if amount else None)


def is_among(one: Broken, broken: list[Broken]) -> bool:
    return any(
        one[:3] == other[:3] and (one.amount is None or one.amount == pytest.approx(other.amount, rel=1e-4, abs=1e-9))
        for other in broken
    )


def assert_same(plan: Plan, verdict: Verdict, instance: Instance) -> None:
    assert plan.prize == pytest.approx(verdict.prize)
    assert sum(tour.prize for tour in plan.routes) == pytest.approx(verdict.prize)
    assert [tour.cost for tour in plan.routes] == pytest.approx(list(verdict.costs))
    assert plan.cost == pytest.approx(sum(verdict.costs))
    for visits, times in zip(plan.stops(instance), verdict.times, strict=True):
        assert [(visit.node, visit.arrive, visit.begin, visit.leave) for visit in visits] == [*map(tuple, times)]
        assert all(visit.wait == visit.begin - visit.arrive >= 0 for visit in visits)


@pytest.mark.parametrize("features", subsets()[1:], ids=", ".join)
def test_the_judge_is_equal_to_its_slow_twin(features: tuple[str, ...]) -> None:
    """Rule, route, stop and amount of each refusal are among those that the twin finds."""
    rng = np.random.default_rng([5, *map(len, features)])
    for _ in range(CASES):
        problem = random_problem(rng, features)
        try:
            instance = problem.instance()
        except InvalidInstance:
            continue
        for _ in range(PLANS):
            routes = random_plan(rng, problem)
            verdict = slow_check(problem, routes)
            if verdict.broken:
                with pytest.raises(InfeasibleTour) as caught:
                    check_plan(instance, routes)
                message = str(caught.value)
                assert is_among(told(message, len(problem.ways)), verdict.broken), (message, verdict.broken)
            else:
                assert_same(check_plan(instance, routes), verdict, instance)


def test_random_plans_keep_and_break_every_rule() -> None:
    """Else the comparison with the twin would show little."""
    rng = np.random.default_rng(6)
    rules, kept = set[str](), 0
    for features in subsets()[1:]:
        problem = random_problem(rng, features)
        for _ in range(8):
            broken = slow_check(problem, random_plan(rng, problem)).broken
            kept += not broken
            rules.update(one.rule for one in broken)
    assert rules == set(RULES)
    assert kept > 100


@pytest.mark.parametrize("features", [chosen for chosen in subsets() if "free end" not in chosen], ids=", ".join)
def test_a_turned_problem_has_the_same_plans_read_backwards(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng([7, *map(len, features)])
    for _ in range(CASES):
        problem = random_problem(rng, features)
        try:
            instance = problem.instance()
        except InvalidInstance:
            continue
        turned = instance.turned()
        assert turned.features == instance.features
        assert turned.ends == instance.ends
        for _ in range(PLANS):
            routes = random_plan(rng, problem)
            back = slow_check(Problem.of(turned), [route[::-1] for route in routes])
            assert bool(back.broken) == bool(slow_check(problem, routes).broken), (problem, routes)


def test_a_problem_with_a_free_end_cannot_be_turned() -> None:
    with pytest.raises(ValueError, match="a problem with a free end cannot be turned"):
        TOWN.turned()
