"""Whole training runs, small ones: overfitting, resuming, stopping, failing."""

import itertools
import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from oracle import best_prize
from orienteer import BadFile, Instance
from orienteer.beam.backend.cuda.problems import TensorProblems, cheapest_ways
from orienteer.lab.networks.attention_network import NetworkConfig
from orienteer.lab.networks.decoders import RouteConfig
from orienteer.lab.networks.models import load_model
from orienteer.lab.networks.scorers import DecoderScore, score_of
from orienteer.lab.training import a2c, dqn, environment, reinforce
from orienteer.lab.training.instances import Recipe, fixed_size
from orienteer.lab.training.presets import PRESETS, settings_for
from orienteer.lab.training.session import BEST, CHECKPOINT, LAST, LOG, Options, TrainingDiverged
from orienteer.lab.training.validation import greedy_prize
from orienteer.network.weights import read_header

NETWORK = NetworkConfig(16, 2, 2, 1, "dueling", rich=True, edge_bias=True, pre_norm=True)
RECIPE = fixed_size(6, "uniform")
DQN = dqn.DqnSettings(
    NETWORK, RECIPE, 48, 2, memory=0, trace=0.9, batch=96, part=96, learning_rate=1e-2, decaying=True, follow=0.8
)
METHODS: dict[str, tuple[Callable[..., Any], Any]] = {
    "dqn": (dqn.train, replace(DQN, explore=(1.0, 0.2, 0.5))),
    "dqn with memory": (
        dqn.train,
        replace(DQN, memory=512, follow=0.0, copy_every=10, explore=(1.0, 0.2, 0.5)),
    ),
    "a2c": (
        a2c.train,
        a2c.A2cSettings(NETWORK, RECIPE, 48, 3, 0.95, 144, 144, 5e-3, True, entropy=(0.5, 0.02, 0.9), follow=0.8),
    ),
    "at": (
        reinforce.train,
        reinforce.ReinforceSettings(RouteConfig("attention", True, NETWORK), RECIPE, 6, 8, 64, 5e-3, challenge=5),
    ),
    "pn": (
        reinforce.train,
        reinforce.ReinforceSettings(RouteConfig("pointer", True, NETWORK), RECIPE, 6, 8, 64, 5e-3, challenge=5),
    ),
}

every_method = pytest.mark.parametrize("name", METHODS)


def _options(out: Path, iterations: int, **more: Any) -> Options:
    given = {"device": "cpu", "every": 1e9, "validation": 4, "say": lambda text: None, **more}
    return Options(out, iterations=iterations, **given)


def _train(name: str, out: Path, iterations: int, **more: Any) -> Any:
    loop, settings = METHODS[name]
    return loop(settings, _options(out, iterations, **more))


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    return dict(load_model(path)[0].state_dict())


@every_method
def test_overfits_a_tiny_set_to_the_oracle(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(3)
    drawn, _ = environment.draw(RECIPE, 3, generator)
    doubled = replace(drawn, **{key: getattr(drawn, key).double() for key in ("costs", "prizes", "limit", "to_end")})
    optimum = [
        best_prize(Instance(doubled.costs[row].numpy(), doubled.prizes[row].numpy(), float(doubled.limit[row])))
        for row in range(3)
    ]

    def fixed(recipe: Recipe, count: int, generator: torch.Generator) -> tuple[TensorProblems, torch.Tensor]:
        rows = torch.arange(count) % 3
        fields = ("costs", "prizes", "limit", "start", "end", "to_end")
        many = TensorProblems(**{field: getattr(drawn, field)[rows].clone() for field in fields})
        return many, many.costs

    monkeypatch.setattr(environment, "draw", fixed)
    monkeypatch.setattr(reinforce, "draw", fixed)
    iterations = {"dqn": 80, "dqn with memory": 100, "a2c": 80}.get(name, 50)
    session = _train(name, tmp_path, iterations)
    model, header = load_model(tmp_path / LAST)
    assert header.method == session.method
    prize = greedy_prize(score_of(model, header.method), drawn)
    assert prize.tolist() == pytest.approx(optimum, abs=1e-5)


@every_method
def test_a_resumed_run_equals_an_unbroken_one(name: str, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _train(name, whole, 6)

    def interrupt(iteration: int) -> None:
        if iteration == 3:
            signal.raise_signal(signal.SIGINT)

    half = _train(name, broken, 6, on_iteration=interrupt)
    assert half.iteration == 3
    assert half.interrupted
    again = _train(name, broken, 6, resume=broken / CHECKPOINT)
    assert again.iteration == 6
    one, two = _tensors(whole / LAST), _tensors(broken / LAST)
    for key, value in one.items():
        assert torch.equal(value, two[key]), key


def test_weights_say_how_they_came_about_and_the_best_are_kept(tmp_path: Path) -> None:
    session = _train("dqn", tmp_path, 4, every=0.0)
    header = read_header(tmp_path / BEST)
    assert header.method == "dqn"
    assert header.config["hidden"] == 16
    assert header.record["settings"]["trace"] == 0.9
    assert header.scores == session.best_scores
    lines = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4]
    assert session.best == max(line["score"] for line in lines)
    last = read_header(tmp_path / LAST).scores
    assert last == {name: lines[-1][name] for name in last}, "its own, not those of the best"
    assert not list(tmp_path.glob("*.part"))


def test_a_loss_that_is_no_number_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dqn, "lambda_returns", lambda reward, done, expected, trace: reward * torch.nan)
    with pytest.raises(TrainingDiverged, match="dqn: loss is nan at iteration 1; the best weights"):
        _train("dqn", tmp_path, 4, every=0.0)
    assert not (tmp_path / BEST).exists()


