"""The paper's table: kept results, kills, shards, failures."""

import csv
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import bench_methods
from orienteer import BadFile, check_tour
from orienteer.data.generate import generate
from orienteer.data.npz import load_set, save_set
from orienteer.lab.bench.methods import Method, parse_methods
from orienteer.lab.bench.paper import merge, run_paper
from orienteer.lab.bench.paper_figures import PRIZES, ROWS, SIZES, printed
from orienteer.lab.bench.paper_report import Spec
from orienteer.lab.bench.run import Shard

SPEC = Spec(("uniform", "constant"), (5, 8), count=5, seed=1)
COUNTED = [Method("counted", "counted")]
TIMES = ("seconds", "cpu seconds")


def no_news(done: int, total: int) -> None:
    pass


def table(folder: Path) -> list[dict[str, str]]:
    """The table without its times."""
    with (folder / "table.csv").open() as file:
        return [{key: value for key, value in row.items() if key not in TIMES} for row in csv.DictReader(file)]


def lines(folder: Path) -> list[tuple[str, str, int]]:
    found = [json.loads(text) for path in folder.glob("*.jsonl") for text in path.read_text().splitlines()]
    return [(one["key"], one["set"], one["index"]) for one in found]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the counting solver notes its calls."""
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv("CALLS", str(path))
    return path


def test_every_line_is_a_route_of_its_instance(tmp_path: Path) -> None:
    run_paper(tmp_path, parse_methods("tsili,cs-p,beam=3", {}, "cpu"), SPEC, no_news)
    found = [json.loads(text) for text in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(found) == 2 * 4 * 5
    for one in found:
        instance = load_set(tmp_path / "instances" / f"{one['set']}_seed1.npz")[one["index"]]
        assert check_tour(instance, one["tour"]).prize == pytest.approx(one["prize"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX kills")
def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, calls: Path) -> None:
    words = ["bench", "paper", "--count", "5", "--prizes", "uniform,constant", "--sizes", "5,8", "--seed", "1"]
    words += ["--methods", "counted,tsili", "--out"]
    command = [sys.executable, bench_methods.__file__, *words]
    environment = {**os.environ, "CALLS": str(calls)}
    broken, whole = tmp_path / "broken", tmp_path / "whole"

    blocked = {**environment, "BLOCKED": "13"}
    with subprocess.Popen([*command, str(broken)], env=blocked, stdin=-1, stdout=-1, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"  # in the middle of the third cell
        child.kill()
    finished = lines(broken)
    assert len(finished) == 12 + 10
    with (broken / "results.jsonl").open("a") as file:
        file.write('{"key": "counted-12')  # as if the kill had come while a line was written
    first = calls.read_text().splitlines()
    calls.write_text("")

    subprocess.run([*command, str(broken)], env=environment, check=True, stdout=subprocess.DEVNULL)
    second = calls.read_text().splitlines()
    assert len(first) == 12
    assert len(second) == 8
    assert not set(first) & set(second), "a finished instance was done again"
    assert max(Counter(lines(broken)).values()) == 1
    assert len(lines(broken)) == 40

    subprocess.run([*command, str(whole)], env=environment, check=True, stdout=subprocess.DEVNULL)
    assert table(broken) == table(whole)
    assert [row["solved"] for row in table(broken)] == ["5"] * 8


def test_a_new_method_costs_only_itself(tmp_path: Path, calls: Path) -> None:
    run_paper(tmp_path, COUNTED, SPEC, no_news)
    assert len(calls.read_text().splitlines()) == 20
    run_paper(tmp_path, [*COUNTED, Method("tsili", "tsili")], SPEC, no_news)
    assert len(calls.read_text().splitlines()) == 20
    assert [row["method"] for row in table(tmp_path)] == ["counted", "tsili"] * 4


def test_more_instances_cost_only_themselves(tmp_path: Path, calls: Path) -> None:
    few = Spec(("uniform",), (5,), 2, 1)
    run_paper(tmp_path, COUNTED, few, no_news)
    run_paper(tmp_path, COUNTED, Spec(("uniform",), (5,), 6, 1), no_news)
    assert len(calls.read_text().splitlines()) == 6
    run_paper(tmp_path, COUNTED, few, no_news)
    assert len(calls.read_text().splitlines()) == 6
    assert table(tmp_path)[0]["wanted"] == "2"


def test_changed_settings_are_another_method_and_the_old_are_named(tmp_path: Path) -> None:
    spec = Spec(("uniform",), (5,), 2, 1)
    run_paper(tmp_path, [Method("cs-p", "cs-p", {"beam": 2, "device": "cpu"})], spec, no_news)
    report = run_paper(tmp_path, [Method("cs-p", "cs-p", {"beam": 3, "device": "cpu"})], spec, no_news)
    assert report is not None
    old = Method("cs-p", "cs-p", {"beam": 2, "device": "cpu"}).key
    assert [note for note in report.notes if old in note and "not shown" in note]
    assert len(lines(tmp_path)) == 4


def test_shards_come_to_the_same_table(tmp_path: Path) -> None:
    methods = parse_methods("counted,tsili,random", {})
    run_paper(tmp_path / "whole", methods, SPEC, no_news)
    folders = [tmp_path / f"shard{number}" for number in (1, 2, 3)]
    for number, folder in enumerate(folders, start=1):
        assert run_paper(folder, methods, SPEC, no_news, Shard(number, 3)) is None
        assert not (folder / "table.md").exists()
    assert sorted(len(lines(folder)) for folder in folders) == [12, 24, 24]
    report = merge(folders, tmp_path / "merged")
    assert report.complete
    assert table(tmp_path / "merged") == table(tmp_path / "whole")
    assert sorted(lines(tmp_path / "merged")) == sorted(lines(tmp_path / "whole"))
    assert all("tour" in json.loads(text) for text in (tmp_path / "merged" / "results.jsonl").read_text().splitlines())


def test_shards_may_share_a_folder(tmp_path: Path, calls: Path) -> None:
    for number in (1, 2):
        run_paper(tmp_path / "a", COUNTED, SPEC, no_news, Shard(number, 2))
    assert merge([tmp_path / "a"], tmp_path / "a").complete
    run_paper(tmp_path / "a", COUNTED, SPEC, no_news)
    assert len(calls.read_text().splitlines()) == 20


def test_methods_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """As after a change of version or device between two shards."""
    spec = Spec(("uniform",), (5,), 2, 1)
    for number, width in ((1, 2), (2, 3)):
        method = Method("cs-p", "cs-p", {"beam": width, "device": "cpu"})
        run_paper(tmp_path / str(number), [method], spec, no_news, Shard(number, 2))
    report = merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert len({row.method for row in report.summaries}) == 2
    assert [row.solved for row in report.summaries] == [1, 1]
    assert any("cs-p,beam=2" in note for note in report.notes)


def test_a_missing_shard_shows(tmp_path: Path) -> None:
    run_paper(tmp_path / "a", COUNTED, SPEC, no_news, Shard(2, 2))
    report = merge([tmp_path / "a"], tmp_path / "b")
    assert not report.complete
    assert "(2 of 5)" in (tmp_path / "b" / "table.md").read_text()


def test_different_experiments_do_not_merge(tmp_path: Path) -> None:
    run_paper(tmp_path / "a", COUNTED, SPEC, no_news, Shard(1, 2))
    run_paper(tmp_path / "b", COUNTED, Spec(("uniform",), (5,), 2, 2), no_news, Shard(2, 2))
    with pytest.raises(ValueError, match="different experiments"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    with pytest.raises(BadFile, match="holds no results"):
        merge([tmp_path / "nothing"], tmp_path / "c")


def test_a_failure_is_told_and_tried_again(tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Spec(("uniform",), (5,), 3, 1)
    report = run_paper(tmp_path, [Method("fragile", "fragile"), *COUNTED], spec, no_news)
    assert report is not None
    assert report.failures == ["fragile failed on uniform_5 1: RuntimeError: the second one is too hard"]
    text = (tmp_path / "table.md").read_text()
    assert "(2 of 3)" in text
    assert report.failures[0] in text
    monkeypatch.setattr(bench_methods.Fragile, "search", bench_methods.Counted.search)
    calls.write_text("")
    report = run_paper(tmp_path, [Method("fragile", "fragile"), *COUNTED], spec, no_news)
    assert report is not None
    assert report.failures == []
    assert len(calls.read_text().splitlines()) == 1


def test_no_route_that_is_none_gets_into_the_results(tmp_path: Path) -> None:
    report = run_paper(tmp_path, [Method("cheat", "cheat")], Spec(("uniform",), (5,), 1, 1), no_news)
    assert report is not None
    assert "InfeasibleTour: stop 2: node 1 is visited twice" in report.failures[0]


def test_one_bad_instance_of_a_batch_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from orienteer.beam.solvers import PrizeCostLevelSearch

    together, alone = PrizeCostLevelSearch.solve_batch, PrizeCostLevelSearch.solve
    bad = generate(5, "uniform", count=3, seed=1)[1]

    def batch(self, instances, *rest, **more):  # type: ignore[no-untyped-def]
        if bad in instances:
            raise ValueError("one of them")
        return together(self, instances, *rest, **more)

    def single(self, instance, *rest, **more):  # type: ignore[no-untyped-def]
        if instance == bad:
            raise ValueError("this one")
        return alone(self, instance, *rest, **more)

    monkeypatch.setattr(PrizeCostLevelSearch, "solve_batch", batch)
    monkeypatch.setattr(PrizeCostLevelSearch, "solve", single)
    report = run_paper(tmp_path, [Method("cs-p", "cs-p", {"device": "cpu"})], Spec(("uniform",), (5,), 3, 1), no_news)
    assert report is not None
    assert "cs-p: a batch failed, so one by one: one of them" in caplog.text
    assert report.failures == ["cs-p failed on uniform_5 1: ValueError: this one"]
    assert report.summaries[0].solved == 2


def test_proofs_give_gaps_to_the_optimum(tmp_path: Path) -> None:
    spec = Spec(("uniform",), (8,), 3, 1)
    report = run_paper(tmp_path, [Method("prover", "prover"), *COUNTED], spec, no_news)
    assert report is not None
    prover, counted = report.summaries
    assert (prover.optimum_gap, prover.optima, prover.equal) == (0.0, 3, 3)
    assert counted.optimum_gap is not None
    assert counted.optimum_gap > 0
    said = (tmp_path / "optimum.csv").read_text().splitlines()
    assert said[0] == "set,index,prize"
    assert len(said) == 4


def test_an_optimum_below_a_route_is_told(tmp_path: Path) -> None:
    report = run_paper(tmp_path, COUNTED, Spec(("uniform",), (5,), 1, 1), no_news, optima={("uniform_5", 0): 1e-3})
    assert report is not None
    assert "is above the optimum 0.001" in report.failures[0]


def test_given_instances_are_kept_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    save_set(generate(6, "uniform", count=4, seed=9), data / "uniform_6.npz")
    spec = Spec(("uniform",), (6,), 3)
    run_paper(tmp_path / "out", COUNTED, spec, no_news, Shard(1, 1), data)
    kept = load_set(tmp_path / "out" / "instances" / "uniform_6.npz")
    assert list(kept) == list(generate(6, "uniform", count=3, seed=9))
    assert merge([tmp_path / "out"], tmp_path / "again").complete
    with pytest.raises(BadFile, match="holds 4 instances, fewer than the 9"):
        run_paper(tmp_path / "out", COUNTED, Spec(("uniform",), (6,), 9), no_news, Shard(1, 1), data)


@pytest.mark.parametrize(("text", "good"), [("1/1", True), ("3/2", False), ("0/2", False), ("x", False), ("1/", False)])
def test_shards_by_name(text: str, good: bool) -> None:
    if good:
        assert Shard.parse(text) == Shard()
    else:
        with pytest.raises(ValueError, match="--shard must be I/N"):
            Shard.parse(text)


def test_shards_part_the_instances() -> None:
    parts = [list(Shard(number, 3).indices(8)) for number in (1, 2, 3)]
    assert sorted(itertools.chain(*parts)) == list(range(8))


def test_the_papers_figures() -> None:
    """Spot checks against the printed table, and that no cell is missing where the paper has one."""
    assert printed("cs-paper", "uniform", 100) == (30.93, 40)
    assert printed("cs-l", "distance", 20) == (5.35, 1)
    assert printed("an-a2c-beam", "distance", 50) == (15.13, 6)
    assert printed("cs-p", "constant", 50) == (29.16, 6)
    assert printed("lns", "uniform", 20) is None
    assert printed("exact", "uniform", 50) is None
    cells = [(m, p, n) for m in ROWS for p in PRIZES for n in SIZES if printed(m, p, n) is None]
    expected = {(m, p, n) for m in ("exact", "gurobi") for p in PRIZES for n in (50, 100)}
    expected |= {("cs-p", p, n) for p in ("uniform", "distance") for n in SIZES}
    expected |= {(m, "constant", n) for m in ("cs-paper", "cs-l") for n in SIZES}
    assert set(cells) == expected
