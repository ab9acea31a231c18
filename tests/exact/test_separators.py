"""Every cut holds for every route that it must not touch, and is broken by the point it was made for."""

from collections.abc import Iterator

import numpy as np
import pytest

from instances import FAMILIES, small_instance
from model_routes import Known, model_and_routes
from orienteer import Instance
from orienteer.exact.cut import Cut, Sets, violation
from orienteer.exact.lp import LinearProgram
from orienteer.exact.model import Model
from orienteer.exact.separate.base import Point, Separator
from orienteer.exact.separate.blossom import Blossom
from orienteer.exact.separate.conditional import Conditional
from orienteer.exact.separate.cover import CycleCover
from orienteer.exact.separate.logical import Logical
from orienteer.exact.separate.subtour import Components, Subtour

SEPARATORS: list[type[Separator]] = [
    Components,
    Logical,
    Subtour,
    Blossom,
    CycleCover,
    Conditional,
]


def problems(count: int) -> Iterator[Instance]:
    """Problems of every family, round trips and not, some of them symmetric without a triangle inequality."""
    for family in FAMILIES:
        for seed in range(count):
            instance = small_instance(family, 5 + seed % 3, seed, round_trip=seed % 2 == 0)
            yield instance
            if family in ("nonmetric", "holes", "ties"):
                costs = np.minimum(instance.costs, instance.costs.T)
                yield instance.replace(costs=costs)


def random_point(model: Model, routes: list[Known], rng: np.random.Generator) -> Point:
    """Routes mixed with loose cycles: degrees are right, connections and the limit may not be."""
    points = [(one.x, one.y) for one in (routes[k] for k in rng.integers(0, len(routes), 3))]
    for _ in range(3):
        x, y = np.zeros(len(model.tail)), np.zeros(model.size)
        count = min(model.size, int(rng.integers(2 if model.directed else 3, 6)))
        cycle = rng.permutation(model.size)[:count]
        links = model.find(cycle, np.roll(cycle, -1))
        if (links >= 0).all() and len(set(links.tolist())) == len(links):
            x[links] = 1.0
            y[cycle] = 1.0
            points.append((x, y))
    shares = rng.dirichlet(np.ones(len(points)))
    x = sum(share * one[0] for share, one in zip(shares, points, strict=True))
    y = sum(share * one[1] for share, one in zip(shares, points, strict=True))
    return Point(model, np.arange(len(model.tail)), np.asarray(x), np.asarray(y))


def lp_points(model: Model, separator: Separator, beat: float) -> Iterator[tuple[Point, list[Cut]]]:
    """Solutions of the linear program as the separator's own cuts come in."""
    program = LinearProgram(model, np.arange(len(model.tail)))
    for _ in range(6):
        if not program.solve():
            return
        point = Point(model, program.links, *program.point())
        cuts = separator(point, beat)
        yield point, cuts
        if not cuts:
            return
        program.add_cuts(cuts)


def dense(model: Model, point: Point) -> np.ndarray:
    x = np.zeros(len(model.tail))
    x[point.links] = point.x
    return x


@pytest.mark.parametrize("kind", SEPARATORS, ids=lambda kind: kind.family)
def test_cuts_hold_for_every_route(kind: type[Separator]) -> None:
    rng = np.random.default_rng(5)
    found = 0
    for instance in problems(24):
        model, routes = model_and_routes(instance)
        if not routes or not len(model.tail):
            continue
        separator = kind(model)
        best = sorted(one.units for one in routes)
        for beat in (best[-1], best[len(best) // 2]):
            pairs = [(point, separator(point, beat)) for point in (random_point(model, routes, rng) for _ in range(6))]
            for point, cuts in [*pairs, *lp_points(model, separator, beat)]:
                for cut in cuts:
                    found += 1
                    assert violation(model, cut, dense(model, point), point.y) > 1e-6
                    for one in routes:
                        if kind is not Conditional or one.units >= beat:
                            assert violation(model, cut, one.x, one.y) < 1e-9, (instance, one.tour, cut)
        tally = separator.tally
        assert tally.hits <= tally.calls
        assert (tally.cuts > 0) == (tally.hits > 0)
    assert found > 20, "the test must see cuts"


def test_charges_are_the_sums_of_coefficients() -> None:
    rng = np.random.default_rng(6)
    for instance in problems(6):
        model, routes = model_and_routes(instance)
        if not routes:
            continue
        cuts = [cut for kind in SEPARATORS for cut in kind(model)(random_point(model, routes, rng), 1.0)]
        prices = rng.random(len(cuts))
        sets = Sets(model.size, cuts)
        links, nodes = np.zeros(len(model.tail)), sets.on_nodes(prices)
        sets.charge(links, model, prices, -np.inf)
        links = -links
        everything = np.arange(len(model.tail))
        assert np.allclose(
            links, sum((p * c.on_links(model, everything) for p, c in zip(prices, cuts, strict=True)), 0 * links)
        )
        assert np.allclose(nodes, sum((p * c.on_nodes(model) for p, c in zip(prices, cuts, strict=True)), 0 * nodes))
