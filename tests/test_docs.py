"""The pages: links lead somewhere, files and modules exist, Python runs, command lines are understood."""

import importlib
import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from how_to import blocks_of, run_page
from orienteer.cli.main import cli
from orienteer.data.generate import generate
from servers import Server

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "orienteer"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md"])
READ_ONLY = ("index", "plans", "cluster", "run_the_service")
RUN = [page for page in PAGES if page.parent.name == "how-to" and page.stem not in READ_ONLY]
"""Pages whose files, commands and code are one program, from top to bottom."""
SPEAKING_OF_FILES = [page for page in PAGES if page.name != "CHANGELOG.md"]


def _python(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


ELSEWHERE = [*RUN, ROOT / "docs" / "reference" / "files.md"]  # of which data/test_docs.py runs the last one
WITH_PYTHON = [page for page in PAGES if _python(page) and page not in ELSEWHERE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_merges_are_finished(page: Path) -> None:
    """Three pages once went out with both sides of a merge between `<<<<<<<` and `>>>>>>>`."""
    assert not re.findall(r"^(?:<{7}|>{7}) .*", page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), f"{page.name} links to {link}"
        assert not anchor or anchor in _anchors(target), f"{page.name} links to {link}"


def _anchors(page: Path) -> list[str]:
    """What GitHub calls the headings of a page in links."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", SPEAKING_OF_FILES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_exist(page: Path) -> None:
    """A file is named by its path from src/orienteer or from the repository's root, `beam/step.py`."""
    text = _without_links(page.read_text())
    named = set(re.findall(r"[\w*./-]*[\w*]\.py\b", text)) | set(re.findall(r"`([a-z_]+/[\w/]*)`", text))
    built = (ROOT / ".gitignore").read_text().splitlines()  # made by commands, so that a fresh clone has none of them
    built += [block.title for block in blocks_of(page.read_text())]  # written by the reader
    beside = {path for path in named if path.startswith("../")}  # beside the checkout, where a clone may have nothing
    for path in sorted(named - set(built) - beside):
        folder = path.partition("/")[0]
        known = f"{folder}/" not in built and any((place / folder).exists() for place in (ROOT, SOURCE))
        if known or path.endswith((".py", "/")):
            assert _files(path), f"{page.name} names {path}"


@pytest.mark.parametrize("page", SPEAKING_OF_FILES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_define_what_pages_say_they_define(page: Path) -> None:
    """After a file stands what is in it: ``beam/step.py: step_search``, in a text each between backquotes."""
    text = page.read_text()
    quoted = re.findall(r"`([\w/]+\.py)`: (`[\w.]+`(?:, `[\w.]+`)*)", text)
    plain = re.findall(r" ([\w/]+\.py): ([\w.]+)", "".join(re.findall(r"```\n(.*?)```", text, re.DOTALL)))
    for path, names in quoted + plain:
        (file,) = _files(path)
        code = file.read_text()
        for name in re.findall(r"\w+", names):
            assert re.search(rf"\b(class|def) {name}\b|^{name}\b", code, re.MULTILINE), f"{page.name}: {path}: {name}"


@pytest.mark.parametrize("page", SPEAKING_OF_FILES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_exist(page: Path) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for name in sorted(set(re.findall(r"\borienteer(?:\.[A-Za-z_]\w*)+", page.read_text())) - set(groups)):
        module, _, attribute = name.rpartition(".")
        assert find_spec(module), f"{page.name} names {name}"
        assert hasattr(importlib.import_module(module), attribute) or find_spec(name), f"{page.name} names {name}"


def _without_links(text: str) -> str:
    return re.sub(r"\[[^]]*\]\([^)]*\)", "", text)


def _files(path: str) -> list[Path]:
    """The files and folders that a path on a page may mean."""
    return [file for folder in (ROOT, SOURCE) for file in folder.glob(path.rstrip("/"))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks run one after the other; pages may speak of an `instance`, of `instances` and of `costs`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    instances = list(generate(10, count=3, seed=1))
    scope: dict[str, object] = {"instance": instances[0], "instances": instances, "costs": instances[0].costs}
    for block in _python(page):
        exec(block, scope)
    assert {"result", "problems", "SOLVERS"} & set(scope)


@pytest.mark.parametrize("page", [ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_python_prints_what_the_page_says(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code, printed) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)[0]
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_first_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the first page that a user follows, one after the other, with the page's own file."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "start" / "first_route.md").read_text()
    (table,) = re.findall(r"\n\n((?: {4}(?:# |.*,).*\n)+)", page)
    (tmp_path / "places.csv").write_text(textwrap.dedent(table))
    for line in re.findall(r"^    (orienteer .*)$", page, re.MULTILINE):
        result = CliRunner().invoke(cli, shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}: {result.output}"
    assert {"city.csv", "city.png", "day.gpx"} <= {path.name for path in tmp_path.iterdir()}


def _command_lines() -> list[str]:
    texts = [page.read_text() for page in PAGES if page not in RUN]
    for notebook in sorted(ROOT.glob("docs/tutorials/*.ipynb")):
        texts += ["".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"]]
    lines = [line for text in texts for line in re.findall(r"^    (?:\$ )?(orienteer .*)$", text, re.MULTILINE)]
    for page in RUN:
        blocks = [block for block in blocks_of(page.read_text()) if block.marked("not run") is not None]
        lines += [block.code for block in blocks if block.kind == "command"]
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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """The address of a server, which starts where a page first asks for it."""
    started: list[Server] = []

    def url() -> str:
        if not started:
            started.append(Server(tmp_path_factory.mktemp("server")).__enter__())
        return started[0].url

    yield url
    for one in started:
        one.kill()


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_how_to_pages_run(page: Path, tmp_path: Path, server: Callable[[], str]) -> None:
    """What a reader who follows a page does, in an empty folder with the examples; printed is something each time."""
    for block, printed in run_page(page.read_text(), tmp_path, server, small=True):
        assert block.code.strip()
        assert printed.strip(), f"nothing was printed where {page.name} shows\n{block.code}"
    assert (tmp_path / "examples").is_symlink()
