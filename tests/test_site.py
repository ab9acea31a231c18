"""The site of docs/: it builds without a warning, and its pages load nothing from other machines."""

import os
import re
import runpy
import subprocess
import sys
from base64 import b64encode
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from pydoc import locate

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    if find_spec("mkdocs") is None and "CI" not in os.environ:
        pytest.skip("the site needs the extra docs: pip install 'orienteer[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    build = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for suffix in ("md", "ipynb") for path in ROOT.glob(f"docs/**/*.{suffix}")]
    assert pages
    assert [page for page in pages if not (site / page).with_suffix(".html").is_file()] == []


FILLED = re.compile(r"^(:::|<!-- (commands|requests) -->)", re.MULTILINE)
"""What pages hold in the repository where the site has descriptions."""


def test_pages_that_the_site_fills_say_where_else_to_look(site: Path) -> None:
    note = re.compile(r"\A# .*\n\n\*In the repository: `make docs` .*\*\n\n")
    filled = [page for page in (ROOT / "docs").rglob("*.md") if FILLED.search(page.read_text())]
    assert filled
    for page in filled:
        text = page.read_text()
        assert note.search(text), page
        for name in re.findall(r"pydoc (orienteer[\w.]*)", text):
            assert locate(name) is not None, name
        built = (site / page.relative_to(ROOT / "docs")).with_suffix(".html")
        assert "In the repository:" not in built.read_text()


class _Loaded(HTMLParser):
    """The addresses from which a browser loads parts of a page; links that a reader may click are none of them."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and values.get("rel") in ("canonical", "prev", "next"):
            return
        if tag != "a":
            self.addresses += [value for name in ("src", "href", "srcset", "data") if (value := values.get(name))]


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = _Loaded()
        loaded.feed(page.read_text())
        assert [address for address in loaded.addresses if re.match(r"(https?:)?//", address)] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()[\s'\"(]*(https?:)?//", style.read_text()), style


def test_notebooks_become_pages_with_their_outputs() -> None:
    """A notebook's text, code, printed lines, tables and pictures, in its order; its links stay as they are."""
    pytest.importorskip("mkdocs", reason="the site needs the extra docs: pip install 'orienteer[docs]'")
    hook = runpy.run_path(str(ROOT / "docs" / "hooks" / "notebooks.py"))
    picture = {"data": {"image/png": b64encode(b"a picture").decode(), "text/plain": "<Figure>"}}
    table = {"data": {"text/html": "<table></table>", "text/plain": "a table"}}
    cells = [
        {"cell_type": "markdown", "source": ["# A day\n", "[file](../../examples/city.csv)"]},
        {"cell_type": "code", "source": "print(1)\n", "outputs": [{"text": ["1\n"]}, table, picture]},
    ]
    page, pictures = hook["_page"]({"cells": cells}, "day")
    assert page.splitlines()[0] == "# A day"
    assert "[file](../../examples/city.csv)" in page
    assert page.index("```python\nprint(1)\n```") < page.index("```text\n1\n```") < page.index("<table>")
    assert page.index("<table>") < page.index("(day_0.png)")
    assert pictures == {"day_0.png": b"a picture"}


@pytest.mark.parametrize("script", sorted(ROOT.glob("docs/figures/*.py")), ids=lambda path: path.name)
def test_figures_can_be_drawn_again(script: Path, tmp_path: Path) -> None:
    """A script of docs/figures draws the picture of its name, the picture that pages show."""
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"{script.stem}.png"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, str(script), str(picture)], env=environment, check=True)
    stored = ROOT / "docs" / "images" / picture.name
    assert _size(picture) == _size(stored)


def _size(picture: Path) -> bytes:
    """Width and height of a PNG, as its header has them."""
    return picture.read_bytes()[16:24]
