"""`orienteer train`, `orienteer weights` and a measurement of what was trained, as a user runs them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from orienteer.data.files import read_set, write_set
from orienteer.data.generate import generate
from orienteer.data.npz import load_results
from orienteer.lab.commands.bench import bench
from orienteer.lab.commands.train import train
from orienteer.lab.commands.weights import weights

TINY = ("--set", "network.hidden=16", "--set", "network.layers=1", "--set", "environments=48", "--set", "steps=6")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    out = tmp_path_factory.mktemp("trained")
    arguments = ["dqn", "--preset", "small", "--iterations", "40", "--device", "cpu", "--every", "1", *TINY]
    done = CliRunner().invoke(train, [*arguments, "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "best score" in done.output
    return out


def test_a_short_training_improves_the_validation_score(trained: Path) -> None:
    scores = [json.loads(line)["score"] for line in (trained / "log.jsonl").read_text().splitlines()]
    assert max(scores) > scores[0] * 1.05


def test_an_earlier_run_is_not_overwritten(trained: Path) -> None:
    before = (trained / "best.safetensors").read_bytes()
    with pytest.raises(ValueError, match=r"holds an earlier run: go on with --resume .*checkpoint\.pt"):
        CliRunner().invoke(
            train, ["dqn", "--preset", "small", "--device", "cpu", "--out", str(trained)], catch_exceptions=False
        )
    assert (trained / "best.safetensors").read_bytes() == before


def test_a_device_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="device must be"):
        CliRunner().invoke(train, ["dqn", "--device", "foo", "--out", str(tmp_path)], catch_exceptions=False)


def test_weights_are_listed(trained: Path) -> None:
    path = str(trained / "best.safetensors")
    said = CliRunner().invoke(weights, [path], catch_exceptions=False).output
    assert said.startswith("best: dqn, ")
    assert "uniform_20: greedy" in said
    told = json.loads(CliRunner().invoke(weights, [path, "--json"], catch_exceptions=False).output)
    assert told[0]["config"]["hidden"] == 16
    assert told[0]["record"]["preset"] == "small"


def test_its_weights_can_be_measured_and_judged(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)
    path, own = tmp_path / "some.npz", "best.safetensors"
    write_set(generate(12, "uniform", "euclidean", 1.5, 4, 1, False), path)
    methods = ",".join(f"{name},weights={own}" for name in ("an-dqn", "an-dqn-beam", "cs-l"))
    words = ["sets", str(path), "--methods", methods, "--routes", "--device", "cpu", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(bench, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    prizes = []
    for kind in ("an-dqn-weights", "an-dqn-beam", "cs-l"):
        (file,) = (tmp_path / "out" / "routes").glob(f"some.{kind}*.npz")
        result = load_results(file)
        for row, instance in enumerate(read_set(path)):
            nodes = result.route(row)
            assert instance.prizes[sorted(set(nodes))].sum() == pytest.approx(result.prize[row])
            assert result.cost[row] <= instance.budget
        prizes.append(result.prize.mean())
    assert prizes[0] <= min(prizes[1:])


def test_settings_can_be_changed_by_name(trained: Path) -> None:
    (told,) = json.loads(
        CliRunner().invoke(weights, [str(trained / "best.safetensors"), "--json"], catch_exceptions=False).output
    )
    assert (told["config"]["hidden"], told["config"]["layers"]) == (16, 1)
    assert (told["record"]["settings"]["environments"], told["record"]["settings"]["steps"]) == (48, 6)


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"dqn has no setting 'colour'; it has network, recipe, "):
        CliRunner().invoke(train, ["dqn", "--set", "colour=3", "--out", str(tmp_path)], catch_exceptions=False)
