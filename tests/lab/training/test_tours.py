"""Tours to learn from, and a network that learns them."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from network_examples import own_costs
from orienteer import BadFile, check_tour
from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.score import Children
from orienteer.beam.states import States
from orienteer.lab.commands.labels import labels as labels_command
from orienteer.lab.commands.train import train as train_command
from orienteer.lab.networks.models import load_model
from orienteer.lab.networks.scorers import TourScore
from orienteer.lab.networks.solvers import GreedyConfig
from orienteer.lab.tours.solvers import TourGreedy
from orienteer.lab.training.expert import ExpertSettings, own_labels, train
from orienteer.lab.training.labels import (
    FIRST_SEED,
    Label,
    LabelRecipe,
    draw_source,
    load_labels,
    make_label,
    save_labels,
)
from orienteer.lab.training.lessons import Lessons, Library
from orienteer.lab.training.losses import make_part
from orienteer.lab.training.presets import for_tours, settings_for
from orienteer.lab.training.session import LAST, Options
from orienteer.lab.training.validation import TourValidation, greedy_states
from orienteer.model.tour import route_cost
from orienteer.network.batching import in_batches
from orienteer.network.config import PolicyConfig
from orienteer.network.cuda.look import TensorLook
from orienteer.network.policy_network import PolicyNetwork, leaving_cost, to_leave
from salesman import least_cost

RECIPE = LabelRecipe("tsp", (5, 6), favoured=(), costs=("euclidean", "tmat", "xasy"))
SETTINGS = ExpertSettings(
    PolicyConfig(16, 2, 2, goal="cost"),
    recipe=RECIPE,
    batch=64,
    part=64,
    steps=2,
    learning_rate=1e-2,
    follow=0.9,
    fresh=4,
    beam=5,
)
SEEDS = range(FIRST_SEED, FIRST_SEED + 6)


@pytest.fixture(scope="module")
def made() -> list[Label]:
    return [label for seed in SEEDS for label in make_label(RECIPE, seed)]


@pytest.fixture(scope="module")
def labels(made: list[Label], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "tours.npz"
    save_labels(path, [label for label in made if label.source.seed < FIRST_SEED + 4])
    return path


def test_labels_are_whole_tours_within_their_limits(made: list[Label]) -> None:
    assert {label.given > 1 for label in made} == {False, True}
    for label in made:
        instance = label.source.instance()
        assert check_tour(instance, label.nodes).prize == label.source.n
        assert len(label.nodes) == label.source.stops


def test_labels_are_the_shortest_ways_to_go_on(made: list[Label]) -> None:
    for label in made:
        instance = label.source.instance()
        names = [*label.nodes[label.given - 1 : -1], instance.end]
        if label.given == 1:
            names = names[:-1]
        costs = instance.costs[np.ix_(names, names)]
        truth = least_cost(costs, 0, 0 if label.given == 1 else len(names) - 1)
        assert route_cost(instance, label.nodes[label.given - 1 :]) == pytest.approx(truth)


def test_a_drawn_problem_has_a_quick_tours_limit() -> None:
    for seed in SEEDS:
        source = draw_source(RECIPE, seed, np.random.default_rng(seed))
        instance = source.instance()
        best = least_cost(instance.costs, 0, 0)
        assert best <= source.limit * (1 + 1e-9)


@pytest.mark.parametrize("pieces", [0.0, 1.0])
def test_pieces_of_tours_are_shortest_ways_through_all_that_is_left(made: list[Label], pieces: float) -> None:
    library = Library.build(made, torch.device("cpu"))
    for lessons in library.draw(150, torch.Generator().manual_seed(0), pieces):
        for row in range(len(lessons.node)):
            costs, end = _smaller(lessons, row)
            assert float(lessons.leave[row].sum()) == pytest.approx(least_cost(costs, 0, end), abs=1e-5)
            inner = ~lessons.states.visited[row] & (lessons.states.problems.prizes[row] > 0)
            assert torch.equal(inner, lessons.later[row])


def test_what_leaving_costs_adds_up_to_the_cost_to_go(made: list[Label]) -> None:
    """In the network's units too: typical steps, over the nodes that are still to be left."""
    lessons = Library.build(made, torch.device("cpu")).draw(100, torch.Generator().manual_seed(1), 0.3)[0]
    for index, given in next(in_batches(lessons.states, lessons.reach, torch.arange(100)[None], 64)):
        part = make_part("cost", lessons, index, given, 1.0)
        torch.testing.assert_close((part.later * to_leave(given)).sum(1), part.value)
        step = lessons.states.problems.limit[index] / given.hops
        torch.testing.assert_close(part.value * step, lessons.leave[index].sum(1))


def test_an_untrained_network_expects_typical_steps(made: list[Label]) -> None:
    lessons = Library.build(made, torch.device("cpu")).draw(20, torch.Generator().manual_seed(1), 0.0)[0]
    for _, given in next(in_batches(lessons.states, lessons.reach, torch.arange(20)[None], 64)):
        seen = PolicyNetwork(SETTINGS.network).look(given)
        assert torch.equal(leaving_cost(seen.visit), torch.ones_like(seen.visit))
        torch.testing.assert_close(seen.value, to_leave(given).sum(1).float())


