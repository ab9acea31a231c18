"""Turns the notebooks of docs/ into pages, with the outputs that they hold.

They become Markdown before MkDocs looks for links, so that their links are followed and checked as those of any page.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

Cell = dict[str, Any]


def on_files(files: Files, config: Any) -> Files:
    """The files with a page, and its pictures, for each notebook; the notebook itself stays there for download."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = PurePosixPath(file.src_uri)
        text, pictures = _page(json.loads(file.content_string), path.stem)
        files.append(File.generated(config, str(path.with_suffix(".md")), content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, str(path.with_name(name)), content=content))
    return files


def _page(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes | str]]:
    """The page of a notebook, and the pictures on it by their names."""
    parts: list[str] = []
    pictures: dict[str, bytes | str] = {}
    for cell in notebook["cells"]:
        source = _text(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source:
            parts.append(f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            parts += _output(output, f"{name}_{len(pictures)}", pictures)
    parts.insert(1, f'<a href="{name}.ipynb" download>Download this notebook</a>')
    return "\n\n".join(parts) + "\n", pictures


def _output(output: Cell, name: str, pictures: dict[str, bytes | str]) -> Iterator[str]:
    """An output of a cell, in the richest form that it has; a picture goes to `pictures` under `name`."""
    data = output.get("data", {})
    if "image/png" in data:
        pictures[f"{name}.png"] = base64.b64decode(_text(data["image/png"]))
        yield f"![Output of the cell above]({name}.png)"
    elif "image/svg+xml" in data:
        pictures[f"{name}.svg"] = _text(data["image/svg+xml"])
        yield f"![Output of the cell above]({name}.svg)"
    elif "text/html" in data:
        yield f'<div class="output">{_text(data["text/html"])}</div>'
    elif text := _text(output.get("text", data.get("text/plain", ""))).rstrip():
        yield f"```text\n{text}\n```"


def _text(lines: str | list[str]) -> str:
    """A text of a notebook, which may be stored as a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)
