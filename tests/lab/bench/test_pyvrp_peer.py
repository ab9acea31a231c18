"""PyVRP on problems with rules: its plans pass our judge, collect what is known, and rounding lets nothing through."""

import numpy as np
import pytest

from orienteer import Budget, Instance, MaxSeconds, Route, Unsupported, check_plan
from orienteer.lab.bench.pyvrp_peer import Model, PyVrpConfig, PyVrpPeer, step_of
from orienteer.model.rules import FEATURES
from plan_oracle import best_plan, random_instance, slow_check, subsets

pytestmark = [
    pytest.mark.skipif(not PyVrpPeer.installed(), reason="pyvrp is not installed"),
    pytest.mark.filterwarnings("ignore:(?s).*penalty parameter"),  # where PyVRP finds few plans that fit
]

LINE = Instance.from_coords([[0, 0], [1, 0], [2, 0], [3, 0], [-1, 0], [0, 2]], [0, 1, 2, 3, 4, 5], 6.5, routes=2)
"""East are 1, 2 and 3, west is 4, north is 5: 0-1-2-3-0 costs 6 and 0-5-4-0 costs 3 and the root of 5: all five fit."""


def test_every_rule_that_it_knows_beside_the_oracle() -> None:
    """PyVRP offers its plan to `check_plan`, which raises where a rule is broken; tiny problems are solved best."""
    solver = PyVrpPeer()
    best = tried = 0
    for features in subsets([feature for feature in FEATURES if feature in solver.handles]):
        rng = np.random.default_rng([5, *map(len, features)])
        for seed in range(2):
            instance = random_instance(rng, features)
            try:
                result = solver.solve(instance, MaxSeconds(0.02), seed=seed)
            except Unsupported:
                continue
            most = best_plan(instance)
            tried += 1
            best += most is None if result.plan is None else result.prize == pytest.approx(most)
            if result.plan is not None:
                assert most is not None
                assert result.prize <= most + 1e-9
                assert not slow_check(instance, [tour.nodes for tour in result.routes]).broken
    assert tried > 40
    assert best >= 0.9 * tried


def test_a_visit_before_a_free_end_counts() -> None:
    """Without windows visits are part of legs; the leg to the free end once had none, and the plan cost too much."""
    routes = [Route(0, None, 0, 5), Route(0, None, 0, 1)]
    instance = Instance([[0, 2, 2], [2, 0, 2], [2, 2, 0]], [0, 3, 1], 5, service=[0, 1, 1], routes=routes)
    assert PyVrpPeer().solve(instance, MaxSeconds(0.1)).prize == 3


def test_two_routes() -> None:
    result = PyVrpPeer().solve(LINE, MaxSeconds(0.2))
    assert result.prize == 15
    assert check_plan(LINE, [tour.nodes for tour in result.routes]).prize == 15


def test_routes_that_differ_keep_their_own_ends_and_hours() -> None:
    """Node 1 is open while the second route is away only, and node 2 is near that route's end only."""
    routes = [Route(0, 0, 0, 4), Route(0, 3, 10, 4)]
    places = [[0, 0], [1, 0], [5, 0], [4, 0]]
    instance = Instance.from_coords(places, [0, 1, 2, 0], 4, windows={1: (10, 12), 2: (0, 20)}, routes=routes)
    result = PyVrpPeer().solve(instance, MaxSeconds(0.1))
    assert [tour.nodes for tour in result.routes] == [(0, 0), (0, 1, 3)]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"windows": {1: [(0, 1), (3, 4)]}}, "pyvrp has one window for a node, node 1 has 2"),
        ({"groups": [[1, 2], [2, 3]]}, "pyvrp has one group for a node, node 2 is in 2"),
        ({"budgets": [Budget("fees", {1: 1.0}, 1.0)]}, "pyvrp has no budgets; "),
    ],
)
def test_what_it_has_not_is_refused_by_name(rules: dict[str, object], words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        PyVrpPeer().solve(LINE.replace(**rules), MaxSeconds(0.1))


def test_times_are_rounded_so_that_nothing_fits_by_rounding() -> None:
    rng = np.random.default_rng(3)
    plain = Instance.from_coords(rng.random((8, 2)), rng.integers(1, 9, 8), 2.5, routes=2)
    instance = plain.replace(windows={node: tuple(np.sort(rng.random(2) * 3)) for node in range(1, 8)})
    model = Model(instance, PyVrpConfig(limit=1000))
    exact = instance.costs / 2.5 * 1000
    assert model.scale == 400
    assert (model.legs()[:8, :8] >= exact - 1e-6).all()
    assert (model.legs()[:8, :8] < exact + 1).all()
    assert model.span(instance.each_route[0]) == {"tw_early": 0, "tw_late": 1000}
    for node in range(1, 8):
        assert instance.windows is not None
        ((opens, closes),) = instance.windows[node] or ()
        early, late = model.window(node)
        assert opens * 400 <= early < opens * 400 + 1
        assert min(closes, 2.5) * 400 - 1 < late <= min(closes, 2.5) * 400


def test_decimal_times_are_exact() -> None:
    """Tenths, as in the files of Solomon: counted in a power of ten, nothing is rounded."""
    costs = np.array([[0, 1.1, 2.3], [1.1, 0, 0.7], [2.3, 0.7, 0]])
    instance = Instance(costs, [0, 1, 2], 4.1, windows={1: (0.3, 0.9)}, routes=2)
    model = Model(instance, PyVrpConfig())
    assert model.scale == 1e5
    assert (model.legs()[:3, :3] == np.rint(costs * 1e5)).all()
    assert model.span(instance.each_route[0]) == {"tw_early": 0, "tw_late": 410_000}


def test_a_step_of_prize_is_worth_more_than_all_distance() -> None:
    model = Model(LINE.replace(prizes=[0, 2, 4, 6, 8, 10]), PyVrpConfig())
    step = model.config.worth * (2 * 1_000_000 + 1)
    assert model.prizes().tolist() == [0, step, 2 * step, 3 * step, 4 * step, 5 * step]
    assert model.config.worth >= 1


@pytest.mark.parametrize(
    ("prizes", "step"), [([0, 12, 18], 6), ([0.25, 0.5], 0.25), ([0.01, 1.0], 0.01), ([1 / 3, 1], None), ([0, 0], None)]
)
def test_the_step_of_prizes(prizes: list[float], step: float | None) -> None:
    assert step_of(np.array(prizes, dtype=float)) == step