def test_imitates_shortest_tours_until_it_makes_them_itself(labels: Path, tmp_path: Path) -> None:
    _train(labels, tmp_path, 120)
    scorer = TourScore(TensorLook(load_model(tmp_path / LAST)[0]))
    solver = TourGreedy(GreedyConfig(device="cpu", weights=str(tmp_path / LAST)))
    for source in {label.source for label in load_labels(labels)}:
        instance = source.instance()
        truth = least_cost(instance.costs, 0, 0)
        assert solver.solve(instance).cost == pytest.approx(truth)
        found = _greedy_cost(scorer, instance)  # without the quick tour to fall back on
        assert found == pytest.approx(truth)


def test_rounds_and_own_labels(labels: Path, tmp_path: Path) -> None:
    said: list[str] = []
    _train(labels, tmp_path, 4, replace(SETTINGS, rounds=1), say=said.append)
    assert any(line.startswith("round 1: ") for line in said)
    torch.manual_seed(0)
    for label in own_labels(PolicyNetwork(SETTINGS.network), SETTINGS, seed=1):
        assert check_tour(label.source.instance(), label.nodes).prize == label.source.n


class NearestScore:
    """The nearest neighbour."""

    def children(self, states: States) -> Children:
        return Children(-states.leg)

    def paths(self, states: States) -> torch.Tensor:
        return -states.cost


def test_validation_measures_whole_tours() -> None:
    validation = TourValidation((9, 24), 3, torch.device("cpu"))
    assert validation.names == ["tour_20"]
    score, means = validation(NearestScore())
    costs = []
    for instance in validation.problems.costs.numpy():
        route, left = [0], set(range(1, 20))
        while left:
            route.append(min(left, key=lambda node: instance[route[-1], node]))
            left.remove(route[-1])
        costs.append(sum(instance[a, b] for a, b in itertools.pairwise([*route, 0])))
    assert means["tour_20"] == pytest.approx(np.mean(costs))
    assert score == pytest.approx(np.mean(validation.quick.numpy() / costs))
    assert TourValidation((5, 6), 2, torch.device("cpu")).names == ["tour_7"]


def test_a_tour_that_cannot_be_finished_counts_as_the_limit() -> None:
    """A network that knows nothing may bar every way: the greedy path must end there, not go on for ever."""
    validation = TourValidation((9, 24), 3, torch.device("cpu"))
    score, means = validation(TourScore(TensorLook(PolicyNetwork(SETTINGS.network))))
    assert score == pytest.approx(0.5)
    assert means["tour_20"] == pytest.approx(float(validation.problems.limit.mean()))


def test_goal_and_problem_belong_together(labels: Path, tmp_path: Path) -> None:
    assert for_tours(settings_for("expert", "small")).method == "tour"
    with pytest.raises(ValueError, match=r"cost for tsp and prize for op, got prize for tsp"):
        ExpertSettings(recipe=RECIPE)
    part = tmp_path / "routes.npz"
    save_labels(part, [replace(label, nodes=(0, 1, 0), given=1) for label in load_labels(labels)])
    with pytest.raises(BadFile, match="leave nodes out"):
        _train(part, tmp_path, 1)


def test_the_commands(tmp_path: Path) -> None:
    out = tmp_path / "tours.npz"
    words = ["--problem", "tsp", "--count", "4", "--sizes", "5,6", "--processes", "1", "--out", str(out)]
    assert "labels in" in CliRunner().invoke(labels_command, words, catch_exceptions=False).output
    small = ["--preset", "small", "--set", "network.layers=1", "--set", "recipe.sizes=5,6"]
    words = ["expert", "--problem", "tsp", *small, "--labels", str(out), "--iterations", "2", "--device", "cpu"]
    done = CliRunner().invoke(train_command, [*words, "--out", str(tmp_path)], catch_exceptions=False)
    assert "best score" in done.output
    assert load_model(tmp_path / LAST)[1].method == "tour"
    with pytest.raises(ValueError, match="--problem tsp goes with expert, not with dqn"):
        CliRunner().invoke(train_command, ["dqn", "--problem", "tsp"], catch_exceptions=False)


def _train(labels: Path, out: Path, iterations: int, settings: ExpertSettings = SETTINGS, **more: Any) -> Any:
    given = {"device": "cpu", "every": 1e9, "validation": 2, "say": lambda text: None, **more}
    return train(replace(settings, labels=(str(labels),)), Options(out, iterations=iterations, **given))


def _greedy_cost(scorer: TourScore, instance: Any) -> float:
    problems = TensorProblems.from_instances([instance.replace(limit=2 * instance.limit)])
    states = greedy_states(scorer, problems)
    assert bool(states.visited.all())
    return float(states.cost[0] + problems.straight[0, states.last[0]])


def _smaller(lessons: Lessons, row: int) -> tuple[np.ndarray, int]:
    """The costs between the nodes of a lesson, its start first, and the place of its end."""
    problems = lessons.states.problems
    start, end = int(problems.start[row]), int(problems.end[row])
    free = (~lessons.states.visited[row] & (problems.prizes[row] > 0)).nonzero()[:, 0].tolist()
    names = list(dict.fromkeys([start, *free, end]))
    return own_costs(problems, row).double().numpy()[np.ix_(names, names)], names.index(end)
