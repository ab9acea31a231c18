"""What MkDocs asks while it builds the site: the order of pages, links that leave docs/, and notes that stay there.

Links on pages are relative, as GitHub wants them. A link to a file outside docs/, such as an example, leads to a copy
of that file in the site; `PAGES_OUTSIDE` become pages. A note for readers of the repository is not in the site.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES_OUTSIDE = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "scripts.md",
}
"""From their path in the repository to their path in the site."""
COPIES = "files"
"""The folder of the site that has the copies."""
NOTE = re.compile(r"^\*In the repository: .*\*\n\n", re.MULTILINE)
"""What pages that the site fills say to those who read them elsewhere."""
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """The configuration with the pages of `folder/*` in its navigation."""
    for entry in config.nav:
        for title, value in entry.items():
            if isinstance(value, str) and value.endswith("/*"):
                entry[title] = _pages_in_order(Path(config.docs_dir), value.removesuffix("/*"))
    return config


def _pages_in_order(docs: Path, folder: str) -> list[str]:
    """The pages of a folder in the order in which its index.md links to them; the others follow by name."""
    index = docs / folder / "index.md"
    named = [os.path.normpath(index.parent / link) for link, _ in LINK.findall(index.read_text())]
    pages = [path for suffix in ("md", "ipynb") for path in sorted(index.parent.rglob(f"*.{suffix}")) if path != index]
    pages.sort(key=lambda path: named.index(str(path)) if str(path) in named else len(named))
    return [str(path.relative_to(docs).with_suffix(".md")) for path in [index, *pages]]


def on_files(files: Files, config: Any) -> Files:
    """The files of docs/ and those outside that pages link to."""
    for path, page in PAGES_OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    for file in list(files.documentation_pages()):
        for link, _ in LINK.findall(file.content_string):
            target = _target(_place(file.src_uri), link)
            uri = _uri(target)
            if uri and uri.startswith(COPIES) and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page's text without `NOTE`, with links to where their files lie in the site."""
    here = page.file.src_uri

    def mended(match: re.Match[str]) -> str:
        uri = _uri(_target(_place(here), match[1]))
        if uri is None:
            return match[0]
        return f"]({os.path.relpath(uri, os.path.dirname(here) or '.')}{match[2] or ''})"

    return LINK.sub(mended, NOTE.sub("", markdown))


def _place(uri: str) -> str:
    """Where a page of the site lies in the repository."""
    outside = {page: path for path, page in PAGES_OUTSIDE.items()}
    return outside.get(uri, f"docs/{uri}")


def _target(place: str, link: str) -> str:
    """The path in the repository of a file that the page at `place` links to."""
    return os.path.normpath(os.path.join(os.path.dirname(place), link))


def _uri(target: str) -> str | None:
    """Where a file of the repository lies in the site; None for a link to another site, or to nothing."""
    if not (ROOT / target).is_file():
        return None
    if target.startswith("docs/"):
        return re.sub(r"\.ipynb$", ".md", target.removeprefix("docs/"))  # notebooks.py makes pages of them
    return PAGES_OUTSIDE.get(target, f"{COPIES}/{target}")
