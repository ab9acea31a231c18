"""The judge: each rule, the tolerance at its edge, prizes and costs by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import small_instances
from orienteer import InfeasibleTour, Instance, check_tour
from orienteer.model.tour import route_cost

INF = float("inf")
COSTS = [
    [0, 1, 4, 9],
    [2, 0, 1, 9],
    [1, 5, 0, INF],
    [9, 9, 1, 0],
]
ROUND = Instance(COSTS, [5, 1, 2, 4], 10)
PATH = ROUND.replace(end=2)


def test_prize_and_cost_by_hand() -> None:
    tour = check_tour(ROUND, [0, 1, 2, 0])
    assert (tour.nodes, tour.prize, tour.cost) == ((0, 1, 2, 0), 8, 3)
    assert len(tour) == 4
    tour = check_tour(PATH, [0, 1, 2])
    assert (tour.prize, tour.cost) == (8, 2)


def test_standing_still_costs_nothing() -> None:
    instance = Instance([[7.0]], [3], 1)
    tour = check_tour(instance, [0, 0])
    assert (tour.nodes, tour.prize, tour.cost) == ((0, 0), 3, 0)
    assert route_cost(instance, [0, 0]) == 0


BROKEN = {
    "nothing": (ROUND, [], "a route needs its start and its end, got 0 node(s)"),
    "one node": (ROUND, [0], "a route needs its start and its end, got 1 node(s)"),
    "beyond": (ROUND, [0, 4, 0], "stop 1: there is no node 4 among 4"),
    "negative": (ROUND, [0, -1, 0], "stop 1: there is no node -1 among 4"),
    "wrong start": (ROUND, [1, 2, 0], "the route begins at node 1, not at the start 0"),
    "wrong end": (ROUND, [0, 1, 2], "the route stops at node 2, not at the end 0"),
    "twice": (ROUND, [0, 1, 2, 1, 0], "stop 3: node 1 is visited twice"),
    "start inside": (ROUND, [0, 1, 0, 0], "stop 2: node 0 is visited twice"),
    "end inside": (PATH, [0, 2, 1, 2], "stop 1: node 2 is visited twice"),
    "no such arc": (ROUND, [0, 2, 3, 0], "the route costs inf, more than the limit 10, by inf"),
    "too dear": (ROUND, [0, 2, 1, 0], "the route costs 11, more than the limit 10, by 1"),
}


@pytest.mark.parametrize(("instance", "nodes", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_each_rule_has_its_message(instance: Instance, nodes: list[int], message: str) -> None:
    with pytest.raises(InfeasibleTour) as caught:
        check_tour(instance, nodes)
    assert str(caught.value) == message


def test_numpy_nodes_become_plain_numbers() -> None:
    tour = check_tour(ROUND, np.array([0, 1, 2, 0], dtype=np.int32))
    assert all(type(node) is int for node in tour.nodes)


@pytest.mark.parametrize("limit", [1e-6, 1.0, 3.7, 1e9])
def test_the_tolerance_at_its_edge(limit: float) -> None:
    """A cost at limit * (1 + 1e-9) still fits, the next number up does not."""
    edge = limit * (1 + 1e-9)
    beyond = float(np.nextafter(edge, INF))
    out_and_back = Instance([[0, edge], [0, 0]], [0, 1], limit)
    assert check_tour(out_and_back, [0, 1, 0]).cost == edge
    with pytest.raises(InfeasibleTour, match="more than the limit"):
        check_tour(out_and_back.replace(costs=[[0, beyond], [0, 0]]), [0, 1, 0])


@given(small_instances(max_size=6), st.randoms(use_true_random=False))
def test_judge_agrees_with_a_second_opinion(instance: Instance, random: object) -> None:
    nodes = list(range(instance.size))
    random.shuffle(nodes)  # type: ignore[attr-defined]
    inner = [node for node in nodes if node not in (instance.start, instance.end)]
    for count in range(len(inner) + 1):
        route = [instance.start, *inner[:count], instance.end]
        cost = sum(instance.costs[a, b] for a, b in itertools.pairwise(route) if a != b)
        if cost <= instance.limit * (1 + 1e-9):
            tour = check_tour(instance, route)
            assert tour.cost == cost
            assert tour.prize == pytest.approx(sum(instance.prizes[v] for v in set(route)))
        else:
            with pytest.raises(InfeasibleTour):
                check_tour(instance, route)


@pytest.mark.parametrize("node", [1.9, 1.0, "1", None, INF])
def test_only_whole_numbers_are_nodes(node: object) -> None:
    with pytest.raises(InfeasibleTour, match="stop 1 must be a node's number"):
        check_tour(ROUND, [0, node, 0])  # type: ignore[list-item]


def test_stops_by_hand() -> None:
    town = Instance([[0, 3, 9], [2, 0, 4], [5, 9, 0]], prizes=[7, 1, 2], limit=12, names=["home", "mill", "pond"])
    tour = check_tour(town, [0, 1, 2, 0])
    assert tour.stops(town) == [
        (0, 0, "home", 7, 0, 0, 0, 0, 0, 0),
        (1, 1, "mill", 1, 3, 3, 3, 0, 3, 3),
        (2, 2, "pond", 2, 4, 7, 7, 0, 7, 7),
        (3, 0, "home", 0, 5, 12, 12, 0, 12, 12),
    ]
    open_town = town.replace(end=2, names=None)
    stops = check_tour(open_town, [0, 2]).stops(open_town)
    assert [(stop.name, stop.prize, stop.cost) for stop in stops] == [(None, 7, 0), (None, 2, 9)]


def test_the_empty_round_trip_has_two_stops() -> None:
    alone = Instance([[5.0]], [3], 1)
    assert [(stop.prize, stop.leg) for stop in check_tour(alone, [0, 0]).stops(alone)] == [(3, 0), (0, 0)]
