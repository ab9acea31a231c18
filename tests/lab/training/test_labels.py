"""Labels: the problems that they name, the routes that they hold, and their files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from oracle import best_prize
from orienteer import BadFile, check_tour
from orienteer.beam.solvers import PrizeCostLevelSearch
from orienteer.cli.main import run
from orienteer.construct.enumerate import Enumerate
from orienteer.data.generate import COSTS
from orienteer.lab.commands.labels import labels as labels_command
from orienteer.lab.training import labels as module
from orienteer.lab.training.labels import (
    FIRST_SEED,
    Label,
    LabelRecipe,
    draw_source,
    improve_labels,
    load_labels,
    make_label,
    make_labels,
    save_labels,
    search_labels,
    stray,
    tail,
)
from orienteer.model.tour import route_cost

TINY = LabelRecipe(sizes=(4, 12), favoured=(), costs=COSTS, seconds=0.01)


def _sources(count: int, recipe: LabelRecipe = TINY) -> list[module.Source]:
    return [draw_source(recipe, seed, np.random.default_rng(seed)) for seed in range(FIRST_SEED, FIRST_SEED + count)]


def test_routes_fit_their_problems_and_tails_keep_their_beginnings() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + 12):
        whole, *tails = make_label(TINY, seed)
        instance = whole.source.instance()
        check_tour(instance, whole.nodes)
        assert whole.given == 1
        for one in tails:
            check_tour(instance, one.nodes)
            assert one.source == whole.source
            assert 1 < one.given < len(one.nodes)


def test_sources_vary_and_name_their_problem() -> None:
    sources = _sources(60)
    assert {source.costs for source in sources} == set(COSTS)
    assert {source.separate_end for source in sources} == {False, True}
    assert len({source.n for source in sources}) > 5
    for source in sources[:5]:
        assert np.array_equal(source.instance().costs, source.instance().costs)


def test_the_best_of_a_tail_is_the_best_way_to_go_on() -> None:
    """By enumeration: the rest of the path is worth what the tail's best route is worth."""
    rng = np.random.default_rng(0)
    seen = 0
    for source in _sources(40, LabelRecipe(sizes=(4, 5), favoured=(), costs=COSTS, apart=0.5, stretch=(1.5, 3.0))):
        instance = source.instance()
        path = stray(instance, Enumerate().solve(instance).tour.nodes, rng)
        left = tail(instance, path)
        if left is None:
            assert source.costs == "xasy"
            continue
        rest, names = left
        route = Enumerate().solve(rest).tour.nodes
        joined = check_tour(instance, (*path, *(int(names[node]) for node in route[1:])))
        ends = {*path, instance.end}
        assert joined.prize == pytest.approx(best_prize(rest) + sum(instance.prizes[node] for node in ends))
        seen += len(route) > 2
    assert seen > 5


def test_any_solver_can_label() -> None:
    made = list(search_labels(TINY, range(FIRST_SEED, FIRST_SEED + 6), PrizeCostLevelSearch()))
    assert [label.source.seed for label in made] == list(range(FIRST_SEED, FIRST_SEED + 6))
    for label in made:
        check_tour(label.source.instance(), label.nodes)


def test_no_more_are_begun_once_the_time_is_up() -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + 1000)
    assert list(make_labels(TINY, seeds, 1, lambda: True)) == []
    assert list(search_labels(TINY, seeds, PrizeCostLevelSearch(), lambda: True)) == []


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    made = [label for seed in range(FIRST_SEED, FIRST_SEED + 4) for label in make_label(TINY, seed)]
    save_labels(tmp_path / "some.npz", made)
    assert load_labels(tmp_path / "some.npz") == made
    assert [path.name for path in tmp_path.iterdir()] == ["some.npz"]


