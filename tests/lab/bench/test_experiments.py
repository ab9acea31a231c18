"""The other experiments, at a size that takes moments."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from orienteer import BadFile, Instance, MaxSeconds, MissingExtra, OrienteerError, check_tour
from orienteer.data.files import write
from orienteer.data.generate import generate
from orienteer.data.npz import load_results
from orienteer.lab.bench import chart
from orienteer.lab.bench.beam import run_beam
from orienteer.lab.bench.compare import compare
from orienteer.lab.bench.gap import gap_curve, run_gap
from orienteer.lab.bench.generalization import run_generalization
from orienteer.lab.bench.methods import PEERS, Method, parse_methods, peer_class
from orienteer.lab.bench.others import read_figures
from orienteer.lab.bench.peer import whole_costs, whole_prizes
from orienteer.lab.bench.peers import run_peers
from orienteer.lab.bench.published import classic_seconds, known_files, oplib_seconds, run_files
from orienteer.lab.bench.routes import run_figures
from orienteer.lab.bench.run import run_cases
from orienteer.lab.bench.sets import random_set
from orienteer.lab.bench.summary import Row
from orienteer.plot import save_routes

SQUARE = Instance.from_coords([[0, 0], [1, 0], [1, 1], [0, 1], [9, 9]], [0, 1, 2, 3, 50], 4, 0, 1)
"""The best route from 0 to 1 goes round by 3 and 2: prize 6, cost 3; 4 is out of reach."""


def no_news(done: int, total: int) -> None:
    assert done <= total


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "table.csv").open() as file:
        return list(csv.DictReader(file))


def test_beams_at_equal_passes(tmp_path: Path) -> None:
    one = random_set(tmp_path / "instances", "uniform", 12, 2, 1)
    report = run_beam(tmp_path, one, (2, 6), (0.1,), "", "cpu", no_news)
    assert report.complete
    levels = [row for row in report.summaries if row.method.startswith("cs-l")]
    steps = [row for row in report.summaries if row.method.startswith("step")]
    assert [row.method for row in levels] == ["cs-l K=2 tau=0.1", "cs-l K=6 tau=0.1"]
    for level, step in zip(levels, steps, strict=True):
        assert level.passes is not None
        assert step.passes == pytest.approx(level.passes, rel=0.5)
    assert "CS above" in (tmp_path / "table.md").read_text()


def test_gaps_follow_the_improvements(tmp_path: Path) -> None:
    one = random_set(tmp_path / "instances", "uniform", 7, 3, 1)
    methods = parse_methods("prover,tsili,cs-p", {}, "cpu")
    report = run_gap(tmp_path, methods, [one], no_news, {})
    assert report.complete
    prover, tsili, beam = report.summaries
    assert prover.optimum_gap == 0
    assert prover.optima == prover.equal == 3
    assert tsili.optimum_gap is not None
    assert beam.optimum_gap is not None
    assert 0 <= beam.optimum_gap <= tsili.optimum_gap
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert all(line["trace"][-1][1] == line["prize"] for line in lines)
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_gap_curves_are_means_over_instances(tmp_path: Path) -> None:
    """Two instances of optimum 10: after 0.1 s both have a route, after 1 s one is at 9, at the end 10 and 8."""
    one = random_set(tmp_path, "uniform", 7, 2, 1)
    runs = [([[0.0, 0.0], [0.1, 5.0], [1.0, 9.0], [2.0, 10.0]], 3.0), ([[0.0, 0.0], [0.01, 5.0], [3.0, 8.0]], 5.0)]
    entries = {
        ("key", one.name, index): {
            "instance": one.digests[index], "prize": trace[-1][1], "seconds": seconds, "trace": trace
        }
        for index, (trace, seconds) in enumerate(runs)
    }  # fmt: skip
    optima = {(one.name, index): 10.0 for index in range(2)}
    curve = gap_curve(entries, Row("method", "key"), one, [0, 1], optima)
    assert curve is not None
    assert (curve.seconds[0], curve.seconds[-1]) == (0.1, 4.0)
    assert curve.gap[0] == pytest.approx(0.5)
    at_one = max(place for place, time in enumerate(curve.seconds) if time < 2)
    assert curve.gap[at_one] == pytest.approx((0.1 + 0.5) / 2)
    assert curve.gap[-1] == pytest.approx((0.0 + 0.2) / 2)
    assert gap_curve(entries, Row("other", "none"), one, [0, 1], optima) is None


def test_gaps_need_an_optimum(tmp_path: Path) -> None:
    one = random_set(tmp_path / "instances", "uniform", 30, 1, 1)
    with pytest.raises(OrienteerError, match="no optimum is proven; add exact to --methods"):
        run_gap(tmp_path, parse_methods("tsili", {}, "cpu"), [one], no_news, {})


def test_figures_show_every_route(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one = random_set(tmp_path / "instances", "distance", 8, 2, 1)
    path, report = run_figures(tmp_path, parse_methods("tsili,cs-p", {}, "cpu"), one, no_news)
    assert report.complete
    assert path.read_bytes().startswith(b"\x89PNG")


def test_pictures_need_a_route(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="at least one route"):
        save_routes([], tmp_path / "a.png")


def test_networks_on_other_sizes(tmp_path: Path) -> None:
    sets = [random_set(tmp_path / "instances", "distance", nodes, 1, 1) for nodes in (6, 9)]
    report = run_generalization(tmp_path, ("an-dqn",), sets, "cpu", 0.01, no_news)
    assert report.complete
    assert [(row.set, row.method) for row in report.summaries] == [
        ("distance_6", "cs-l an-dqn"),
        ("distance_6", "lns"),
        ("distance_9", "cs-l an-dqn"),
        ("distance_9", "lns"),
    ]
    assert "trained on n from 10 to 100" in report.notes[0]
    assert any("30.85 trained at n = 50" in note for note in report.notes)


def test_charts_are_left_out_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart.importlib.util, "find_spec", lambda name: None)
    notes: list[str] = []
    assert chart.try_prize_against_time(tmp_path / "a.png", [chart.Panel("t", [("a", 1.0, 1.0)])], notes) is None
    assert chart.try_curves(tmp_path / "a.png", [], notes) is None
    assert notes == [chart.ABSENT] * 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files below a folder, of which two have best known values."""
    place = tmp_path / "files" / "deeper"
    place.mkdir(parents=True)
    for name in ("one", "two", "unknown"):
        write(SQUARE, place / f"{name}.json")
    known = "instance,n,best_known,proven_optimal\none,5,6,yes\ntwo,5,5,no\nabsent,5,1,no\n"
    (tmp_path / "files" / "best_known.csv").write_text(known)
    return tmp_path / "files"


