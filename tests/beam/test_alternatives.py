"""Alternatives: good, valid, sorted, and different from one another."""

import itertools

import pytest

from orienteer import check_tour, solve, solve_batch
from orienteer.data.generate import generate
from orienteer.model.result import Result


@pytest.mark.parametrize("costs", ["euclidean", "xasy"])
@pytest.mark.parametrize("separate_end", [False, True])
def test_alternatives_are_routes_that_differ_in_a_quarter_of_their_nodes(costs: str, separate_end: bool) -> None:
    for instance in generate(25, "uniform", costs, count=3, seed=3, separate_end=separate_end):
        result = solve(instance, "cs-p", alternatives=4)
        routes = [result.tour, *result.alternatives]
        assert 2 <= len(routes) <= 4
        for tour in routes:
            assert check_tour(instance, tour.nodes) == tour
        prizes = [tour.prize for tour in routes]
        assert prizes == sorted(prizes, reverse=True)
        ends = {instance.start, instance.end}
        for one, other in itertools.permutations(routes, 2):
            nodes = set(one.nodes) - ends
            assert len(nodes - set(other.nodes)) >= len(nodes) / 4


def test_alternatives_are_whole_routes() -> None:
    """The first of them is not a beginning of a route with half of the limit left."""
    for instance in generate(50, "uniform", "euclidean", count=2, seed=7):
        result = solve(instance, "cs-p", alternatives=2, beam=4)
        (other,) = result.alternatives
        assert result.prize >= other.prize > 0.5 * result.prize
        assert other.cost > 0.8 * instance.limit


def test_the_best_is_the_same_with_and_without_alternatives() -> None:
    instances = list(generate(15, count=4, seed=1))
    plain, several = (solve_batch(instances, "cs-p", alternatives=count) for count in (1, 3))
    assert [one.tour for one in plain] == [one.tour for one in several]
    assert all(one.alternatives == () for one in plain)
    assert any(one.alternatives for one in several)
    for one, alone in zip(several, (solve(instance, "cs-p", alternatives=3) for instance in instances), strict=True):
        assert one.alternatives == alone.alternatives


def test_results_carry_them_to_json_and_back() -> None:
    result = solve(generate(20, seed=1)[0], "cs-p", alternatives=3)
    assert Result.from_json(result.to_json()) == result
    assert len(result.to_dict()["alternatives"]) == len(result.alternatives) > 0


def test_at_least_one_route_is_asked_for() -> None:
    with pytest.raises(ValueError, match="alternatives must be at least 1, got 0"):
        solve(generate(5)[0], "cs-p", alternatives=0)
