"""`orienteer bench` from the command line."""

from pathlib import Path

import pytest

from command_line import TOWN, Cli, Script
from orienteer.data.files import write
from orienteer.lab.bench import paper
from orienteer.lab.bench.methods import PEERS, peer_class
from orienteer.search.run import Run

SMALL = ("--count", 2, "--sizes", 5, "--prizes", "uniform", "--methods", "tsili,random")


def test_the_papers_table(cli: Cli, tmp_path: Path) -> None:
    status, out, err = cli("bench", "paper", *SMALL, "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "### Uniform prizes" in out
    assert "| tsili | " in out
    assert str(tmp_path / "out" / "table.html") in out
    again = cli("bench", "paper", *SMALL, "--out", tmp_path / "out")
    assert again.out == out


def test_a_network_of_ones_own_in_the_whole_table(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "default_methods", lambda: ("tsili,random", ["exact is left out: no licence"]))
    methods = "all,an-dqn,weights=an-dqn"
    words = ("--count", 2, "--sizes", 5, "--prizes", "uniform", "--methods", methods, "--out", tmp_path)
    status, out, err = cli("bench", "paper", *words)
    assert (status, err) == (0, "orienteer: exact is left out: no licence\n")
    rows = [line.split(" | ")[0] for line in out.splitlines() if line.startswith("| ")]
    assert rows == ["| method", "| tsili", "| random", "| an-dqn,weights=an-dqn"]


def test_a_single_problem_is_a_set_of_one(cli: Cli, tmp_path: Path) -> None:
    """A CSV was refused as a damaged NPZ file; rules tell instances apart as well as prizes do."""
    write(TOWN, tmp_path / "town.json")
    words = ("bench", "sets", tmp_path / "town.json", "--methods", "lns,steps=10", "--out", tmp_path / "out")
    assert "| town | lns,steps=10 | 1 | 6.00 | 0.00 % |" in cli(*words).out
    write(TOWN.replace(required=["mill"]), tmp_path / "town.json")
    assert "| town | lns,steps=10 | 1 | 5.50 | 0.00 % |" in cli(*words).out


def test_shards_and_merge(cli: Cli, tmp_path: Path) -> None:
    for number in (1, 2):
        status, out, _ = cli("bench", "paper", *SMALL, "--shard", f"{number}/2", "--out", tmp_path / str(number))
        assert status == 0
        assert "orienteer bench merge" in out
    assert cli("bench", "merge", tmp_path / "1", tmp_path / "2").status == 2
    status, out, err = cli("bench", "merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "all")
    assert (status, err) == (0, "")
    assert " of 2)" not in out


def test_a_failing_method_ends_with_an_error(cli: Cli, tmp_path: Path, scripted: Script) -> None:
    def fail(run: Run) -> None:
        raise RuntimeError("no luck")

    scripted(fail)
    words = ("--count", 2, "--sizes", 5, "--prizes", "uniform", "--methods", "tsili,scripted")
    status, out, err = cli("bench", "paper", *words, "--out", tmp_path)
    assert status == 2
    assert err.startswith("orienteer: scripted failed on uniform_5 0: RuntimeError: no luck and 1 more")
    assert "scripted failed on uniform_5 1" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("paper", "--methods", "nobody"), "--methods knows"),
        (("paper", "--methods", "cs-p,colour=3"), "no setting 'colour'"),
        (("paper", "--prizes", "gold"), "--prizes must be some of"),
        (("paper", "--sizes", "5,x"), "--sizes must be numbers"),
        (("paper", "--sizes", "0"), "--sizes must be above 0"),
        (("paper", "--sizes", "2.5"), "--sizes must be whole numbers"),
        (("paper", "--shard", "3/2"), "--shard must be I/N"),
        (("beam", "--taus", "-1"), "--taus must be above 0"),
        (("paper", "--optimum", "nowhere.csv"), "nowhere.csv"),
        (("oplib", "nowhere"), "nowhere"),
        (("sensitivity", "--minutes", "0"), "--minutes"),
    ],
)
def test_errors_are_one_line(cli: Cli, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    status, out, err = cli("bench", *words, "--out", tmp_path / "out")
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("out/*.jsonl"))


def test_files(cli: Cli, tmp_path: Path) -> None:
    write(TOWN, tmp_path / "town.json")
    (tmp_path / "best_known.csv").write_text("instance,best_known\ntown,5\n")
    words = ("bench", "classic", tmp_path, "--method", "cs-p", "--out", tmp_path / "out")
    status, out, err = cli(*words)
    assert (status, err) == (0, "")
    assert "better: town 6, was 5" in out
    assert "better.json" in out
    status, _, err = cli(*words, "--method", "tsili,random")
    assert (status, "must be one method" in err) == (2, True)


def test_figures_and_peers(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    few = ("--n", 6, "--count", 1, "--methods", "tsili,cs-p")
    status, out, _ = cli("bench", "figures", *few, "--out", tmp_path / "f")
    assert status == 0
    assert (tmp_path / "f" / "routes.png").exists()
    for name in PEERS:
        monkeypatch.setattr(peer_class(name), "installed", classmethod(lambda cls: False))
    words = ("--sizes", 6, "--count", 1, "--prizes", "uniform", "--methods", "tsili", "--seconds", 0.1)
    status, out, _ = cli("bench", "peers", *words, "--out", tmp_path / "p")
    assert status == 0
    assert "Not installed, hence not compared: pyvrp, ortools, pyvroom" in out
