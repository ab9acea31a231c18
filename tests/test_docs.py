"""The pages: their links lead somewhere, their Python runs, their command lines are understood."""

import re
import shlex
from pathlib import Path

import click
import pytest

from orienteer.cli.main import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link.partition("#")[0]).exists(), f"{page.name} links to {link}"


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(block, scope)
    assert "result" in scope


def _command_lines() -> list[str]:
    lines = []
    for page in PAGES:
        lines += re.findall(r"^    (?:\$ )?(orienteer .*)$", page.read_text(), re.MULTILINE)
    return lines


@pytest.mark.parametrize("line", _command_lines())
def test_command_lines_are_understood(line: str) -> None:
    """Every option on a page exists, and every command has its arguments."""
    words = shlex.split(line.replace("[", " ").replace("]", " "))[1:]
    command = cli.get_command(click.Context(cli), words.pop(0))
    assert command is not None
    if isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    if "S" not in words and "NAME" not in words and "N" not in words:  # a real one, not a pattern
        with click.Context(command) as context:
            command.parse_args(context, words)
