"""The problem: what is refused and how, what never changes, what can be reached."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import shortest, small_instances
from orienteer import Budget, Instance, InvalidInstance, Route, check_tour
from orienteer.model.instance import distances

SQUARE = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]
NAN, INF = math.nan, math.inf

GOOD = {"costs": SQUARE, "prizes": [0.0, 1.0, 2.0], "limit": 9.0}

BAD = {
    "empty": ({"costs": np.zeros((0, 0)), "prizes": []}, "prizes is empty: a problem needs at least one node"),
    "prizes not a list": ({"prizes": 3.0}, "prizes must have 1 dimension(s), got shape ()"),
    "prizes as texts": ({"prizes": ["a", "b", "c"]}, "prizes must hold real numbers, got values of type <U1"),
    "prizes as complex": ({"prizes": [1j, 0, 0]}, "prizes must hold real numbers, got values of type complex128"),
    "prizes as truth": ({"prizes": [True, False, True]}, "prizes must hold real numbers, got values of type bool"),
    "prizes missing": ({"prizes": None}, "prizes must hold real numbers, got values of type object"),
    "prize NaN": ({"prizes": [0, NAN, 2]}, "prizes[1] is not a number (NaN), got nan"),
    "prize negative": ({"prizes": [0, 1, -2.5]}, "prizes[2] must not be negative, got -2.5"),
    "prize infinite": ({"prizes": [INF, 1, 2]}, "prizes[0] must be finite, got inf"),
    "prizes too few": ({"prizes": [0, 1]}, "prizes must have one value for each of the 3 nodes of costs, got 2"),
    "costs flat": ({"costs": [0, 1, 2]}, "costs must have 2 dimension(s), got shape (3,)"),
    "costs ragged": ({"costs": [[0, 1, 2], [1, 0]]}, "costs is ragged: its rows differ in length"),
    "costs oblong": ({"costs": [[0, 1], [1, 0], [2, 2]]}, "costs must be a square matrix, got shape (3, 2)"),
    "cost NaN": ({"costs": [[0, 1, 2], [1, 0, NAN], [1, 1, 0]]}, "costs[1, 2] is not a number (NaN), got nan"),
    "cost negative": ({"costs": [[0, 1, 2], [1, 0, 1], [-4, 1, 0]]}, "costs[2, 0] must not be negative, got -4"),
    "cost huge": (
        {"costs": [[0, 2**53 + 1, 1], [1, 0, 1], [1, 1, 0]]},
        "costs holds an integer beyond 2**53, which a float would round",
    ),
    "limit text": ({"limit": "far"}, "limit must be a number, got 'far'"),
    "limit digits": ({"limit": "9"}, "limit must be a number, got '9'"),
    "limit truth": ({"limit": True}, "limit must be a number, got True"),
    "limit rounded": ({"limit": 2**53 + 1}, "limit is an integer that a float would round: 9007199254740993"),
    "limit huge integer": ({"limit": 10**400}, "limit must be finite, got an integer beyond all floats"),
    "limit near overflow": (
        {"limit": 1.7e308},
        "limit must be at most 1e+303, so that sums of costs stay finite, got 1.7e+308",
    ),
    "prizes overflow": ({"prizes": [0, 1e308, 1e308]}, "prizes must add up to at most 1e+303, got inf"),
    "limit missing": ({"limit": None}, "limit must be a number, got None"),
    "limit zero": ({"limit": 0}, "limit must be positive and finite, got 0"),
    "limit negative": ({"limit": -1}, "limit must be positive and finite, got -1"),
    "limit NaN": ({"limit": NAN}, "limit must be positive and finite, got nan"),
    "limit infinite": ({"limit": INF}, "limit must be positive and finite, got inf"),
    "limit too low": ({"limit": 3.5, "end": 2}, "limit 3.5 is below 4, the cheapest way from start 0 to end 2"),
    "no way at all": (
        {"costs": [[0, INF, INF], [1, 0, 1], [1, 1, 0]], "end": 1},
        "limit 9 is below inf, the cheapest way from start 0 to end 1",
    ),
    "start beyond": ({"start": 3}, "start must be a node from 0 to 2, got 3"),
    "start negative": ({"start": -1}, "start must be a node from 0 to 2, got -1"),
    "start fraction": ({"start": 1.0}, "start must be a whole number or a name, got 1.0"),
    "end beyond": ({"end": 17}, "end must be a node from 0 to 2, got 17"),
    "end text": ({"end": "1"}, "end must be a node's number where nodes have no names, got '1'"),
    "start misspelt": (
        {"start": "staton", "names": ["Station", "Park", "Zoo"]},
        "start: no place is called 'staton'; did you mean 'Station'?",
    ),
    "end unknown": ({"end": "x", "names": ["Station", "Park", "Zoo"]}, "end: no place is called 'x'"),
    "coords too few": ({"coords": [[0, 0], [1, 1]]}, "coords must have shape (3, 2), got (2, 2)"),
    "coords in space": ({"coords": np.zeros((3, 3))}, "coords must have shape (3, 2), got (3, 3)"),
    "coords endless": ({"coords": [[0, 0], [1, INF], [2, 2]]}, "coords[1, 1] must be finite, got inf"),
    "names too few": ({"names": ["a", "b"]}, "names must have one text for each of the 3 nodes, got 2"),
    "names twice": ({"names": ["a", "b", "a"]}, "names[2] repeats names[0]: 'a'"),
    "names as numbers": ({"names": ["a", 5, "c"]}, "names[1] must be a text, got 5"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_wrong_input_has_its_own_message(changes: dict, message: str) -> None:
    with pytest.raises(InvalidInstance) as caught:
        Instance(**{**GOOD, **changes})
    assert str(caught.value) == message


def test_no_two_messages_are_the_same() -> None:
    messages = [message for _, message in BAD.values()]
    assert len(set(messages)) == len(messages)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double on this machine")
def test_numbers_that_would_be_rounded_are_refused() -> None:
    with pytest.raises(InvalidInstance, match="which float64 would round"):
        Instance(SQUARE, np.ones(3, dtype=np.longdouble), 9)


def test_invalid_instance_is_a_value_error() -> None:
    assert issubclass(InvalidInstance, ValueError)


def test_fields_cannot_be_set() -> None:
    instance = Instance(**GOOD)
    for field in dataclasses.fields(instance):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(instance, field.name, None)


@pytest.mark.parametrize("field", ["costs", "prizes", "coords", "to_end", "from_start", "reachable"])
def test_arrays_cannot_be_written(field: str) -> None:
    instance = Instance(**GOOD, coords=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        getattr(instance, field)[0] = 1


def test_the_callers_arrays_stay_theirs() -> None:
    costs, prizes, coords = np.array(SQUARE), np.array([0.0, 1.0, 2.0]), np.zeros((3, 2))
    instance = Instance(costs, prizes, 9, coords=coords)
    costs[0, 1], prizes[1], coords[0, 0] = 7, 7, 7
    assert instance.costs[0, 1] == 3
    assert instance.prizes[1] == 1
    assert instance.coords is not None
    assert instance.coords[0, 0] == 0


def test_integers_and_single_precision_keep_their_value() -> None:
    single = np.array(SQUARE, dtype=np.float32) + np.float32(0.1)
    np.testing.assert_array_equal(Instance(single, [1, 2, 3], 20).costs, single.astype(np.float64))
    assert Instance([[0, 2**53], [1, 0]], [0, 1], 9).costs[0, 1] == 2**53


def test_numpy_scalars_are_welcome() -> None:
    instance = Instance(SQUARE, [0, 1, 2], np.float32(9), start=np.int64(1), end=np.uint8(2))
    assert (instance.limit, instance.start, instance.end) == (9.0, 1, 2)
    assert type(instance.start) is int
    assert type(instance.limit) is float


def test_replace_checks_anew() -> None:
    instance = Instance(**GOOD)
    assert instance.replace(limit=20).limit == 20
    assert instance.limit == 9
    with pytest.raises(InvalidInstance, match="limit must be positive"):
        instance.replace(limit=-1)


def test_equality_compares_every_field() -> None:
    instance = Instance(**GOOD, names=("a", "b", "c"))
    assert instance == Instance(**GOOD, names=["a", "b", "c"])
    assert hash(instance) == hash(Instance(**GOOD, names=["a", "b", "c"]))
    for change in ({"limit": 8.0}, {"end": 1}, {"names": None}, {"prizes": [0, 1, 3]}, {"coords": np.zeros((3, 2))}):
        assert instance != instance.replace(**change)
    assert instance != "an instance"


def test_pickle_round_trip() -> None:
    instance = Instance(**GOOD, coords=np.ones((3, 2)))
    assert pickle.loads(pickle.dumps(instance)) == instance


def test_repr_is_short() -> None:
    assert repr(Instance(**GOOD)) == "Instance(size=3, limit=9, start=0, end=0)"
    assert repr(planned()) == (
        "Instance(size=6, limit=20, start=0, end=0, routes=2, service=2, required=1, windows=2, groups=1, budgets=1)"
    )


CHANGES: dict[str, object] = {
    "service": [0, 2, 2, 0, 0, 0],
    "required": [2],
    "windows": {1: (3, 9), 2: (1, 8)},
    "routes": 2,
    "groups": [[1, 2], [2, 3]],
    "budgets": [Budget("fees", {1: 2, 3: 2}, 4)],
    "end": None,
    "limit": 15,
}


def planned(**changes: object) -> Instance:
    """A problem with every rule."""
    rules: dict[str, object] = {
        "service": [0, 2, 1, 0, 0, 0],
        "required": [1],
        "windows": {1: [(3, 4), (6, 9)], 2: (1, 8)},
        "routes": [Route(0, 0, 2), Route(5, None, 7, 9)],
        "groups": [[2, 3]],
        "budgets": [Budget("fees", {1: 2, 3: 1}, 4)],
    }
    costs = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    return Instance(costs, np.arange(6.0), 20, **{**rules, **changes})  # type: ignore[arg-type]


def test_a_problem_with_rules_is_equal_to_one_that_was_made_alike() -> None:
    assert planned() == planned()
    assert hash(planned()) == hash(planned())
    assert planned().replace() == planned()
    assert planned().features == {"service", "required", "windows", "routes", "groups", "budgets", "free end"}


@pytest.mark.parametrize("field", CHANGES)
def test_each_rule_counts_for_equality_and_survives(field: str) -> None:
    changed = planned().replace(**{field: CHANGES[field]})
    assert changed != planned()
    assert changed == planned().replace(**{field: CHANGES[field]})
    again = pickle.loads(pickle.dumps(changed))
    assert again == changed
    assert hash(again) == hash(changed)
    assert again.features == changed.features
    for other in set(CHANGES) - {field, "end", "limit", "routes"}:
        np.testing.assert_equal(getattr(changed, other), getattr(planned(), other))


def test_a_limit_a_start_or_an_end_becomes_that_of_every_route() -> None:
    """Routes keep their own limits, so a limit given to `replace` or to `solve` was silently ignored."""
    assert [route.limit for route in planned().replace(limit=5).each_route] == [5, 5]
    assert planned().replace(limit=5).limit == 5
    moved = planned().replace(start=3, end=3, groups=())
    assert [(route.start, route.end, route.opens) for route in moved.each_route] == [(3, 3, 2), (3, 3, 7)]
    assert planned().replace(limit=5, routes=[Route(limit=7), Route()]).each_route[1].limit == 5


def test_a_new_start_takes_no_time() -> None:
    """Somebody who is at a place now was told that its visit time must be 0 at a start."""
    moved = planned(groups=()).replace(routes=[Route(1, 0, 5)])
    assert moved.service is not None
    assert moved.windows is not None
    assert list(moved.service) == [0, 0, 1, 0, 0, 0]
    assert moved.windows[1:3] == (None, ((1, 8),))
    assert planned(groups=()).replace(start=1, end=1).service is not None
    with pytest.raises(InvalidInstance, match=r"service\[1\] must be 0"):
        planned().replace(start=1, service=[0, 2, 0, 0, 0, 0])


def test_rules_by_name_and_from_arrays() -> None:
    names = ["home", "a", "b", "c", "d", "hotel"]
    named = planned(
        names=names,
        required=["a"],
        windows={"a": [(3, 4), (6, 9)], "b": np.array([1, 8])},
        routes=[Route("home", "home", 2), Route("hotel", None, 7, 9)],
        groups=np.array([["b", "c"]]).tolist(),
        budgets=[Budget("fees", {"a": 2, "c": 1}, 4)],
    )
    assert named.replace(names=None) == planned()
    assert planned(required=np.array([1]), groups=np.array([[2, 3]])) == planned()
    with pytest.raises(InvalidInstance, match=r"required\[0\]: no place is called 'hotle'; did you"):
        named.replace(required=["hotle"])


def test_a_turned_problem_turned_again() -> None:
    instance = planned(routes=[Route(0, 5, 2), Route(5, 0, 7, 9)])
    assert instance.turned() != instance
    assert instance.turned().routes == (Route(5, 0, 2, 20), Route(0, 5, 8, 9))
    assert instance.turned().turned() == instance
    late = Instance(SQUARE, [0, 1, 2], 9, routes=[Route(0, 1, 7.0)])
    assert late.turned().each_route == (Route(1, 0, 7.0, 9.0),)


def test_from_coords() -> None:
    instance = Instance.from_coords([[0, 0], [3, 4], [3, 0]], [0, 1, 1], 20, end=1, names=["a", "b", "c"])
    np.testing.assert_allclose(instance.costs, [[0, 5, 3], [5, 0, 4], [3, 4, 0]])
    assert instance.names == ("a", "b", "c")
    assert instance.symmetric
    manhattan = Instance.from_coords([[0, 0], [3, 4]], [0, 1], 20, metric="manhattan")
    assert manhattan.costs[0, 1] == 7


@pytest.mark.parametrize("size", [2, 3001])
def test_from_coords_on_earth(size: int) -> None:
    """Great circles were once known only beyond the 3,000 points that a table of costs holds."""
    points = [[8.68 + place / size, 50.11] for place in range(size)]
    instance = Instance.from_coords(points, np.ones(size), 1e6, metric="great_circle")
    assert instance.on_earth
    degree = np.cos(np.radians(50.11)) * 111_195 / size
    assert instance.costs[0, 1] == pytest.approx(degree, rel=1e-3)


def test_from_coords_refuses_other_metrics_and_shapes() -> None:
    with pytest.raises(ValueError, match="metric must be one of euclidean, manhattan, great_circle, got 'taxi'"):
        Instance.from_coords([[0, 0]], [1], 1, metric="taxi")
    with pytest.raises(InvalidInstance, match=r"coords must have shape \(2, 2\), got \(2, 3\)"):
        Instance.from_coords(np.zeros((2, 3)), [0, 1], 1)


def test_distances_of_a_batch() -> None:
    points = np.random.default_rng(0).random((4, 5, 2))
    together = distances(points)
    assert together.shape == (4, 5, 5)
    for row in range(4):
        np.testing.assert_array_equal(together[row], distances(points[row]))


@given(small_instances(max_size=7))
def test_cheapest_ways_agree_with_floyd_and_warshall(instance: Instance) -> None:
    cheapest = shortest(instance.costs)
    np.testing.assert_allclose(instance.to_end, cheapest[:, instance.end], rtol=1e-12)
    np.testing.assert_allclose(instance.from_start, cheapest[instance.start], rtol=1e-12)


@given(small_instances(max_size=7))
def test_cheapest_route_is_a_route_of_that_cost(instance: Instance) -> None:
    tour = check_tour(instance, instance.cheapest_route())
    assert tour.cost == pytest.approx(instance.to_end[instance.start], rel=1e-12)


@given(small_instances(max_size=5))
def test_no_route_visits_an_unreachable_node(instance: Instance) -> None:
    inner = [node for node in range(instance.size) if node not in (instance.start, instance.end)]
    for count in range(len(inner) + 1):
        for order in itertools.permutations(inner, count):
            route = [instance.start, *order, instance.end]
            legs = [instance.costs[a, b] for a, b in itertools.pairwise(route) if a != b]
            if sum(legs) <= instance.limit:
                assert instance.reachable[route].all()


@given(st.integers(1, 8), st.integers(0, 99))
def test_a_way_through_others_counts_as_reachable(size: int, seed: int) -> None:
    """A line of nodes whose direct arcs are missing: only neighbours are joined."""
    costs = np.full((size, size), np.inf)
    for node in range(size - 1):
        costs[node, node + 1] = 1.0
    start = seed % size
    instance = Instance(costs, np.ones(size), max(size, 1), start, size - 1)
    np.testing.assert_array_equal(instance.reachable, np.arange(size) >= start)
    assert instance.cheapest_route()[-1] == size - 1


def test_start_and_end_by_name() -> None:
    town = Instance(SQUARE, [0, 1, 2], 9, start="Zoo", end="Station", names=["Station", "Park", "Zoo"])
    assert (town.start, town.end) == (2, 0)
    assert town.replace(end="Park") == Instance(SQUARE, [0, 1, 2], 9, 2, 1, names=["Station", "Park", "Zoo"])
    points = Instance.from_coords([[0, 0], [1, 0]], [0, 1], 2, start="1", end="1", names=["1", "0"])
    assert (points.start, points.end) == (0, 0)  # a text is a name, even where it looks like a number


def test_asymmetry_is_noticed() -> None:
    assert not Instance([[0, 1], [2, 0]], [0, 1], 5).symmetric
    assert Instance([[0, INF], [INF, 0]], [0, 1], 5).symmetric


def test_points_too_far_apart_are_refused():
    """An overflowing distance would read as "no way" between two places that have one."""
    with pytest.raises(InvalidInstance, match=r"coords are too far apart: the distance from 0 to 2 overflows"):
        Instance.from_coords([[0, 0], [1, 1], [1e200, 0]], [0, 1, 1], 5.0)
