"""The contract that every registered solver keeps, as Gymnasium's `check_env` does for environments.

Runs are bounded by steps, so that they are the same on every machine.
"""

import itertools
import json
import pickle
import random

import numpy as np
import pytest

from instances import all_families, small_instance
from oracle import best_prize
from orienteer import (
    REGISTRY,
    AnyOf,
    InfeasibleTour,
    Instance,
    MaxSeconds,
    MaxSteps,
    MissingExtra,
    NoImprovement,
    Progress,
    Result,
    TargetPrize,
    __version__,
    check_tour,
    solve,
    solve_batch,
)
from orienteer.data.generate import generate
from orienteer.search.registry import make_solver

INF = np.inf
ENOUGH = MaxSteps(60)

CORNERS = {
    "one node": Instance([[0.0]], [3.0], 1.0),
    "one node with a costly loop": Instance([[9.0]], [3.0], 1.0),
    "two nodes": Instance([[0, 1], [1, 0]], [1, 2], 2),
    "two nodes, too far": Instance([[0, 1], [1, 0]], [1, 2], 1.5),
    "from one to the other": Instance([[0, 1], [1, 0]], [1, 2], 1, 0, 1),
    "no way back": Instance([[0, 1], [INF, 0]], [1, 2], 9),
    "nothing fits": Instance.from_coords([[0, 0], [5, 0], [0, 5], [5, 5]], [1, 2, 3, 4], 9.9),
    "nothing fits but the way": Instance.from_coords([[0, 0], [1, 0], [0, 9]], [1, 2, 3], 1, 0, 1),
    "everything fits": Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [1, 2, 3, 4], 100),
    "just fits": Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [1, 2, 3, 4], 4),
    "no prizes": Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 0, 0, 0], 4),
    "prize at the start only": Instance.from_coords([[0, 0], [1, 0], [1, 1]], [7, 0, 0], 4),
    "all alike": Instance(np.ones((6, 6)), np.ones(6), 4),
    "all in one place": Instance(np.zeros((5, 5)), np.ones(5), 1),
    "free ways": Instance([[0, 0, 5], [0, 0, 0], [5, 0, 0]], [1, 1, 1], 1),
    "one-way ring": Instance([[0, 1, INF, INF], [INF, 0, 1, INF], [INF, INF, 0, 1], [1, INF, INF, 0]], [0, 1, 1, 1], 4),
    "one-way ring, too long": Instance([[0, 1, INF], [INF, 0, 1], [1, INF, 0]], [0, 1, 1], 2.5),
    "only through another": Instance([[0, 9, 1], [9, 0, 9], [9, 1, 0]], [1, 1, 1], 3, 0, 1),
    "dear direct way home": Instance([[0, 1, 9], [9, 0, 1], [1, 9, 0]], [0, 5, 5], 3),
    "no arcs at all": Instance(np.full((4, 4), INF), [1, 2, 3, 4], 9),
    "unreachable nodes": Instance([[0, 1, INF], [1, 0, INF], [1, 1, 0]], [1, 2, 90], 9),
    "huge numbers": Instance.from_coords(
        np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * 1e12, [1e9, 2e9, 3e9, 4e9], 3.5e12
    ),
    "tiny numbers": Instance.from_coords(
        np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * 1e-9, [1e-9, 2e-9, 0, 4e-9], 3.5e-9
    ),
}

FAMILIES = all_families(count=3, sizes=(5, 6, 7)) + [
    small_instance(family, 6, seed=50, round_trip=False) for family in ("euclidean", "asymmetric", "nonmetric", "holes")
]


@pytest.fixture(params=sorted(REGISTRY))
def name(request: pytest.FixtureRequest) -> str:
    """Each registered solver in turn, but for those whose optional package is not installed."""
    try:
        make_solver(request.param)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    return str(request.param)


@pytest.fixture
def town() -> Instance:
    """A problem of some size that every solver can work on."""
    return small_instance("euclidean", 7, seed=8)


@pytest.mark.parametrize("case", CORNERS)
def test_corner_cases(name: str, case: str) -> None:
    assert_honest(CORNERS[case], solve(CORNERS[case], name, ENOUGH, seed=1))


def test_every_family_of_costs(name: str) -> None:
    for instance in FAMILIES:
        assert_honest(instance, solve(instance, name, ENOUGH, seed=2))


def test_larger_problems(name: str) -> None:
    """Of more nodes than an oracle can judge; the enumeration says that it is too small for them."""
    for costs, separate_end in (("euclidean", False), ("road", True), ("xasy", True)):
        instance = generate(n=40, costs=costs, count=1, seed=3, separate_end=separate_end)[0]
        if name == "enumerate":
            with pytest.raises(ValueError, match="enumerate is for at most"):
                solve(instance, name, ENOUGH)
            continue
        result = solve(instance, name, ENOUGH, seed=2)
        assert check_tour(instance, result.tour.nodes) == result.tour
        assert result.prize > 0


def test_input_is_left_alone(name: str, town: Instance) -> None:
    before = pickle.loads(pickle.dumps(town))
    solve(town, name, ENOUGH)
    assert town == before


