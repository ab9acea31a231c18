"""Results: to JSON and back without loss."""

import dataclasses
import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer import Improvement, Instance, MaxSteps, MissingExtra, Plan, Result, Tour, check_plan, solve
from orienteer.model.result import Status

numbers = st.floats(0, 1e12, allow_nan=False)
EMPTY = Plan.of(Tour((0, 0), 0.0, 0.0))
tours = st.builds(Tour, st.lists(st.integers(0, 99), min_size=2).map(tuple), numbers, numbers)
results = st.builds(
    Result,
    plan=st.builds(Plan, st.lists(tours, min_size=1).map(tuple), numbers, numbers),
    status=st.sampled_from(["optimal", "stopped"]),
    seconds=numbers,
    steps=st.integers(0, 10**12),
    solver=st.text(max_size=9),
    seed=st.integers(0, 2**63),
    bound=numbers | st.just(math.inf),
    limit=numbers | st.none(),
    settings=st.dictionaries(st.text(max_size=5), st.integers() | numbers | st.text(max_size=5) | st.booleans()),
    trace=st.lists(st.builds(Improvement, numbers, st.integers(0, 99), numbers)).map(tuple),
    version=st.text(max_size=9),
)


@given(results)
def test_json_round_trip(result: Result) -> None:
    text = result.to_json()
    assert Result.from_json(text) == result
    assert "\n" not in text


@pytest.mark.parametrize("status", ["none found", "infeasible"])
def test_a_result_without_a_plan(status: Status) -> None:
    result = Result(None, status, 0.5, 3, "lns", 1, bound=7.0, limit=9.0)
    data = json.loads(result.to_json())
    assert (data["routes"], data["prize"], data["cost"]) == (None, None, None)
    assert "tour" not in data
    assert Result.from_json(result.to_json()) == result
    assert (result.prize, result.gap) == (-math.inf, math.inf)
    assert dataclasses.replace(result, bound=0.0).gap == math.inf
    for ask in ("found", "routes", "tour", "cost", "start", "end"):
        with pytest.raises(ValueError, match=f"there is no plan: {status}"):
            getattr(result, ask)


def test_a_status_must_agree_with_the_plan() -> None:
    found = Result(EMPTY, "stopped", 0.1, 1, "none", 0).to_dict()
    with pytest.raises(ValueError, match="a result with status 'infeasible' must not have a plan"):
        Result.from_dict({**found, "status": "infeasible"})
    missing = Result(None, "infeasible", 0.1, 1, "none", 0).to_dict()
    with pytest.raises(ValueError, match="a result with status 'optimal' must have a plan"):
        Result.from_dict({**missing, "status": "optimal"})


def test_old_files_hold_a_tour_alone() -> None:
    result = Result(Plan.of(Tour((0, 2, 1), 8.0, 3.0)), "stopped", 0.1, 1, "none", 0)
    old = result.to_dict()
    for key in ("routes", "limit", "start", "end", "alternatives"):
        del old[key]
    assert old["tour"] == [0, 2, 1]
    assert Result.from_dict(old) == result


def test_several_routes_in_json() -> None:
    """Each route has its names and times where the result knows its problem; the one key `tour` is left out."""
    instance = Instance([[0, 3], [2, 0]], [0, 1], 9, names=["home", "mill"], routes=2, windows={1: (5, 6)})
    plan = check_plan(instance, [[0, 1, 0], [0, 0]])
    result = Result(plan, "stopped", 0.1, 1, "none", 0, limit=9.0, instance=instance, alternatives=(plan,))
    data = json.loads(result.to_json())
    assert data["routes"] == [
        {
            "nodes": [0, 1, 0],
            "prize": 1.0,
            "cost": 7.0,
            "names": ["home", "mill", "home"],
            "stops": [
                {"node": 0, "arrive": 0.0, "wait": 0.0, "begin": 0.0, "leave": 0.0},
                {"node": 1, "arrive": 3.0, "wait": 2.0, "begin": 5.0, "leave": 5.0},
                {"node": 0, "arrive": 7.0, "wait": 0.0, "begin": 7.0, "leave": 7.0},
            ],
        },
        {
            "nodes": [0, 0],
            "prize": 0.0,
            "cost": 0.0,
            "names": ["home", "home"],
            "stops": [{"node": 0, "arrive": 0.0, "wait": 0.0, "begin": 0.0, "leave": 0.0}] * 2,
        },
    ]
    assert (data["prize"], data["cost"]) == (1.0, 7.0)
    assert "tour" not in data
    assert [route["nodes"] for route in data["alternatives"][0]["routes"]] == [[0, 1, 0], [0, 0]]
    assert Result.from_json(result.to_json()) == result
    assert [stop.name for stop in result.stops(route=1)] == ["home", "home"]
    with pytest.raises(ValueError, match="this plan has 2 routes, not one"):
        _ = result.tour


def test_an_unknown_bound_is_null_in_json() -> None:
    """Infinity is not JSON."""
    result = Result(EMPTY, "stopped", 0.1, 1, "none", 0)
    assert json.loads(result.to_json())["bound"] is None
    assert "Infinity" not in result.to_json()


def test_gap() -> None:
    result = Result(Plan.of(Tour((0, 0), 8.0, 0.0)), "stopped", 0.1, 1, "none", 0, bound=10.0)
    assert result.gap == pytest.approx(0.2)
    assert Result(EMPTY, "optimal", 0.1, 1, "none", 0, bound=0.0).gap == 0


def test_an_unknown_status_is_refused() -> None:
    data = Result(Plan.of(Tour((0, 0), 8.0, 0.0)), "stopped", 0.1, 1, "none", 0).to_dict()
    with pytest.raises(ValueError, match=r"status must be one of 'optimal', .*, got 'fine'"):
        Result.from_dict({**data, "status": "fine"})


TOWN = Instance([[0, 3], [2, 0]], [0, 1], 9, names=["home", "mill"])


def test_stops_know_the_instance_or_are_given_it() -> None:
    result = solve(TOWN, "enumerate")
    assert [stop.name for stop in result.stops()] == ["home", "mill", "home"]
    read = Result.from_json(result.to_json())
    assert read.stops(TOWN) == result.stops()
    with pytest.raises(ValueError, match="must be given the instance"):
        read.stops()


def test_a_frame_of_the_stops() -> None:
    pandas = pytest.importorskip("pandas")
    frame = solve(TOWN, "enumerate").to_frame()
    assert isinstance(frame, pandas.DataFrame)
    stops = ["place", "node", "name", "prize", "leg", "cost", "arrive", "wait", "begin", "leave"]
    assert list(frame.columns) == ["route", *stops]
    assert frame["cost"].tolist() == [0, 3, 5]
    assert frame["prize"].sum() == 1


def test_a_frame_has_all_routes() -> None:
    """Of a plan with several routes the frame had the first one, without a word."""
    pytest.importorskip("pandas")
    result = solve(TOWN.replace(routes=2), "lns", MaxSteps(50))
    assert result.to_frame()["route"].unique().tolist() == [0, 1]
    assert result.to_frame(route=1)["node"].tolist() == list(result.routes[1].nodes)


def test_without_pandas_the_pip_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"^to_frame needs an optional package: pip install pandas$"):
        solve(TOWN, "enumerate").to_frame()
