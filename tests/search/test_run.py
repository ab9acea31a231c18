"""One run: the incumbent, the trace, the end; and the solver class around it."""

import itertools
import math

import pytest

from orienteer import InfeasibleTour, Instance, MaxSeconds, MaxSteps, Never, Progress, TargetPrize
from orienteer.model.result import Result
from orienteer.search.run import Run
from orienteer.search.solver import Solver

LINE = Instance.from_coords([[0, 0], [1, 0], [2, 0], [0, 1]], [0, 1, 5, 2], 4)


def test_begins_with_the_cheapest_route() -> None:
    run = Run(LINE, Never())
    assert run.best.nodes == (0, 0)
    assert [one.prize for one in run.trace] == [0]
    blocked = Instance([[0, 5, 1], [0, 0, 0], [0, 1, 0]], [1, 1, 1], 3, 0, 1)
    assert Run(blocked, Never()).best.nodes == (0, 2, 1)


def test_keeps_more_prize_or_as_much_for_less() -> None:
    line = LINE.replace(limit=10)
    run = Run(line, Never())
    assert run.offer([0, 1, 3, 0])
    assert run.offer([0, 1, 2, 0])
    assert not run.offer([0, 3, 0])
    assert run.best.prize == 6
    assert run.offer([0, 3, 1, 2, 0])
    dear = run.best.cost
    assert not run.offer([0, 3, 2, 1, 0])  # as much prize, for less: kept, but no rise
    assert run.best.nodes == (0, 3, 2, 1, 0)
    assert run.best.cost < dear
    assert not run.offer([0, 3, 1, 2, 0])
    assert run.best.nodes == (0, 3, 2, 1, 0)
    assert [one.prize for one in run.trace] == [0, 3, 6, 8]


def test_refuses_a_route_that_breaks_the_rules() -> None:
    run = Run(LINE, Never())
    with pytest.raises(InfeasibleTour):
        run.offer([0, 1, 2, 3, 0])
    assert run.best.nodes == (0, 0)


def test_counts_steps_and_tells_listeners() -> None:
    heard: list[Progress] = []
    run = Run(LINE, MaxSteps(5), heard.append)
    assert not run.step(2)
    run.offer([0, 1, 0])
    assert not run.step(2)
    assert run.step()
    assert [now.steps for now in heard] == [2, 4, 5]
    assert [now.since_best for now in heard] == [2, 2, 3]
    assert [now.prize for now in heard] == [0, 1, 1]
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(heard))
    assert [one.steps for one in run.trace] == [0, 2]


def test_ends_when_the_bound_meets_the_prize() -> None:
    run = Run(LINE, Never())
    run.tighten(8.0)
    run.tighten(9.0)
    assert run.bound == 8
    assert not run.report()
    run.tighten(6.0)
    run.offer([0, 1, 2, 0])
    assert run.report()
    result = run.result("none", 3, {"width": 2})
    assert (result.status, result.bound, result.gap, result.prize) == ("optimal", 6, 0, 6)
    assert (result.solver, result.seed, result.settings) == ("none", 3, {"width": 2})


def test_the_first_bound_is_what_lies_within_reach() -> None:
    assert Run(LINE, Never()).bound == 8
    near = LINE.replace(limit=3)  # too short for node 2 and back
    run = Run(near, Never())
    assert run.bound == 3
    result = run.result("none", 0, {})
    assert (result.status, result.bound, result.gap) == ("stopped", math.inf, math.inf), "nobody worked out a bound"
    run.offer([0, 1, 0])
    assert not run.report()


def test_collecting_everything_is_a_proof() -> None:
    run = Run(LINE.replace(limit=9), Never())
    run.offer([0, 1, 2, 3, 0])
    assert run.report()
    assert run.result("none", 0, {}).status == "optimal"


def test_a_phase_may_end_earlier() -> None:
    run = Run(LINE, MaxSteps(9))
    with run.within(MaxSteps(2)):
        assert run.step(2)
    assert not run.report()
    assert run.step(7)


def test_a_phase_may_have_a_share_of_the_steps_left() -> None:
    run = Run(LINE, MaxSteps(12))
    run.step(2)
    with run.share(0.75):
        assert run.stop.steps_left(run.now()) == 7, "7.5 of the 10 that are left"
        assert not run.step(6)
        with run.share(0.5):
            assert run.report(), "half of one step is none"
        assert run.step()
    assert run.stop.steps_left(run.now()) == 3


