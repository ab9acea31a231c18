"""`orienteer.solve` and `solve_batch`: the forms of their arguments."""

import json
import math

import numpy as np
import pytest

from command_line import TOWN
from orienteer import BadFile, MaxSteps, Unsupported, check_tour, solve, solve_batch
from orienteer.data.files import read_tour, write, write_set, write_tour
from orienteer.model.rules import FEATURES
from orienteer.search.registry import solver_class
from own_solvers import ThereAndBack, ThereAndBackConfig
from plan_oracle import random_instance


def test_numbers_of_numpy_leave_results_that_can_be_written(tmp_path):
    result = solve(TOWN, "cs-p", seed=np.int64(3), beam=np.int64(5), tau=np.float32(1))
    write_tour(result, tmp_path / "it.json")
    told = json.loads((tmp_path / "it.json").read_text())
    assert (told["seed"], told["settings"]["beam"], told["settings"]["tau"]) == (3, 5, 1.0)
    assert read_tour(tmp_path / "it.json") == list(result.tour.nodes)


@pytest.mark.parametrize(("seed", "message"), [(None, "whole number"), (1.5, "whole number"), (-1, "not be negative")])
def test_other_seeds_are_refused(seed, message):
    with pytest.raises(ValueError, match=f"seed must.*{message}"):
        solve(TOWN, "lns", MaxSteps(1), seed=seed)
    with pytest.raises(ValueError, match=f"seed must.*{message}"):
        solve_batch([TOWN], "lns", MaxSteps(1), seed=seed)


def test_a_result_or_its_tour_can_be_gone_on_from():
    best = solve(TOWN, "enumerate")
    for initial in (best, best.tour, best.tour.nodes):
        assert solve(TOWN, "random", MaxSteps(1), initial=initial).prize == best.prize


def test_a_batch_may_come_from_a_generator():
    results = solve_batch((one for one in (TOWN, TOWN)), "cs-p")
    assert [result.prize for result in results] == [solve(TOWN, "cs-p").prize] * 2


def test_a_solver_is_a_name_a_path_a_class_or_an_object():
    for solver in ("own_solvers:ThereAndBack", ThereAndBack, ThereAndBack(ThereAndBackConfig())):
        result = solve(TOWN, solver)
        assert (result.solver, result.tour.nodes) == ("there-and-back", (0, 1, 0))
        assert [one.tour.nodes for one in solve_batch([TOWN, TOWN], solver)] == [(0, 1, 0)] * 2
    for solver in ("own_solvers:ThereAndBack", ThereAndBack):
        assert solve(TOWN, solver, node=3).tour.nodes == (0, 3, 0)
    assert solve(TOWN, ThereAndBack(ThereAndBackConfig(node=2))).tour.nodes == (0, 2, 0)


@pytest.mark.parametrize(
    ("solver", "settings", "message"),
    [
        ("nobody", {}, "solver must be one of auto, lns, .*, got 'nobody'"),
        (
            "no_such_module:Own",
            {},
            "'no_such_module:Own' cannot be imported: ModuleNotFoundError: No module",
        ),
        ("own_solvers:Absent", {}, "cannot be imported: AttributeError: .* no attribute 'Absent'"),
        ("own_solvers:NUMBER", {}, "'own_solvers:NUMBER' must be a subclass of .*Solver, got 3"),
        ("own_solvers:Nameless", {}, "'own_solvers:Nameless' must define name"),
        ("own_solvers:Idle", {}, "'own_solvers:Idle' must define search"),
        (3, {}, "solver must be a name, a subclass of Solver or an object of one, got 3"),
        (dict, {}, "solver must be a name, a subclass of Solver or an object of one, got <class 'dict'>"),
        (ThereAndBack, {"beam": 3}, "there-and-back has no setting 'beam'; it has node"),
        (
            "auto",
            {"seconds": 1},
            r"auto has no setting 'seconds'; it has device, threads, labels; write stop=MaxSeconds\(1\)",
        ),
        ("auto", {"time_limit": 5}, r"auto has no setting 'time_limit'; .*; write stop=MaxSeconds\(5\)"),
        ("lns", {"steps": 9}, r"lns has no setting 'steps'; it has .*; write stop=MaxSteps\(9\)"),
        (ThereAndBack(), {"node": 2}, "an object of there-and-back has its settings already, got node too"),
    ],
)
def test_other_solvers_are_refused(solver, settings, message):
    with pytest.raises(ValueError, match=message):
        solve(TOWN, solver, **settings)
    with pytest.raises(ValueError, match=message):
        solve_batch([TOWN], solver, **settings)


@pytest.mark.parametrize("stop", [None, MaxSteps(1000)])
def test_a_cancelled_search_ends_with_its_best_route(stop):
    heard = []
    result = solve(TOWN, "enumerate", stop, on_progress=heard.append, cancelled=lambda: len(heard) == 3)
    assert len(heard) == 3
    assert result.status == "stopped"
    assert check_tour(TOWN, result.tour.nodes) == result.tour


def test_a_cancelled_search_is_not_proven_either():
    heard = []
    result = solve(TOWN, "random", on_progress=heard.append, prove=True, cancelled=lambda: True)
    assert (result.status, result.steps) == ("stopped", 0)


def test_a_bound_that_nobody_knows_is_refused_before_the_search():
    """It was refused after the search, whose plan was lost."""
    instance = random_instance(np.random.default_rng(1), FEATURES)
    known = frozenset(FEATURES) <= solver_class("exact").handles

    def never(now):
        pytest.fail("a search began")

    for option in () if known else ({"bound": True}, {"prove": True}):
        with pytest.raises(Unsupported, match=r"^exact has no "):
            solve(instance, "lns", never, **option)


def test_listeners_hear_how_much_of_the_allowance_is_used():
    heard = []
    solve(TOWN, "enumerate", MaxSteps(4), on_progress=heard.append)
    assert [now.fraction for now in heard] == [0, 0.25, 0.5, 0.75, 1]
    heard.clear()
    solve(TOWN, "tsili", on_progress=heard.append)
    assert all(math.isnan(now.fraction) for now in heard)


def test_a_file_is_as_good_as_its_problem(tmp_path):
    write(TOWN, tmp_path / "town.json")
    write_set([TOWN, TOWN], tmp_path / "town.npz")
    result = solve(tmp_path / "town.json", "enumerate")
    assert (result.instance, result.prize, result.limit) == (TOWN, 6, 13)
    assert solve(str(tmp_path / "town.json"), "enumerate").tour == result.tour
    assert [one.prize for one in solve_batch(tmp_path / "town.npz", "enumerate")] == [6, 6]
    with pytest.raises(BadFile, match=r"none.csv: cannot be read"):
        solve("none.csv")


def test_limit_start_and_end_stand_above_the_problem(tmp_path):
    (tmp_path / "points.csv").write_text("name,x,y,prize\nhome,0,0,0\nmill,3,0,1\npond,3,4,2\n")
    with pytest.raises(BadFile, match="the file holds no limit"):
        solve(tmp_path / "points.csv", "enumerate")
    result = solve(tmp_path / "points.csv", "enumerate", limit=4, start="mill", end="pond")
    assert (result.limit, result.start, result.end, result.prize) == (4, 1, 2, 3)
    assert solve(TOWN, "enumerate", limit=14).prize == 7.5
    assert solve(TOWN, "enumerate", limit=3, end=1).tour.nodes == (0, 1)
    assert TOWN.limit == 13
