"""The root: its bound is never below a route, whatever the prices, and it rules out no better route."""

import numpy as np

from instances import all_families
from model_routes import model_and_routes
from orienteer.data.generate import generate
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Model, reduce
from orienteer.exact.root import NEAREST, RootSolver
from orienteer.exact.separate.base import Point
from orienteer.exact.solve import make_separators

NO_LINKS = np.zeros(0, dtype=np.int64)


def never(bound: float, point: Point) -> bool:
    return False


def test_any_prices_give_a_bound() -> None:
    """Weak duality, also with few columns, with cuts, and with prices that no solver would give."""
    rng = np.random.default_rng(2)
    for instance in all_families(count=6):
        model, routes = model_and_routes(instance)
        if not routes:
            continue
        most = max(one.units for one in routes)
        some = np.arange(len(model.tail))[:: 2 if model.closed else 1]
        program = LinearProgram(model, some)
        for _ in range(3):
            if program.solve():
                assert program.reduced(program.prices())[2] >= most - 1e-9 * max(1.0, most)
            rows = program.fixed_rows + len(program.cuts)
            prices = rng.normal(0, most + 1, rows)
            prices[program.fixed_rows - 1 :] = np.abs(prices[program.fixed_rows - 1 :])
            links, _, bound, _ = program.reduced(prices)
            assert bound >= most
            if not model.closed:
                links[0] = 0.0  # always used, so the bound has it already
            for one in routes:  # a route's links that do not earn must be paid for out of the bound
                assert one.units <= bound + one.x @ np.minimum(links, 0) + 1e-9 * max(1.0, abs(bound))
            if program.solve():
                point = Point(model, program.links, *program.point())
                program.add_cuts([cut for make in make_separators(model)[:3] for cut in make(point, 0.0)])


def test_no_better_route_is_ruled_out() -> None:
    fixed = 0
    for instance in all_families(count=12):
        model, routes = model_and_routes(instance)
        if not routes:
            continue
        values = sorted({one.units for one in routes})
        for beat in (values[-1], values[len(values) // 2], 0.0):
            root = RootSolver(model, make_separators(model), lambda beat=beat: beat, never, NO_LINKS).solve()
            for one in routes:
                if one.units >= beat:
                    assert root.bound >= one.units - 1e-9 * max(1.0, one.units)
                    assert np.isin(np.flatnonzero(one.x), root.links).all()
                    assert not (root.never & (one.y == 1)).any()
                    assert not (root.always & (one.y == 0)).any()
            fixed += len(model.tail) - len(root.links)
    assert fixed > 20, "the test must see fixing"


def bound_of(model: Model, nearest: int) -> float:
    return RootSolver(model, make_separators(model), lambda: 0.0, never, NO_LINKS, nearest).solve().bound


def test_sparse_columns_give_the_bound_of_all() -> None:
    """Pricing brings in every link that matters; the loose tolerance is the stall's."""
    for costs in ("euclidean", "road"):
        model = reduce(generate(n=25, costs=costs, count=1, seed=4)[0])
        sparse, whole = bound_of(model, NEAREST), bound_of(model, 99)
        assert abs(sparse - whole) < 0.01 * whole
