"""Models that begin with few links, as those of large problems do: the same bounds and proofs as with all links."""

import numpy as np
import pytest

from instances import all_families
from model_routes import model_and_routes
from oracle import best_prize
from orienteer import MaxSteps, solve
from orienteer.data.generate import generate
from orienteer.exact.cut import Sets
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Model, near_pairs, possible, reduce
from orienteer.exact.price import others
from orienteer.exact.root import RootSolver
from orienteer.exact.separate.base import Point
from orienteer.exact.solve import Exact, ExactConfig, make_separators
from orienteer.search.stop import Never

NO_LINKS = np.zeros(0, dtype=np.int64)


class Small(Exact):
    """The exact solver with a partial model for every problem without rules."""

    many = 0


def few_links(model: Model, keep: int) -> Model:
    """The model with its first `keep` links alone."""
    partial = reduce(model.instance, 0)
    partial.tail, partial.head, partial.costs = model.tail[:keep], model.head[:keep], model.costs[:keep]
    return partial


def test_any_prices_bound_all_routes_of_a_partial_model() -> None:
    """Weak duality over links that the model does not have, at prices that no solver would give."""
    rng = np.random.default_rng(3)
    seen = 0
    for instance in all_families(count=15):
        whole, routes = model_and_routes(instance)
        if not routes:
            continue
        most = max(one.units for one in routes)
        model = few_links(whole, max(1, len(whole.tail) // 3))
        program = LinearProgram(model, np.arange(len(model.tail)))
        full = LinearProgram(whole, np.arange(len(whole.tail)))
        if full.solve():
            point = Point(whole, full.links, *full.point())
            cuts = [cut for make in make_separators(whole)[:3] for cut in make(point, 0.0)]
            for one in (program, full):
                one.add_cuts([cut for cut in cuts if not len(cut.links)])
        for scale in (0.1, 1.0, 10.0):
            prices = rng.normal(0, scale * (most + 1), program.fixed_rows + len(program.cuts))
            prices[program.fixed_rows - 1 :] = np.abs(prices[program.fixed_rows - 1 :])
            bound, known = program.reduced(prices)[2], full.reduced(prices)[2]
            assert bound >= most
            assert bound == pytest.approx(known, rel=1e-9)
            seen += len(program.reduced(prices)[3].tail)
    assert seen > 100, "the test must see pairs that are no links yet"


def test_pairs_are_those_of_the_whole_model() -> None:
    """At prices where every pair earns, the near links and the others are all links that there are."""
    for instance in all_families(count=10):
        whole, partial = reduce(instance, 10**9), reduce(instance, 0)
        if partial.size < 2:
            continue
        cheap = np.full(partial.size, -1e6)
        pairs, total = others(partial, cheap, cheap, 0.0, Sets(partial.size, []), np.zeros(0))
        assert total == pytest.approx(pairs.earnings.sum())
        both = {*zip(partial.tail.tolist(), partial.head.tolist(), strict=True)}
        assert not both & {*zip(pairs.tail.tolist(), pairs.head.tolist(), strict=True)}
        both |= {*zip(pairs.tail.tolist(), pairs.head.tolist(), strict=True)}
        assert both == {*zip(whole.tail.tolist(), whole.head.tolist(), strict=True)}


def test_bounds_hold_whenever_the_root_is_stopped() -> None:
    """Hundreds of problems of every family: no bound on the way is below the best route."""
    for instance in all_families(count=30):
        best = best_prize(instance)
        solver = Small(ExactConfig(tree=False, warm=0.0))
        heard: list[float] = []
        result = solver.solve(instance, Never(), on_progress=lambda now, heard=heard: heard.append(now.bound))
        assert min([result.bound, *heard]) >= best * (1 - 1e-12)
        for steps in (1, 2):
            assert Small(ExactConfig(tree=False, warm=0.0)).solve(instance, MaxSteps(steps)).bound >= best * (1 - 1e-12)


def test_proofs_on_partial_models() -> None:
    for instance in all_families(count=10):
        result = Small(ExactConfig(warm=0.0)).solve(instance, Never())
        assert result.status == "optimal"
        assert result.prize == pytest.approx(best_prize(instance), rel=1e-9)


@pytest.mark.parametrize("costs", ["euclidean", "road"])
def test_interior_points_give_the_bound_of_corners(costs: str) -> None:
    instance = generate(n=60, costs=costs, count=1, seed=5)[0]
    found = solve(instance, "lns", MaxSteps(3000))
    bounds = [
        kind(ExactConfig(tree=False, warm=0.0)).solve(instance, Never(), initial=found.tour.nodes).bound / found.prize
        for kind in (Exact, Small)
    ]
    assert all(1 <= bound < 1.06 for bound in bounds)
    assert bounds[1] == pytest.approx(bounds[0], abs=0.01)


def test_a_partial_model_of_a_few_hundred_nodes_bounds_a_good_route() -> None:
    instance = generate(n=410, count=1, seed=6)[0]
    result = solve(instance, "lns", MaxSteps(10_000), bound=True)
    assert 0 <= result.gap < 0.1


def test_a_stop_ends_the_root_at_once() -> None:
    model = reduce(generate(n=60, count=1, seed=7)[0], 0)
    root = RootSolver(model, make_separators(model), lambda: 0.0, lambda bound, point: True, NO_LINKS).solve(True)
    assert root.bound < model.units.prizes.sum()


def test_near_pairs_are_possible_links() -> None:
    instance = generate(n=30, count=1, seed=8)[0]
    tail, head = near_pairs(instance.view)
    assert len(tail) < 30 * 29 / 2
    assert (tail < head).all()
    assert possible(instance, tail, head).dtype == bool
