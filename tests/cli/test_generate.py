"""`orienteer generate`: the set it writes."""

from pathlib import Path

import numpy as np

from command_line import Cli
from orienteer.data.files import read_set


def generate(cli: Cli, out: Path, *more: object) -> list:
    said = cli(
        "generate", "--n", 6, "--prizes", "uniform", "--limit", 2, "--count", 3, "--seed", 4, "--out", out, *more
    )
    assert (said.status, said.err) == (0, "")
    return list(read_set(out))


def test_a_set_as_asked(cli: Cli, tmp_path: Path) -> None:
    made = generate(cli, tmp_path / "a.npz", "--costs", "euclidean")
    assert [(one.size, one.limit, one.start, one.end) for one in made] == [(7, 2, 0, 0)] * 3


def test_same_seed_same_set(cli: Cli, tmp_path: Path) -> None:
    assert generate(cli, tmp_path / "a.npz") == generate(cli, tmp_path / "b.npz")
    assert generate(cli, tmp_path / "a.npz") != generate(cli, tmp_path / "b.npz", "--seed", 5)


def test_other_names_than_npz_are_refused(cli: Cli, tmp_path: Path) -> None:
    for words in (("generate", "--n", 5, "--count", 1), ("batch", tmp_path / "set.npz")):
        said = cli(*words, "--out", tmp_path / "it.csv")
        assert said.status == 2
        assert "must end in .npz" in said.err
    assert not list(tmp_path.iterdir())


def test_a_separate_end(cli: Cli, tmp_path: Path) -> None:
    made = generate(cli, tmp_path / "a.npz", "--costs", "road", "--separate-end")
    assert [(one.size, one.start, one.end) for one in made] == [(8, 0, 7)] * 3
    assert not any(one.symmetric for one in made)


def test_the_files_arrays(cli: Cli, tmp_path: Path) -> None:
    """Other programs read these arrays, so their names and types must stay."""
    generate(cli, tmp_path / "a.npz", "--costs", "xasy")
    arrays = np.load(tmp_path / "a.npz")
    assert arrays["prizes"].shape == (3, 7)
    assert arrays["costs"].shape == (3, 7, 7)
    assert float(arrays["limit"]) == 2
