"""The comparison with PyVRP on plans: which files, what is written, and who wins."""

import csv
import json
from pathlib import Path

import pytest

from command_line import Cli
from orienteer import BadFile, check_plan
from orienteer.lab.bench.plan_peers import Pair, PlanReport
from orienteer.lab.bench.pyvrp_peer import PyVrpPeer
from orienteer.lab.bench.variant_files import VariantFile, listed_files, spread

SHARED = Path(__file__).parents[4] / "shared" / "data" / "variants"

TOP = "n 5\nm 2\ntmax {limit}\n0 0 0\n0 1 3\n0 -1 4\n5 0 9\n0 0 0\n"
"""Two routes there and back, worth 3 and 4, of 2 each; 9 is out of reach unless the limit is 10."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four files of TOP, three of them with recent values."""
    (tmp_path / "top").mkdir()
    rows = ["instance,best_known,source"]
    for name, limit, best, source in (
        ("p4.2.a", 2.5, 7, "recent"),
        ("p4.2.b", 10, 16, "recent"),
        ("p4.2.c", 2, 7, "2007 level"),
        ("p4.2.d", 3, 8, "recent"),
    ):
        (tmp_path / "top" / f"{name}.txt").write_text(TOP.format(limit=limit))
        rows.append(f"{name},{best},{source}")
    (tmp_path / "top_best_known.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def entry(prize: float) -> dict[str, float]:
    return {"prize": prize, "seconds": 1.0, "nodes": 5}


def report(*prizes: tuple[float, float]) -> PlanReport:
    file = VariantFile("top", Path("p4.2.a.txt"), 2, 10)
    return PlanReport([Pair(file, entry(ours), entry(theirs)) for ours, theirs in prizes], [])


def test_files_at_equal_distances(folder: Path) -> None:
    listed = listed_files("top", folder)
    assert [file.name for file in listed] == ["p4.2.a.2", "p4.2.b.2", "p4.2.d.2"]
    assert [file.best for file in listed] == [7, 16, 8]
    assert spread(listed, 2) == [listed[0], listed[1]]
    assert spread(listed * 2, 2) == [listed[0], listed[0]]
    with pytest.raises(ValueError, match="--count must be at most 3"):
        spread(listed, 4)
    with pytest.raises(BadFile, match="--data names the folder"):
        listed_files("toptw", folder)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files of ../shared/data/variants are absent")
def test_the_rule_takes_every_number_of_routes() -> None:
    top, toptw = (spread(listed_files(kind, SHARED), 30) for kind in ("top", "toptw"))
    assert top == listed_files("top", SHARED)[::3]
    assert len(set(toptw)) == 30
    assert {file.routes for file in top} == {2, 3, 4}
    assert {file.routes for file in toptw} == {1, 2, 3, 4}
    assert all(file.path.is_file() for file in top + toptw)


def test_who_is_ahead() -> None:
    """Better on the mean, and on nine tenths of the files that differ."""
    nine = [(5.0, 4.0)] * 9
    assert report(*nine, (1.0, 2.0), (3.0, 3.0)).ahead
    assert not report(*nine, (1.0, 11.0)).ahead
    assert not report(*nine[1:], (1.0, 2.0)).ahead
    assert not report((3.0, 3.0)).ahead
    three = report((5.0, 4.0), (1.0, 2.0), (3.0, 3.0))
    assert (three.better, three.worse) == (1, 1)


@pytest.mark.skipif(not PyVrpPeer.installed(), reason="pyvrp is not installed")
def test_the_command(cli: Cli, folder: Path, tmp_path: Path) -> None:
    """Both find the best of the two first files; a judge who refuses one method's plans is heard."""
    judge = tmp_path / "judge.py"
    judge.write_text("import sys\nif 'pyvrp' in sys.argv[3]:\n    sys.exit('too good')\n")
    words = ("bench", "peers", "--plans", "top", "--data", folder, "--count", 2, "--seconds", 0.2)
    out = tmp_path / "out"
    status, said, _ = cli(*words, "--out", out)
    assert status == 0
    assert "better on 0, equal on 2, worse on 0" in said
    with (out / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["file"], row["listed"], row["auto"], row["PyVRP"]) for row in rows] == [
        ("p4.2.a", "7.0", "7.0", "7.0"),
        ("p4.2.b", "16.0", "16.0", "16.0"),
    ]
    lines = (out / "results.jsonl").read_text()
    status, _, err = cli(*words, "--out", out, "--judge", judge)
    assert (out / "results.jsonl").read_text() == lines, "results that are kept are not computed again"
    assert status == 2
    assert "judge.py refuses the plan of pyvrp for p4.2.a.2: too good and 1 more" in err
    plans = sorted((out / "plans").glob("*.json"))
    assert len(plans) == 4
    for path in plans:
        plan = json.loads(path.read_text())
        (file,) = [file for file in listed_files("top", folder) if path.name.startswith(file.name)]
        assert check_plan(file.read(), [route["nodes"] for route in plan["routes"]]).prize == plan["prize"] == file.best


@pytest.mark.skipif(not PyVrpPeer.installed(), reason="pyvrp is not installed")
def test_failures_are_lines(cli: Cli, folder: Path, tmp_path: Path) -> None:
    words = ("bench", "peers", "--plans", "top", "--data", folder, "--seconds", 0.1, "--out", tmp_path / "out")
    assert "--methods must be one method with --plans" in cli(*words, "--count", 2, "--methods", "lns,cs-p").err
    (folder / "top" / "p4.2.b.txt").write_text("n 5\n")
    status, _, err = cli(*words, "--count", 2)
    assert status == 2
    assert "auto failed on p4.2.b.2: BadFile" in err
