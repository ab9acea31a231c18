"""What labels leave out for good, and every phase of a proof by labels, against the enumeration of all routes."""

import itertools

import numpy as np
import pytest

from orienteer import Instance, check_plan, solve
from orienteer.exact.labels import single, ways
from orienteer.exact.labels.choice import Choice
from orienteer.exact.labels.columns import Column, ManyRoutes
from orienteer.exact.labels.graph import side_of
from orienteer.exact.labels.single import OneRoute
from orienteer.exact.solve import FEW_LABELS
from orienteer.model.errors import InfeasibleTour
from orienteer.search.run import Run
from orienteer.search.stop import MaxSteps, Never, Stop
from plan_oracle import best_plan, random_instance, subsets

CHOICES = ("service", "free end", "required", "groups", "budgets")
RULES = [("windows", *more) for more in subsets(CHOICES)]


def all_routes(instance: Instance) -> list[tuple[float, list[int]]]:
    """The prize and the places, as labels number them, of every route that the judge accepts."""
    side = side_of(instance, 0)
    found = []
    for count in range(len(side.places) + 1):
        for path in itertools.permutations(range(1, len(side.places) + 1), count):
            try:
                plan = check_plan(instance, [side.route(instance, 0, list(path))])
            except InfeasibleTour:
                continue
            found.append((plan.prize, list(path)))
    return found


@pytest.mark.parametrize("features", RULES, ids=", ".join)
def test_no_better_route_loses_a_leg(features: tuple[str, ...]) -> None:
    """At any prices, with any plan known before, whatever the nodes remember."""
    rng = np.random.default_rng(21)
    removed = 0
    for _ in range(12):
        instance = random_instance(rng, features, 6)
        routes = all_routes(instance)
        run = Run(instance, Never())
        labels = OneRoute(run, remembered=int(rng.integers(3)))
        labels.prices[1:-1] = rng.uniform(0.0, 1.0, len(labels.prices) - 2) * labels.profits[1:-1]
        if routes:  # a plan that is not the best
            _, path = sorted(routes)[int(rng.integers(len(routes)))]
            run.offer_plan([labels.side.route(instance, 0, path)])
        before = legs(labels)
        prize = run.prize  # only `_learn_all` offers more
        far, back = labels._roughly(FEW_LABELS), False
        for _ in range(3):
            found = far and labels._ways(back, far, FEW_LABELS)
            if not found:
                break
            for better in (path for value, path in routes if value > prize * (1 + 1e-9)):
                assert np.isfinite(begins(labels, better)).all()
            far, back = found.far, not back
        removed += before - legs(labels)
    assert removed > 0


def legs(labels: OneRoute) -> int:
    return int(np.isfinite(labels.side.ahead.leg).sum())


def begins(labels: OneRoute, path: list[int]) -> list[float]:
    """When the visits of a route begin in the graph ahead, and then those from the end in the graph back."""
    times = []
    size = len(labels.prices)
    for graph, inner in ((labels.side.ahead, path), (labels.side.back, path[::-1])):
        now, here = 0.0, 0
        for node in [*inner, size - 1]:
            arrive = now + graph.leg[here, node]
            later = range(graph.first[node], graph.first[node + 1])
            now = next((max(arrive, graph.opens[k]) for k in later if arrive <= graph.closes[k]), np.inf)
            times.append(now)
            here = node
    return times


@pytest.mark.parametrize("features", RULES, ids=", ".join)
def test_a_search_without_cycles_decides_at_any_prices(features: tuple[str, ...]) -> None:
    rng = np.random.default_rng(24)
    for _ in range(12):
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        run = Run(instance, Never())
        labels = OneRoute(run, remembered=int(rng.integers(3)))
        labels.prices[1:-1] = rng.uniform(0.0, 1.5, len(labels.prices) - 2) * labels.profits[1:-1]
        far = labels._roughly(FEW_LABELS)
        if far:
            assert labels._try_whole(far, False, FEW_LABELS, certain=True)
        assert run.infeasible == (truth is None)
        assert truth is None or run.prize == run.bound == pytest.approx(truth, rel=1e-9)


