"""The mean of several networks' weights."""

import json
from pathlib import Path

import pytest
import torch

from orienteer import BadFile
from orienteer.cli.main import run
from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.networks.models import load_model, save_weights
from orienteer.lab.training.average import average_weights
from orienteer.network.config import PolicyConfig
from orienteer.network.policy_network import PolicyNetwork


def _network(folder: Path, name: str, minutes: float, config: PolicyConfig | None = None) -> Path:
    torch.manual_seed(round(10 * minutes))
    model = PolicyNetwork(config or PolicyConfig(16, 2, 1))
    return save_weights(folder / f"{name}.safetensors", model, "expert", {"preset": "own", "minutes": minutes}, {})


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return _network(tmp_path, "early", 1.5), _network(tmp_path, "late", 4)


def test_every_weight_is_the_mean_by_shares(pair: tuple[Path, Path], tmp_path: Path) -> None:
    early, late = (load_model(path)[0].state_dict() for path in pair)
    model, header = load_model(average_weights(pair, tmp_path / "mean.safetensors", (3, 1), "cpu", count=2))
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, 0.75 * early[name] + 0.25 * late[name])
    assert header.record["minutes"] == 4
    assert [(part["share"], part["minutes"]) for part in header.record["average"]] == [(0.75, 1.5), (0.25, 4)]
    assert set(header.scores) >= {"uniform_20", "constant_100"}


def test_shares_are_equal_unless_given(pair: tuple[Path, Path], tmp_path: Path) -> None:
    _, header = load_model(average_weights(pair, tmp_path / "mean.safetensors", device="cpu", count=1))
    assert [part["share"] for part in header.record["average"]] == [0.5, 0.5]


def test_a_mean_of_means_and_of_large_shares(pair: tuple[Path, Path], tmp_path: Path) -> None:
    once = average_weights(pair, tmp_path / "once.safetensors", (1e308, 1e308), "cpu", count=1)
    _, header = load_model(average_weights((once, pair[0]), tmp_path / "twice.safetensors", device="cpu", count=1))
    shares = [[part["share"] for part in parts["average"]] for parts in (header.record, header.record["average"][0])]
    assert shares == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("shares", [(1,), (1, 0), (1, -1), (1, float("nan")), (1, float("inf"))])
def test_shares_that_make_no_mean_are_refused(
    shares: tuple[float, ...], pair: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="shares"):
        average_weights(pair, tmp_path / "mean.safetensors", shares, "cpu")
    assert not (tmp_path / "mean.safetensors").exists()


def test_networks_that_do_not_go_together_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    wide = _network(tmp_path, "wide", 1, PolicyConfig(32, 2, 1))
    with pytest.raises(ValueError, match="early and wide have no mean: hidden is 16 in one, 32 in the other"):
        average_weights((pair[0], wide), tmp_path / "mean.safetensors", device="cpu")
    with pytest.raises(ValueError, match="two or more"):
        average_weights(pair[:1], tmp_path / "mean.safetensors", device="cpu")
    other = save_weights(tmp_path / "dqn.safetensors", AttentionNetwork(NetworkConfig()), "dqn", {}, {})
    with pytest.raises(BadFile, match="holds weights of dqn, not of expert"):
        average_weights((pair[0], other), tmp_path / "mean.safetensors", device="cpu")


def test_the_command_writes_and_lists_the_mean(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mean.safetensors"
    assert run(["weights", *map(str, pair), "--average", str(out), "--shares", "1,3", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert [part["share"] for part in told["record"]["average"]] == [0.25, 0.75]
    assert set(told["scores"]) == set(load_model(out)[1].scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--shares", "1,1"), "--shares goes with --average"),
        (("--average", "mean.safetensors", "--shares", "1,x"), "--shares must be numbers"),
        (("--average", "no/folder/mean.safetensors"), "no/folder"),
        (("--average", "late.safetensors"), "also read or written by this command"),
    ],
)
def test_wrong_options_are_refused(
    options: tuple[str, ...],
    message: str,
    pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(pair[0].parent)
    assert run(["weights", *map(str, pair), *options]) == 2
    assert message in capsys.readouterr().err
