"""Rules that cannot be kept together: told by name when a problem is made, and never where there is a plan."""

import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from orienteer import Budget, Instance, InvalidInstance, Route
from plan_oracle import best_plan, random_problem, subsets

CASES = 20
"""Random problems for each set of features."""

INF, NAN = math.inf, math.nan
LINE = [[abs(i - j) * 1.0 for j in range(4)] for i in range(4)]  # nodes 0 to 3 on a line, a unit apart
ONE_WAY = [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, INF], [1.0, 1.0, 0.0, INF], [INF, INF, INF, 0.0]]
NO_WAY_TO_3 = np.array(ONE_WAY).T.tolist()

CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "by its window": (
        {"required": [2], "windows": {2: [(-9, -8), (0, 1.5)]}},
        "required node 2 cannot be visited: it closes at 1.5, and no route can be there before 2",
    ),
    "by its window, with a name": (
        {"required": ["pond"], "windows": {"pond": (0, 1.5)}, "names": ["home", "mill", "pond", "barn"]},
        "required node 2 (pond) cannot be visited: it closes at 1.5, and no route can be there before 2",
    ),
    "by its window, since routes open late": (
        {"required": [2], "windows": {2: (0, 9)}, "routes": [Route(opens=20), Route(opens=10)]},
        "required node 2 cannot be visited: it closes at 9, and no route can be there before 12",
    ),
    "by the limit": (
        {"required": [3], "limit": 5.5},
        "required node 3 cannot be visited: every route would exceed its limit, by 0.5 at least",
    ),
    "by the limit, after waiting": (
        {"required": [1], "windows": {1: (5, 9)}, "limit": 4},
        "required node 1 cannot be visited: every route would exceed its limit, by 2 at least",
    ),
    "by the limit, with its visit": (
        {"required": [3], "service": [0, 0, 0, 2], "limit": 4, "end": None},
        "required node 3 cannot be visited: every route would exceed its limit, by 1 at least",
    ),
    "by the limits of all routes": (
        {"required": [3], "routes": [Route(limit=5), Route(limit=3)]},
        "required node 3 cannot be visited: every route would exceed its limit, by 1 at least",
    ),
    "no way to it": (
        {"required": [3], "costs": NO_WAY_TO_3},
        "required node 3 cannot be visited: there is no way to it",
    ),
    "no way from it": (
        {"required": [3], "costs": ONE_WAY},
        "required node 3 cannot be visited: every route finds it closed, or no way to its own end",
    ),
    "limit below the way": (
        {"service": [0, 1, 1, 0], "end": 3, "limit": 2},
        "limit 2 is below 3, the cheapest way from start 0 to end 3",
    ),
    "a route's limit below its way": (
        {"routes": [Route(), Route(0, 3, limit=2)]},
        "routes[1].limit 2 is below 3, the cheapest way from start 0 to end 3",
    ),
    "two of a group": (
        {"required": [1, 3], "groups": [[1, 2], [1, 2, 3]]},
        "groups: at most one of nodes 1, 2 and 3 may be visited, but node 1 and node 3 are required",
    ),
    "budget below its nodes": (
        {"required": [1, 3], "budgets": [Budget("fees", [0.5, 2, 1, 2], 4)]},
        "budget 'fees' allows 4, but starts, ends and required nodes need 4.5",
    ),
    "budget below the ends": (
        {"end": 3, "budgets": [Budget("fees", {0: 1, 3: 1}, 1.5)]},
        "budget 'fees' allows 1.5, but starts, ends and required nodes need 2",
    ),
}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "window closes before it opens": ({"windows": {1: (5, 4.5)}}, "windows[1] closes at 4.5, before it opens at 5"),
    "second window too": ({"windows": {1: [(1, 2), (5, 4)]}}, "windows[1] closes at 4, before it opens at 5"),
    "window NaN": ({"windows": {1: (NAN, 3)}}, "windows[1] must hold numbers up to 1e+303, got (nan, 3)"),
    "window of three": ({"windows": {1: (1, 2, 3)}}, "windows[1] must be pairs (opens, closes), got (1, 2, 3)"),
    "window as text": ({"windows": {1: "9-12"}}, "windows[1] must be pairs (opens, closes), got '9-12'"),
    "no window": ({"windows": {1: []}}, "windows[1] must be pairs (opens, closes), got []"),
    "windows too few": ({"windows": [None, (1, 2)]}, "windows must have one entry for each of the 4 nodes, got 2"),
    "windows no list": (
        {"windows": 5},
        "windows must be a list with an entry for each node, or a mapping, got 5",
    ),
    "window at the start": (
        {"windows": {0: (1, 2)}},
        "windows[0] is for a start or an end; a route's own opens and limit say when it begins and ends",
    ),
    "window at another route's end": (
        {"windows": {2: (1, 2)}, "routes": [Route(), Route(0, 2)]},
        "windows[2] is for a start or an end; a route's own opens and limit say when it begins and ends",
    ),
    "service at the end": ({"service": [0, 1, 0, 2], "end": 3}, "service[3] must be 0 at a start or an end, got 2"),
    "service negative": ({"service": [0, 1, -2, 0]}, "service[2] must not be negative, got -2"),
    "service endless": ({"service": [0, INF, 0, 0]}, "service[1] must be finite, got inf"),
    "service too short": ({"service": [0, 1]}, "service must have one value for each of the 4 nodes, got 2"),
    "required beyond": ({"required": [1, 4]}, "required[1] must be a node from 0 to 3, got 4"),
    "required as text": ({"required": "1"}, "required must be a list of nodes, got the text '1'"),
    "required no list": ({"required": 1}, "required must be a list of nodes, got 1"),
    "no routes": ({"routes": 0}, "routes must be from 1 to 10000, got 0"),
    "empty routes": ({"routes": []}, "routes must be a number or a list of at least one Route, got []"),
    "routes as truth": ({"routes": True}, "routes must be a number or a list of at least one Route, got True"),
    "route's start": ({"routes": [Route(4)]}, "routes[0].start must be a node from 0 to 3, got 4"),
    "route's end": ({"routes": [Route(), Route(0, "x")]}, "routes[1].end must be a node's number where nodes have no"),
    "route's limit": ({"routes": [Route(limit=0)]}, "routes[0].limit must be positive and finite, got 0"),
    "route opens NaN": ({"routes": [Route(opens=NAN)]}, "routes[0].opens must be a number up to 1e+303, got nan"),
    "route opens never": ({"routes": [Route(opens=INF)]}, "routes[0].opens must be a number up to 1e+303, got inf"),
    "group of the start": ({"groups": [[0, 1]]}, "groups[0] has node 0, a start or an end, which is always visited"),
    "groups flat": ({"groups": [1, 2]}, "groups[0] must be a list of nodes, got 1"),
    "groups no list": ({"groups": 7}, "groups must be a list of lists of nodes, got 7"),
    "budget no list": ({"budgets": 7}, "budgets must be a list of Budget, got 7"),
    "budget as a pair": ({"budgets": [("fees", 3)]}, "budgets[0] must be a Budget with a text as its name, got"),
    "budget negative": ({"budgets": [Budget("a", [0] * 4, -1)]}, "budgets[0].most must be from 0 to 1e+303, got -1"),
    "budget NaN": ({"budgets": [Budget("a", [0] * 4, NAN)]}, "budgets[0].most must be from 0 to 1e+303, got nan"),
    "weight negative": (
        {"budgets": [Budget("a", {1: -1}, 3)]},
        "budgets[0].weights[1] must not be negative, got -1",
    ),
    "weights too few": (
        {"budgets": [Budget("a", [1], 3)]},
        "budgets[0].weights must have one value for each of the 4 nodes, got 1",
    ),
    "budgets of one name": (
        {"budgets": [Budget("a", [0] * 4, 1), Budget("a", [1] * 4, 9)]},
        "budgets must have different names, got 'a', 'a'",
    ),
}


