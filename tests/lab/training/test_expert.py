"""Expert iteration, in the small: imitating, resuming, labelling for itself."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from orienteer import BadFile, check_tour
from orienteer.construct.enumerate import Enumerate
from orienteer.lab.commands.train import train as train_command
from orienteer.lab.networks.models import load_model
from orienteer.lab.networks.scorers import score_of
from orienteer.lab.networks.solvers import DqnGreedy, GreedyConfig
from orienteer.lab.training.expert import ExpertSettings, own_labels, train
from orienteer.lab.training.labels import FIRST_SEED, Label, LabelRecipe, draw_source, save_labels
from orienteer.lab.training.session import CHECKPOINT, LAST, Options
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork

RECIPE = LabelRecipe(sizes=(5, 6), favoured=(), costs=("euclidean", "tmat"))
SETTINGS = ExpertSettings(
    PolicyConfig(16, 2, 2), recipe=RECIPE, batch=64, part=64, steps=2, learning_rate=1e-2, follow=0.9, fresh=4, beam=5
)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Best routes of a few tiny problems."""
    path = tmp_path_factory.mktemp("labels") / "some.npz"
    save_labels(path, [Label(source, Enumerate().solve(source.instance()).tour.nodes, 1) for source in _sources()])
    return path


def _sources() -> list[Any]:
    return [draw_source(RECIPE, seed, np.random.default_rng(seed)) for seed in range(FIRST_SEED, FIRST_SEED + 6)]


def _train(labels: Path, out: Path, iterations: int, settings: ExpertSettings = SETTINGS, **more: Any) -> Any:
    given = {"device": "cpu", "every": 1e9, "validation": 2, "say": lambda text: None, **more}
    return train(replace(settings, labels=(str(labels),)), Options(out, iterations=iterations, **given))


def test_imitates_best_routes_until_it_builds_them_itself(labels: Path, tmp_path: Path) -> None:
    _train(labels, tmp_path, 120)
    solver = DqnGreedy(GreedyConfig(device="cpu", weights=str(tmp_path / LAST)))
    for source in _sources():
        instance = source.instance()
        assert solver.solve(instance).prize == pytest.approx(Enumerate().solve(instance).prize)


def test_a_resumed_run_equals_an_unbroken_one(labels: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _train(labels, whole, 6)

    def interrupt(iteration: int) -> None:
        if iteration == 3:
            signal.raise_signal(signal.SIGINT)

    assert _train(labels, broken, 6, on_iteration=interrupt).iteration == 3
    assert _train(labels, broken, 6, resume=broken / CHECKPOINT).iteration == 6
    one, two = (load_model(path / LAST)[0].state_dict() for path in (whole, broken))
    for key, value in one.items():
        assert torch.equal(value, two[key]), key


def test_a_checkpoint_of_another_way_to_train_is_refused(labels: Path, tmp_path: Path) -> None:
    _train(labels, tmp_path, 2)
    saved = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    saved["optimizers"] = saved["optimizers"][:1]
    torch.save(saved, tmp_path / CHECKPOINT)
    with pytest.raises(BadFile, match="earlier version"):
        _train(labels, tmp_path / "again", 4, resume=tmp_path / CHECKPOINT)


def test_rounds_add_labels_of_its_own(labels: Path, tmp_path: Path) -> None:
    said: list[str] = []
    _train(labels, tmp_path, 4, replace(SETTINGS, rounds=1), say=said.append)
    assert said[0].endswith("labels on cpu")
    assert any(line.startswith("round 1: 4 labels of its own, ") for line in said)


def test_own_labels_are_routes_of_fresh_problems() -> None:
    torch.manual_seed(0)
    made = own_labels(PolicyNetwork(SETTINGS.network), SETTINGS, seed=1)
    again = own_labels(PolicyNetwork(SETTINGS.network), SETTINGS, seed=2)
    assert len(made) == 4
    for label in made:
        check_tour(label.source.instance(), label.nodes)
    assert not {label.source.seed for label in made} & {label.source.seed for label in again}


def test_training_goes_on_from_other_weights_and_keeps_their_shape(labels: Path, tmp_path: Path) -> None:
    _train(labels, tmp_path / "first", 2, replace(SETTINGS, network=PolicyConfig(8, 2, 1)))
    begin, still = str(tmp_path / "first" / LAST), {"learning_rate": 1e-12, "weight_decay": 0.0}
    _train(labels, tmp_path / "second", 2, replace(SETTINGS, begin=begin, **still))
    one, two = (load_model(tmp_path / name / LAST) for name in ("first", "second"))
    for key, value in one[0].state_dict().items():
        torch.testing.assert_close(two[0].state_dict()[key], value)
    assert two[1].config == one[1].config
    assert two[1].record["settings"]["begin"] == LAST
    with pytest.raises(BadFile, match="holds weights of dqn, not of expert"):
        _train(labels, tmp_path / "none", 2, replace(SETTINGS, begin="an-dqn"))


def test_labels_are_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="labels must name at least one file; `orienteer labels` makes them"):
        train(ExpertSettings(), Options(tmp_path, device="cpu"))
    with pytest.raises(ValueError, match="pieces must be from 0 to 1"):
        ExpertSettings(pieces=2.0)


def test_the_command(labels: Path, tmp_path: Path) -> None:
    small = ["--preset", "small", "--set", "network.layers=1", "--iterations", "2", "--device", "cpu"]
    arguments = ["expert", *small, "--labels", str(labels), "--out", str(tmp_path)]
    done = CliRunner().invoke(train_command, arguments, catch_exceptions=False)
    assert "best score" in done.output
    model, header = load_model(tmp_path / LAST)
    assert header.method == "expert"
    assert isinstance(model, PolicyNetwork)
    assert score_of(model, "expert").passes == 0
    with pytest.raises(ValueError, match="--labels goes with expert, not with dqn"):
        CliRunner().invoke(train_command, ["dqn", "--labels", str(labels)], catch_exceptions=False)


def test_the_command_goes_on_from_weights(labels: Path, tmp_path: Path) -> None:
    given = ["--labels", str(labels), "--iterations", "1", "--device", "cpu", "--set", "batch=8", "--set", "steps=1"]
    begin = ["expert", "--preset", "small", "--from", "flagship-small", *given]
    CliRunner().invoke(train_command, [*begin, "--out", str(tmp_path / "on")], catch_exceptions=False)
    assert load_model(tmp_path / "on" / LAST)[0].config == load_model("flagship-small")[0].config
    with pytest.raises(ValueError, match=r"--set network\.KEY does not go with it"):
        CliRunner().invoke(train_command, [*begin, "--set", "network.layers=1"], catch_exceptions=False)
    with pytest.raises(ValueError, match="--from goes with expert, not with dqn"):
        CliRunner().invoke(train_command, ["dqn", "--from", "flagship"], catch_exceptions=False)
    again = ["expert", "--preset", "small", *given, "--resume", str(tmp_path / "on" / CHECKPOINT)]
    with pytest.raises(BadFile, match="holds a network of another shape; give the preset"):
        CliRunner().invoke(train_command, [*again, "--out", str(tmp_path / "again")], catch_exceptions=False)