def test_same_seed_same_answer(name: str) -> None:
    instance = small_instance("nonmetric", 7, seed=3)
    one, two = (solve(instance, name, ENOUGH, seed=11) for _ in range(2))
    assert timeless(one) == timeless(two)


def test_a_solver_remembers_nothing(name: str, town: Instance) -> None:
    solver = make_solver(name)
    first = solver.solve(town, ENOUGH, seed=4)
    solver.solve(CORNERS["one-way ring"], ENOUGH, seed=5)
    assert timeless(solver.solve(town, ENOUGH, seed=4)) == timeless(first)


def test_no_shared_randomness(name: str, town: Instance) -> None:
    random.seed(1)
    np.random.seed(1)
    states = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    result = solve(town, name, ENOUGH, seed=4)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # type: ignore[index, union-attr]
    random.seed(2)
    np.random.seed(2)
    assert timeless(solve(town, name, ENOUGH, seed=4)) == timeless(result)


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 33])
def test_steps_are_never_more_than_allowed(name: str, town: Instance, steps: int) -> None:
    assert solve(town, name, MaxSteps(steps), seed=1).steps <= steps


def test_no_time_no_search(name: str, town: Instance) -> None:
    result = solve(town, name, MaxSeconds(0))
    assert result.steps == 0
    assert result.tour.nodes == tuple(town.cheapest_route())


def test_other_criteria_end_the_search(name: str, town: Instance) -> None:
    for stop in (TargetPrize(0.01), NoImprovement(5), lambda now: now.steps >= 3, AnyOf(MaxSteps(9), TargetPrize(1e9))):
        assert_honest(town, solve(town, name, stop, seed=1))


def test_progress_only_goes_forward(name: str, town: Instance) -> None:
    heard: list[Progress] = []
    result = solve(town, name, ENOUGH, seed=1, on_progress=heard.append)
    assert heard
    for before, after in itertools.pairwise(heard):
        assert before.seconds <= after.seconds
        assert before.steps <= after.steps
        assert before.prize <= after.prize
        assert before.bound >= after.bound
    assert heard[-1].prize <= result.prize
    assert heard[-1].steps <= result.steps
    assert all(0 <= now.since_best <= now.steps for now in heard)


def test_trace_rises_to_the_result(name: str, town: Instance) -> None:
    result = solve(town, name, ENOUGH, seed=1)
    for before, after in itertools.pairwise(result.trace):
        assert before.prize < after.prize
        assert before.steps <= after.steps
        assert before.seconds <= after.seconds
    assert result.trace[-1].prize == result.prize
    assert result.trace[-1].steps <= result.steps


def test_initial_is_never_made_worse(name: str) -> None:
    for instance in FAMILIES[::3]:
        best = solve(instance, "enumerate").tour
        for steps in (0, 5):
            assert solve(instance, name, MaxSteps(steps), initial=best.nodes).prize == best.prize


def test_initial_must_be_feasible(name: str, town: Instance) -> None:
    with pytest.raises(InfeasibleTour):
        solve(town, name, ENOUGH, initial=[town.start])


def test_result_tells_its_origin_and_survives_json(name: str, town: Instance) -> None:
    result = solve(town, name, ENOUGH, seed=7)
    assert (result.solver, result.seed, result.version) == (name, 7, __version__)
    assert Result.from_json(result.to_json()) == result
    json.dumps(result.settings, allow_nan=False)


def test_batch_gives_each_instance_its_result(name: str) -> None:
    instances = [small_instance("asymmetric", size, seed=size) for size in (3, 7, 5)]
    heard: list[tuple[int, int]] = []
    results = solve_batch(instances, name, ENOUGH, seed=20, on_done=lambda done, total: heard.append((done, total)))
    assert [result.seed for result in results] == [20, 21, 22]
    for instance, result in zip(instances, results, strict=True):
        assert_honest(instance, result)
    assert heard == sorted(heard)
    assert heard[-1] == (3, 3)


def test_batch_of_nothing(name: str) -> None:
    assert solve_batch([], name) == []


def test_unknown_settings_are_refused(name: str, town: Instance) -> None:
    with pytest.raises(ValueError, match=f"{name} has no setting 'no_such_setting'; it has "):
        solve(town, name, no_such_setting=1)


def test_solvers_travel_to_workers(name: str, town: Instance) -> None:
    solver = pickle.loads(pickle.dumps(make_solver(name)))
    assert timeless(solver.solve(town, ENOUGH, seed=4)) == timeless(solve(town, name, ENOUGH, seed=4))


def assert_honest(instance: Instance, result: Result) -> None:
    """The route is feasible and truly told; no better than the truth; and optimal only if it is."""
    assert check_tour(instance, result.tour.nodes) == result.tour
    truth = best_prize(instance)
    slack = 1e-9 * max(1.0, truth)
    assert result.prize <= truth + slack
    assert result.bound >= truth - slack
    if result.status == "optimal":
        assert result.prize >= truth - slack


def timeless(result: Result) -> tuple[object, ...]:
    """All of a result that does not depend on the clock."""
    trace = [(one.steps, one.prize) for one in result.trace]
    return result.tour, result.status, result.steps, result.bound, result.settings, trace
