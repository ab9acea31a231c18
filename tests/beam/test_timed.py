"""The cost-level search by the clock: opening hours and required places."""

import numpy as np
import pytest

from orienteer import Instance, Route, check_plan, solve, solve_batch
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.backend.host.timed_exchange import exchanged_in_time, survey
from orienteer.beam.backend.host.timed_problems import TimedProblems
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.score import PrizeScore
from orienteer.beam.solvers import PrizeCostLevelSearch
from plan_oracle import best_plan, random_instance, slow_check, subsets

TIMED = [features for features in subsets(("service", "free end", "required", "windows")) if len(features) > 1]
EVERYTHING = ("service", "free end", "required", "windows")


def line(places: list[float], limit: float, **rules: object) -> Instance:
    """Places on a line, the start and end at 0 first; a place is worth its number."""
    points = np.array([[0.0, 0.0], *([place, 0.0] for place in places)])
    return Instance.from_coords(points, np.arange(len(points)), limit, **rules)


def nodes_of(instance: Instance, **settings: object) -> tuple[int, ...]:
    return solve(instance, "cs-p", **settings).routes[0].nodes


def test_waits_for_a_place_that_opens_late() -> None:
    """Place 2 at 1 opens at 7, place 1 at 3 closes at 4: first 1, back to 2 at 5, wait until 7, home at 8."""
    instance = line([3, 1], 8, windows={1: (0, 4), 2: (7, 9)})
    result = solve(instance, "cs-p")
    assert result.routes[0].nodes == (0, 1, 2, 0)
    assert (result.prize, result.cost) == (3, 8)


def test_a_place_may_be_reached_as_it_closes() -> None:
    assert nodes_of(line([3], 6, windows={1: (0, 3)})) == (0, 1, 0)
    assert nodes_of(line([3], 6, windows={1: (0, 2.999)})) == (0, 0)


def test_takes_the_next_of_several_windows() -> None:
    """At 3 the first window of place 1 has closed; who waits for the second at 5 is home at 8."""
    instance = line([3], 8, windows={1: [(0, 2), (5, 6)]})
    assert solve(instance, "cs-p").plan == check_plan(instance, [[0, 1, 0]])
    assert nodes_of(instance.replace(limit=7.9)) == (0, 0)


def test_the_clock_begins_when_the_route_opens() -> None:
    """The route opens at 100: place 1 has closed by then, place 2 opens at 104."""
    instance = line([1, 2], 6.5, windows={1: (0, 50), 2: (104, 200)}, routes=[Route(0, 0, 100.0, 6.5)])
    result = solve(instance, "cs-p")
    assert result.routes[0].nodes == (0, 2, 0)
    assert result.cost == 6


def test_visits_take_time_before_a_place_closes() -> None:
    """The visit of place 1 takes 2, so that place 2 is reached at 4, not at 2."""
    instance = line([1, 2], 9, service=[0, 2, 0], windows={2: (0, 3.5)})
    assert nodes_of(instance) == (0, 2, 1, 0)
    assert nodes_of(instance.replace(windows={2: (0, 4)}), beam=None)[1:3] in ((1, 2), (2, 1))


def test_a_free_end_needs_no_way_home() -> None:
    instance = line([3, 5], 6, end=None, windows={1: (3, 3), 2: (5, 9)})
    assert nodes_of(instance) == (0, 1, 2)


def test_a_required_place_is_worth_any_prize() -> None:
    """Place 1 lies to the left, places 2 and 3 to the right; the limit is enough for one side."""
    instance = line([-4, 3, 4], 9)
    assert nodes_of(instance) == (0, 2, 3, 0)
    assert nodes_of(instance.replace(required=[1])) == (0, 1, 0)


def test_no_route_where_required_places_do_not_fit_together() -> None:
    """Each fits alone. Only a search that has dropped nothing knows that there is no route."""
    instance = line([-4, 4], 9, required=[1, 2])
    result = solve(instance, "cs-p")
    assert (result.plan, result.status) == (None, "none found")
    assert solve(instance, "cs-p", beam=None).status == "infeasible"


