"""The oracle of plans, by examples worked out by hand and by its own random problems."""

import numpy as np
import pytest

from plan_oracle import (
    Broken,
    Problem,
    Purse,
    Way,
    best_plan,
    random_instance,
    random_plan,
    random_problem,
    slow_check,
    subsets,
)

LINE = [[abs(i - j) * 1.0 for j in range(4)] for i in range(4)]  # nodes 0 to 3 on a line, a unit apart


@pytest.mark.parametrize(
    ("rules", "prize"),
    [
        ({}, 7.0),  # 0 1 2 3 0 costs 6
        ({"ways": [Way(0, 0, 0, 5)]}, 3.0),
        ({"ways": [Way(0, None, 0, 3)]}, 7.0),
        ({"service": [0.0, 0.0, 0.0, 1.0]}, 3.0),  # with node 3 it takes 7
        ({"service": [0.0, 0.0, 0.0, 1.0], "ways": [Way(0, 0, 0, 7)]}, 7.0),
        ({"service": [0.0, 0.0, 0.0, 1.0], "ways": [Way(0, None, 0, 3.5)]}, 3.0),  # the last visit counts
        ({"ways": [Way(0, 0, 0, 4), Way(3, None, 5, 0.5)]}, 4 + 1 + 2),
        ({"required": [1], "groups": [[1, 3]]}, 3.0),
        ({"required": [1, 3], "groups": [[1, 3]]}, None),
        ({"purses": [Purse("fee", [0.0, 1.0, 1.0, 1.0], 2.0)]}, 6.0),
        ({"windows": [[], [], [], [(0.0, 2.5)]]}, 3.0),  # node 3 is reached at 3
        ({"windows": [[], [(4.0, 5.0)], [], []]}, 7.0),  # node 1 on the way back, at 5
        ({"windows": [[], [(0.0, 0.5), (5.5, 6.0)], [], []]}, 6.0),  # waiting for node 1 until 5.5 is too late
        ({"windows": [[], [(0.0, 0.5), (5.5, 6.0)], [], []], "ways": [Way(0, 0, 0, 6.5)]}, 7.0),
        ({"windows": [[], [(0.0, 0.5), (7.0, 9.0)], [], []], "required": [1]}, None),
    ],
)
def test_best_plans_by_hand(rules: dict[str, object], prize: float | None) -> None:
    problem = Problem(LINE, [0.0, 1.0, 2.0, 4.0], [Way(0, 0, 0.0, 6.0)])
    for name, value in rules.items():
        setattr(problem, name, value)
    assert best_plan(problem) == prize


def test_the_twin_by_hand() -> None:
    """Two routes, opening at 10 and 20; node 1 closes at 10.5 and opens again from 13 to 14."""
    problem = Problem(
        LINE,
        [5.0, 1.0, 2.0, 4.0],
        [Way(0, 0, 10.0, 6.0), Way(3, None, 20.0, 1.0)],
        service=[0.0, 0.5, 0.0, 0.0],
        windows=[[], [(9.0, 10.5), (13.0, 14.0)], [], []],
        purses=[Purse("fee", [0.0, 3.0, 3.0, 1.0], 5.0)],
    )
    verdict = slow_check(problem, [[0, 1, 0], [3]])
    assert verdict.broken == []
    assert (verdict.prize, verdict.costs) == (10.0, (4.5, 0.0))
    assert [tuple(stop) for stop in verdict.times[0]] == [(0, 10, 10, 10), (1, 11, 13, 13.5), (0, 14.5, 14.5, 14.5)]
    assert slow_check(problem, [[0, 0], [3, 1]]).broken == [Broken("closed", 1, 1, 8.0)]
    assert slow_check(problem, [[0, 1, 2, 0], [3]]).broken == [
        Broken("limit", 0, None, 0.5),
        Broken("budget", None, None, 2.0),
    ]
    assert slow_check(problem, [[0, 0]]).broken == [Broken("number of routes")]
    assert slow_check(problem, [[0, 3, 0], [3, 2, 2]]).broken == [Broken("end on the way", 0, 1), Broken("twice", 1, 2)]


@pytest.mark.parametrize("features", subsets(), ids=lambda features: ", ".join(features) or "plain")
def test_random_problems_have_the_features_asked_for(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng([3, len(features)])
    for _ in range(3):
        instance = random_instance(rng, features)
        assert instance.features == frozenset(features)
        assert best_plan(instance) == best_plan(Problem.of(instance))


def test_no_random_plan_is_better_than_the_best() -> None:
    rng = np.random.default_rng(4)
    good = 0
    for features in subsets():
        problem = random_problem(rng, features)
        best = best_plan(problem)
        for _ in range(10):
            verdict = slow_check(problem, random_plan(rng, problem))
            if not verdict.broken:
                good += 1
                assert best is not None
                assert verdict.prize <= best + 1e-9
    assert good > 100
