"""Weights files: what they say, and every way in which they can be wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from network_examples import CONFIGS
from orienteer import BadFile
from orienteer.lab.networks.attention_network import AttentionNetwork
from orienteer.lab.networks.decoders import RouteConfig, RouteModel
from orienteer.lab.networks.models import load_model, save_weights
from orienteer.network import weights
from orienteer.network.weights import find_weights, list_weights, read_header

RECORD = {"preset": "own", "minutes": 1.5}
SCORES = {"uniform_20": 5.5}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save_weights(tmp_path / "mine.safetensors", AttentionNetwork(CONFIGS["tuned"]), "dqn", RECORD, SCORES)


def _rewrite(path: Path, about: dict[str, Any] | None = None, **tensors: torch.Tensor | None) -> None:
    """Changes some fields of the header or some tensors of a file; None takes a tensor out."""
    held = load_file(path) | tensors
    header = read_header(path)
    told = {"format": 1, "method": header.method, "config": header.config, "record": {}, "scores": {}} | (about or {})
    kept = {name: value for name, value in held.items() if value is not None}
    save_file(kept, path, metadata={"orienteer": json.dumps(told)})


@pytest.mark.parametrize("kind", ["attention", "pointer"])
def test_models_come_back_with_all_that_was_said(kind: Any, tmp_path: Path) -> None:
    model = RouteModel(RouteConfig(kind, False, CONFIGS["paper"]))
    path = save_weights(tmp_path / "deep" / "it.safetensors", model, "at", RECORD, SCORES)
    again, header = load_model(path, methods=("at",))
    assert (header.name, header.method, header.record, header.scores) == ("it", "at", RECORD, SCORES)
    assert again.config == model.config
    assert not again.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    assert list(path.parent.iterdir()) == [path]


def test_files_have_the_usual_permissions(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("")
    assert file.stat().st_mode == other.stat().st_mode


def test_shipped_weights_go_by_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "SHIPPED", file.parent)
    assert [header.name for header in list_weights()] == ["mine"]
    assert find_weights("mine") == file
    assert find_weights(file) == file
    with pytest.raises(BadFile, match=r"neither a file nor one of the shipped \(mine\)"):
        find_weights("yours")


def test_shipped_weights_are_small_and_sound() -> None:
    headers = list_weights()
    assert sum(header.path.stat().st_size for header in headers) < 20_000_000
    for header in headers:
        load_model(header.path)


def test_a_file_cut_short(file: Path) -> None:
    whole = file.read_bytes()
    for length in (0, 4, 100, len(whole) - 10):
        file.write_bytes(whole[:length])
        with pytest.raises(BadFile, match="cannot be read as safetensors, perhaps cut short"):
            load_model(file)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"format": 2}, "has format 2; this version reads up to 1: update orienteer"),
        ({"method": "sarsa"}, "unknown method 'sarsa'"),
        ({"config": {"hidden": 7, "heads": 2}}, "describes a network that cannot be built: .*multiple of heads"),
        ({"config": {"colour": "red"}}, "describes a network that cannot be built"),
        ({"config": 5}, "describes a network that cannot be built"),
        ({"format": "new"}, "has a damaged header"),
        ({"config": {"hidden": 32, "heads": 4}}, "lacks the tensor|has shape|unknown tensor"),
    ],
)
def test_headers_that_are_wrong(file: Path, about: dict[str, Any], message: str) -> None:
    _rewrite(file, about)
    with pytest.raises(BadFile, match=message):
        load_model(file)


def test_tensors_that_are_wrong(file: Path) -> None:
    good = file.read_bytes()
    name = "advantage.weight"
    for tensors, message in (
        ({name: torch.zeros(1, 3)}, r"advantage.weight has shape \(1, 3\), its configuration asks for \(1, 16\)"),
        ({name: None}, "lacks the tensor advantage.weight"),
        ({name: torch.full((1, 16), torch.nan)}, "advantage.weight holds a number that is not finite"),
        ({"more": torch.zeros(1)}, "holds the unknown tensor more"),
    ):
        file.write_bytes(good)
        _rewrite(file, None, **tensors)  # type: ignore[arg-type]
        with pytest.raises(BadFile, match=message):
            load_model(file)


def test_files_of_others_and_of_another_method(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    save_file({"x": torch.zeros(2)}, other)
    with pytest.raises(BadFile, match="holds no weights of orienteer"):
        load_model(other)
    with pytest.raises(BadFile, match="holds weights of dqn, not of a2c"):
        load_model(file, methods=("a2c",))
