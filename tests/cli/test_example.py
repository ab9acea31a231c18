"""`orienteer example`: the problem that is installed with the package."""

from pathlib import Path

import pytest

from command_line import Cli
from orienteer.data.files import read

CITY = Path(__file__).parents[2] / "examples" / "city.csv"


def test_the_town_is_written_here_and_can_be_solved(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("example") == (0, "city.csv is written; next: orienteer solve city.csv\n", "")
    assert read("city.csv") == read(CITY)
    assert cli("solve", "city.csv", "--solver", "tsili").status == 0


def test_it_is_the_file_of_the_examples(cli: Cli, tmp_path: Path) -> None:
    """The repository has the file twice: beside the scripts that read it, and in the package."""
    assert cli("example", "city", "--out", tmp_path / "a.csv").status == 0
    assert (tmp_path / "a.csv").read_bytes() == CITY.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "{dir}/mine.csv"], "mine.csv: is there already and is left as it is; --out names another file"),
        (["--out", "{dir}/no/a.csv"], "cannot be written: No such file"),
        (["--out", "{dir}/a.json"], "so its name must end in .csv"),
        (["village"], "'village' is not 'city'"),
    ],
)
def test_nothing_is_overwritten(cli: Cli, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "mine.csv").write_text("mine")
    status, out, err = cli("example", *(word.format(dir=tmp_path) for word in words))
    assert (status, out) == (2, "")
    assert message in err
    assert (tmp_path / "mine.csv").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]
