"""Methods from words, and keys that tell them apart."""

import shutil
from pathlib import Path

import pytest

from orienteer import REGISTRY, Entry, __version__
from orienteer.lab.bench.methods import Method, parse_methods
from orienteer.lab.bench.paper import NAMED, default_methods
from orienteer.network.weights import find_weights


def test_settings_follow_their_method() -> None:
    first, second, third = parse_methods("lns,seconds=0.5,cs-p,beam=7,branch=none,tsili", {}, "cpu")
    assert (first.label, first.solver, first.seconds, first.settings) == ("lns,seconds=0.5", "lns", 0.5, {})
    assert second.settings == {"beam": 7, "branch": None, "device": "cpu"}
    assert (third.label, third.stop) == ("tsili", None)


def test_a_name_may_stand_for_a_solver_with_settings() -> None:
    (method,) = parse_methods("cs-paper,beam=5", NAMED, "cpu")
    assert method.label == "cs-paper,beam=5"
    assert method.solver == "cs-l"
    assert method.settings == {
        **{
            "weights": "an-dqn",
            "beam": 5,
            "tau": 0.05,
            "spread": 1.0,
            "branch": None,
            "lag": None,
            "both": False,
            "recombine": False,
        },
        "device": "cpu",
    }


def test_a_method_says_what_its_name_stands_for() -> None:
    (method,) = parse_methods("cs-paper,seconds=2", NAMED, "cpu")
    assert (
        method.about
        == "cs-l,weights=an-dqn,beam=20,tau=0.05,spread=1.0,branch=none,lag=none,both=false,recombine=false,seconds=2.0"
    )
    (again,) = parse_methods(method.about, {}, "cpu")
    assert again.settings == method.settings
    assert again.seconds == method.seconds


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "at least one"),
        ("lns,lns", "twice"),
        ("nobody", "got 'nobody'"),
        ("beam=3", "got 'beam=3'"),
        ("cs-p,beam=wide", "--methods beam must be a whole number or none, got 'wide'"),
        ("lns,seconds=soon", "--methods seconds must be a number, got 'soon'"),
        ("tsili,beams=3", "tsili has no setting 'beams'; it has tries, power, best, seconds, steps"),
    ],
)
def test_wrong_words_are_errors(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_methods(words, NAMED)


def test_every_default_method_is_there() -> None:
    methods = parse_methods(default_methods()[0], NAMED, "cpu")
    labels = [method.label for method in methods]
    assert {"compass", "random", "tsili", "an-pn-beam", "cs-p", "cs-paper", "cs-l", "lns", "auto"} <= set(labels)
    assert len({method.key for method in methods}) == len(methods)


def test_any_change_changes_the_key() -> None:
    keys = {
        Method("a", "cs-p", {"device": "cpu"}).key,
        Method("a", "cs-p", {"device": "cpu", "beam": 21}).key,
        Method("a", "cs-p", {"device": "cpu"}, seconds=1.0).key,
        Method("a", "cs-p", {"device": "cpu"}, steps=1).key,
        Method("a", "tsili").key,
    }
    assert len(keys) == 5
    assert Method("a", "tsili").describe()["version"] == __version__, "which is a part of the key too"


def test_a_default_written_out_is_the_same_method() -> None:
    assert Method("a", "cs-p", {"beam": 20, "device": "cpu"}).key == Method("a", "cs-p", {"device": "cpu"}).key


def test_weights_count_by_their_content(tmp_path: Path) -> None:
    """A retrained file under an old name must not inherit its results."""
    file = tmp_path / "own.safetensors"
    shutil.copyfile(find_weights("an-dqn"), file)
    before = Method("own", "an-dqn", {"weights": str(file)}).key
    shutil.copyfile(find_weights("an-a2c"), file)
    assert Method("own", "an-dqn", {"weights": str(file)}).key != before


def test_a_solver_that_cannot_work_here_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Gurobi without its package or licence: registered, but of no use."""
    monkeypatch.setitem(REGISTRY, "gurobi", Entry("gurobi", "", "", "bench_methods:Useless"))
    words, absent = default_methods()
    assert "gurobi" not in words
    assert absent == ["gurobi is left out: no licence"]
    monkeypatch.setitem(REGISTRY, "gurobi", Entry("gurobi", "", "", "bench_methods:Prover"))
    assert "gurobi" in default_methods()[0].split(",")
