"""The site of docs/: it builds without a warning, and its pages load nothing from other machines."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

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
