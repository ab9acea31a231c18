"""Training of variants: every one once, resumed after an interruption."""

import json
from pathlib import Path

import pytest

from orienteer.lab.bench import sensitivity
from orienteer.lab.bench.run import Shard
from orienteer.lab.bench.sensitivity import Plan, run_sensitivity
from orienteer.lab.training import dqn

PLAN = Plan(minutes=0.04, nodes=5, prizes="uniform", seeds=2, device="cpu", validation=4)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Hidden sizes in the order of training; two variants only, so that the test is quick."""
    studies = {"hidden size": (("8", {"hidden": 8, "layers": 1}), ("16", {"hidden": 16, "layers": 1}))}
    monkeypatch.setattr(sensitivity, "STUDIES", studies)
    found: list[int] = []
    train = dqn.train

    def noted(settings: dqn.DqnSettings, *rest: object) -> object:
        found.append(settings.network.hidden)
        return train(settings, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(dqn, "train", noted)
    return found


def test_interrupted_training_goes_on(tmp_path: Path, trained: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sensitivity(tmp_path, PLAN, interrupt)
    assert trained == [8, 16]
    assert run_sensitivity(tmp_path, PLAN, lambda done, total: None) == []
    assert trained == [8, 16, 8, 16]
    assert run_sensitivity(tmp_path, PLAN, lambda done, total: None) == []
    assert len(trained) == 4
    found = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [one["index"] for one in found] == [0, 0, 1, 1]
    assert all(one["states"] == sorted(set(one["states"])) for one in found)
    text = (tmp_path / "table.md").read_text()
    assert "| hidden size | 8 | 2 | " in text
    assert " ± " in text


def test_shards_share_the_networks(tmp_path: Path, trained: list[int]) -> None:
    for number, sizes in ((1, [8, 8]), (2, [16, 16])):
        assert run_sensitivity(tmp_path, PLAN, lambda done, total: None, Shard(number, 2)) is None
        assert trained[-2:] == sizes
    assert not (tmp_path / "table.md").exists()
    assert run_sensitivity(tmp_path, PLAN, lambda done, total: None) == []
    assert len(trained) == 4
    assert "| hidden size | 16 | 2 | " in (tmp_path / "table.md").read_text()


def test_other_minutes_are_another_experiment() -> None:
    variant = {"hidden": 8}
    assert Plan(1).key(variant) != Plan(2).key(variant)
    assert Plan(1).key(variant) != Plan(1).key({})


def test_a_network_is_trained_once_for_all_studies() -> None:
    plan = Plan(minutes=60)
    assert plan.variants == [{}, {"graph_heads": 1}, {"layers": 1}, {"layers": 2}, {"hidden": 8}, {"hidden": 16}]
    assert plan.each == pytest.approx(2.0)
    assert plan.settings({}).network.hidden == 32
    assert plan.settings({"graph_heads": 1}).network.graph_heads == 1
    assert plan.settings({}).recipe.prizes == ("distance",)