def test_every_phase_proves_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """With limits so small that few labels never do, all arrays grow, and a whole search is tried at all prices."""
    rng = np.random.default_rng(22)
    modes = set[object]()
    search = OneRoute._search

    def noted(self: OneRoute, *given: object) -> object:
        modes.add(given[4] if len(given) > 4 else single.BEST)
        return search(self, *given)

    monkeypatch.setattr(OneRoute, "_search", noted)
    monkeypatch.setattr("orienteer.exact.solve.FIRST_LABELS", 1)
    for name, value in (("TRIES", 1), ("TRIED", 2), ("REMEMBERED", 1)):
        monkeypatch.setattr(single, name, value)
    for name, value in (("FIRST_LABELS", 1), ("FIRST_ROOM", 1), ("MOMENTS", 3), ("PIECE", 1)):
        monkeypatch.setattr(ways, name, value)
    for features in RULES * 8:
        instance = random_instance(rng, features)
        truth = best_plan(instance)
        result = solve(instance, "exact", warm=0.0)
        assert result.status == ("infeasible" if truth is None else "optimal")
        assert truth is None or result.prize == result.bound == pytest.approx(truth, rel=1e-9)
    assert modes == {single.BEST, single.RUSH, single.WHOLE}


def test_many_labels_wait_at_a_node() -> None:
    """Two places open late: all ways to them wait, more than a front takes before they are extended."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        windows = dict.fromkeys((1, 2), (2.4, 9.0)) | dict.fromkeys(range(3, 13), (0.0, 9.0))
        instance = Instance.from_coords(
            rng.random((13, 2)), np.append(0, rng.integers(1, 30, 12)), 2.9, windows=windows
        )
        run = Run(instance, Never())
        labels = OneRoute(run, remembered=12)  # without cycles from the beginning
        labels.prove(1 << 20)
        assert run.proven
        assert run.prize == best_by_sets(instance)


def best_by_sets(instance: Instance) -> float:
    """The best prize of one route, by the earliest time at which each set of places is visited, for each last place."""
    costs, windows = instance.costs, instance.windows
    assert windows is not None
    soonest = {(0, 0): 0.0}
    best = 0.0
    for visited in range(0, 2**instance.size, 2):
        for last in range(instance.size):
            now = soonest.pop((visited, last), np.inf)
            if now + costs[last, 0] <= instance.limit:
                best = max(best, float(sum(instance.prizes[k] for k in range(instance.size) if visited >> k & 1)))
            for node in range(1, instance.size) if now < np.inf else ():
                ((opens, closes),) = windows[node] or ()
                arrive = now + costs[last, node]
                if not visited >> node & 1 and arrive <= closes:
                    key = (visited | 1 << node, node)
                    soonest[key] = min(soonest.get(key, np.inf), max(arrive, opens))
    return best


def columns_of_three(routes: ManyRoutes) -> list[Column]:
    """Every route of three places, in rising order."""
    return [
        Column(number, path)
        for number, kind in enumerate(routes.kinds)
        for path in itertools.combinations(range(1, len(kind.side.places) + 1), 3)
    ]


def three_routes(stop: Stop) -> ManyRoutes:
    """Twelve places on a line and a limit that lets every route through."""
    points = [(float(place), 0.0) for place in range(13)]
    instance = Instance.from_coords(points, [0.0, *range(1, 13)], 100.0, windows=[None] + [(0.0, 100.0)] * 12, routes=3)
    return ManyRoutes(Run(instance, stop))


def test_the_best_choice_of_columns() -> None:
    routes = three_routes(Never())
    assert Choice(routes, columns_of_three(routes)).solve()
    assert routes.run.prize == sum(range(4, 13))


def test_a_choice_of_columns_ends_when_the_run_does() -> None:
    routes = three_routes(MaxSteps(0))
    assert not Choice(routes, columns_of_three(routes)).solve()


def test_an_error_while_columns_are_chosen_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C is one: SCIP would swallow it."""
    routes = three_routes(Never())

    def fail() -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(routes.run, "report", fail)
    with pytest.raises(KeyboardInterrupt):
        Choice(routes, columns_of_three(routes)).solve()
