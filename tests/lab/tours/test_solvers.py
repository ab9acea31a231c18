"""Tours by the searches: exact without bounds, never worse than the quick tour, whatever the network says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from orienteer import BadFile, Instance, MaxSteps, OrienteerError, check_tour, solve, solve_batch
from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.backend.host.backend import HostBackend
from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.problems import Array
from orienteer.beam.score import Children
from orienteer.beam.states import States
from orienteer.beam.step import StepConfig, step_search
from orienteer.lab.networks.models import save_weights
from orienteer.lab.networks.scorers import OnHost, TourScore
from orienteer.lab.tours.instance import known_route, tour_problem
from orienteer.network import weights as module
from orienteer.network.config import PolicyConfig
from orienteer.network.cuda.look import TensorLook
from orienteer.network.policy_network import PolicyNetwork
from salesman import least_cost, small_costs, some_problems

HOST = HostBackend()
NAMES = ("tsp-greedy", "tsp-beam", "tsp-cs")


class RandomScore:
    """A score that knows nothing."""

    def children(self, states: States) -> Children:
        return Children(np.random.default_rng(len(states)).random(states.visited.shape))

    def paths(self, states: States) -> Array:
        return self.children(states).scores[:, 0]


class PerfectLook:
    """A network that knows the cost to go, by trying every order."""

    passes = 0

    def __call__(self, states: States) -> tuple[torch.Tensor, torch.Tensor]:
        action = torch.where(states.feasible(), 0.0, -torch.inf).double()
        value = torch.zeros(len(states), dtype=torch.float64)
        for row in range(len(states)):
            left = float(states.remaining[row].clamp_min(1e-12))
            for node in states.feasible()[row].nonzero()[:, 0].tolist():
                leg = float(states.leg[row, node])
                child = states.extended(torch.tensor([row]), torch.tensor([node]))
                action[row, node] = -(leg + _to_go(child)) / left
            if action[row].max() > -torch.inf:
                value[row] = action[row].max()
        return action, value


def _to_go(state: States) -> float:
    """The least cost of the rest of one path."""
    costs = state.problems.costs[0].numpy()
    last, end = int(state.last[0]), int(state.problems.end[0])
    names = [last, *(~state.visited[0]).nonzero()[:, 0].tolist(), *([end] if end != last else [])]
    return least_cost(costs[np.ix_(names, names)], 0, len(names) - 1 if end != last else 0)


def untrained(seed: int = 0) -> PolicyNetwork:
    """A small network for tours that has learned nothing, and says so in many ways."""
    torch.manual_seed(seed)
    network = PolicyNetwork(PolicyConfig(16, 2, 1, goal="cost")).eval()
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network


def tour_score(seed: int = 0) -> TourScore:
    """The score of such a network."""
    return TourScore(TensorLook(untrained(seed)))


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("weights") / "untrained.safetensors"
    return str(save_weights(path, untrained(), "tour", {}, {}))


@pytest.mark.parametrize("scorer", [RandomScore(), OnHost(tour_score(1))], ids=["random", "network"])
def test_searches_without_bounds_are_exact_whatever_the_score(scorer: RandomScore | OnHost) -> None:
    for instance in some_problems(4, sizes=(4, 6, 7)):
        truth = least_cost(instance.costs, instance.start, instance.end)
        problems = HOST.problems([instance])
        for found in (
            cost_level_search(HOST, problems, scorer, CostLevelConfig(beam=None)),
            step_search(HOST, problems, scorer, StepConfig(beam=None)),
        ):
            assert float(found.best.prize[0]) == instance.size
            assert float(found.best.cost[0]) == pytest.approx(truth)


def test_without_bounds_the_solvers_prove_it(weights: str) -> None:
    for instance in some_problems(3, sizes=(5, 6)):
        for name in ("tsp-beam", "tsp-cs"):
            result = solve(instance, name, beam=None, branch=None, weights=weights, device="cpu")
            assert result.status == "optimal"
            assert result.cost == pytest.approx(least_cost(instance.costs, instance.start, instance.end))
            assert solve(instance, name, beam=2, weights=weights, device="cpu").status == "stopped"


@pytest.mark.parametrize("asked", [{"bound": True}, {"prove": True}])
def test_a_bound_on_prizes_says_nothing_about_tours(asked: dict[str, bool], weights: str) -> None:
    problem = some_problems(1, sizes=(6,))[0]
    with pytest.raises(ValueError, match="bound and prove are about prizes"):
        solve(problem, "tsp-greedy", weights=weights, **asked)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("family", ["plane", "asymmetric", "nonmetric"])
def test_never_worse_than_the_quick_tour(name: str, family: str, weights: str) -> None:
    instances = [tour_problem(small_costs(family, 15, seed), start=seed) for seed in range(3)]
    alone = [solve(one, name, weights=weights, device="cpu") for one in instances]
    together = solve_batch(instances, name, weights=weights, device="cpu")
    for instance, one, two in zip(instances, alone, together, strict=True):
        assert check_tour(instance, one.tour.nodes).prize == instance.size
        assert one.cost <= instance.limit * (1 + 1e-9)
        assert one.cost == pytest.approx(two.cost)


def test_a_stopped_search_answers_with_a_whole_tour(weights: str) -> None:
    instance = tour_problem(small_costs("plane", 15, 1))
    result = solve(instance, "tsp-cs", MaxSteps(1), weights=weights, device="cpu")
    assert result.steps == 1
    assert result.prize == instance.size
    assert result.status == "stopped"


def test_the_true_cost_to_go_leads_to_the_shortest_tour() -> None:
    for instance in some_problems(2, sizes=(6,), families=("plane", "asymmetric")):
        truth = least_cost(instance.costs, instance.start, instance.end)
        problems = HOST.problems([instance])
        for score in ("parent", "child"):
            scorer = OnHost(TourScore(PerfectLook()))  # type: ignore[arg-type]
            found = cost_level_search(HOST, problems, scorer, CostLevelConfig(beam=1, score=score))  # type: ignore[arg-type]
            assert float(found.best.cost[0]) == pytest.approx(truth)


def test_only_children_that_must_miss_a_node_are_barred() -> None:
    barred = 0
    for instance in some_problems(8, sizes=(6, 7)):
        states = States.initial(TensorProblems.from_instances([instance]))
        scores = tour_score().children(states).scores[0]
        for node in states.feasible()[0].nonzero()[:, 0].tolist():
            child = states.extended(torch.tensor([0]), torch.tensor([node]))
            if scores[node] == -torch.inf:
                barred += 1
                assert float(child.cost[0]) + _to_go(child) > instance.budget
    assert barred


def test_scores_do_not_depend_on_the_limit_nor_on_the_unit() -> None:
    costs = small_costs("plane", 9, 3)
    tight = tour_problem(costs)
    scale = tight.limit
    states = [
        States.initial(TensorProblems.from_instances([one]))
        for one in (tight, tight.replace(limit=1.5 * scale), tight.replace(costs=8 * costs, limit=8 * scale))
    ]
    network = tour_score()
    plain, loose, large = (network.children(one).scores * one.problems.limit for one in states)
    seen = plain > -torch.inf
    torch.testing.assert_close(loose[seen], plain[seen], rtol=1e-4, atol=0)
    torch.testing.assert_close(large[seen], 8 * plain[seen], rtol=1e-4, atol=0)


def test_weights_of_the_other_problem_are_refused(weights: str) -> None:
    instance = tour_problem(small_costs("plane", 5, 1))
    with pytest.raises(BadFile, match="holds weights of expert, not of tour"):
        solve(instance, "tsp-cs", weights="flagship-small", device="cpu")
    with pytest.raises(BadFile, match="holds weights of tour, not of expert or dqn"):
        solve(instance, "cs-l", weights=weights, device="cpu")


def test_without_weights_a_message_says_how_to_make_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "SHIPPED", tmp_path)
    with pytest.raises(OrienteerError, match=r"tsp-cs needs weights.*orienteer train expert --problem tsp"):
        solve(tour_problem(small_costs("plane", 5, 1)), "tsp-cs")


def test_a_problem_that_is_no_tour_gets_an_honest_answer(weights: str) -> None:
    points = np.random.default_rng(1).random((12, 2))
    instance = Instance.from_coords(points, np.ones(12), 1.0)
    assert known_route(instance) is None
    for name in NAMES:
        result = solve(instance, name, weights=weights, device="cpu")
        assert 1 < check_tour(instance, result.tour.nodes).prize < 12


def test_goals_are_named() -> None:
    with pytest.raises(ValueError, match=r"PolicyConfig\.goal must be one of prize, cost, got 'time'"):
        replace(PolicyConfig(), goal="time")  # type: ignore[arg-type]