def test_a_phase_may_have_a_share_of_the_seconds_left() -> None:
    run = Run(LINE, MaxSeconds(1000))
    run.began -= 200  # as if it had begun earlier
    with run.share(0.5):
        assert 399 < run.stop.seconds_left(run.now()) <= 400
        assert run.stop.steps_left(run.now()) == math.inf
    with run.share(0.5, overtime=1.5):
        assert 599 < run.stop.seconds_left(run.now()) <= 600
    with run.share(0.9, overtime=1.4):
        assert run.stop.seconds_left(run.now()) <= 800, "never more than the whole run has left"


def test_a_share_of_no_allowance_is_no_limit() -> None:
    run = Run(LINE, Never())
    with run.share(0.1):
        assert not run.step(10**9)


def test_listeners_hear_of_the_whole_allowance_in_a_phase() -> None:
    heard: list[Progress] = []
    run = Run(LINE, MaxSteps(8), heard.append)
    with run.within(MaxSteps(2)):
        run.step(2)
    assert heard[0].fraction == 0.25


def test_a_plain_function_can_stop_a_run() -> None:
    run = Run(LINE, lambda now: now.prize >= 1)
    assert not run.report()
    run.offer([0, 1, 0])
    assert run.report()


class Scripted(Solver):
    """Offers the routes it was told to, one a step."""

    name = "scripted"
    routes = ([0, 3, 0], [0, 1, 0], [0, 1, 2, 0])

    def search(self, run: Run, seed: int) -> None:
        for route in self.routes:
            run.offer(route)
            if run.step():
                return


def test_solver_runs_its_search() -> None:
    result = Scripted().solve(LINE)
    assert (result.prize, result.steps, result.solver, result.settings) == (6, 3, "scripted", {})
    assert [(one.steps, one.prize) for one in result.trace] == [(0, 0), (0, 2), (2, 6)]


def test_solver_obeys_the_stop() -> None:
    assert Scripted().solve(LINE, MaxSteps(0)).prize == 0
    assert Scripted().solve(LINE, MaxSteps(1)).prize == 2
    assert Scripted().solve(LINE, TargetPrize(2)).steps == 1


def test_solver_begins_with_the_initial_route() -> None:
    assert Scripted().solve(LINE, MaxSteps(0), initial=[0, 1, 2, 0]).prize == 6
    with pytest.raises(InfeasibleTour):
        Scripted().solve(LINE, initial=[0, 1])


def test_solve_batch_seeds_by_place_and_reports() -> None:
    heard: list[tuple[int, int]] = []
    results = Scripted().solve_batch([LINE, LINE], seed=7, on_done=lambda done, total: heard.append((done, total)))
    assert [one.seed for one in results] == [7, 8]
    assert heard == [(1, 2), (2, 2)]
    assert all(isinstance(one, Result) for one in results)


@pytest.mark.parametrize("prizes", [[0, 1e-10, 5e-10, 2e-10], [0, 0, 1e13, 1]])
def test_nothing_is_proven_while_a_prize_is_missing(prizes: list[float]) -> None:
    """Neither where all prizes are tiny nor where one dwarfs the others."""
    run = Run(LINE.replace(prizes=prizes, limit=10), Never())
    assert not run.proven
    run.offer([0, 2, 0])
    assert not run.proven
    run.offer([0, 3, 2, 1, 0])
    assert run.proven


@pytest.mark.parametrize(("found", "bound"), [(6.000000000024, 6), (6.9, 6), (6.9999999999, 7), (7, 7), (math.inf, 8)])
def test_bounds_on_whole_prizes_are_whole(found: float, bound: float) -> None:
    """A root of branch and cut said 240.000000000024, and the gap was no zero."""
    run = Run(LINE, Never())
    run.offer([0, 1, 2, 0])
    run.tighten(found)
    result = run.result("none", 0, {})
    assert (result.bound, result.status) == (bound, "optimal" if bound == 6 else "stopped")


def test_other_bounds_stay_as_they_are() -> None:
    run = Run(LINE.replace(prizes=LINE.prizes / 2), Never())
    run.tighten(3.7)
    assert run.result("none", 0, {}).bound == 3.7