@pytest.mark.parametrize("case", [*CONTRADICTIONS, *WRONG])
def test_is_told_by_name(case: str) -> None:
    rules, message = {**CONTRADICTIONS, **WRONG}[case]
    with pytest.raises(InvalidInstance) as caught:
        Instance(**{"costs": LINE, "prizes": [0, 1, 2, 3], "limit": 9, **rules})
    assert str(caught.value).startswith(message)


KINDS = (
    r"it closes at \S+, and no route can be there before",
    r"every route would exceed its limit, by [\d.e-]+ at least",
    r"there is no way to it",
    r"every route finds it closed, or no way to its own end",
    r"^limit \S+ is below",
    r"^routes\[\d\].limit \S+ is below",
    r"groups: at most one of nodes (\d, )*\d and \d( others)? may be visited, but node \d and node \d are required",
    r"budget '\w+' allows \S+, but starts, ends and required nodes need",
)


def test_no_contradiction_is_claimed_where_there_is_a_plan() -> None:
    """Thousands of random problems; each kind of contradiction occurs, and so do problems without plan or message."""
    rng = np.random.default_rng(8)
    seen, unseen = Counter[str](), 0
    for features in subsets():
        for _ in range(CASES):
            problem = random_problem(rng, features)
            best = best_plan(problem)
            try:
                problem.instance()
            except InvalidInstance as error:
                (kind,) = [kind for kind in KINDS if re.search(kind, str(error))]
                seen[kind] += 1
                if best is not None:
                    pytest.fail(f"{error}, but the oracle finds a plan of {best}: {problem}")
            else:
                unseen += best is None
    assert set(seen) == set(KINDS)
    assert unseen > 10


def test_required_ends_and_groups_of_one_say_nothing() -> None:
    instance = Instance(LINE, [0, 1, 2, 3], 9, required=[0], groups=[[1], []], windows={}, service=[0] * 4, routes=1)
    assert instance.features == frozenset()
    assert instance == Instance(LINE, [0, 1, 2, 3], 9)


def test_windows_are_kept_in_order_and_joined() -> None:
    instance = Instance(
        LINE, [0, 1, 2, 3], 9, windows={1: [(7, 8), (1, 2), (2, 3)], 2: np.array([[4, 6], [1, 2], [5, 5.5]])}
    )
    assert instance.windows == (None, ((1.0, 3.0), (7.0, 8.0)), ((1.0, 2.0), (4.0, 6.0)), None)
