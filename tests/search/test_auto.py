"""The default method: what it picks, and that it is never worse than what it picks from."""

import numpy as np
import pytest

from orienteer import Instance, MaxSeconds, MaxSteps, MissingExtra, check_tour, solve
from orienteer.data.generate import generate
from orienteer.search import auto
from orienteer.search.auto import Auto, AutoConfig, is_crooked
from orienteer.search.registry import make_solver
from orienteer.search.stop import When


@pytest.mark.parametrize("costs", ["euclidean", "manhattan", "tmat", "road", "xasy"])
@pytest.mark.parametrize("n", [20, 150])
def test_only_costs_without_a_triangle_inequality_are_crooked(costs: str, n: int) -> None:
    for instance in generate(n, costs=costs, count=3, seed=1):
        assert is_crooked(instance) == (costs == "xasy")


def test_small_and_broken_networks_are_straight() -> None:
    far = np.full((4, 4), np.inf)
    far[0, :] = far[:, 0] = 1.0
    assert not is_crooked(Instance(far, [0, 1, 1, 1], 2.0))
    assert not is_crooked(Instance([[0.0]], [1.0], 1.0))


def test_a_free_end_makes_no_costs_crooked() -> None:
    for costs in ("euclidean", "xasy"):
        free = generate(40, costs=costs, seed=2)[0].replace(end=None)
        assert is_crooked(free.reduced) == (costs == "xasy")
    plain = solve(generate(20, seed=2)[0].replace(end=None), "auto", MaxSteps(2000))
    assert plain.settings["choice"] == "lns"


def test_straight_costs_get_what_the_neighbourhood_search_finds() -> None:
    instance = generate(30, seed=2)[0]
    own, other = (solve(instance, name, MaxSteps(3000), seed=1) for name in ("auto", "lns"))
    assert own.tour == other.tour
    assert own.settings["choice"] == "lns"


def test_crooked_costs_get_beams_first() -> None:
    for instance in generate(40, costs="xasy", count=3, seed=2):
        own = solve(instance, "auto", MaxSteps(4000), seed=1)
        assert own.settings["choice"] == "cs-p, lns"
        assert own.prize >= solve(instance, "cs-p").prize
        assert own.prize > solve(instance, "lns", MaxSteps(4000), seed=1).prize
        assert own.tour == solve(instance, "auto", MaxSteps(4000), seed=1).tour


def _with_hours(routes: int) -> Instance:
    """Fourteen places that open at random moments for a short time, so that no plan visits all of them."""
    plain = generate(14, seed=2)[0]
    opens = np.random.default_rng(2).uniform(0, 1.2, plain.size)
    windows = {node: (opens[node], opens[node] + 0.1) for node in range(1, plain.size)}
    return plain.replace(windows=windows, routes=routes, limit=2.0)


@pytest.mark.parametrize("routes", [1, 2, 3])
def test_labels_prove_plans_with_opening_hours(routes: int) -> None:
    """The proof ends the search long before its time is over, which the default method alone would use up."""
    pytest.importorskip("pyscipopt")
    instance = _with_hours(routes)
    own = solve(instance, "auto", MaxSeconds(600), seed=1)
    assert own.status == "optimal"
    assert own.settings["choice"] == "lns, exact"
    assert own.prize == pytest.approx(solve(instance, "exact").prize)


def test_labels_are_asked_only_where_seconds_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """With steps the same call finds the same plan on every machine, whether it has the extra or not."""
    monkeypatch.setattr(auto, "_prover", lambda: pytest.fail("labels were asked"))
    instance = _with_hours(2)
    for stop, settings in ((MaxSteps(3000), {}), (MaxSeconds(0.1), {}), (MaxSeconds(2), {"labels": False})):
        monkeypatch.setattr(Auto, "kernels", lambda self, instance: [])
        assert solve(instance, "auto", stop, seed=1, **settings).settings["choice"] == "lns"


def test_without_the_extra_the_neighbourhood_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, **settings: object) -> object:
        if name == "exact":
            raise MissingExtra("exact", "exact")
        return make_solver(name, **settings)

    monkeypatch.setattr(auto, "make_solver", missing)
    result = solve(_with_hours(2), "auto", MaxSeconds(2), seed=1)
    assert (result.status, result.settings["choice"]) == ("stopped", "lns")
    assert result.prize > 0


def test_long_routes_are_not_sought_by_labels() -> None:
    """A route with more stops than labels can tell apart in time."""
    nodes = auto.MOST_STOPS + 10
    costs = np.full((nodes, nodes), 0.01)
    np.fill_diagonal(costs, 0)
    windows = dict.fromkeys(range(1, nodes), (0.0, 100.0))
    instance = Instance(costs, np.arange(nodes) % 7, 0.01 * (nodes - 3), windows=windows)
    result = solve(instance, "auto", MaxSeconds(2), seed=1)
    assert result.settings["choice"] == "lns"


def test_a_given_route_is_never_lost() -> None:
    for costs in ("euclidean", "xasy"):
        instance = generate(25, costs=costs, seed=3)[0]
        good = solve(instance, "auto", MaxSteps(4000)).tour
        assert solve(instance, "auto", MaxSteps(0), initial=good.nodes).tour == good


def test_batches_on_a_gpu_go_through_the_learned_search() -> None:
    """What a batch on a GPU goes through, here on the CPU."""
    instances = list(generate(15, count=3, seed=4))
    learned = make_solver("cs-l", device="cpu").solve_batch(instances)
    told: list[int] = []
    plain = Auto(AutoConfig("cpu")).solve_together(instances, on_done=lambda done, total: told.append(done))
    assert [one.tour for one in plain] == [one.tour for one in learned]
    assert {(one.solver, one.settings["choice"]) for one in plain} == {("auto", "cs-l")}
    assert told[-1] == 3
    endless = Auto(AutoConfig("cpu")).solve_together(instances, When(lambda now: False))
    assert [one.tour for one in endless] == [one.tour for one in learned], "nothing would ever end a search of each"
    mended = Auto(AutoConfig("cpu")).solve_together(instances, MaxSteps(500), seed=5)
    for instance, one, before in zip(instances, mended, learned, strict=True):
        assert check_tour(instance, one.tour.nodes) == one.tour
        assert one.prize >= before.prize
        assert one.steps <= 500
    assert mended[0].settings["choice"] == "cs-l, lns"