@pytest.mark.parametrize("features", [one for one in TIMED if {"windows", "required"} & set(one)])
def test_unlimited_width_equals_the_oracle(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng([1, *map(len, features)])
    for _ in range(25):
        instance = random_instance(rng, features)
        truth, result = best_plan(instance), solve(instance, "cs-p", beam=None)
        assert result.status == ("infeasible" if truth is None else "optimal")
        assert truth is None or result.prize == pytest.approx(truth)


@pytest.mark.parametrize("settings", [{}, {"beam": 1}, {"both": False}, {"branch": 2}, {"tau": 50.0}])
def test_any_settings_give_true_plans(settings: dict[str, object]) -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        instance = random_instance(rng, EVERYTHING)
        truth, result = best_plan(instance), solve(instance, "cs-p", **settings)
        assert result.status != "infeasible"
        if result.plan is not None:
            assert not slow_check(instance, [tour.nodes for tour in result.routes]).broken
            assert result.prize <= truth + 1e-9


def test_both_directions_find_the_same() -> None:
    """The second row runs backwards in space and time; without bound its best route is worth as much."""
    rng, complete = np.random.default_rng(3), 0
    for _ in range(40):
        problems = TimedProblems.of(random_instance(rng, EVERYTHING), 2)
        found = cost_level_search(HostBackend(), problems, PrizeScore(), CostLevelConfig(beam=None))
        forwards, backwards = found.best.prize
        assert problems.complete(forwards) == problems.complete(backwards)
        if problems.complete(forwards):
            complete += 1
            assert forwards == backwards
    assert complete > 20


def test_a_narrow_beam_keeps_room_for_required_places() -> None:
    """Prizes tempt to the last moment; a path that can still visit all required places goes on, whatever its prize."""
    rng = np.random.default_rng(4)
    for _ in range(15):
        points = rng.random((40, 2))
        required = rng.choice(np.arange(1, 40), 6, replace=False)
        prizes = rng.integers(5, 20, 40)
        prizes[required] = 0
        instance = Instance.from_coords(points, prizes, 3.5, required=required.tolist())
        for beam in (1, 5):
            result = solve(instance, "cs-p", beam=beam)
            assert result.plan is not None
            assert set(required.tolist()) <= set(result.routes[0].nodes)


def test_alternatives_visit_required_places_too() -> None:
    points = np.random.default_rng(5).random((30, 2))
    instance = Instance.from_coords(points, np.ones(30), 2.0, required=[7])
    result = PrizeCostLevelSearch(CostLevelConfig(alternatives=3)).solve(instance)
    assert len(result.alternatives) == 2
    for plan in result.alternatives:
        assert 7 in plan.visited
        assert plan.prize <= result.prize


def test_batches_may_hold_plain_problems_too() -> None:
    plain, timed = line([3, 4], 9), line([3, 4], 9, required=[1])
    for instance, result in zip((plain, timed), solve_batch([plain, timed], "cs-p"), strict=True):
        assert result.plan == solve(instance, "cs-p").plan


def test_the_times_of_a_route() -> None:
    """Place 1 at 3 is open from 5 to 6, place 2 at 4 has no hours: 1 begins at 5 and may begin at 6, 2 from 6 to 7."""
    problems = TimedProblems.of(line([3, 4], 11, windows={1: (5, 6)}), 1)
    route, room = np.array([2, 0, 1, 3]), np.zeros(4)
    place, begin, late, won = np.zeros(4, dtype=np.int64), room.copy(), room.copy(), room.copy()
    survey(route, 4, problems.costs[0], problems.prizes[0], problems.clock, place, begin, late, won)
    assert begin.tolist() == [0, 5, 6, 10]
    assert late == pytest.approx([0, 6, 7, 11])
    assert place.tolist() == [1, 2, -1, -1]


def test_exchanges_only_improve() -> None:
    """From any route that fits, by the paths of a narrow search, comes a route that fits and is worth no less."""
    rng, better = np.random.default_rng(6), 0
    for _ in range(20):
        instance = random_instance(rng, ("service", "windows"), size=20)
        problems = TimedProblems.of(instance, 2)
        expander = cost_level_search(HostBackend(), problems, PrizeScore(), CostLevelConfig(beam=3))
        paths = expander.log.by_cost()
        start = np.array([problems.start[0], problems.end[0]])
        if problems.costs[0, start[0], start[1]] > problems.budget[0]:
            continue
        for base in (-1, *range(0, len(paths.last), 7)):
            whole = paths.cost[base] + problems.costs[0, paths.last[base], start[1]]
            if base >= paths.first[1] or (base >= 0 and whole > problems.budget[0]):
                continue
            made, prize, end = exchanged_in_time(
                start, base, paths.parent, paths.last, paths.prize, int(paths.first[1]),
                problems.costs[0], problems.prizes[0], problems.clock,
            )  # fmt: skip
            plan = check_plan(instance, [instance.plan_view.route(made, 0)])
            assert plan.cost == pytest.approx(end)
            assert prize == pytest.approx(problems.prizes[0][made[1:-1]].sum())
            assert prize >= (paths.prize[base] if base >= 0 else 0.0)
            better += base >= 0 and prize > paths.prize[base]
    assert better
