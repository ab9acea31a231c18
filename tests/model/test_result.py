"""Results: to JSON and back without loss."""

import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orienteer import Improvement, Instance, MissingExtra, Plan, Result, Tour, solve

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
    assert list(frame.columns) == ["place", "node", "name", "prize", "leg", "cost", "arrive", "wait", "begin", "leave"]
    assert frame["cost"].tolist() == [0, 3, 5]
    assert frame["prize"].sum() == 1


def test_without_pandas_the_pip_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"^to_frame needs an optional package: pip install pandas$"):
        solve(TOWN, "enumerate").to_frame()