def test_files_against_best_known_values(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    files, notes = known_files(folder, None, 400)
    assert notes == ["named with a best known value, but not there: absent"]
    report = run_files(out, "Files", files, Method("e", "enumerate"), classic_seconds, no_news, notes)
    assert [(one.name, one.prize, one.better, one.missed) for one in report.results] == [
        ("one", 6.0, False, False),
        ("two", 6.0, True, False),
    ]
    assert report.mean_gap == pytest.approx((0 - 0.2) / 2)
    better = json.loads((out / "better.json").read_text())
    assert list(better) == ["two"]
    assert better["two"]["was"] == 5
    assert check_tour(SQUARE, better["two"]["tour"]).prize == 6
    assert "better: two 6, was 5" in (out / "table.md").read_text()
    assert notes[0] in (out / "table.md").read_text()
    assert [float(row["gap"]) for row in rows(out)] == pytest.approx([0, -20])


def test_a_missed_optimum_is_named(folder: Path, tmp_path: Path) -> None:
    files, notes = known_files(folder, None, 400, "one")
    assert notes == []
    report = run_files(tmp_path / "out", "Files", files, Method("c", "counted"), oplib_seconds, no_news)
    assert report.results[0].missed
    assert "missed: one 4 of 6" in (tmp_path / "out" / "table.md").read_text()


def test_finished_files_are_not_run_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = tmp_path / "calls"
    monkeypatch.setenv("CALLS", str(calls))
    for _ in range(2):
        run_files(
            tmp_path / "out", "F", known_files(folder, None, 400)[0], Method("c", "counted"), classic_seconds, no_news
        )
    assert len(calls.read_text().splitlines()) == 2


def test_large_files_are_left_out_with_a_note(folder: Path) -> None:
    known = "instance,n,best_known\none,5,6\ntwo,500,5\n"
    (folder / "best_known.csv").write_text(known)
    files, notes = known_files(folder, None, 400)
    assert [one.path.stem for one in files] == ["one"]
    assert notes == ["left out: 1 files of more than 400 nodes (--largest)"]


def test_wrong_best_known_files(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="holds no file"):
        known_files(folder, None, largest=4)
    with pytest.raises(BadFile, match="--best-known names another"):
        known_files(tmp_path / "files" / "deeper", None, 400)
    other = tmp_path / "other.csv"
    other.write_text("name,value\n")
    with pytest.raises(BadFile, match="missing: best_known, instance"):
        known_files(folder, other, 400)


def test_time_grows_with_the_file() -> None:
    assert [oplib_seconds(nodes) for nodes in (48, 110, 400, 2152)] == [0.7, 2.5, 5.0, 20.0]


@pytest.mark.parametrize("name", PEERS)
def test_peers_find_routes(name: str) -> None:
    """On a problem with an end of its own and a node out of reach, where the best is known."""
    if not peer_class(name).installed():
        pytest.skip(f"{name} is not installed")
    result = Method(name, name).make().solve(SQUARE, MaxSeconds(0.2))
    assert result.prize == 6
    assert check_tour(SQUARE, result.tour.nodes).prize == 6


@pytest.mark.parametrize("name", PEERS)
def test_peers_find_nothing_where_nothing_is(name: str) -> None:
    if not peer_class(name).installed():
        pytest.skip(f"{name} is not installed")
    alone = Instance(np.full((3, 3), np.inf), [1, 2, 3], 1)
    assert Method(name, name).make().solve(alone, MaxSeconds(0.1)).tour.nodes == (0, 0)
    way = Instance([[0, 9, 1], [9, 0, 9], [9, 1, 0]], [1, 1, 0], 3, 0, 1)
    assert Method(name, name).make().solve(way, MaxSeconds(0.1)).prize == 2


def test_absent_peers_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PEERS:
        monkeypatch.setattr(peer_class(name), "installed", classmethod(lambda cls: False))
    one = random_set(tmp_path / "instances", "uniform", 6, 1, 1)
    report = run_peers(tmp_path, parse_methods("tsili", {}), [one], 0.1, no_news)
    assert report.complete
    assert any("pyvrp, ortools, pyvroom; pip install 'orienteer[peers]'" in note for note in report.notes)
    with pytest.raises(MissingExtra, match=r"orienteer\[peers\]"):
        Method("pyvrp", "pyvrp").make()


def test_whole_costs_never_make_a_route_fit_that_does_not() -> None:
    instance = generate(12, "uniform", seed=3)[0]
    costs = whole_costs(instance, 1000)
    exact = instance.costs / instance.limit * 1000
    near = ~np.eye(instance.size, dtype=bool) & (exact < 2000)
    assert (costs[near] >= exact[near] - 1e-6).all()
    assert (costs[near] < exact[near] + 1).all()


def test_whole_prizes_keep_what_is_worth_something() -> None:
    instance = Instance(np.ones((3, 3)), [0, 1e-9, 5], 3)
    assert whole_prizes(instance, 100).tolist() == [0, 1, 100]
    assert whole_prizes(SQUARE, 100).tolist() == [0, 33, 67, 100, 0]


def test_methods_on_any_sets_beside_figures_of_others(tmp_path: Path) -> None:
    one = random_set(tmp_path / "instances", "uniform", 6, 2, 1)
    (tmp_path / "theirs.csv").write_text("set,index,prize\nuniform_6,0,1.0\nuniform_6,1,0.5\nuniform_9,0,7\n")
    methods = [Method("tsili", "tsili"), Method("best", "enumerate")]
    report = compare(tmp_path, "Any", methods, [one], no_news, beside={"theirs": tmp_path / "theirs.csv"}, routes=True)
    theirs, greedy, best = report.summaries
    assert (theirs.method, theirs.prize, theirs.solved, theirs.cpu != theirs.cpu) == ("theirs", 0.75, 2, True)
    assert theirs.gap == pytest.approx(1 - 0.75 / best.prize)
    assert (best.optimum_gap, best.equal) == (0.0, 2)
    assert greedy.prize <= best.prize
    for method in methods:
        kept = load_results(tmp_path / "routes" / f"uniform_6.{method.key}.npz")
        for index, instance in enumerate(one.instances):
            tour = check_tour(instance, kept.route(index))
            assert (kept.prize[index], kept.cost[index]) == (tour.prize, tour.cost)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set,index\n", "csv:1: needs the columns set, index and prize; missing: prize"),
        ("set,index,prize\na,b,1\n", "csv:2"),
    ],
)
def test_figures_of_others_must_be_readable(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "theirs.csv").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_figures(tmp_path / "theirs.csv")


def test_a_case_is_run_once(tmp_path: Path) -> None:
    one = random_set(tmp_path / "instances", "uniform", 6, 3, 1)
    cases = [(Method("quick", "random", {"tries": tries}), one, index) for index, tries in ((2, 5), (0, 9))]
    first = run_cases(tmp_path, cases, no_news, tours=True)
    assert [entry["index"] for entry in first] == [2, 0]
    assert [entry["steps"] for entry in first] == [5, 9]
    assert run_cases(tmp_path, cases, no_news, tours=True) == first, "seconds and all"