def test_bad_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.npz"
    save_labels(path, [Label(_sources(1)[0], (0, 1, 0), 1)])
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:300])
    np.savez(tmp_path / "other.npz", costs=np.zeros(3))
    for name in ("cut.npz", "other.npz", "none.npz"):
        with pytest.raises(BadFile, match="cannot be read as labels"):
            load_labels(tmp_path / name)
    monkeypatch.setattr(module, "FORMAT", 0)
    with pytest.raises(BadFile, match="has format 1; this version reads up to 0"):
        load_labels(path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sizes": (5, 4)}, "sizes must be from 2 to 1000"),
        ({"costs": ("euclidean", "taxi")}, "costs must be some of euclidean"),
        ({"seconds": 0.0}, "seconds must be above 0"),
    ],
)
def test_recipes_are_checked(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelRecipe(**wrong)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "labels.npz"
    arguments = ["--out", str(out), "--count", "5", "--solver", "cs-p", "--costs", "xasy", "--sizes", "5,9"]
    done = CliRunner().invoke(labels_command, arguments, catch_exceptions=False)
    assert done.output.startswith("5 labels in ")
    assert {label.source.costs for label in load_labels(out)} == {"xasy"}


def test_better_routes_take_the_place_of_worse_ones() -> None:
    recipe = LabelRecipe(sizes=(4, 5), favoured=(), costs=("euclidean", "tmat"), seconds=0.01, stretch=(1.0, 2.0))
    good = [label for seed in range(FIRST_SEED, FIRST_SEED + 20) for label in make_label(recipe, seed)]
    assert any(label.given > 1 for label in good)
    poor = [_shortened(label) for label in good]
    for old, new in zip(poor, improve_labels(poor, Enumerate()), strict=True):
        instance = old.source.instance()
        assert new.nodes[: old.given] == old.nodes[: old.given]
        assert check_tour(instance, new.nodes).prize >= check_tour(instance, old.nodes).prize
        if old.given == 1:
            assert check_tour(instance, new.nodes).prize == pytest.approx(best_prize(instance))
    assert list(improve_labels(good, Enumerate(), lambda: True)) == good, "out of time"


def _shortened(label: Label) -> Label:
    """The label without the last stop before its end, if there is one to spare."""
    spare = len(label.nodes) - label.given > 2
    instance = label.source.instance()
    nodes = (*label.nodes[:-2], label.nodes[-1])
    if not spare or route_cost(instance, nodes) > instance.limit:
        return label
    return replace(label, nodes=nodes)


def test_improve_from_the_command_line(tmp_path: Path) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    labels = [_shortened(label) for seed in range(FIRST_SEED, FIRST_SEED + 4) for label in make_label(TINY, seed)]
    save_labels(old, labels)
    result = CliRunner().invoke(
        labels_command, ["--improve", str(old), "--solver", "cs-p", "--set", "beam=5", "--out", str(new)]
    )
    assert result.exit_code == 0, result.output
    assert f"of {len(labels)} labels improved" in result.output
    assert [one.source for one in load_labels(new)] == [one.source for one in labels]


def test_settings_need_a_solver(tmp_path: Path) -> None:
    out = tmp_path / "labels.npz"
    result = CliRunner().invoke(labels_command, ["--set", "beam=5", "--count", "1", "--out", str(out)])
    assert result.exit_code == 2
    assert "--set is for the solver" in result.output
    result = CliRunner().invoke(labels_command, ["--solver", "lns", "--set", "x=5", "--count", "1", "--out", str(out)])
    assert result.exit_code == 2
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sizes", "10"), "--sizes must be two whole numbers, LOW,HIGH, got '10'"),
        (("--sizes", "5,x"), "--sizes must be two whole numbers"),
        (("--minutes", "0"), "0.0 is not in the range"),
        (("--minutes", "1e-9", "--processes", "1"), "nothing was labelled in this time"),
    ],
)
def test_labels_that_cannot_be_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "labels.npz"
    assert run(["labels", "--count", "2", *words, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()