def test_ctrl_c_leaves_weights_and_restores_the_handler(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    _train("at", tmp_path, 50, on_iteration=lambda iteration: signal.raise_signal(signal.SIGTERM))
    assert signal.getsignal(signal.SIGINT) == before
    assert read_header(tmp_path / BEST).record["iterations"] == 1


def test_checkpoints_of_another_method_or_cut_short_are_refused(tmp_path: Path) -> None:
    _train("dqn", tmp_path, 1)
    with pytest.raises(BadFile, match="is a checkpoint of dqn, not of a2c"):
        _train("a2c", tmp_path / "other", 2, resume=tmp_path / CHECKPOINT)
    cut = tmp_path / "cut.pt"
    cut.write_bytes((tmp_path / CHECKPOINT).read_bytes()[:1000])
    with pytest.raises(BadFile, match="cannot be read as a checkpoint"):
        _train("dqn", tmp_path / "other", 2, resume=cut)
    with pytest.raises(BadFile, match="there is no such checkpoint"):
        _train("dqn", tmp_path / "other", 2, resume=tmp_path / "none.pt")


def test_log_chances_of_whole_routes_are_those_of_their_steps() -> None:
    """The batched pass with gradients, memory included, gives what decoding step by step gave."""
    problems, _ = environment.draw(RECIPE, 5, torch.Generator().manual_seed(1))
    ways = cheapest_ways(problems.costs)
    for kind in ("attention", "pointer"):
        torch.manual_seed(0)
        model = reinforce.RouteModel(RouteConfig(kind, True, NETWORK)).eval()
        routes = reinforce.draw_routes(model, problems, ways, 3, torch.Generator().manual_seed(2))
        whole, _ = reinforce.LogChances(model)(routes, ways, part=7)
        scorer = DecoderScore(model)
        memory, steps = None, []
        for states, node in zip(routes.states, routes.nodes, strict=True):
            children = scorer.children(replace(states, memory=memory))
            memory = children.memory
            steps.append(children.scores.gather(1, node[:, None])[:, 0])
        moving = torch.cat(routes.moving)
        torch.testing.assert_close(whole[moving], torch.cat(steps)[moving].float(), rtol=1e-4, atol=1e-5)
        stays = [states.prize for states in routes.states]
        assert all((later >= earlier).all() for earlier, later in itertools.pairwise(stays))


def test_sizes_grow() -> None:
    recipe = Recipe()
    assert reinforce.grown(recipe, 0.0, (0.2, 0.5)).largest == 20
    assert reinforce.grown(recipe, 0.0, (0.2, 0.5)).favoured == (20,)
    assert reinforce.grown(recipe, 0.25, (0.2, 0.5)).largest == 60
    assert reinforce.grown(recipe, 0.5, (0.2, 0.5)) is recipe
    assert reinforce.grown(recipe, 0.0, (0.0, 0.0)) is recipe


def test_presets() -> None:
    assert set(PRESETS) == {"dqn", "a2c", "at", "pn", "expert"}
    for method, presets in PRESETS.items():
        assert set(presets) == {"laptop" if method == "expert" else "paper", "tuned", "small"}
    with pytest.raises(ValueError, match="preset must be one of paper, tuned, small, got 'best'"):
        settings_for("dqn", "best")
    with pytest.raises(ValueError, match="method must be one of dqn, a2c, expert, at, pn, got 'sarsa'"):
        settings_for("sarsa", "paper")
