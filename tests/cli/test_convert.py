"""`orienteer convert`: what is written reads back as the same problem."""

from pathlib import Path

import pytest

from command_line import Cli
from orienteer.data.files import read

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("suffix", ["json", "csv", "xlsx", "npz"])
def test_a_problem_with_rules_there_and_back(cli: Cli, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"trip.{suffix}"
    done = cli("convert", EXAMPLES / "four_days.csv", out, "--require", "Spa")
    assert done == (0, "", "")
    assert read(out) == read(EXAMPLES / "four_days.csv", require=["Spa"])


def test_what_a_format_cannot_hold_is_an_error(cli: Cli, tmp_path: Path) -> None:
    status, _, err = cli("convert", EXAMPLES / "day_in_town.csv", tmp_path / "day.oplib")
    assert status == 2
    assert "oplib does not hold" in err
    assert list(tmp_path.iterdir()) == []
    assert "is also read" in cli("convert", EXAMPLES / "city.csv", EXAMPLES / "city.csv").err
